#include "controller/fleet/documents.h"

#include <algorithm>
#include <map>
#include <set>

#include "controller/fleet/complaints.h"

namespace railwright {

namespace {

bool Declares(const ResolvedNode& node, const KeyTarget& at) {
  return node.layers.find(at) != node.layers.end();
}

}  // namespace

std::variant<DocumentChanges, std::vector<Problem>> ApplyDocuments(const std::vector<Document>& present,
                                                                   std::vector<Document> given, bool prune) {
  std::map<std::string, Document*> by_id;
  fleet::Complaints complaints;
  fleet::RefuseDoubles(given, complaints);
  if (!complaints.empty()) return complaints.Take();
  for (Document& document : given) by_id.emplace(document.id(), &document);

  DocumentChanges out;
  // A document keeps its rank among those in force, so that equal layers keep their order.
  for (const Document& old : present) {
    const auto found = by_id.find(old.id());
    if (found != by_id.end()) {
      if (found->second->text != old.text) out.changed.push_back(old.id());
      out.next.push_back(std::move(*found->second));
      by_id.erase(found);
    } else if (prune) {
      out.removed.push_back(old.id());
    } else {
      out.next.push_back(old);
    }
  }
  for (const auto& [id, document] : by_id) out.added.push_back(id);
  std::vector<Document*> fresh;
  for (const auto& [id, document] : by_id) fresh.push_back(document);
  std::sort(fresh.begin(), fresh.end());  // as given
  for (Document* document : fresh) out.next.push_back(std::move(*document));
  std::sort(out.changed.begin(), out.changed.end());
  std::sort(out.removed.begin(), out.removed.end());
  return out;
}

std::vector<NodeKey> Released(const Resolved& before, const Resolved& after) {
  std::vector<NodeKey> out;
  for (const auto& [name, node] : before.nodes) {
    const auto now = after.nodes.find(name);
    if (now == after.nodes.end()) continue;
    for (const SettingSpec& spec : node.settings)
      if (!Declares(now->second, {spec.key, spec.target})) out.push_back({name, {spec.key, spec.target}});
  }
  return out;
}

std::vector<std::string> RemovedNodes(const Resolved& before, const Resolved& after) {
  std::vector<std::string> out;
  for (const auto& [name, node] : before.nodes)
    if (!after.nodes.contains(name)) out.push_back(name);
  return out;
}

std::vector<NodeKey> Restores(const std::vector<NodeKey>& earlier, const Resolved& before,
                              const Resolved& after, bool restore) {
  std::set<NodeKey> all(earlier.begin(), earlier.end());
  if (restore)
    for (NodeKey& released : Released(before, after)) all.insert(std::move(released));
  std::vector<NodeKey> out;
  for (const NodeKey& one : all) {
    const auto node = after.nodes.find(one.first);
    if (node != after.nodes.end() && !Declares(node->second, one.second)) out.push_back(one);
  }
  return out;
}

std::vector<PayloadGroup> GroupPayloads(const Resolved& resolved) {
  std::vector<PayloadGroup> out;
  std::map<std::pair<std::string_view, const void*>, std::size_t> index;
  for (const auto& [name, node] : resolved.nodes) {
    const auto [found, fresh] =
        index.emplace(std::pair(std::string_view(node.node.cluster), node.settings.id()), out.size());
    if (fresh) out.push_back({node.node.cluster, node.settings, {}});
    out[found->second].nodes.push_back(&node);
  }
  return out;
}

}  // namespace railwright
