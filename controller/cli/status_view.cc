// status and drift, as JSON and as tables.
#include <algorithm>
#include <map>

#include "controller/cli/exit_code.h"
#include "controller/cli/fleet_view.h"
#include "controller/cli/would_change.h"
#include "core/text/times.h"
#include "core/wire/wire.h"

namespace railwright::cli {
namespace {

using Json = nlohmann::ordered_json;
using WallTime = std::chrono::system_clock::time_point;

bool IsProblem(const Finding& finding) {
  return finding.verdict != Verdict::kCompliant && finding.verdict != Verdict::kNotApplicable;
}

// Checks have no wish; what they find is a problem, no difference.
bool IsDifference(const Finding& finding) {
  return (finding.verdict == Verdict::kDrifted || finding.verdict == Verdict::kPending) &&
         !finding.desired.empty();
}

std::vector<NodeShape> Shapes(const FleetView& fleet) {
  std::vector<NodeShape> shapes;
  for (const NodeView& node : fleet.nodes) {
    NodeShape shape{.node = node.status->node(),
                    .generation = {node.status->generation()},
                    .verdict = node.verdict,
                    .unreachable = node.unreachable,
                    .last_seen = {},
                    .findings = node.findings};
    if (node.status->last_seen_unix_us() != 0) shape.last_seen = TimeOf(node.status->last_seen_unix_us());
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

std::string Plural(std::uint64_t count, std::string_view one) {
  return std::to_string(count) + " " + std::string(one) + (count == 1 ? "" : "s");
}

std::string Counts(const FleetView& fleet) {
  std::string text;
  const auto add = [&](std::uint64_t count, const char* what) {
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + what;
  };
  add(fleet.drifted, "drifted");
  add(fleet.unknown, "unknown");
  add(fleet.unreachable, "unreachable");
  add(fleet.pending, "pending");
  add(fleet.compliant, "compliant");
  return text;
}

Verdict WorstOf(const FleetView& fleet) {
  if (fleet.drifted > 0) return Verdict::kDrifted;
  if (!fleet.complete) return Verdict::kUnknown;
  return fleet.pending > 0 ? Verdict::kPending : Verdict::kCompliant;
}

std::string Glyph(Verdict verdict, const Terminal& terminal) {
  Cell cell = VerdictCell(verdict, terminal);
  return Coloured(cell.text.substr(0, cell.text.find(' ')), cell.tone, terminal);
}

// What an operator would type next about this fleet.
std::string NextStep(const FleetView& fleet, const std::vector<FindingGroup>& problems) {
  if (fleet.nodes.empty()) return "railctl apply -f FILE with a Cluster document";
  for (const FindingGroup& group : problems)
    if (!group.finding.desired.empty())
      return "railctl why " + group.nodes.front() + " " + group.finding.key +
             (group.finding.target.empty() ? "" : " " + group.finding.target);
  if (!problems.empty()) return "railctl explain " + problems.front().finding.code;
  if (fleet.pending > 0) return "railctl watch";
  for (const NodeView& node : fleet.nodes)
    if (node.unreachable) return "systemctl status railwright-agent, on " + node.status->node();
  return "";
}

std::string HealthLine(const FleetView& fleet, const std::vector<FindingGroup>& problems,
                       const Terminal& terminal) {
  std::string line = Glyph(WorstOf(fleet), terminal) + " ";
  if (fleet.nodes.empty()) {
    line += "no node is declared, so nothing was measured";
  } else if (fleet.exit() == ExitCode::kDone) {
    line += fleet.nodes.size() == 1 ? "1 node is as declared"
                                    : "all " + std::to_string(fleet.nodes.size()) + " nodes are as declared";
  } else {
    line += Plural(fleet.nodes.size(), "node") + ": " + Counts(fleet);
  }
  line += terminal.utf8 ? " · " : ", ";
  line += "generation " + std::to_string(fleet.generation);
  if (const std::string next = NextStep(fleet, problems); !next.empty())
    line += (terminal.utf8 ? " · next: " : ", next: ") + next;
  return line + "\n";
}

std::string Values(const Finding& finding) {
  if (finding.desired.empty()) return finding.observed.empty() ? "" : "seen: " + Printable(finding.observed);
  const std::string wanted = "wanted " + Printable(finding.desired) + ", ";
  if (!finding.observed.empty()) return wanted + "is " + Printable(finding.observed);
  return wanted + (finding.verdict == Verdict::kUnknown ? "what is could not be told" : "is not there");
}

void AddProblem(std::string& out, const FindingGroup& group, const Terminal& terminal) {
  const Finding& finding = group.finding;
  out += Glyph(finding.verdict, terminal) + " " + finding.code + "  " +
         Coloured(Printable(finding.key), Tone::kStrong, terminal) +
         (finding.target.empty() ? "" : " " + Printable(finding.target)) + "  " + NodesText(group.nodes) +
         "\n";
  const std::string values = Values(finding);
  const std::string reason = finding.reason.empty() ? "" : " (" + finding.reason + ")";
  if (!values.empty() || !reason.empty())
    out +=
        "    " + std::string(Name(finding.verdict)) + reason + (values.empty() ? "" : ": " + values) + "\n";
  if (!finding.message.empty()) out += "    " + Printable(finding.message) + "\n";
  if (!finding.fix.empty()) out += "    fix: " + Printable(finding.fix) + "\n";
}

std::string ProblemCell(const NodeView& node) {
  if (!node.note.empty()) return node.note;
  std::string text;
  std::size_t count = 0;
  for (const Finding& finding : node.findings) {
    if (!IsProblem(finding)) continue;
    if (++count <= 3)
      text += (text.empty() ? "" : ", ") + finding.key + (finding.target.empty() ? "" : " " + finding.target);
  }
  if (count > 3) text += " and " + std::to_string(count - 3) + " more";
  return text;
}

void AddNotices(std::string& out, const FleetView& fleet, const Terminal& terminal) {
  for (const Pause& pause : fleet.pauses)
    out += Coloured("! paused:", Tone::kWarn, terminal) + " " + Printable(PauseText(pause)) + "\n";
  if (!fleet.retired.empty())
    out += Coloured("! left the inventory:", Tone::kWarn, terminal) + " " + NodesText(fleet.retired) +
           " (railctl node forget drops what is known of them)\n";
  if (!fleet.problem.empty())
    out += Coloured("! the documents in force cannot be resolved:", Tone::kBad, terminal) + " " +
           Printable(fleet.problem) + "\n";
  if (!fleet.read_only.empty())
    out += Coloured("! the controller takes no changes:", Tone::kBad, terminal) + " " +
           Printable(fleet.read_only) + "\n";
}

void AddMissingFeatures(std::string& out, const FleetView& fleet, const Terminal& terminal) {
  std::map<std::string, std::vector<std::string>> lacking;
  for (const NodeView& node : fleet.nodes)
    for (const std::string& feature : node.status->missing_features())
      lacking[feature].push_back(node.status->node());
  for (const auto& [feature, nodes] : lacking)
    out += Coloured("! missing feature:", Tone::kWarn, terminal) + " " + Printable(feature) + "  " +
           NodesText(nodes) + "\n";
}

WouldChange WouldChangeOf(const FleetView& fleet) {
  WouldChange would;
  for (const NodeView& node : fleet.nodes)
    if (!node.unreachable)
      for (const Finding& finding : node.findings)
        would.Add(finding.reason, node.status->node(), finding.key);
  return would;
}

}  // namespace

Json StatusJson(const FleetView& fleet) {
  Json json = StatusShape({fleet.generation}, Shapes(fleet));
  json["complete"] = fleet.complete;  // an inventory without nodes is not complete
  for (std::size_t i = 0; i < fleet.nodes.size(); ++i) {
    const NodeView& node = fleet.nodes[i];
    const v1::NodeStatus& status = *node.status;
    Json& row = json["nodes"][i];
    row["desired_generation"] = status.desired_generation();
    row["connected"] = status.connected();
    row["settled"] = status.settled();
    row["reachable"] = !node.unreachable;
    row["note"] = node.note;
    row["role"] = status.role();
    row["rack"] = status.rack();
    row["retired"] = status.retired();
    row["corrected"] = status.corrected();
    row["missing_features"] = Json::array();
    for (const std::string& feature : status.missing_features()) row["missing_features"].push_back(feature);
  }
  json["read_only"] = fleet.read_only;
  json["problem"] = fleet.problem;
  json["retired"] = fleet.retired;
  json["pauses"] = Json::array();
  for (const Pause& pause : fleet.pauses) json["pauses"].push_back(ToJson(pause));
  return json;
}

std::string StatusTable(const FleetView& fleet, const Terminal& terminal, WallTime now) {
  Table table({{.header = "NODE"},
               {.header = "VERDICT"},
               {.header = "GEN", .right = true},
               {.header = "SEEN"},
               {.header = "PROBLEMS"}});
  for (const NodeView& node : fleet.nodes) {
    const std::string seen =
        node.status->connected() ? "connected" : SeenText(node.status->last_seen_unix_us(), now);
    table.Add({node.status->node(), VerdictCell(node.verdict, terminal),
               node.status->generation() == 0 ? "" : std::to_string(node.status->generation()), seen,
               ProblemCell(node)});
  }
  std::string out = table.Render(terminal);
  const std::vector<FindingGroup> problems = GroupFindings(fleet, IsProblem);
  if (!problems.empty()) out += "\n";
  for (const FindingGroup& group : problems) AddProblem(out, group, terminal);
  if (!out.empty()) out += "\n";
  AddMissingFeatures(out, fleet, terminal);
  AddNotices(out, fleet, terminal);
  return out + HealthLine(fleet, problems, terminal);
}

Json DriftJson(const FleetView& fleet) {
  Json json = StatusShape({fleet.generation}, Shapes(fleet));
  json.erase("nodes");
  json["complete"] = fleet.complete;
  json["drift"] = Json::array();
  json["not_answered"] = Json::array();
  json["would_change"] = WouldChangeOf(fleet).ToJson();
  for (const NodeView& node : fleet.nodes) {
    if (node.unreachable) {
      const std::int64_t seen = node.status->last_seen_unix_us();
      json["not_answered"].push_back(
          {{"node", node.status->node()},
           {"last_seen", seen == 0 ? Json(nullptr) : Json(Rfc3339(TimeOf(seen)))}});
      continue;
    }
    for (const Finding& finding : node.findings) {
      if (!IsDifference(finding)) continue;
      Json row = {{"node", node.status->node()}};
      row.update(ToJson(finding));
      json["drift"].push_back(std::move(row));
    }
  }
  return json;
}

ExitCode DriftExit(const FleetView& fleet) {
  Outcome outcome;
  for (const NodeView& node : fleet.nodes) {
    const bool differs = std::any_of(node.findings.begin(), node.findings.end(), IsDifference);
    const bool behind =
        !node.note.empty() && (node.verdict == Verdict::kDrifted || node.verdict == Verdict::kPending);
    if (!node.unreachable && (differs || behind)) outcome.Add(ExitCode::kDifferences);
  }
  if (!fleet.complete) outcome.Add(ExitCode::kIncomplete);
  return outcome.code();
}

std::string DriftTable(const FleetView& fleet, const Terminal& terminal) {
  const std::vector<FindingGroup> groups = GroupFindings(fleet, IsDifference);
  Table table({{.header = "VERDICT"},
               {.header = "KEY"},
               {.header = "TARGET"},
               {.header = "WANTED", .max_width = 32},
               {.header = "SEEN", .max_width = 32},
               {.header = "REASON"},
               {.header = "NODES"}});
  std::vector<std::string> nodes;
  std::size_t differences = 0;
  for (const FindingGroup& group : groups) {
    const Finding& one = group.finding;
    table.Add({VerdictCell(one.verdict, terminal), one.key, one.target, one.desired, one.observed, one.reason,
               NodesText(group.nodes)});
    differences += group.nodes.size();
    nodes.insert(nodes.end(), group.nodes.begin(), group.nodes.end());
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  std::string out = table.Render(terminal);
  if (!out.empty()) out += "\n";
  for (const NodeView& node : fleet.nodes)
    if (node.unreachable || (node.verdict != Verdict::kCompliant && !node.note.empty()))
      out += Glyph(node.verdict, terminal) + " " + node.status->node() + ": " + Printable(node.note) + "\n";
  if (fleet.nodes.empty()) return out + HealthLine(fleet, groups, terminal);
  const std::uint64_t answered = fleet.nodes.size() - fleet.unreachable;
  const std::string of = std::to_string(answered) + " of " + Plural(fleet.nodes.size(), "node") + " answered";
  const ExitCode exit = DriftExit(fleet);
  const std::string glyph = Glyph(exit == ExitCode::kDone          ? Verdict::kCompliant
                                  : exit == ExitCode::kDifferences ? Verdict::kDrifted
                                                                   : Verdict::kUnknown,
                                  terminal);
  if (const std::string would = WouldChangeOf(fleet).Sentence(); !would.empty())
    out += Coloured("~ ", Tone::kWarn, terminal) + Printable(would) + "\n";
  if (groups.empty()) return out + glyph + " no difference seen; " + of + "\n";
  out += glyph + " " + Plural(differences, "difference") + " on " + Plural(nodes.size(), "node") + "; " + of +
         (terminal.utf8 ? " · next: " : ", next: ") + NextStep(fleet, groups) + "\n";
  return out;
}

}  // namespace railwright::cli
