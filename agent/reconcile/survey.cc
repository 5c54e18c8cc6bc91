#include "agent/reconcile/survey.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "agent/reconcile/line_field.h"
#include "agent/reconcile/reconciler.h"

namespace railwright {
namespace {

constexpr std::size_t kMost = 16;  // rails of the largest nodes known

// "sysctl.<name>" with "a" is "sysctl.a".
std::string FullKey(const std::string& key, const std::string& param) {
  const auto open = key.find('<');
  if (open == std::string::npos) return key;
  return key.substr(0, open) + param + key.substr(key.find('>', open) + 1);
}

Result<std::string> WishFor(const Setting& setting, const Target& target, const Observation& seen) {
  if (seen.kind == Observation::Kind::kNotApplicable)
    return Status(Code::kFailedPrecondition, "it does not apply here");
  RW_ASSIGN_OR_RETURN(const std::string said, setting.AsWish(target, seen));
  RW_ASSIGN_OR_RETURN(std::string canonical, setting.Canonical(target.param, said));
  RW_ASSIGN_OR_RETURN(const std::string desired, setting.Desired(target, canonical));
  if (!setting.Satisfied(target, desired, seen))
    return Status(Code::kFailedPrecondition, "asked for, it would not be fulfilled by what was read");
  return canonical;
}

Observed LookAt(const Machine& machine, const Setting& setting, const std::string& key,
                const Target& target) {
  Observed observed{key, target.name, setting.Observe(machine, target),
                    Status(Code::kUnavailable, "it could not be read")};
  if (observed.seen.ok()) observed.wish = WishFor(setting, target, *observed.seen);
  return observed;
}

}  // namespace

std::vector<Observed> ObserveEverything(const Machine& machine, const Catalog& catalog,
                                        const NodeFacts& facts) {
  std::vector<Observed> all;
  for (const auto& setting : catalog.settings()) {
    const SettingInfo& info = setting->info();
    std::vector<std::string> params = info.recorded;
    if (info.key.find('<') == std::string::npos) params = {""};
    for (const std::string& param : params) {
      Target target;
      target.param = setting->CanonicalParam(param);
      target.facts = &facts;
      const std::string key = FullKey(info.key, target.param);
      if (setting->TargetsOf(target.param) == TargetKind::kNode) {
        all.push_back(LookAt(machine, *setting, key, target));
        continue;
      }
      for (const BoundPort& port : facts.ports) {
        if (port.netdev.empty()) continue;
        target.name = port.port.name;
        target.port = &port;
        all.push_back(LookAt(machine, *setting, key, target));
      }
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Observed& a, const Observed& b) {
    return std::tie(a.key, a.target) < std::tie(b.key, b.target);
  });
  return all;
}

std::vector<Port> EveryPort(const Machine& machine) {
  std::vector<Port> ports;
  const auto links = machine.List("/rtnl/link");
  if (!links.ok()) return ports;
  for (const std::string& link : *links) {
    const auto text = machine.Get("/rtnl/link/" + link);
    if (link == "lo" || !text.ok() || !LineField(*text, "master").empty()) continue;
    const std::string_view kind = LineField(*text, "kind");
    if (!kind.empty() && kind != "veth") continue;  // bridges, bonds, tunnels
    Port port;
    port.name = port.netdev = link;
    port.role = PortRole::kFabric;
    ports.push_back(std::move(port));
  }
  return ports;
}

std::vector<Port> LikelyPorts(const Machine& machine) {
  DesiredState every;
  every.ports = EveryPort(machine);
  std::vector<Port> rdma, plain;
  const auto routes = machine.Get("/proc/net/route");
  for (const BoundPort& bound : BindPorts(machine, every).ports) {
    if (bound.netdev.empty()) continue;
    // The interface of the default route is the way in; it is the last thing to be a rail.
    const bool way_in =
        routes.ok() && ("\n" + *routes).find("\n" + bound.netdev + "\t00000000\t") != std::string::npos;
    if (!bound.ibdev.empty()) rdma.push_back(bound.port);
    if (!way_in) plain.push_back(bound.port);
  }
  std::vector<Port>& chosen = rdma.empty() ? plain : rdma;
  if (chosen.size() > kMost) chosen.resize(kMost);
  for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i].name = "rail" + std::to_string(i);
  return chosen;
}

}  // namespace railwright
