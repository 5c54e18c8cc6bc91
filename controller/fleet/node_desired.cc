#include "controller/fleet/node_desired.h"

#include "controller/fleet/rail_peers.h"
#include "core/wire/wire.h"

namespace railwright {
namespace {

std::string Overlay(const std::string& node, const std::vector<Port>& ports,
                    const std::vector<KeyTarget>& restore, const std::vector<RailPeer>& peers) {
  v1::NodeOverlay overlay;
  overlay.set_node(node);
  for (const Port& port : ports) *overlay.add_ports() = ToWire(port);
  for (const KeyTarget& what : restore) {
    auto* one = overlay.add_restore();
    one->set_key(what.key);
    one->set_target(what.target);
  }
  for (const RailPeer& peer : peers) {
    auto* one = overlay.add_peers();
    one->set_port(peer.port);
    one->set_address(peer.address);
  }
  return overlay.SerializeAsString();
}

}  // namespace

std::map<std::string, NodeDesired> BuildDesired(const Resolved& resolved,
                                                const std::vector<NodeKey>& restores,
                                                std::chrono::milliseconds try_for) {
  const std::map<std::string, std::vector<RailPeer>> peers = ChooseRailPeers(resolved);
  std::map<std::string, std::vector<KeyTarget>> by_node;
  for (const auto& [node, what] : restores) by_node[node].push_back(what);
  std::map<std::string, NodeDesired> desired;
  for (const PayloadGroup& group : GroupPayloads(resolved)) {
    v1::GroupPayload payload;
    payload.set_cluster(group.cluster);
    payload.set_try_ms(static_cast<std::uint32_t>(try_for.count()));
    const auto subnets = resolved.cluster_subnets.find(group.cluster);
    if (subnets != resolved.cluster_subnets.end())
      payload.mutable_subnets()->Assign(subnets->second.begin(), subnets->second.end());
    for (const SettingSpec& spec : group.settings) *payload.add_settings() = ToWire(spec);
    const auto bytes = std::make_shared<const std::string>(payload.SerializeAsString());
    for (const ResolvedNode* node : group.nodes) {
      const std::string& name = node->node.name;
      const auto restore = by_node.find(name);
      NodeDesired& one = desired[name];
      one.group = bytes;
      const auto neighbours = peers.find(name);
      one.overlay = Overlay(name, node->node.ports,
                            restore == by_node.end() ? std::vector<KeyTarget>() : restore->second,
                            neighbours == peers.end() ? std::vector<RailPeer>() : neighbours->second);
      one.hash = StateHash(*one.group, one.overlay);
    }
  }
  return desired;
}

NodeDesired RetiredDesired(const std::string& node) {
  static const auto kNothing = std::make_shared<const std::string>();
  NodeDesired desired{kNothing, Overlay(node, {}, {}, {}), {}};
  desired.hash = StateHash(*desired.group, desired.overlay);
  return desired;
}

std::uint64_t CountSettings(const Resolved& resolved) {
  std::uint64_t count = 0;
  for (const auto& [name, node] : resolved.nodes) count += node.settings.size();
  return count;
}

}  // namespace railwright
