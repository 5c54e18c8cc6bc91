// FleetState: one generation, resolved. Pure.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "controller/fleet/documents.h"
#include "controller/fleet/node_desired.h"
#include "controller/store/store.h"
#include "railwright/v1/admin.pb.h"

namespace railwright {

/// One generation, resolved. Immutable and shared.
struct FleetState {
  StoredGeneration stored;  ///< number 0: nothing was ever applied
  std::vector<Document> documents;
  Resolved resolved;
  std::map<std::string, NodeDesired> desired;  ///< of every node of the inventory
  std::string problem;  ///< why the stored documents could not be resolved; "" = they were

  std::uint64_t number() const { return stored.generation.value; }
};

}  // namespace railwright
