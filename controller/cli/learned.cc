#include "controller/cli/learned.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace railwright::cli {
namespace {

using Kind = SameAnswer::Kind;
using Agreement = LearnedSetting::Agreement;

// A value that a document can hold and a person can read in it.
bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '\n' || c == '\t' || (c >= ' ' && c < 0x7f); });
}

SameAnswer AnswerOf(const v1::ObservedValue& value, const CatalogDeclarations& catalog) {
  const auto unread = [](std::string reason, std::string why) {
    return SameAnswer{Kind::kUnread, std::move(reason), std::move(why), {}};
  };
  switch (value.kind()) {
    case v1::ObservedValue::KIND_NOT_APPLICABLE:
      return {Kind::kNotApplicable, value.reason(), value.message(), {}};
    case v1::ObservedValue::KIND_ABSENT: return {Kind::kNotSet, "", "", {}};
    case v1::ObservedValue::KIND_VALUE: break;
    default: return unread(value.reason().empty() ? "ReadFailed" : value.reason(), value.message());
  }
  if (value.pending_reboot()) return unread("NeedsReboot", "what is set takes effect at the next boot");
  if (!value.no_wish().empty()) return {Kind::kUnsayable, value.value(), value.no_wish(), {}};
  const auto canonical = catalog.Canonical(value.key(), value.wish());
  if (!canonical.ok()) return {Kind::kUnsayable, value.wish(), canonical.status().message(), {}};
  if (*canonical != value.wish() || !IsPlain(value.wish()))
    return {Kind::kUnsayable, value.wish(), "it would be read as another value", {}};
  return {Kind::kWish, value.wish(), "", {}};
}

// The answers to one question, each once.
class Poll {
 public:
  void Add(SameAnswer answer, SeenAt place) {
    // The sentence that goes with a reason names the place, so it does not tell two answers apart.
    auto& same = answers_[{answer.kind, answer.text}];
    if (same.places.empty()) same = std::move(answer);
    same.places.push_back(std::move(place));
  }
  std::vector<SameAnswer> Take() {
    std::vector<SameAnswer> list;
    for (auto& [what, answer] : answers_) {
      std::sort(answer.places.begin(), answer.places.end());
      list.push_back(std::move(answer));
    }
    const auto rank = [](const SameAnswer& answer) {
      return answer.kind >= Kind::kNotApplicable ? static_cast<int>(answer.kind) : 0;
    };
    std::stable_sort(list.begin(), list.end(), [&](const SameAnswer& a, const SameAnswer& b) {
      return std::tuple{rank(a), b.places.size()} < std::tuple{rank(b), a.places.size()};
    });
    return list;
  }

 private:
  std::map<std::pair<Kind, std::string>, SameAnswer> answers_;
};

// Port name → value, when each port has one value on all nodes, and there are several ports.
std::map<std::string, std::string> ByPort(const std::vector<SameAnswer>& said) {
  std::map<std::string, std::string> by_port;
  for (const SameAnswer& answer : said) {
    if (answer.kind != Kind::kWish) return {};
    for (const SeenAt& place : answer.places)
      if (place.port.empty() || by_port.emplace(place.port, answer.text).first->second != answer.text)
        return {};
  }
  return by_port;
}

void Judge(LearnedSetting& setting) {
  std::vector<SameAnswer> said;  // what is evidence
  bool unread = false;
  for (const SameAnswer& answer : setting.answers) {
    unread = unread || answer.kind == Kind::kUnread;
    if (answer.kind < Kind::kNotApplicable) said.push_back(answer);
  }
  const bool any_wish = std::any_of(said.begin(), said.end(),
                                    [](const SameAnswer& answer) { return answer.kind == Kind::kWish; });
  // A majority is one: two values with as many places each are none.
  if (!said.empty() && said[0].kind == Kind::kWish &&
      (said.size() == 1 || said[0].places.size() > said[1].places.size()))
    setting.value = said[0].text;
  if (unread) {
    setting.agreement = Agreement::kUnread;
  } else if (said.empty()) {
    setting.agreement = Agreement::kNotApplicable;
  } else if (said.size() == 1) {
    setting.agreement = any_wish                        ? Agreement::kAgreed
                        : said[0].kind == Kind::kNotSet ? Agreement::kNotSet
                                                        : Agreement::kUnsayable;
  } else if (!any_wish && said[0].kind == Kind::kUnsayable && said[1].kind == Kind::kUnsayable) {
    setting.agreement = Agreement::kUnsayable;
  } else {
    setting.by_port = ByPort(said);
    setting.agreement = setting.by_port.empty() ? Agreement::kDiffers : Agreement::kByPort;
  }
}

