// desired: a resolved generation as the bytes that nodes get. Pure.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "controller/fleet/documents.h"
#include "controller/store/store.h"
#include "railwright/v1/admin.pb.h"

namespace railwright {

/// What one node is sent. `group` is shared by all nodes that resolve to the same settings, in memory and,
/// slice by slice, on the wire.
struct NodeDesired {
  std::shared_ptr<const std::string> group;  ///< GroupPayload, serialised once
  std::string overlay;                       ///< NodeOverlay
  std::string hash;                          ///< StateHash of the two
};

/// One generation, resolved. Immutable and shared.
struct FleetState {
  StoredGeneration stored;  ///< number 0: nothing was ever applied
  std::vector<Document> documents;
  Resolved resolved;
  std::map<std::string, NodeDesired> desired;  ///< of every node of the inventory
  std::string problem;  ///< why the stored documents could not be resolved; "" = they were

  std::uint64_t number() const { return stored.generation.value; }
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
