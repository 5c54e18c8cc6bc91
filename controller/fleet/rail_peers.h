// rail_peers: whom a node may ask whether its rails work. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controller/fleet/resolve.h"
#include "railwright/state.h"

namespace railwright {

/// At most this many neighbours a port: one may be away, and the overlay stays small.
inline constexpr std::size_t kRailPeers = 3;

/// For each node and fabric port up to kRailPeers other nodes that have an address of the same subnet on a
/// port of the same name: the next one by name, and those a third and two thirds of the rail further, so that
/// no node is asked by all and the loss of one rack is not the loss of all neighbours. The same inventory
/// gives the same choice.
std::map<std::string, std::vector<RailPeer>> ChooseRailPeers(const Resolved& resolved);

}  // namespace railwright
