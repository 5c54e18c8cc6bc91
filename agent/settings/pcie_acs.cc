// pcie.acs: whether the bridges between a port's card and its GPUs let their traffic turn round directly.
#include <algorithm>
#include <cerrno>

#include "agent/settings/pci_place.h"
#include "core/decode/acs_bridges.h"
#include "core/decode/fields.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

constexpr std::string_view kToGpus = "p2p-direct", kWholeWay = "path-direct";
constexpr std::string_view kAllowed = "p2p-direct (or off), path-direct";
constexpr const char* kRedirects[] = {"rr", "cr", "ec"};

/// The bridges that a wish speaks of, or why there are none.
struct Scope {
  std::vector<AcsBridge> bridges;
  Observation none = Observation::Absent();  ///< kNotApplicable when there are none
};

std::string PathOf(const std::string& bdf) { return "/pci/" + bdf + "/acs"; }

Result<PciTree> ReadTree(const Machine& machine) {
  RW_ASSIGN_OR_RETURN(const std::string text, machine.Get("/pci"));
  auto tree = PciTree::Parse(text);
  if (!tree.ok()) return tree.status().Within("/pci");
  return tree;
}

/// Bridges of `wish`, a word or an earlier observation; with "" all that any word could mean.
Result<Scope> ScopeOf(const PciTree& tree, const std::string& bdf, std::string_view wish) {
  const PciFunction* card = tree.Find(bdf);
  if (card == nullptr) return Status(Code::kNotFound, "/pci: no function " + bdf, ENODEV);
  Scope scope;
  if (wish != kToGpus && wish != kWholeWay && !wish.empty()) {
    RW_ASSIGN_OR_RETURN(const AcsState state, AcsState::Parse(wish));
    for (const auto& [bridge, redirects] : state.bridges) scope.bridges.push_back({bridge, {}});
    return scope;
  }
  const auto gpus = GpusNear(tree, *card);
  if (wish == kToGpus && gpus.empty()) {
    scope.none = Observation::NotApplicable(
        "NoGpuNearby", "no GPU shares a switch or a host bridge with " + bdf +
                           ", so no traffic turns round below the root complex; `path-direct` speaks of "
                           "every bridge above the card");
    return scope;
  }
  if (!gpus.empty()) scope.bridges = BridgesBetween(tree, *card, gpus);
  if (wish != kToGpus)
    for (AcsBridge& bridge : BridgesBetween(tree, *card, {}))
      if (std::none_of(scope.bridges.begin(), scope.bridges.end(),
                       [&](const AcsBridge& one) { return one.bdf == bridge.bdf; }))
        scope.bridges.push_back(std::move(bridge));
  if (scope.bridges.empty())
    scope.none = Observation::NotApplicable(
        "NoBridges", "no bridge is above " + bdf +
                         ": it sits on the root bus. In a virtual machine a hypervisor owns the bridges; ask "
                         "its operator");
  return scope;
}

/// The control bits of a bridge; nothing for one without the capability.
Result<Fields> ReadBits(const Machine& machine, const std::string& bridge) {
  const std::string path = PathOf(bridge);
  const auto text = machine.Get(path);
  if (!text.ok() && text.status().code() == Code::kNotFound && text.status().error_number() == ENOENT)
    return Fields();
  if (!text.ok()) return text.status();
  auto bits = Fields::Parse(*text);
  if (!bits.ok()) return bits.status().Within(path);
  return bits;
}

