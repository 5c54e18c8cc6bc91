// What a StatusResponse says, judged: one verdict a node, problems grouped over nodes. Pure.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/text/exit_code.h"
#include "core/text/shapes.h"
#include "core/text/table.h"
#include "railwright/v1/admin.pb.h"

namespace railwright::cli {

/// A node as it stands now. Evidence that is old is no evidence: a silent node is Unknown whatever it said
/// last; a node that has not taken or not worked through the present generation is Pending at best; one that
/// refused it is Drifted.
struct NodeView {
  const v1::NodeStatus* status = nullptr;
  Verdict verdict = Verdict::kUnknown;
  bool unreachable = false;
  std::string note;  ///< why the verdict is not simply that of the findings, or ""
  std::vector<Finding> findings;
};

struct FleetView {
  std::uint64_t generation = 0;
  std::vector<NodeView> nodes;  ///< in the order of the answer; pointers into it
  std::uint64_t compliant = 0, drifted = 0, pending = 0, unknown = 0, unreachable = 0;
  std::string read_only;             ///< why the controller takes no changes, or ""
  std::string problem;               ///< why the documents in force cannot be resolved, or ""
  std::vector<std::string> retired;  ///< left the inventory, not forgotten yet
  std::vector<Pause> pauses;         ///< of nodes too, each once

  bool complete = false;  ///< every node answered, nothing is Unknown, there is a node, no problem
  /// 0 all compliant and complete · 2 a node is Drifted or Pending · 3 otherwise.
  ExitCode exit() const;
};
/// `response` must outlive the view.
FleetView Judge(const v1::StatusResponse& response, std::chrono::system_clock::time_point now);

/// The same finding, word for word, on several nodes.
struct FindingGroup {
  Finding finding;
  std::vector<std::string> nodes;
};
/// The findings that `wanted` keeps, grouped; the worst verdict first, then by key and target.
std::vector<FindingGroup> GroupFindings(const FleetView& fleet, bool (*wanted)(const Finding&));

/// The status shape of the command contract, with what else is known of each node behind it.
nlohmann::ordered_json StatusJson(const FleetView& fleet);
/// One line a node, then problems, pauses, and the verdict on the fleet as the last line.
std::string StatusTable(const FleetView& fleet, const Terminal& terminal,
                        std::chrono::system_clock::time_point now);

/// {generation, complete, summary{…}, drift[]{node, …finding}, not_answered[]{node,last_seen},
/// would_change{values,nodes[],keys[]}}
nlohmann::ordered_json DriftJson(const FleetView& fleet);
std::string DriftTable(const FleetView& fleet, const Terminal& terminal);
/// 2 a managed value differs, or a node has not taken the present generation · 3 a node is silent or blind ·
/// 0. A failed check alone is no drift.
ExitCode DriftExit(const FleetView& fleet);

/// "2 nodes gpu-[002-003]", or the name alone.
std::string NodesText(const std::vector<std::string>& nodes);
/// "link.mtu on gpu-002", "everything on every node", with who and why.
std::string PauseText(const Pause& pause);
/// Microseconds since 1970 as a time point; and as text: "12s ago", or "never" for 0.
std::chrono::system_clock::time_point TimeOf(std::int64_t unix_us);
std::string SeenText(std::int64_t unix_us, std::chrono::system_clock::time_point now);

}  // namespace railwright::cli
