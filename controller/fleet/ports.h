// The ports of a cluster's nodes: which node has which, with which addresses.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controller/fleet/addresses.h"
#include "controller/fleet/inventory.h"

namespace railwright::fleet {

/// Gives every node of one cluster its ports. The nodes must stay where they are until Finish. Problems that
/// many nodes share are told once, with the nodes folded.
class PortBinder {
 public:
  PortBinder(const Document& document, const v1::Cluster& cluster, Complaints& complaints,
             std::vector<std::string>& warnings);
  void Bind(InventoryNode& node, const v1::NodeDecl& decl);
  /// After the last node: duplicates, then the fabric subnets, sorted.
  std::vector<std::string> Finish();

 private:
  struct PortPlan {
    const v1::PortDecl* decl = nullptr;
    PortRole role = PortRole::kUnspecified;
    std::string pci, netdev;  // in their one spelling
    Selector on;
    std::vector<std::pair<Pattern, Place>> addresses;
    std::vector<Pattern> gateways;
    Place gateway_place;
  };
  struct Twins {  // two declarations that no node may have both
    const PortPlan *a, *b;
    std::vector<std::string> nodes;  // that have both
  };
  struct Given {  // one address of one node
    Cidr address;
    const InventoryNode* node;
    std::string_view port;
    PortRole role;
    Place place;
  };

  void Compile(const v1::PortDecl& decl);
  void AddPattern(PortPlan& plan, const std::string& text, Place place);
  void FindTwins();
  void Address(const PortPlan& plan, std::string_view text, std::string_view from, Place place,
               const InventoryNode& node, Port& port, std::vector<Cidr>& addresses);
  void Gateways(const PortPlan& plan, const InventoryNode& node, Port& port,
                const std::vector<Cidr>& addresses, bool own_addresses);
  void CheckOverrides(const InventoryNode& node, const v1::NodeDecl& decl);
  void CheckDoubleAddresses();
  std::vector<std::string> Subnets();
  /// The first sentence about a place is told, with the number of further nodes that it holds for.
  void Tell(Place place, std::string sentence);

  const Document& document_;
  const v1::Cluster& cluster_;
  Complaints& complaints_;
  std::vector<std::string>& warnings_;
  std::vector<PortPlan> plans_;
  std::vector<Given> given_;
  std::map<std::pair<int, int>, std::pair<std::string, std::size_t>> told_;  // place → sentence, count
  std::vector<Twins> twins_;
};

}  // namespace railwright::fleet
