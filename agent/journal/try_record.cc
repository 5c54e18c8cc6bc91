#include "agent/journal/try_record.h"

#include <charconv>
#include <cstdint>

namespace railwright {
namespace {

using nlohmann::json;

Status Damaged(std::string what) { return Status(Code::kDataLoss, std::move(what)); }

json List(const std::vector<std::string>& texts) {
  json list = json::array();
  for (const std::string& text : texts) list.push_back(BytesToText(text));
  return list;
}

Result<std::vector<std::string>> ListOf(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array()) return Damaged("no list \"" + std::string(name) + "\"");
  std::vector<std::string> texts;
  for (const json& item : *found) {
    const auto bytes = item.is_string() ? TextToBytes(item.get_ref<const std::string&>()) : std::nullopt;
    if (!bytes) return Damaged("in \"" + std::string(name) + "\": no text");
    texts.push_back(*bytes);
  }
  return texts;
}

// Numbers are texts: no reader of JSON rounds them.
Result<std::uint64_t> NumberOf(const json& object, const char* name) {
  RW_ASSIGN_OR_RETURN(const std::string text, Member(object, name));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > INT64_MAX)
    return Damaged("\"" + std::string(name) + "\" is no number");
  return number;
}

Result<bool> FlagOf(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_boolean())
    return Damaged("\"" + std::string(name) + "\" is neither true nor false");
  return found->get<bool>();
}

Result<const json*> ObjectsOf(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array()) return Damaged("no list \"" + std::string(name) + "\"");
  for (const json& item : *found)
    if (!item.is_object()) return Damaged("in \"" + std::string(name) + "\": no object");
  return &*found;
}

json ToJson(const Port& port) {
  return {{"name", BytesToText(port.name)},    {"role", Name(port.role)},
          {"pci", BytesToText(port.pci)},      {"netdev", BytesToText(port.netdev)},
          {"addresses", List(port.addresses)}, {"gateways", List(port.gateways)}};
}

Result<Port> PortOf(const json& object) {
  Port port;
  RW_ASSIGN_OR_RETURN(port.name, Member(object, "name"));
  RW_ASSIGN_OR_RETURN(const std::string role, Member(object, "role"));
  const auto parsed = ParsePortRole(role);
  if (!parsed) return Damaged("unknown role \"" + role + "\"");
  port.role = *parsed;
  RW_ASSIGN_OR_RETURN(port.pci, Member(object, "pci"));
  RW_ASSIGN_OR_RETURN(port.netdev, Member(object, "netdev"));
  RW_ASSIGN_OR_RETURN(port.addresses, ListOf(object, "addresses"));
  RW_ASSIGN_OR_RETURN(port.gateways, ListOf(object, "gateways"));
  return port;
}

Result<OpenTry::Step> StepOf(const json& object) {
  OpenTry::Step step;
  RW_ASSIGN_OR_RETURN(step.key, Member(object, "key"));
  RW_ASSIGN_OR_RETURN(step.target, Member(object, "target"));
  RW_ASSIGN_OR_RETURN(const std::string kind, Member(object, "kind"));
  RW_ASSIGN_OR_RETURN(step.kind, ParseKind(kind));
  RW_ASSIGN_OR_RETURN(step.before, Member(object, "before"));
  RW_ASSIGN_OR_RETURN(step.to, Member(object, "to"));
  RW_ASSIGN_OR_RETURN(step.ports, ListOf(object, "ports"));
  return step;
}

Result<OpenTry::Evidence> EvidenceOf(const json& object) {
  OpenTry::Evidence evidence;
  RW_ASSIGN_OR_RETURN(evidence.port, Member(object, "port"));
  RW_ASSIGN_OR_RETURN(evidence.link, FlagOf(object, "link"));
  RW_ASSIGN_OR_RETURN(evidence.speed, NumberOf(object, "speed"));
  RW_ASSIGN_OR_RETURN(evidence.gids, ListOf(object, "gids"));
  RW_ASSIGN_OR_RETURN(evidence.peers, ListOf(object, "peers"));
  RW_ASSIGN_OR_RETURN(evidence.addresses, Member(object, "addresses"));
  RW_ASSIGN_OR_RETURN(evidence.routes, Member(object, "routes"));
  return evidence;
}

}  // namespace

