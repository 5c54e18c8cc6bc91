#include "core/text/shapes.h"

#include <algorithm>

#include "core/text/times.h"
#include "railwright/unix_time.h"

namespace railwright {
namespace {

using Json = nlohmann::ordered_json;

// An object member by member. A list of pairs in braces becomes arrays first, is searched for pairs, and
// copied: five times as dear, and a check prints hundreds of them.
class Object {
 public:
  explicit Object(std::size_t members) { Members().reserve(members); }
  Object& Add(const char* name, Json value) {
    Members().emplace_back(name, std::move(value));
    return *this;
  }
  Json Done() { return std::move(json_); }

 private:
  Json::object_t& Members() { return json_.get_ref<Json::object_t&>(); }
  Json json_ = Json::object();
};

Json ToJson(const Origin& origin) {
  return Object(2).Add("document", origin.document).Add("place", origin.place).Done();
}

Json ToJson(const Noticed& noticed) {
  return {{"by", noticed.by_event ? noticed.source : "scan"}, {"worst_ms", noticed.worst.count()}};
}

std::string_view Name(Effect effect) {
  switch (effect) {
    case Effect::kRuntime: return "runtime";
    case Effect::kNeedsReboot: return "reboot";
    case Effect::kNextBoot: return "next-boot";
    case Effect::kObserveOnly: break;
  }
  return "observe-only";
}

bool HasUnknown(const NodeShape& node) {
  return node.verdict == Verdict::kUnknown ||
         std::any_of(node.findings.begin(), node.findings.end(),
                     [](const Finding& finding) { return finding.verdict == Verdict::kUnknown; });
}

}  // namespace

Json ToJson(const Finding& finding) {
  return Object(12)
      .Add("code", finding.code)
      .Add("key", finding.key)
      .Add("target", finding.target)
      .Add("desired", finding.desired)
      .Add("observed", finding.observed)
      .Add("verdict", railwright::Name(finding.verdict))
      .Add("reason", finding.reason)
      .Add("message", finding.message)
      .Add("fix", finding.fix)
      .Add("mode", railwright::Name(finding.mode))
      .Add("evidence", finding.evidence)
      .Add("origin", ToJson(finding.origin))
      .Done();
}

Json ToJson(const ChangeRecord& change) {
  return {{"sequence", change.sequence},
          {"kind", railwright::Name(change.kind)},
          {"key", change.key},
          {"target", change.target},
          {"from", change.from},
          {"to", change.to},
          {"by", change.by},
          {"noticed", change.noticed},
          {"ok", change.ok},
          {"message", change.message},
          {"generation", change.generation.value},
          {"at", Rfc3339(change.at)},
          {"at_unix_us", ToUnixMicros(change.at)},
          {"took_us", change.took.count()}};
}

Json ToJson(const Step& step) {
  return {{"key", step.key},
          {"target", step.target},
          {"from", step.from},
          {"to", step.to},
          {"disruption", railwright::Name(step.disruption)},
          {"blast", step.blast},
          {"why", step.why},
          {"origin", ToJson(step.origin)},
          {"mode", railwright::Name(step.mode)},
          {"refused", step.refused},
          {"refused_message", step.refused_message},
          {"next_boot", step.next_boot}};
}

Json ToJson(const Pause& pause) {
  return {{"node", pause.node}, {"key", pause.key}, {"by", pause.by}, {"reason", pause.reason}};
}

Json StatusShape(Generation generation, const std::vector<NodeShape>& nodes) {
  std::uint64_t compliant = 0, drifted = 0, pending = 0, unknown = 0, unreachable = 0;
  bool complete = true;
  Json rows = Json::array();
  for (const NodeShape& node : nodes) {
    if (node.unreachable)
      ++unreachable;
    else if (node.verdict == Verdict::kCompliant)
      ++compliant;
    else if (node.verdict == Verdict::kDrifted)
      ++drifted;
    else if (node.verdict == Verdict::kPending)
      ++pending;
    else
      ++unknown;
    if (node.unreachable || HasUnknown(node)) complete = false;
    Json findings = Json::array();
    for (const Finding& finding : node.findings) findings.push_back(railwright::ToJson(finding));
    rows.push_back({{"name", node.node},
                    {"generation", node.generation.value},
                    {"verdict", railwright::Name(node.verdict)},
                    {"last_seen", node.last_seen ? Json(Rfc3339(*node.last_seen)) : Json(nullptr)},
                    {"findings", std::move(findings)}});
  }
  return {{"generation", generation.value},
          {"complete", complete},
          {"summary",
           {{"nodes", nodes.size()},
            {"compliant", compliant},
            {"drifted", drifted},
            {"pending", pending},
            {"unknown", unknown},
            {"unreachable", unreachable}}},
          {"nodes", std::move(rows)}};
}

Json CatalogShape(const std::vector<const SettingInfo*>& settings,
                  const std::vector<const CheckInfo*>& checks, const std::string& hash) {
  Json setting_rows = Json::array(), check_rows = Json::array();
  for (const SettingInfo* info : settings)
    setting_rows.push_back({{"key", info->key},
                            {"help", info->help},
                            {"why", info->why},
                            {"targets", info->targets == TargetKind::kPort ? "port" : "node"},
                            {"syntax", info->syntax},
                            {"default", info->default_value},
                            {"disruption", railwright::Name(info->disruption)},
                            {"noticed", ToJson(info->noticed)},
                            {"code", info->code},
                            {"effect", Name(info->effect)},
                            {"interface", info->interface},
                            {"source", info->source}});
  for (const CheckInfo* info : checks)
    check_rows.push_back({{"key", info->key},
                          {"help", info->help},
                          {"why", info->why},
                          {"noticed", ToJson(info->noticed)},
                          {"code", info->code},
                          {"interface", info->interface}});
  return {{"hash", hash}, {"settings", std::move(setting_rows)}, {"checks", std::move(check_rows)}};
}

}  // namespace railwright
