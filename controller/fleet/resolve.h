// fleet: documents → what each node should be. Pure.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/fleet/rollout_policy.h"
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

/// A list or map that many nodes hold in common, read as if it were their own. Nodes that the same profiles
/// select and that have the same ports share one, which `id` tells.
template <class T>
class Shared {
 public:
  Shared() : value_(Nothing()) {}
  Shared(T value) : value_(std::make_shared<const T>(std::move(value))) {}  // NOLINT: implicit on purpose

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  operator const T&() const { return *value_; }  // NOLINT
  auto begin() const { return value_->begin(); }
  auto end() const { return value_->end(); }
  std::size_t size() const { return value_->size(); }
  bool empty() const { return value_->empty(); }
  template <class K>
  auto find(const K& key) const {
    return value_->find(key);
  }
  template <class K>
  decltype(auto) at(const K& key) const {
    return value_->at(key);
  }
  decltype(auto) operator[](std::size_t index) const { return (*value_)[index]; }
  /// Equal for nodes that hold the same object (so also the same content); different ids may hold equals.
  const void* id() const { return value_.get(); }
  friend bool operator==(const Shared& a, const Shared& b) { return a.value_ == b.value_ || *a == *b; }

 private:
  static const std::shared_ptr<const T>& Nothing() {
    static const auto nothing = std::make_shared<const T>();
    return nothing;
  }
  std::shared_ptr<const T> value_;
};

struct ResolvedNode {
  InventoryNode node;
  Shared<std::vector<SettingSpec>> settings;  ///< sorted by (key, target)
  Shared<std::map<KeyTarget, std::vector<Layer>>> layers;
};

struct Resolved {
  std::map<std::string, ResolvedNode> nodes;  ///< by name
  std::vector<std::string> subnets;           ///< unused; see cluster_subnets
  std::map<std::string, std::vector<std::string>> cluster_subnets;
  std::optional<RolloutPolicy> rollout;  ///< of the RolloutPolicy document; none: there is none
  std::vector<std::string> warnings;     ///< "Profile/x selects no node"
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