class PcieAcs final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "pcie.acs",
        .code = "RW-1180",
        .help = "Access control of the PCI bridges between a port's card and its GPUs.",
        .why =
            "A bridge with ACS redirects sends traffic between GPU and card up through the root complex: "
            "GPUDirect is slow or hangs. BIOS options alone do not keep it off; it comes back at boot and "
            "after "
            "a bus reset. At boot `pci=disable_acs_redir=` does it, and IOMMU groups then tell the truth.",
        .targets = TargetKind::kPort,
        .syntax =
            "`p2p-direct` (or `off`): the bridges between the card and its GPUs; `path-direct`: these "
            "and every bridge above the card",
        .default_value = "the kernel's: redirecting where an IOMMU is on",
        .interface = "PCI Express ACS control, bits RR, CR and EC",
        .source = "linux/pci_regs.h PCI_ACS_CTRL; kernel drivers/pci/p2pdma.c",
        .disruption = Disruption::kTrafficBlip,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kRuntime,
        .order = 44,
        .likely_owners = {"the kernel after a bus reset", "setpci in a boot script"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    const std::string_view word = Trimmed(value);
    if (word == "off" || word == kToGpus) return std::string(kToGpus);
    if (word == kWholeWay) return std::string(kWholeWay);
    return Status(Code::kInvalidArgument, Quoted(value) + "; allowed: " + std::string(kAllowed));
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_ASSIGN_OR_RETURN(const PciPlace place, FindPciPlace(machine, target));
    if (const auto* none = std::get_if<Observation>(&place)) return *none;
    const std::string& bdf = std::get<std::string>(place);
    RW_ASSIGN_OR_RETURN(const PciTree tree, ReadTree(machine));
    RW_ASSIGN_OR_RETURN(const Scope scope, ScopeOf(tree, bdf, target.wish));
    if (scope.none.kind == Observation::Kind::kNotApplicable) return scope.none;
    AcsState state;
    std::vector<std::string> sentences;
    for (const AcsBridge& bridge : scope.bridges) {
      RW_ASSIGN_OR_RETURN(const Fields bits, ReadBits(machine, bridge.bdf));
      if (bits.empty()) continue;
      AcsRedirects& redirects = state.bridges[bridge.bdf];
      for (const char* name : kRedirects)
        if (const auto* bit = bits.Find(name); bit != nullptr && *bit == "1") redirects.emplace_back(name);
      if (redirects.empty()) continue;
      sentences.push_back(
          bridge.bdf + " redirects " + Joined(redirects, "+") + ": " +
          (!bridge.turns_round_for.empty()
               ? "traffic with GPU " + Joined(bridge.turns_round_for, ", ") + " turns round there"
               : "no traffic with a GPU turns round there, but the kernel's p2pdma counts it"));
    }
    Observation seen = Observation::Value(state.Text());
    const auto group = machine.Get("/sys/bus/pci/devices/" + bdf + "/iommu_group/type");
    if (!group.ok() && group.status().code() != Code::kNotFound) return group.status();
    if (group.ok() && group->starts_with("DMA"))
      sentences.push_back("the IOMMU translates what " + bdf + " does (" + *group +
                          "), so ACS alone does not help; boot with iommu=pt");
    seen.message = Joined(sentences, "; ");
    return seen;
  }

  bool Satisfied(const Target&, std::string_view, const Observation& observed) const override {
    const auto state = AcsState::Parse(observed.value);
    return observed.kind == Observation::Kind::kValue && state.ok() && state->Direct();
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const PciPlace place, FindPciPlace(machine, target));
    if (const auto* none = std::get_if<Observation>(&place))
      return Status(Code::kFailedPrecondition, none->message);
    RW_ASSIGN_OR_RETURN(const PciTree tree, ReadTree(machine));
    RW_ASSIGN_OR_RETURN(const Scope scope, ScopeOf(tree, std::get<std::string>(place), value));
    if (scope.none.kind == Observation::Kind::kNotApplicable)
      return Status(Code::kFailedPrecondition, scope.none.message);
    const auto earlier = AcsState::Parse(value);  // fails for a word
    // Everything is read and judged before anything is written.
    std::vector<std::pair<std::string, Fields>> changes;
    for (const AcsBridge& bridge : scope.bridges) {
      RW_ASSIGN_OR_RETURN(const Fields bits, ReadBits(machine, bridge.bdf));
      const AcsRedirects wanted = earlier.ok() ? earlier->bridges.at(bridge.bdf) : AcsRedirects();
      Fields change;
      bool opens = false;
      for (const char* name : kRedirects) {
        const auto* bit = bits.Find(name);
        const bool on = std::find(wanted.begin(), wanted.end(), name) != wanted.end();
        if (bit == nullptr || (*bit == "1") == on) continue;
        change.Set(name, on ? "1" : "0");
        opens = opens || !on;
      }
      if (change.empty()) continue;
      const PciFunction* guest = opens ? PassedThroughBelow(tree, bridge.bdf) : nullptr;
      if (guest != nullptr)
        return Status(Code::kFailedPrecondition,
                      guest->bdf + " below bridge " + bridge.bdf +
                          " is bound to vfio-pci: a virtual machine relies on the isolation that this would "
                          "remove; take the virtual machine or the key away from this node");
      changes.emplace_back(bridge.bdf, change);
    }
    for (const auto& [bridge, change] : changes)
      RW_RETURN_IF_ERROR(machine.Set(PathOf(bridge), change.Text()));
    return Ok();
  }
};

}  // namespace

std::unique_ptr<const Setting> make_pcie_acs() { return std::make_unique<PcieAcs>(); }

}  // namespace railwright
