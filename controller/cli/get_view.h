// The lists of `railctl get`, as JSON and as tables. Pure.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "controller/cli/fleet_view.h"
#include "core/text/table.h"
#include "railwright/result.h"
#include "railwright/v1/admin.pb.h"

namespace railwright::cli {

using WallTime = std::chrono::system_clock::time_point;

/// {generation, nodes[]{name,role,rack,labels,verdict,generation,desired_generation,connected,last_seen,
///  agent_version,boot_id,corrected,missing_features[],ports[]}}
nlohmann::ordered_json NodesJson(const FleetView& fleet);
std::string NodesTable(const FleetView& fleet, const Terminal& terminal, WallTime now);

/// {generation, settings[]{node, …finding}}: the findings that have a wish, of `key` only when it is not "".
nlohmann::ordered_json SettingsJson(const FleetView& fleet, const std::string& key);
std::string SettingsTable(const FleetView& fleet, const std::string& key, const Terminal& terminal);

/// {generation, findings[]{node, …finding}}: all of them, checks too.
nlohmann::ordered_json FindingsJson(const FleetView& fleet, const std::string& key);
std::string FindingsTable(const FleetView& fleet, const std::string& key, const Terminal& terminal);

/// {changes[]{node, …change, at_unix_us}, more}, newest first.
nlohmann::ordered_json ChangesJson(const v1::ChangesResponse& answer);
std::string ChangesTable(const v1::ChangesResponse& answer, const Terminal& terminal, WallTime now);

/// {generations[]{generation,created,author,comment,rolled_back_from,nodes,settings,documents[]}}, newest
/// first.
nlohmann::ordered_json GenerationsJson(const v1::GenerationsResponse& answer);
std::string GenerationsTable(const v1::GenerationsResponse& answer, const Terminal& terminal, WallTime now);

/// {node,generation,hash,cluster,subnets[],ports[],settings[]{key,target,value,mode,origin},restore[]}
nlohmann::ordered_json DesiredJson(const std::string& node, const v1::DesiredResponse& answer);
std::string DesiredTable(const std::string& node, const v1::DesiredResponse& answer,
                         const Terminal& terminal);

/// {entries[]{id,at,who,action,subject,detail}}, newest first.
nlohmann::ordered_json AuditJson(const v1::AuditResponse& answer);
std::string AuditTable(const v1::AuditResponse& answer, const Terminal& terminal, WallTime now);

}  // namespace railwright::cli