// Key → the profile that asks for it on one of these nodes.
std::map<std::string, std::string> DeclaredKeys(const Resolved& in_force,
                                                const std::vector<std::string>& nodes,
                                                const std::string& own) {
  std::map<std::string, std::string> keys;
  for (const std::string& name : nodes) {
    const auto node = in_force.nodes.find(name);
    if (node == in_force.nodes.end()) continue;
    for (const auto& [at, layers] : *node->second.layers)
      for (const Layer& layer : layers)
        if (layer.origin.document != own) keys.emplace(at.key, layer.origin.document);
  }
  return keys;
}

// By name; what could be fabric ports counts as such where none is declared.
std::map<std::string, const v1::ObservedPort*> FabricPorts(const v1::ObservedNode& node) {
  std::map<std::string, const v1::ObservedPort*> ports;
  for (const v1::ObservedPort& port : node.ports())
    if (port.port().role() == v1::PORT_ROLE_FABRIC) ports.emplace(port.port().name(), &port);
  for (const v1::ObservedPort& port : node.proposed()) ports.emplace(port.port().name(), &port);
  return ports;
}

// What a node did not say although others did is unread there: the answer had no room, a port is not bound,
// or its agent does not know the key.
void AddSilent(const std::vector<v1::ObservedNode>& nodes, const std::map<std::string, TargetKind>& targets,
               const std::map<std::string, std::set<SeenAt>>& told, std::map<std::string, Poll>& polls) {
  const SameAnswer not_told{Kind::kUnread, "NotTold", "the node's answer does not have it", {}};
  for (const v1::ObservedNode& node : nodes) {
    const auto ports = FabricPorts(node);
    for (const auto& [key, places] : told) {
      if (targets.at(key) == TargetKind::kNode) {
        if (!places.contains({node.node(), ""})) polls[key].Add(not_told, {node.node(), ""});
        continue;
      }
      for (const auto& [name, port] : ports) {
        if (places.contains({node.node(), name})) continue;
        const bool bound = !port->netdev().empty();
        polls[key].Add(bound ? not_told : SameAnswer{Kind::kUnread, "PortNotFound", port->message(), {}},
                       {node.node(), name});
      }
    }
  }
}

}  // namespace

std::vector<LearnedSetting> Learn(const std::vector<v1::ObservedNode>& nodes,
                                  const CatalogDeclarations& catalog, const Resolved& in_force,
                                  const std::vector<std::string>& declared_for, const std::string& own) {
  std::map<std::string, Poll> polls;
  std::map<std::string, TargetKind> targets;
  std::map<std::string, std::set<SeenAt>> told;
  for (const v1::ObservedNode& node : nodes) {
    const auto ports = FabricPorts(node);
    for (const v1::ObservedValue& value : node.values()) {
      const auto match = catalog.Find(value.key());
      // A key of a newer agent cannot be declared by this railctl: it is not in its catalogue.
      if (!match.ok() || match->key != value.key()) continue;
      if (match->targets == TargetKind::kPort ? !ports.contains(value.target()) : !value.target().empty())
        continue;
      SeenAt place{node.node(), value.target()};
      if (!told[value.key()].insert(place).second) continue;
      targets[value.key()] = match->targets;
      polls[value.key()].Add(AnswerOf(value, catalog), std::move(place));
    }
  }
  AddSilent(nodes, targets, told, polls);

  const auto declared = DeclaredKeys(in_force, declared_for, own);
  std::vector<LearnedSetting> learned;
  for (auto& [key, poll] : polls) {
    LearnedSetting setting;
    setting.key = key;
    setting.targets = targets.at(key);
    setting.answers = poll.Take();
    Judge(setting);
    if (const auto by = declared.find(key); by != declared.end()) {
      setting.agreement = Agreement::kDeclared;
      setting.declared_by = by->second;
    }
    learned.push_back(std::move(setting));
  }
  return learned;
}

std::string PlacesText(const std::vector<SeenAt>& places, const std::vector<SeenAt>& all) {
  std::map<std::string, std::set<std::string>> here, everywhere;
  for (const SeenAt& place : places) here[place.node].insert(place.port);
  for (const SeenAt& place : all) everywhere[place.node].insert(place.port);
  // "" or " rail0, rail1" → the nodes it holds for.
  std::map<std::string, std::vector<std::string>> nodes;
  for (const auto& [node, ports] : here) {
    std::string which;
    if (ports != everywhere[node])
      for (const std::string& port : ports) which += (which.empty() ? " " : ",") + port;
    nodes[which].push_back(node);
  }
  std::string text;
  for (const auto& [ports, names] : nodes) text += (text.empty() ? "" : "; ") + FoldNames(names) + ports;
  return text;
}

}  // namespace railwright::cli
