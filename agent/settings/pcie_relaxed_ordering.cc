// pcie.relaxed_ordering: whether a card may mark its writes as relaxed.
#include "agent/settings/device_control.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

class PcieRelaxedOrdering final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "pcie.relaxed_ordering",
        .code = "RW-1182",
        .help = "Whether a port's card may order its PCI Express writes loosely.",
        .why =
            "On many AMD and newer Intel hosts a card without it receives at a fraction of the line rate. It "
            "only "
            "permits: software asks for it per memory region, and the firmware must not force it.",
        .targets = TargetKind::kPort,
        .syntax = "`on` or `off`",
        .default_value = "on, unless the kernel knows a quirk of the root port",
        .interface = "PCI Express Device Control, bit 4",
        .source = "linux/pci_regs.h PCI_EXP_DEVCTL_RELAX_EN",
        .disruption = Disruption::kNone,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kRuntime,
        .order = 44,
        .likely_owners = {"setpci in a boot script", "the kernel's root port quirks"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    const std::string_view word = Trimmed(value);
    if (word != "on" && word != "off")
      return Status(Code::kInvalidArgument, Quoted(value) + "; allowed: on, off");
    return std::string(word);
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_ASSIGN_OR_RETURN(Observation seen, ObserveDeviceControl(machine, target, "relaxed_ordering"));
    if (seen.kind == Observation::Kind::kValue) seen.value = seen.value == "1" ? "on" : "off";
    return seen;
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    return ApplyDeviceControl(machine, target, "relaxed_ordering", value == "on" ? "1" : "0");
  }
};

}  // namespace

std::unique_ptr<const Setting> make_pcie_relaxed_ordering() {
  return std::make_unique<PcieRelaxedOrdering>();
}

}  // namespace railwright
