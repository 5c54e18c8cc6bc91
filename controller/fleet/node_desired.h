// node_desired: a resolved generation as the bytes that nodes get. Pure: who has the documents can make them
// anew and compare, which is what a signer off the controller's host does.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/fleet/documents.h"

namespace railwright {

/// What one node is sent. `group` is shared by all nodes that resolve to the same settings, in memory and,
/// slice by slice, on the wire.
struct NodeDesired {
  std::shared_ptr<const std::string> group;  ///< GroupPayload, serialised once
  std::string overlay;                       ///< NodeOverlay
  std::string hash;                          ///< StateHash of the two

  /// Of both in a row, which is what is hashed and signed.
  std::size_t bytes() const { return group->size() + overlay.size(); }
};

/// The desired bytes of every node of `resolved`, with what is to be put back, and whether changes on the way
/// to the controller may be tried (0: not).
std::map<std::string, NodeDesired> BuildDesired(const Resolved& resolved,
                                                const std::vector<NodeKey>& restores,
                                                std::chrono::milliseconds try_for = {});
/// For a node that left the inventory: nothing is enforced there any more.
NodeDesired RetiredDesired(const std::string& node);

/// The resolved settings of all nodes, counted.
std::uint64_t CountSettings(const Resolved& resolved);

}  // namespace railwright
