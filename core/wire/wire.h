// wire: the only code that turns protobuf messages into domain structs and back.
#pragma once

#include <string>
#include <vector>

#include "railwright/check.h"
#include "railwright/result.h"
#include "railwright/setting.h"
#include "railwright/state.h"
#include "railwright/v1/agent.pb.h"
#include "railwright/v1/catalog.pb.h"
#include "railwright/v1/state.pb.h"

namespace railwright {

/// Newest and oldest wire revision of this build, and the names of what it can do.
inline constexpr unsigned kWire = 1;
inline constexpr unsigned kWireMin = 1;
const std::vector<std::string>& WireFeatures();

/// Lower-case hex SHA-256 over `group`, then `overlay`.
std::string StateHash(std::string_view group, std::string_view overlay);
/// Lower-case hex SHA-256 of a report's findings in canonical order; what Report.hash carries.
std::string ReportHash(const NodeReport& report);
/// The first 8 bytes of a hash given in lower-case hex, as Heartbeat.report_hash8 carries them; "" when it is
/// none.
std::string HashPrefix8(std::string_view hex);

/// Checks the hash and parses. DataLoss when the bytes do not give the hash; InvalidArgument when they do not
/// parse.
Result<DesiredState> FromWire(const v1::DesiredState& message);

// Texts that a machine gave become valid UTF-8 on their way out: protobuf refuses a whole message for one
// byte that is none. ReportHash is the same before and after.
v1::Finding ToWire(const Finding&);
Finding FromWire(const v1::Finding&);
v1::ChangeRecord ToWire(const ChangeRecord&);
ChangeRecord FromWire(const v1::ChangeRecord&);
v1::Step ToWire(const Step&);
Step FromWire(const v1::Step&);
v1::Plan ToWire(const Plan&);
Plan FromWire(const v1::Plan&);
v1::Pause ToWire(const Pause&);
Pause FromWire(const v1::Pause&);
v1::Port ToWire(const Port&);
Port FromWire(const v1::Port&);
v1::SettingSpec ToWire(const SettingSpec&);
SettingSpec FromWire(const v1::SettingSpec&);
v1::Origin ToWire(const Origin&);
Origin FromWire(const v1::Origin&);
v1::Verdict ToWire(Verdict);
Verdict FromWire(v1::Verdict);
v1::Mode ToWire(Mode);
Mode FromWire(v1::Mode);
v1::Disruption ToWire(Disruption);
Disruption FromWire(v1::Disruption);
v1::ChangeKind ToWire(ChangeKind);
ChangeKind FromWire(v1::ChangeKind);
v1::PortRole ToWire(PortRole);
PortRole FromWire(v1::PortRole);
v1::Catalog DescribeCatalog(const Catalog&, const std::vector<std::unique_ptr<const Check>>&);

}  // namespace railwright
