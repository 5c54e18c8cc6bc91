// Cluster documents → nodes with their ports and addresses.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "controller/fleet/complaints.h"
#include "controller/fleet/resolve.h"

namespace railwright::fleet {

/// Most nodes of a fleet, and most names that the ranges of one selector or of one cluster's tenants may
/// give: ten times what one controller is planned for. It bounds what a short text can ask for.
inline constexpr std::size_t kMostNodes = 100'000;
/// Most port declarations of a cluster.
inline constexpr int kMostPorts = 256;

/// Expands `pattern` if at most `left` names come of it, and takes them off; otherwise a problem and nothing.
std::optional<std::vector<std::string>> ExpandWithin(const Document& document, Place place,
                                                     std::string_view pattern, std::size_t& left,
                                                     Complaints& complaints);

/// A NodeSelector with its ranges expanded. All given conditions must hold.
struct Selector {
  std::string role, rack;
  std::vector<std::pair<std::string, std::string>> labels;
  bool by_name = false;
  std::unordered_set<std::string> names;

  bool Matches(const InventoryNode& node) const;
};
/// Ranges that cannot be expanded become problems.
Selector CompileSelector(const Document& document, const v1::NodeSelector& selector, Complaints& complaints);

struct Inventory {
  std::vector<InventoryNode> nodes;  ///< in the order of declaration
  std::unordered_map<std::string, std::size_t> by_name;
  std::set<std::string> roles;       ///< in use
  std::set<std::string> port_names;  ///< of any cluster
  std::map<std::string, std::vector<std::string>> cluster_subnets;
};

/// Words that select ports in a profile and so can name none.
inline constexpr std::string_view kAllPortsWord = "all";
bool IsReservedPortName(std::string_view name);

Inventory BuildInventory(const std::vector<Document>& documents, const ResolveOptions& options,
                         Complaints& complaints, std::vector<std::string>& warnings);

}  // namespace railwright::fleet
