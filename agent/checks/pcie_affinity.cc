// pcie.affinity: every fabric card has a GPU near it.
#include "agent/checks/findings.h"
#include "core/decode/pci_tree.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

std::string NumaNode(const Machine& machine, const std::string& bdf) {
  const auto node = machine.Get("/sys/bus/pci/devices/" + bdf + "/numa_node");
  return node.ok() && *node != "-1" ? "NUMA node " + *node : std::string("NUMA node unknown");
}

class PcieAffinity final : public Check {
 public:
  const CheckInfo& info() const override {
    static const CheckInfo info{
        .key = "pcie.affinity",
        .code = "RW-2103",
        .help = "Every fabric card has a GPU below its PCI switch or host bridge.",
        .why =
            "A GPU whose card is at another host bridge sends everything across the processors' link, and is "
            "the "
            "slow one of each collective. A card in the wrong slot, or a slot that the BIOS has split, looks "
            "like that.",
        .interface = "sysfs: the way of each PCI function; numa_node",
        .noticed = {.by_event = true, .source = "uevent", .worst = std::chrono::milliseconds(1000)}};
    return info;
  }

  std::vector<Finding> Run(const Machine& machine, const NodeFacts& facts) const override {
    const auto tree = ReadPciTree(machine, facts);
    return ForEachFabricPort(info(), facts, [&](const BoundPort& port) {
      if (port.bdf.empty())
        return MakeFinding(info(), port.port.name, Verdict::kNotApplicable, "NoPciDevice",
                           port.netdev + " sits on no PCI function of its own", "");
      if (!tree.ok()) return Unread(info(), port.port.name, tree.status());
      auto finding = Judge(machine, port, *tree);
      return finding.ok() ? *finding : Unread(info(), port.port.name, finding.status());
    });
  }

 private:
  Result<Finding> Judge(const Machine& machine, const BoundPort& port, const PciTree& tree) const {
    const std::string& name = port.port.name;
    const PciFunction* card = tree.Find(port.bdf);
    if (card == nullptr) return Status(Code::kNotFound, "/pci: no function " + port.bdf);
    std::vector<std::string> near, bridge, apart;
    for (const PciFunction& one : tree.functions()) {
      if (!one.IsGpu()) continue;
      const PciNearness nearness = NearnessOf(*card, one);
      (nearness == PciNearness::kSameSwitch       ? near
       : nearness == PciNearness::kSameHostBridge ? bridge
                                                  : apart)
          .push_back(one.bdf);
    }
    if (near.empty() && bridge.empty() && apart.empty())
      return MakeFinding(info(), name, Verdict::kNotApplicable, "NoGpu", "this node has no GPU", "");
    Finding finding = MakeFinding(info(), name, Verdict::kCompliant, "", "", "");
    finding.evidence.push_back(port.bdf + ": " + Joined(card->path, "/") + ", " +
                               NumaNode(machine, port.bdf));
    if (!near.empty()) {
      finding.observed = "same switch: " + Joined(near, " ");
      finding.evidence.push_back("below one switch or root port with GPU " + Joined(near, ", "));
      return finding;
    }
    if (!bridge.empty()) {
      finding.observed = "same host bridge: " + Joined(bridge, " ");
      finding.evidence.push_back("below one host bridge, but not one switch, with GPU " +
                                 Joined(bridge, ", "));
      return finding;
    }
    finding.verdict = Verdict::kDrifted;
    finding.reason = "FarFromGpu";
    finding.observed = "no GPU near";
    finding.message = port.bdf + " (" + port.netdev + ", " + NumaNode(machine, port.bdf) +
                      ") shares no switch and no host bridge with a GPU; GPUs are at " + Joined(apart, ", ");
    finding.fix =
        "compare the slots with a node that is right (`lspci -tv`); a card belongs below the switch of "
        "its GPU";
    for (const std::string& gpu : apart)
      finding.evidence.push_back("GPU " + gpu + ": " + Joined(tree.Find(gpu)->path, "/") + ", " +
                                 NumaNode(machine, gpu));
    return finding;
  }
};

}  // namespace

std::unique_ptr<const Check> make_pcie_affinity() { return std::make_unique<PcieAffinity>(); }

}  // namespace railwright