json ToJson(const OpenTry& open) {
  json object = {{"boot", BytesToText(open.boot_id)},
                 {"begun_ms", std::to_string(open.begun.count())},
                 {"deadline_ms", std::to_string(open.deadline.count())},
                 {"generation", std::to_string(open.generation.value)},
                 {"controller", open.controller},
                 {"steps", json::array()},
                 {"evidence", json::array()},
                 {"ports", json::array()}};
  for (const OpenTry::Step& step : open.steps)
    object["steps"].push_back({{"key", BytesToText(step.key)},
                               {"target", BytesToText(step.target)},
                               {"kind", Name(step.kind)},
                               {"before", BytesToText(step.before)},
                               {"to", BytesToText(step.to)},
                               {"ports", List(step.ports)}});
  for (const OpenTry::Evidence& evidence : open.evidence)
    object["evidence"].push_back({{"port", BytesToText(evidence.port)},
                                  {"link", evidence.link},
                                  {"speed", std::to_string(evidence.speed)},
                                  {"gids", List(evidence.gids)},
                                  {"peers", List(evidence.peers)},
                                  {"addresses", BytesToText(evidence.addresses)},
                                  {"routes", BytesToText(evidence.routes)}});
  for (const Port& port : open.ports) object["ports"].push_back(ToJson(port));
  return object;
}

json ToJson(const FailedTry& failed) {
  return {{"generation", std::to_string(failed.generation.value)},
          {"reason", BytesToText(failed.reason)},
          {"message", BytesToText(failed.message)}};
}

Result<OpenTry> TryOf(const json& object) {
  OpenTry open;
  RW_ASSIGN_OR_RETURN(open.boot_id, Member(object, "boot"));
  RW_ASSIGN_OR_RETURN(const std::uint64_t begun, NumberOf(object, "begun_ms"));
  RW_ASSIGN_OR_RETURN(const std::uint64_t deadline, NumberOf(object, "deadline_ms"));
  open.begun = std::chrono::milliseconds(begun);
  open.deadline = std::chrono::milliseconds(deadline);
  RW_ASSIGN_OR_RETURN(open.generation.value, NumberOf(object, "generation"));
  RW_ASSIGN_OR_RETURN(open.controller, FlagOf(object, "controller"));
  RW_ASSIGN_OR_RETURN(const json* steps, ObjectsOf(object, "steps"));
  for (const json& item : *steps) {
    RW_ASSIGN_OR_RETURN(OpenTry::Step step, StepOf(item));
    open.steps.push_back(std::move(step));
  }
  RW_ASSIGN_OR_RETURN(const json* evidence, ObjectsOf(object, "evidence"));
  for (const json& item : *evidence) {
    RW_ASSIGN_OR_RETURN(OpenTry::Evidence one, EvidenceOf(item));
    open.evidence.push_back(std::move(one));
  }
  RW_ASSIGN_OR_RETURN(const json* ports, ObjectsOf(object, "ports"));
  for (const json& item : *ports) {
    RW_ASSIGN_OR_RETURN(Port port, PortOf(item));
    open.ports.push_back(std::move(port));
  }
  return open;
}

Result<FailedTry> FailedTryOf(const json& object) {
  FailedTry failed;
  RW_ASSIGN_OR_RETURN(failed.key, Member(object, "key"));
  RW_ASSIGN_OR_RETURN(failed.target, Member(object, "target"));
  RW_ASSIGN_OR_RETURN(failed.generation.value, NumberOf(object, "generation"));
  RW_ASSIGN_OR_RETURN(failed.reason, Member(object, "reason"));
  RW_ASSIGN_OR_RETURN(failed.message, Member(object, "message"));
  return failed;
}

}  // namespace railwright
