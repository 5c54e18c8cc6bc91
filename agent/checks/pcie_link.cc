// pcie.link: no PCI Express link on the way of a fabric card is slower or narrower than both its ends can.
#include <cerrno>

#include "agent/checks/findings.h"
#include "core/decode/pci_link.h"
#include "core/decode/pci_tree.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

constexpr std::string_view kReseat =
    "drain the node; reseat the card or its riser, then read the link again; look for AER lines in the "
    "kernel log";

/// One link, by the end that is farther from the processor.
struct Link {
  std::string upper, lower;
  PciLink current, best;
  PciLink upper_best, lower_best;

  bool Narrow() const { return current.width < best.width; }
  bool Slow() const { return current.speed && best.speed && *current.speed < *best.speed; }
  std::string Text() const {
    return (upper.empty() ? "" : upper + " – ") + lower + ": " + current.Text() + " of " + best.Text();
  }
};

class PcieLink final : public Check {
 public:
  const CheckInfo& info() const override {
    static const CheckInfo info{
        .key = "pcie.link",
        .code = "RW-2104",
        .help = "No PCI link on the way of a fabric card is slower or narrower than it can be.",
        .why =
            "A card that is badly seated trains at half its lanes and works, only slower; its rail then sets "
            "the "
            "pace of every collective, and as a slow receiver it pauses the fabric.",
        .interface = "sysfs: current and max link_speed, link_width",
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)}};
    return info;
  }

  std::vector<Finding> Run(const Machine& machine, const NodeFacts& facts) const override {
    const auto tree = ReadPciTree(machine, facts);
    auto findings = ForEachFabricPort(info(), facts, [&](const BoundPort& port) {
      if (port.bdf.empty())
        return MakeFinding(info(), port.port.name, Verdict::kNotApplicable, "NoPciDevice",
                           port.netdev + " sits on no PCI function of its own", "");
      if (!tree.ok()) return Unread(info(), port.port.name, tree.status());
      auto finding = Judge(machine, port, *tree);
      return finding.ok() ? *finding : Unread(info(), port.port.name, finding.status());
    });
    if (tree.ok() && findings.front().reason != "NoFabricPort") AddGpus(machine, *tree, findings);
    return findings;
  }

 private:
  /// One finding for all GPUs of the node. Their speed falls when they idle, so only lanes are judged.
  void AddGpus(const Machine& machine, const PciTree& tree, std::vector<Finding>& findings) const {
    Finding finding = MakeFinding(info(), "", Verdict::kCompliant, "", "", "");
    std::vector<std::string> narrow;
    for (const PciFunction& gpu : tree.functions()) {
      if (!gpu.IsGpu()) continue;
      const PciFunction* upper = gpu.path.size() > 2 ? tree.Find(gpu.path[gpu.path.size() - 2]) : nullptr;
      const auto link = ReadBothEnds(machine, upper, gpu);
      if (!link.ok()) {
        findings.push_back(Unread(info(), "", link.status()));
        return;
      }
      finding.evidence.push_back("GPU " + link->Text());
      if (link->Narrow()) narrow.push_back(link->Text());
    }
    if (finding.evidence.empty()) return;
    finding.observed = narrow.empty() ? "all lanes" : "lanes are missing";
    if (!narrow.empty()) {
      finding.verdict = Verdict::kDrifted;
      finding.reason = "LinkDowngraded";
      finding.message = "lanes are missing between GPUs and their bridges: " + Joined(narrow, "; ");
      finding.fix = std::string(kReseat);
    }
    findings.push_back(std::move(finding));
  }

  /// `which` is "current" or "max". Without a file the function has no PCI Express link.
  static Result<PciLink> ReadLink(const Machine& machine, const std::string& bdf, const std::string& which) {
    const std::string device = "/sys/bus/pci/devices/" + bdf + "/" + which;
    RW_ASSIGN_OR_RETURN(const std::string speed, machine.Get(device + "_link_speed"));
    RW_ASSIGN_OR_RETURN(const std::string width, machine.Get(device + "_link_width"));
    auto link = PciLink::Parse(speed, width);
    if (!link.ok()) return link.status().Within(device + "_link_speed, _link_width");
    return link;
  }

  static Result<Link> ReadBothEnds(const Machine& machine, const PciFunction* upper,
                                   const PciFunction& lower) {
    Link link;
    link.lower = lower.bdf;
    RW_ASSIGN_OR_RETURN(link.current, ReadLink(machine, lower.bdf, "current"));
    RW_ASSIGN_OR_RETURN(link.lower_best, ReadLink(machine, lower.bdf, "max"));
    link.best = link.upper_best = link.lower_best;
    if (upper == nullptr) return link;
    link.upper = upper->bdf;
    RW_ASSIGN_OR_RETURN(link.upper_best, ReadLink(machine, upper->bdf, "max"));
    link.best = BestOfBoth(link.lower_best, link.upper_best);
    return link;
  }

  /// The links from the card up to its root port. Within a switch there is none: only the card and upstream
  /// ports have one above them.
  static Result<std::vector<Link>> LinksOf(const Machine& machine, const PciTree& tree,
                                           const PciFunction& card) {
    std::vector<Link> links;
    for (std::size_t i = card.path.size() - 1; i >= 1; --i) {
      const PciFunction* lower = tree.Find(card.path[i]);
      const PciFunction* upper = i > 1 ? tree.Find(card.path[i - 1]) : nullptr;
      if (lower == nullptr) return Status(Code::kNotFound, "/pci: no function " + card.path[i]);
      if (lower != &card) {
        RW_ASSIGN_OR_RETURN(const std::string type, machine.Get("/pci/" + lower->bdf + "/type"));
        if (type != "upstream") continue;
      }
      RW_ASSIGN_OR_RETURN(Link link, ReadBothEnds(machine, upper, *lower));
      links.push_back(std::move(link));
    }
    return links;
  }

  Result<Finding> Judge(const Machine& machine, const BoundPort& port, const PciTree& tree) const {
    const std::string& name = port.port.name;
    const PciFunction* card = tree.Find(port.bdf);
    if (card == nullptr) return Status(Code::kNotFound, "/pci: no function " + port.bdf);
    const auto links = LinksOf(machine, tree, *card);
    if (!links.ok() && links.status().code() == Code::kNotFound &&
        links.status().message().find(port.bdf + "/current_link_speed") != std::string::npos)
      return MakeFinding(info(), name, Verdict::kNotApplicable, "NoPciExpress",
                         port.bdf + " is no PCI Express function, so it has no link", "");
    if (!links.ok()) return links.status();
    if (!links->front().current.speed || links->front().current.width == 0)
      return MakeFinding(info(), name, Verdict::kNotApplicable, "LinkNotTold",
                         port.bdf + " does not tell its link: the registers of a virtual function read zero",
                         "");
    Finding finding = MakeFinding(info(), name, Verdict::kCompliant, "", "", "");
    finding.observed = links->front().current.Text();
    std::vector<std::string> worse;
    for (const Link& link : *links) {
      std::string line = link.Text();
      if (link.upper_best.width != 0 && link.upper_best.width < link.lower_best.width)
        line += " (the slot has x" + std::to_string(link.upper_best.width) + ", the card x" +
                std::to_string(link.lower_best.width) + ")";
      finding.evidence.push_back(line);
      if (!link.Narrow() && !link.Slow()) continue;
      worse.push_back(link.Text() + (link.Narrow() ? ", lanes are missing" : ", slower"));
    }
    if (worse.empty()) return finding;
    finding.verdict = Verdict::kDrifted;
    finding.reason = "LinkDowngraded";
    finding.message = "on the way of " + port.netdev + ": " + Joined(worse, "; ");
    finding.fix = std::string(kReseat);
    return finding;
  }
};

}  // namespace

std::unique_ptr<const Check> make_pcie_link() { return std::make_unique<PcieLink>(); }

}  // namespace railwright
