// What applying documents does to those in force, and what stops being declared. Pure.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "controller/fleet/resolve.h"

namespace railwright {

/// The documents after an apply.
struct DocumentChanges {
  std::vector<Document> next;                        ///< all that are in force then
  std::vector<std::string> added, changed, removed;  ///< ids ("Profile/x"), sorted; changed: by their text
  bool empty() const { return added.empty() && changed.empty() && removed.empty(); }
};

/// `given` replaces the documents of the same kind and name and leaves the others; with `prune` it removes
/// them. A document whose text is the same is not changed, wherever it now stands (its new place is kept).
/// The same id twice in `given` is a problem that names both places.
std::variant<DocumentChanges, std::vector<Problem>> ApplyDocuments(const std::vector<Document>& present,
                                                                   std::vector<Document> given, bool prune);

/// One (key, target) of one node.
using NodeKey = std::pair<std::string, KeyTarget>;

/// What `before` declares and `after` does not, for nodes that both have, sorted. It stops being enforced. (A
/// node that is gone is not told anything any more; see RemovedNodes.)
std::vector<NodeKey> Released(const Resolved& before, const Resolved& after);
std::vector<std::string> RemovedNodes(const Resolved& before, const Resolved& after);

/// What is to be put back on nodes of `after`, sorted: that of the generation before (`earlier`: a node that
/// was away must still get it), and what is released now if `restore`; but nothing that is declared again.
std::vector<NodeKey> Restores(const std::vector<NodeKey>& earlier, const Resolved& before,
                              const Resolved& after, bool restore);

/// Nodes whose group payload is the same bytes.
struct PayloadGroup {
  std::string cluster;
  Shared<std::vector<SettingSpec>> settings;
  std::vector<const ResolvedNode*> nodes;  ///< by name; they live in the Resolved that was given
};
/// Every node is in one group. Groups are in the order of their first node's name.
std::vector<PayloadGroup> GroupPayloads(const Resolved& resolved);

}  // namespace railwright
