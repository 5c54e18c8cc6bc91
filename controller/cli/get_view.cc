#include "controller/cli/get_view.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/text/times.h"
#include "core/wire/wire.h"

namespace railwright::cli {
namespace {

using Json = nlohmann::ordered_json;

Json TimeJson(std::int64_t unix_us) { return unix_us == 0 ? Json(nullptr) : Json(Rfc3339(TimeOf(unix_us))); }

template <class Map>
Json MapJson(const Map& map) {
  std::map<std::string, std::string> sorted(map.begin(), map.end());
  Json json = Json::object();
  for (const auto& [key, value] : sorted) json[key] = value;
  return json;
}

template <class Names>
Json ListJson(const Names& names) {
  Json json = Json::array();
  for (const auto& name : names) json.push_back(name);
  return json;
}

template <class Names>
std::string Joined(const Names& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Json PortsJson(const google::protobuf::RepeatedPtrField<v1::Port>& ports) {
  Json json = Json::array();
  for (const v1::Port& port : ports)
    json.push_back({{"name", port.name()},
                    {"role", Name(FromWire(port.role()))},
                    {"pci", port.pci()},
                    {"netdev", port.netdev()},
                    {"addresses", ListJson(port.addresses())},
                    {"gateways", ListJson(port.gateways())}});
  return json;
}

std::string LabelsText(const v1::NodeStatus& status) {
  std::map<std::string, std::string> sorted(status.labels().begin(), status.labels().end());
  std::string text;
  for (const auto& [key, value] : sorted) text += (text.empty() ? "" : ",") + key + "=" + value;
  return text;
}

Json Select(const FleetView& fleet, const std::string& key, bool with_checks) {
  Json rows = Json::array();
  for (const NodeView& node : fleet.nodes)
    for (const Finding& finding : node.findings) {
      if ((!key.empty() && finding.key != key) || (!with_checks && finding.desired.empty())) continue;
      Json row = {{"node", node.status->node()}};
      row.update(ToJson(finding));
      rows.push_back(std::move(row));
    }
  return rows;
}

// What changed; the side that was or is not there is left out.
std::string FromTo(const ChangeRecord& change, const Terminal& terminal) {
  const std::string arrow = terminal.utf8 ? "→ " : "-> ";
  if (change.from.empty()) return arrow + change.to;
  return change.from + " " + arrow + (change.to.empty() ? "nothing" : change.to);
}

}  // namespace

Json NodesJson(const FleetView& fleet) {
  Json nodes = Json::array();
  for (const NodeView& node : fleet.nodes) {
    const v1::NodeStatus& status = *node.status;
    nodes.push_back({{"name", status.node()},
                     {"role", status.role()},
                     {"rack", status.rack()},
                     {"labels", MapJson(status.labels())},
                     {"verdict", Name(node.verdict)},
                     {"generation", status.generation()},
                     {"desired_generation", status.desired_generation()},
                     {"connected", status.connected()},
                     {"last_seen", TimeJson(status.last_seen_unix_us())},
                     {"note", node.note},
                     {"agent_version", status.agent_version()},
                     {"boot_id", status.boot_id()},
                     {"corrected", status.corrected()},
                     {"missing_features", ListJson(status.missing_features())},
                     {"ports", PortsJson(status.ports())}});
  }
  return {{"generation", fleet.generation}, {"nodes", std::move(nodes)}};
}

std::string NodesTable(const FleetView& fleet, const Terminal& terminal, WallTime now) {
  Table table({{.header = "NODE"},
               {.header = "ROLE"},
               {.header = "RACK"},
               {.header = "VERDICT"},
               {.header = "GEN", .right = true},
               {.header = "SEEN"},
               {.header = "AGENT"},
               {.header = "CORRECTED", .right = true},
               {.header = "PORTS"},
               {.header = "LABELS"}});
  for (const NodeView& node : fleet.nodes) {
    const v1::NodeStatus& status = *node.status;
    std::string ports;
    for (const v1::Port& port : status.ports()) ports += (ports.empty() ? "" : ",") + port.name();
    table.Add({status.node(), status.role(), status.rack(), VerdictCell(node.verdict, terminal),
               std::to_string(status.generation()),
               status.connected() ? "connected" : SeenText(status.last_seen_unix_us(), now),
               status.agent_version(), std::to_string(status.corrected()), ports, LabelsText(status)});
  }
  return table.empty() ? "no node is declared; next: railctl apply -f FILE with a Cluster document\n"
                       : table.Render(terminal);
}

Json SettingsJson(const FleetView& fleet, const std::string& key) {
  return {{"generation", fleet.generation}, {"settings", Select(fleet, key, false)}};
}

std::string SettingsTable(const FleetView& fleet, const std::string& key, const Terminal& terminal) {
  FleetView chosen = fleet;
  for (NodeView& node : chosen.nodes)
    std::erase_if(node.findings, [&](const Finding& one) { return !key.empty() && one.key != key; });
  std::vector<FindingGroup> groups =
      GroupFindings(chosen, [](const Finding& one) { return !one.desired.empty(); });
  std::stable_sort(groups.begin(), groups.end(), [](const FindingGroup& a, const FindingGroup& b) {
    return std::tie(a.finding.key, a.finding.target) < std::tie(b.finding.key, b.finding.target);
  });
  Table table({{.header = "KEY"},
               {.header = "TARGET"},
               {.header = "WANTED", .max_width = 32},
               {.header = "SEEN", .max_width = 32},
               {.header = "VERDICT"},
               {.header = "MODE"},
               {.header = "SET BY"},
               {.header = "NODES"}});
  for (const FindingGroup& group : groups) {
    const Finding& one = group.finding;
    table.Add({one.key, one.target, one.desired, one.observed, VerdictCell(one.verdict, terminal),
               std::string(Name(one.mode)), one.origin.document, NodesText(group.nodes)});
  }
  return table.empty() ? "no setting is declared on these nodes, or no agent has reported yet\n"
                       : table.Render(terminal);
}

Json FindingsJson(const FleetView& fleet, const std::string& key) {
  return {{"generation", fleet.generation}, {"findings", Select(fleet, key, true)}};
}

std::string FindingsTable(const FleetView& fleet, const std::string& key, const Terminal& terminal) {
  Table table({{.header = "NODE"},
               {.header = "CODE"},
               {.header = "VERDICT"},
               {.header = "KEY"},
               {.header = "TARGET"},
               {.header = "REASON"},
               {.header = "EVIDENCE"}});
  for (const NodeView& node : fleet.nodes)
    for (const Finding& one : node.findings)
      if (key.empty() || one.key == key)
        table.Add({node.status->node(), one.code, VerdictCell(one.verdict, terminal), one.key, one.target,
                   one.reason, one.message.empty() ? Joined(one.evidence) : one.message});
  return table.empty() ? "no finding; no agent has reported yet\n" : table.Render(terminal);
}

Json ChangesJson(const v1::ChangesResponse& answer) {
  Json rows = Json::array();
  for (const v1::NodeChange& one : answer.changes()) {
    Json row = {{"node", one.node()}};
    row.update(ToJson(FromWire(one.change())));
    row["at_unix_us"] = one.change().at_unix_us();
    rows.push_back(std::move(row));
  }
  return {{"changes", std::move(rows)}, {"more", answer.more()}};
}

std::string ChangesTable(const v1::ChangesResponse& answer, const Terminal& terminal, WallTime now) {
  Table table({{.header = "WHEN"},
               {.header = "NODE"},
               {.header = "KIND"},
               {.header = "KEY"},
               {.header = "TARGET"},
               {.header = "CHANGE", .max_width = 48},
               {.header = "TOOK", .right = true},
               {.header = "NOTICED"},
               {.header = "BY"},
               {.header = "RESULT"}});
  for (const v1::NodeChange& one : answer.changes()) {
    const ChangeRecord change = FromWire(one.change());
    const bool failed =
        !change.ok && change.kind != ChangeKind::kDrift && change.kind != ChangeKind::kContended;
    table.Add(
        {Ago(now - change.at), one.node(), std::string(Name(change.kind)), change.key, change.target,
         FromTo(change, terminal), change.took.count() > 0 ? Took(change.took) : "", change.noticed,
         change.by,
         failed ? Cell("failed: " + change.message, Tone::kBad) : Cell(change.ok ? "ok" : change.message)});
  }
  if (table.empty()) return "no change is recorded\n";
  return table.Render(terminal) + (answer.more() ? "There is more: --limit, --since, --key\n" : "");
}

Json GenerationsJson(const v1::GenerationsResponse& answer) {
  Json rows = Json::array();
  for (const v1::GenerationInfo& one : answer.generations())
    rows.push_back({{"generation", one.generation()},
                    {"created", TimeJson(one.created_unix_us())},
                    {"author", one.author()},
                    {"comment", one.comment()},
                    {"rolled_back_from", one.rolled_back_from()},
                    {"nodes", one.nodes()},
                    {"settings", one.settings()},
                    {"documents", ListJson(one.documents())}});
  return {{"generations", std::move(rows)}};
}

std::string GenerationsTable(const v1::GenerationsResponse& answer, const Terminal& terminal, WallTime now) {
  Table table({{.header = "GEN", .right = true},
               {.header = "CREATED"},
               {.header = "AUTHOR"},
               {.header = "NODES", .right = true},
               {.header = "SETTINGS", .right = true},
               {.header = "COMMENT"},
               {.header = "DOCUMENTS"}});
  for (const v1::GenerationInfo& one : answer.generations()) {
    std::string comment = one.comment();
    if (one.rolled_back_from() != 0)
      comment = "content of generation " + std::to_string(one.rolled_back_from()) +
                (comment.empty() ? "" : "; " + comment);
    table.Add({std::to_string(one.generation()), SeenText(one.created_unix_us(), now), one.author(),
               std::to_string(one.nodes()), std::to_string(one.settings()), comment,
               Joined(one.documents())});
  }
  return table.empty() ? "nothing was applied yet; next: railctl apply -f FILE\n" : table.Render(terminal);
}

Json DesiredJson(const std::string& node, const v1::DesiredResponse& answer) {
  Json settings = Json::array(), restore = Json::array();
  const auto add = [&](const v1::SettingSpec& one) {
    settings.push_back(
        {{"key", one.key()},
         {"target", one.target()},
         {"value", one.value()},
         {"mode", Name(FromWire(one.mode()))},
         {"origin", {{"document", one.origin().document()}, {"place", one.origin().place()}}}});
  };
  for (const v1::SettingSpec& one : answer.group().settings()) add(one);
  for (const v1::SettingSpec& one : answer.overlay().settings()) add(one);
  std::stable_sort(settings.begin(), settings.end(), [](const Json& a, const Json& b) {
    return std::tie(a["key"].get_ref<const std::string&>(), a["target"].get_ref<const std::string&>()) <
           std::tie(b["key"].get_ref<const std::string&>(), b["target"].get_ref<const std::string&>());
  });
  for (const v1::KeyTarget& one : answer.overlay().restore())
    restore.push_back({{"key", one.key()}, {"target", one.target()}});
  return {{"node", node},
          {"generation", answer.generation()},
          {"hash", answer.hash()},
          {"cluster", answer.group().cluster()},
          {"subnets", ListJson(answer.group().subnets())},
          {"ports", PortsJson(answer.overlay().ports())},
          {"settings", std::move(settings)},
          {"restore", std::move(restore)}};
}

std::string DesiredTable(const std::string& node, const v1::DesiredResponse& answer,
                         const Terminal& terminal) {
  const Json json = DesiredJson(node, answer);
  std::string out = node + ", cluster " + Printable(answer.group().cluster()) + ", generation " +
                    std::to_string(answer.generation()) + ", " + answer.hash().substr(0, 12) + "\n\n";
  Table ports({{.header = "PORT"},
               {.header = "ROLE"},
               {.header = "SELECTED BY"},
               {.header = "ADDRESSES"},
               {.header = "GATEWAYS"}});
  for (const v1::Port& port : answer.overlay().ports())
    ports.Add({port.name(), std::string(Name(FromWire(port.role()))),
               port.pci().empty() ? "netdev " + port.netdev() : "pci " + port.pci(), Joined(port.addresses()),
               Joined(port.gateways())});
  out += ports.Render(terminal);
  if (!ports.empty()) out += "\n";
  Table settings({{.header = "KEY"},
                  {.header = "TARGET"},
                  {.header = "VALUE", .max_width = 48},
                  {.header = "MODE"},
                  {.header = "SET BY"},
                  {.header = "AT"}});
  for (const Json& one : json["settings"])
    settings.Add({one["key"].get<std::string>(), one["target"].get<std::string>(),
                  one["value"].get<std::string>(), one["mode"].get<std::string>(),
                  one["origin"]["document"].get<std::string>(), one["origin"]["place"].get<std::string>()});
  out += settings.empty() ? "nothing is declared for this node\n" : settings.Render(terminal);
  for (const v1::KeyTarget& one : answer.overlay().restore())
    out += "put back to its original: " + Printable(one.key()) +
           (one.target().empty() ? "" : " " + Printable(one.target())) + "\n";
  return out;
}

Json AuditJson(const v1::AuditResponse& answer) {
  Json rows = Json::array();
  for (const v1::AuditEntry& one : answer.entries())
    rows.push_back({{"id", one.id()},
                    {"at", TimeJson(one.at_unix_us())},
                    {"who", one.who()},
                    {"action", one.action()},
                    {"subject", one.subject()},
                    {"detail", one.detail()},
                    {"from", one.from()},
                    {"serial", one.serial()},
                    {"outcome", one.outcome()}});
  return {{"entries", std::move(rows)}};
}

std::string AuditTable(const v1::AuditResponse& answer, const Terminal& terminal, WallTime now) {
  Table table({{.header = "ID", .right = true},
               {.header = "WHEN"},
               {.header = "WHO"},
               {.header = "FROM"},
               {.header = "SERIAL"},
               {.header = "ACTION"},
               {.header = "SUBJECT"},
               {.header = "OUTCOME"},
               {.header = "DETAIL"}});
  for (const v1::AuditEntry& one : answer.entries())
    table.Add({std::to_string(one.id()), SeenText(one.at_unix_us(), now), one.who(), one.from(), one.serial(),
               one.action(), one.subject(), one.outcome(), one.detail()});
  return table.empty() ? "nothing was asked yet\n" : table.Render(terminal);
}

}  // namespace railwright::cli
