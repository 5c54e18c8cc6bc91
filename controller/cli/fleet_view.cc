#include "controller/cli/fleet_view.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "controller/fleet/resolve.h"
#include "core/text/times.h"
#include "core/wire/wire.h"
#include "railwright/unix_time.h"

namespace railwright::cli {
namespace {

// Worst last, as WorstOf has it; a node is never NotApplicable.
int Rank(Verdict verdict) {
  switch (verdict) {
    case Verdict::kDrifted: return 3;
    case Verdict::kUnknown: return 2;
    case Verdict::kPending: return 1;
    case Verdict::kNotApplicable: return 2;
    case Verdict::kCompliant: return 0;
  }
  return 2;
}

void Worsen(NodeView& node, Verdict to, std::string note) {
  if (Rank(to) > Rank(node.verdict)) node.verdict = to;
  if (node.note.empty()) node.note = std::move(note);
}

NodeView JudgeNode(const v1::NodeStatus& status, std::chrono::system_clock::time_point now) {
  NodeView node;
  node.status = &status;
  node.verdict = FromWire(status.verdict());
  if (node.verdict == Verdict::kNotApplicable) node.verdict = Verdict::kUnknown;
  for (const v1::Finding& finding : status.findings()) node.findings.push_back(FromWire(finding));
  if (status.stale()) {
    node.unreachable = true;
    node.verdict = Verdict::kUnknown;
    node.note = status.last_seen_unix_us() == 0
                    ? "never seen: has it joined (railctl get members), and does railwright-agent run there?"
                    : "silent; last seen " + SeenText(status.last_seen_unix_us(), now);
    return node;
  }
  if (status.retired()) {
    node.verdict = Verdict::kUnknown;
    node.note = "left the inventory, nothing is asked of it; railctl node forget drops it";
    return node;
  }
  const std::string desired = std::to_string(status.desired_generation());
  if (!status.nack().empty()) {
    Worsen(node, Verdict::kDrifted, "refused generation " + desired + ": " + status.nack());
  } else if (status.generation() < status.desired_generation() && !status.waits().empty()) {
    Worsen(node, Verdict::kPending, "generation " + desired + " is not sent: " + status.waits());
  } else if (status.generation() < status.desired_generation()) {
    Worsen(node, Verdict::kPending,
           status.generation() == 0
               ? "generation " + desired + " is on its way"
               : "at generation " + std::to_string(status.generation()) + ", " + desired + " is on its way");
  } else if (!status.settled()) {
    Worsen(node, Verdict::kPending, "works through generation " + std::to_string(status.generation()));
  } else if (node.verdict == Verdict::kUnknown && node.findings.empty()) {
    node.note = "nothing is declared for it, so nothing was measured";
  }
  return node;
}

}  // namespace

FleetView Judge(const v1::StatusResponse& response, std::chrono::system_clock::time_point now) {
  FleetView fleet;
  fleet.generation = response.generation();
  fleet.read_only = response.read_only();
  fleet.problem = response.problem();
  fleet.retired.assign(response.retired().begin(), response.retired().end());
  fleet.complete = response.nodes_size() > 0 && fleet.problem.empty();
  for (const v1::Pause& pause : response.pauses()) fleet.pauses.push_back(FromWire(pause));
  for (const v1::NodeStatus& status : response.nodes()) {
    NodeView node = JudgeNode(status, now);
    for (const v1::Pause& one : status.pauses()) {
      Pause pause = FromWire(one);
      if (std::find(fleet.pauses.begin(), fleet.pauses.end(), pause) == fleet.pauses.end())
        fleet.pauses.push_back(std::move(pause));
    }
    if (node.unreachable) {
      ++fleet.unreachable;
    } else if (node.verdict == Verdict::kCompliant) {
      ++fleet.compliant;
    } else if (node.verdict == Verdict::kDrifted) {
      ++fleet.drifted;
    } else if (node.verdict == Verdict::kPending) {
      ++fleet.pending;
    } else {
      ++fleet.unknown;
    }
    const bool blind = node.unreachable || node.verdict == Verdict::kUnknown ||
                       std::any_of(node.findings.begin(), node.findings.end(),
                                   [](const Finding& one) { return one.verdict == Verdict::kUnknown; });
    if (blind) fleet.complete = false;
    fleet.nodes.push_back(std::move(node));
  }
  return fleet;
}

ExitCode FleetView::exit() const {
  return Gravest({drifted + pending > 0 ? ExitCode::kDifferences : ExitCode::kDone,
                  complete ? ExitCode::kDone : ExitCode::kIncomplete});
}

std::vector<FindingGroup> GroupFindings(const FleetView& fleet, bool (*wanted)(const Finding&)) {
  const auto identity = [](const Finding& one) {
    return std::tie(one.key, one.target, one.code, one.verdict, one.reason, one.desired, one.observed,
                    one.message, one.fix);
  };
  const auto before = [&](const Finding& a, const Finding& b) {
    if (Rank(a.verdict) != Rank(b.verdict)) return Rank(a.verdict) > Rank(b.verdict);
    return identity(a) < identity(b);
  };
  std::map<Finding, std::vector<std::string>, decltype(before)> groups(before);
  for (const NodeView& node : fleet.nodes) {
    if (node.unreachable) continue;  // what a silent node said is history, not a problem of now
    for (const Finding& finding : node.findings)
      if (wanted(finding)) groups[finding].push_back(node.status->node());
  }
  std::vector<FindingGroup> list;
  for (auto& [finding, nodes] : groups) list.push_back({finding, std::move(nodes)});
  return list;
}

std::string NodesText(const std::vector<std::string>& nodes) {
  if (nodes.size() == 1) return nodes.front();
  return std::to_string(nodes.size()) + " nodes " + FoldNames(nodes);
}

std::string PauseText(const Pause& pause) {
  std::string text = pause.key.empty() ? "everything" : pause.key;
  text += " on " + (pause.node.empty() ? "every node" : pause.node);
  if (!pause.by.empty()) text += ", by " + pause.by;
  if (!pause.reason.empty()) text += ": " + pause.reason;
  return text;
}

std::chrono::system_clock::time_point TimeOf(std::int64_t unix_us) { return NearestToUnixMicros(unix_us); }

std::string SeenText(std::int64_t unix_us, std::chrono::system_clock::time_point now) {
  return unix_us == 0 ? "never" : Ago(now - TimeOf(unix_us));
}

}  // namespace railwright::cli
