#include "agent/reconcile/wish.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "agent/reconcile/text.h"
#include "railwright/utf8.h"

namespace railwright {
namespace {

void Understand(Wish& wish, const Catalog& catalog) {
  auto match = catalog.Find(wish.spec.key);
  if (!match.ok()) {
    wish.error = match.status();
    return;
  }
  wish.setting = match->setting;
  wish.target.param = std::move(match->param);
  wish.spec.key = std::move(match->key);  // two spellings are one key
  if (wish.restore) return;
  auto canonical = wish.setting->Canonical(wish.target.param, wish.spec.value);
  if (canonical.ok()) {
    wish.canonical = *std::move(canonical);
  } else {
    wish.error = canonical.status();
  }
}

Status Refused(const SettingSpec& spec, const std::string& why) {
  // Whatever of it is poison: short, so that the reason after it is still told.
  std::string message = Subject(Brief(spec.key), Brief(spec.target)) + " = \"" + Brief(spec.value) + "\"";
  if (!spec.origin.place.empty())
    message += " (" + Brief(spec.origin.document) + ", " + Brief(spec.origin.place) + ")";
  return Status(Code::kInvalidArgument, message + ": " + Brief(why, 400));
}

std::string PortNames(const DesiredState& state) {
  std::string names;
  for (const Port& port : state.ports) names += (names.empty() ? "" : ", ") + port.name;
  return names.empty() ? "none" : names;
}

}  // namespace

std::vector<Wish> MakeWishes(const DesiredState& state, const Catalog& catalog,
                             const std::vector<Original>& originals) {
  std::vector<Wish> wishes;
  std::set<KeyTarget> declared;
  for (const SettingSpec& spec : state.settings) {
    Wish wish;
    wish.spec = spec;
    Understand(wish, catalog);
    declared.insert({wish.spec.key, spec.target});
    wishes.push_back(std::move(wish));
  }
  for (const KeyTarget& place : state.restore) {
    Wish wish;
    wish.spec.key = place.key;
    wish.spec.target = place.target;
    wish.spec.mode = Mode::kEnforce;  // asked for by name
    wish.spec.origin.document = "restore";
    wish.restore.emplace();
    Understand(wish, catalog);
    if (!declared.insert({wish.spec.key, wish.spec.target}).second) continue;
    const auto original = std::find_if(originals.begin(), originals.end(), [&](const Original& one) {
      return one.key == wish.spec.key && one.target == wish.spec.target;
    });
    if (original == originals.end()) continue;  // never written here: nothing to put back
    wish.restore = *original;
    wish.spec.max_disruption = original->max_disruption;
    wishes.push_back(std::move(wish));
  }
  std::stable_sort(wishes.begin(), wishes.end(), [](const Wish& a, const Wish& b) {
    return std::tie(a.spec.key, a.spec.target) < std::tie(b.spec.key, b.spec.target);
  });
  return wishes;
}

void BindWish(Wish& wish, const NodeFacts& facts) {
  wish.target.name = wish.spec.target;
  wish.target.port = nullptr;
  wish.target.facts = &facts;
  wish.target.wish.clear();
  wish.unbound.clear();
  wish.desired.clear();
  wish.desired_error = Ok();
  if (wish.setting == nullptr || !wish.error.ok()) return;

  if (wish.setting->TargetsOf(wish.target.param) == TargetKind::kPort) {
    const auto port = std::find_if(facts.ports.begin(), facts.ports.end(), [&](const BoundPort& bound) {
      return bound.port.name == wish.spec.target;
    });
    if (port == facts.ports.end()) {
      wish.unbound = "port " + wish.spec.target + ": not declared for this node";
      return;
    }
    if (port->netdev.empty()) {
      wish.unbound = port->unbound;
      return;
    }
    wish.target.port = &*port;
  }
  if (wish.restore) {
    if (wish.restore->kind == Original::Kind::kValue) wish.desired = wish.restore->value;
    wish.target.wish = wish.desired;
    return;
  }
  auto desired = wish.setting->Desired(wish.target, wish.canonical);
  if (desired.ok()) {
    wish.desired = *std::move(desired);
    wish.target.wish = wish.desired;
  } else {
    wish.desired_error = desired.status();
  }
}

Status CheckState(const DesiredState& state, const Catalog& catalog) {
  std::set<std::string_view> ports;
  for (const Port& port : state.ports) {
    if (port.name.empty()) return Status(Code::kInvalidArgument, "a port without a name");
    if (!ports.insert(port.name).second)
      return Status(Code::kInvalidArgument, "port " + Brief(port.name) + " is declared twice");
  }
  std::set<KeyTarget> places;
  for (const SettingSpec& spec : state.settings) {
    auto match = catalog.Find(spec.key);
    if (!match.ok())
      return Refused(spec, match.status().message() + " (this agent may be older than the controller)");
    if (!places.insert({match->key, spec.target}).second) return Refused(spec, "declared twice");
    const bool port_kind = match->setting->TargetsOf(match->param) == TargetKind::kPort;
    if (port_kind && !ports.contains(spec.target))
      return Refused(spec, spec.target.empty() ? "applies to a port; name one of: " + PortNames(state)
                                               : "no port of that name; declared are: " + PortNames(state));
    if (!port_kind && !spec.target.empty()) return Refused(spec, "applies to the node, not to a port");
    const auto canonical = match->setting->Canonical(match->param, spec.value);
    if (!canonical.ok()) return Refused(spec, canonical.status().message());
  }
  return Ok();
}

}  // namespace railwright
