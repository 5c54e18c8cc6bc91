#include "controller/fleet/inventory.h"

#include <algorithm>
#include <optional>

#include "controller/fleet/ports.h"

namespace railwright::fleet {

namespace {

// Where a node was declared.
struct DeclaredAt {
  const Document* document;
  const v1::NodeDecl* decl;
};

class InventoryBuilder {
 public:
  InventoryBuilder(const ResolveOptions& options, Complaints& complaints, std::vector<std::string>& warnings)
      : options_(options), complaints_(complaints), warnings_(warnings) {}

  void Add(const Document& document, const v1::Cluster& cluster);
  Inventory Take() { return std::move(inventory_); }

 private:
  void AddNodes(const Document& document, const v1::Cluster& cluster);
  void CheckTenants(const Document& document, const v1::Cluster& cluster) const;

  const ResolveOptions& options_;
  Complaints& complaints_;
  std::vector<std::string>& warnings_;
  Inventory inventory_;
  std::vector<DeclaredAt> declared_;  // parallel to inventory_.nodes
};

void InventoryBuilder::AddNodes(const Document& document, const v1::Cluster& cluster) {
  int index = 0;
  for (const v1::NodeDecl& decl : cluster.nodes()) {
    const Place name_place = document.places.Of(decl.mark(), v1::NodeDecl::kNameFieldNumber);
    std::size_t left = kMostNodes - std::min(kMostNodes, inventory_.nodes.size());
    const auto names = ExpandWithin(document, name_place, decl.name(), left, complaints_);
    if (!names && left == 0) break;
    if (!names) continue;
    if (!decl.addresses().empty() && names->size() != 1)
      complaints_.At(document, decl.mark(),
                     "addresses are for a single node, " + Quoted(decl.name()) + " names " +
                         std::to_string(names->size()) +
                         "; declare the node by itself, or use a pattern of the port");
    std::map<const v1::NodeDecl*, std::vector<std::string>> doubles;
    for (const std::string& name : *names) {
      const auto [found, fresh] = inventory_.by_name.emplace(name, inventory_.nodes.size());
      if (!fresh) {
        doubles[declared_[found->second].decl].push_back(name);
        continue;
      }
      InventoryNode& node = inventory_.nodes.emplace_back();
      node.name = name;
      node.role = decl.role();
      node.rack = decl.rack();
      node.labels.insert(decl.labels().begin(), decl.labels().end());
      node.index = ++index;
      node.cluster = cluster.name();
      declared_.push_back({&document, &decl});
    }
    for (const auto& [first, nodes] : doubles) {
      const DeclaredAt& at = declared_[inventory_.by_name.at(nodes.front())];
      complaints_.At(document, name_place,
                     "node " + Named(nodes) + " is declared twice (first at " +
                         PlaceText(*at.document, PlaceOf(first->mark())) + ")",
                     static_cast<int>(decl.name().size()));
    }
    if (!decl.role().empty()) inventory_.roles.insert(decl.role());
  }
}

void InventoryBuilder::CheckTenants(const Document& document, const v1::Cluster& cluster) const {
  std::map<std::string, const v1::TenantDecl*> seen;
  std::size_t left = kMostNodes;
  for (const v1::TenantDecl& tenant : cluster.tenants()) {
    const auto [first, fresh] = seen.emplace(tenant.name(), &tenant);
    if (!fresh)
      complaints_.At(document, tenant.mark(),
                     "tenant " + Quoted(tenant.name()) + " is declared twice (first at " +
                         PlaceText(document, PlaceOf(first->second->mark())) + ")");
    for (int i = 0; i < tenant.nodes_size(); ++i) {
      const Place place =
          document.places.Of(tenant.mark(), v1::TenantDecl::kNodesFieldNumber, Places::Index(i));
      const auto names = ExpandWithin(document, place, tenant.nodes(i), left, complaints_);
      if (!names && left == 0) return;
      if (!names) continue;
      std::vector<std::string> unknown;
      for (const std::string& name : *names) {
        const auto found = inventory_.by_name.find(name);
        if (found == inventory_.by_name.end() || inventory_.nodes[found->second].cluster != cluster.name())
          unknown.push_back(name);
      }
      if (!unknown.empty())
        complaints_.At(document, place,
                       "tenant " + Quoted(tenant.name()) + " names " + Named(unknown) + ", which cluster " +
                           cluster.name() + " does not declare");
    }
  }
}

void InventoryBuilder::Add(const Document& document, const v1::Cluster& cluster) {
  const std::size_t first = inventory_.nodes.size();
  AddNodes(document, cluster);
  if (cluster.nodes().empty() && !options_.allow_empty)
    complaints_.At(document, cluster.mark(),
                   "cluster " + Quoted(cluster.name()) + " declares no node; add some under \"nodes:\"");
  if (cluster.ports_size() > kMostPorts)
    return complaints_.At(
        document, cluster.ports(kMostPorts).mark(),
        "cluster " + Quoted(cluster.name()) + " declares more than " + std::to_string(kMostPorts) + " ports");
  PortBinder binder(document, cluster, complaints_, warnings_);
  for (std::size_t i = first; i < inventory_.nodes.size(); ++i)
    binder.Bind(inventory_.nodes[i], *declared_[i].decl);
  inventory_.cluster_subnets[cluster.name()] = binder.Finish();
  for (const v1::PortDecl& port : cluster.ports()) inventory_.port_names.insert(port.name());
  CheckTenants(document, cluster);
}

}  // namespace

bool IsReservedPortName(std::string_view name) {
  return name == kAllPortsWord || ParsePortRole(name).has_value();
}

bool Selector::Matches(const InventoryNode& node) const {
  if (!role.empty() && node.role != role) return false;
  if (!rack.empty() && node.rack != rack) return false;
  for (const auto& [key, value] : labels) {
    const auto found = node.labels.find(key);
    if (found == node.labels.end() || found->second != value) return false;
  }
  return !by_name || names.contains(node.name);
}

std::optional<std::vector<std::string>> ExpandWithin(const Document& document, Place place,
                                                     std::string_view pattern, std::size_t& left,
                                                     Complaints& complaints) {
  auto names = ExpandNames(pattern);
  if (!names.ok()) {
    complaints.At(document, place, "nodes: " + names.status().message(), static_cast<int>(pattern.size()));
    return std::nullopt;
  }
  if (names->size() > left) {
    left = 0;  // nothing more is expanded: many long ranges must not take long
    complaints.At(document, place, "nodes: with " + Quoted(pattern) + " these are more than 100,000 nodes",
                  static_cast<int>(pattern.size()));
    return std::nullopt;
  }
  left -= names->size();
  return std::move(*names);
}

Selector CompileSelector(const Document& document, const v1::NodeSelector& selector, Complaints& complaints) {
  Selector out{selector.role(),
               selector.rack(),
               {selector.labels().begin(), selector.labels().end()},
               selector.nodes_size() > 0,
               {}};
  std::size_t left = kMostNodes;
  for (int i = 0; i < selector.nodes_size(); ++i) {
    const Place place =
        document.places.Of(selector.mark(), v1::NodeSelector::kNodesFieldNumber, Places::Index(i));
    auto names = ExpandWithin(document, place, selector.nodes(i), left, complaints);
    if (!names && left == 0) break;
    if (!names) continue;
    for (std::string& name : *names) out.names.insert(std::move(name));
  }
  return out;
}

Inventory BuildInventory(const std::vector<Document>& documents, const ResolveOptions& options,
                         Complaints& complaints, std::vector<std::string>& warnings) {
  InventoryBuilder builder(options, complaints, warnings);
  bool any = false;
  for (const Document& document : documents)
    if (const auto* cluster = std::get_if<v1::Cluster>(&document.body)) {
      any = true;
      builder.Add(document, *cluster);
    }
  if (!any && !options.allow_empty)
    complaints.Everywhere(
        "no Cluster document declares any node; apply one first (kind: Cluster, with \"nodes:\")");
  return builder.Take();
}

}  // namespace railwright::fleet
