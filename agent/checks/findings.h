// What the checks of fabric ports have in common: a finding a port, and why there is none.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/decode/pci_tree.h"
#include "railwright/check.h"

namespace railwright {

inline Finding MakeFinding(const CheckInfo& info, std::string target, Verdict verdict, std::string reason,
                           std::string message, std::string fix) {
  Finding finding;
  finding.code = info.code;
  finding.key = info.key;
  finding.target = std::move(target);
  finding.verdict = verdict;
  finding.reason = std::move(reason);
  finding.message = std::move(message);
  finding.fix = std::move(fix);
  return finding;
}

inline Finding Unread(const CheckInfo& info, const std::string& target, const Status& status) {
  return MakeFinding(info, target, Verdict::kUnknown, "ReadFailed", status.message(),
                     "read it by hand on the node: the path stands in the message");
}

/// What `/pci` tells; read once for all ports, since it costs a file a function. Where no port sits on a
/// function (a host of virtual interfaces) nothing is asked of it, and it is empty.
inline Result<PciTree> ReadPciTree(const Machine& machine, const NodeFacts& facts) {
  if (std::none_of(facts.ports.begin(), facts.ports.end(),
                   [](const BoundPort& port) { return !port.bdf.empty(); }))
    return PciTree();
  RW_ASSIGN_OR_RETURN(const std::string text, machine.Get("/pci"));
  auto tree = PciTree::Parse(text);
  if (!tree.ok()) return tree.status().Within("/pci");
  return tree;
}

/// `judge(port)` gives the finding of each fabric port that is bound. A port that is not there is Unknown; a
/// node without fabric ports is NotApplicable.
template <class Judge>
std::vector<Finding> ForEachFabricPort(const CheckInfo& info, const NodeFacts& facts, Judge judge) {
  std::vector<Finding> findings;
  for (const BoundPort& port : facts.ports) {
    if (port.port.role != PortRole::kFabric) continue;
    findings.push_back(
        port.netdev.empty()
            ? MakeFinding(info, port.port.name, Verdict::kUnknown, "PortNotFound", port.unbound,
                          "correct the port's selector in the Cluster document, or find out why "
                          "the card is gone")
            : judge(port));
  }
  if (findings.empty())
    findings.push_back(MakeFinding(info, "", Verdict::kNotApplicable, "NoFabricPort",
                                   "no port of this node is declared a fabric port", ""));
  return findings;
}

}  // namespace railwright
