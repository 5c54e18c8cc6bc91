#include "agent/offline/proposal.h"

#include <algorithm>

#include "agent/reconcile/reconciler.h"
#include "core/decode/fields.h"

namespace railwright::offline {
namespace {

constexpr std::size_t kMost = 16;  // rails of the largest nodes known

}  // namespace

std::vector<Port> EveryPort(const Machine& machine) {
  std::vector<Port> ports;
  const auto links = machine.List("/rtnl/link");
  if (!links.ok()) return ports;
  for (const std::string& link : *links) {
    const auto text = machine.Get("/rtnl/link/" + link);
    if (link == "lo" || !text.ok()) continue;
    const auto fields = Fields::Parse(*text);
    if (!fields.ok() || fields->Find("master") != nullptr) continue;
    const std::string* kind = fields->Find("kind");
    if (kind != nullptr && *kind != "veth") continue;  // bridges, bonds, tunnels
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

std::string ProposePorts(const Machine& machine) {
  const std::vector<Port> ports = LikelyPorts(machine);
  if (ports.empty()) return {};
  std::string text = "Which ports belong to the fabric is yours to say. On this machine it could be:\n ";
  for (const Port& port : ports) text += " --port " + port.name + "=fabric:" + port.netdev;
  return text + "\n";
}

}  // namespace railwright::offline
