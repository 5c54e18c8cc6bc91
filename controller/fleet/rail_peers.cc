#include "controller/fleet/rail_peers.h"

#include <set>
#include <tuple>

#include "core/decode/cidr.h"

namespace railwright {
namespace {

struct Member {
  const std::string* node;
  std::string address;
};

}  // namespace

std::map<std::string, std::vector<RailPeer>> ChooseRailPeers(const Resolved& resolved) {
  // By (port, subnet), in the order of the nodes' names.
  std::map<std::pair<std::string, std::string>, std::vector<Member>> rails;
  for (const auto& [name, node] : resolved.nodes) {
    for (const Port& port : node.node.ports) {
      if (port.role != PortRole::kFabric || port.addresses.empty()) continue;
      const auto address = Cidr::Parse(port.addresses.front());
      if (!address.ok()) continue;  // told when the documents were resolved
      rails[{port.name, address->Network().Text()}].push_back({&name, address->Address()});
    }
  }
  std::map<std::string, std::vector<RailPeer>> peers;
  for (const auto& [rail, members] : rails) {
    const std::size_t count = members.size();
    for (std::size_t i = 0; i < count; ++i) {
      std::set<std::size_t> chosen;
      for (std::size_t part = 0; part < kRailPeers; ++part) {
        const std::size_t other = (i + 1 + part * count / kRailPeers) % count;
        if (other == i || !chosen.insert(other).second) continue;
        peers[*members[i].node].push_back({rail.first, members[other].address});
      }
    }
  }
  return peers;
}

}  // namespace railwright
