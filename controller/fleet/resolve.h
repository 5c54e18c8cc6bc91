// fleet: documents → what each node should be. Pure.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/spec/loader.h"
#include "railwright/catalog.h"
#include "railwright/state.h"

namespace railwright {

/// One node of the inventory.
struct InventoryNode {
  std::string name;
  std::string role;
  std::string rack;
  std::map<std::string, std::string> labels;
  std::vector<Port> ports;  ///< with this node's addresses
  int index = 0;            ///< from 1, order of declaration; {index} in patterns
  std::string cluster;
};

/// Every profile that spoke for a (key, target) of a node, winner first.
struct Layer {
  std::string value;
  Mode mode = Mode::kObserve;
  int precedence = 0;
  Origin origin;
};

struct ResolvedNode {
  InventoryNode node;
  std::vector<SettingSpec> settings;  ///< sorted by (key, target)
  std::map<KeyTarget, std::vector<Layer>> layers;
};

struct Resolved {
  std::map<std::string, ResolvedNode> nodes;  ///< by name
  std::vector<std::string> subnets;  ///< per cluster name would be sent per node; see cluster_subnets
  std::map<std::string, std::vector<std::string>> cluster_subnets;
  std::vector<std::string> warnings;  ///< "Profile/x selects no node"
};

/// Resolves all documents in force. Every problem found is returned (with file:line:col): duplicate nodes and
/// ports, unknown keys (nearest named), values out of range, unknown roles, conflicts between profiles of
/// equal precedence, a pattern that gives no valid or a duplicate address, an empty inventory (unless
/// allowed).
struct ResolveOptions {
  bool allow_empty = false;
};
std::variant<Resolved, std::vector<Problem>> Resolve(const std::vector<Document>& documents,
                                                     const CatalogDeclarations& catalog,
                                                     ResolveOptions options = {});

/// "gpu-[001-003,7]" → gpu-001 gpu-002 gpu-003 gpu-7, keeping leading zeros. InvalidArgument on a bad range
/// or more than 100,000 names.
Result<std::vector<std::string>> ExpandNames(std::string_view pattern);
/// The reverse, for people: {"gpu-001","gpu-002","gpu-005"} → "gpu-[001-002,005]".
std::string FoldNames(std::vector<std::string> names);

}  // namespace railwright
