// pcie.max_read_request: the largest read that a card asks of the host in one request.
#include "agent/settings/device_control.h"
#include "core/decode/pci_config.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

class PcieMaxReadRequest final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "pcie.max_read_request",
        .code = "RW-1181",
        .help = "Largest PCI Express read request of a port's card.",
        .why =
            "With the default of 512 bytes a 200 or 400 Gbit/s card cannot fetch data fast enough; the "
            "sender is "
            "slow though no counter shows why. Lost at every reset of the function and at boot.",
        .targets = TargetKind::kPort,
        .syntax = "128, 256, 512, 1024, 2048 or 4096 bytes",
        .default_value = "512",
        .interface = "PCI Express Device Control, bits 14:12",
        .source = "linux/pci_regs.h PCI_EXP_DEVCTL_READRQ",
        .disruption = Disruption::kNone,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kRuntime,
        .order = 44,
        .likely_owners = {"setpci in a boot script", "the kernel with pci=pcie_bus_perf"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    constexpr std::string_view kAllowed = "128, 256, 512, 1024, 2048, 4096";
    RW_ASSIGN_OR_RETURN(const std::uint64_t bytes, ParseWhole(Trimmed(value), 128, 4096, kAllowed));
    if (!PciCodeOfBytes(bytes))
      return Status(Code::kInvalidArgument, Quoted(value) + "; allowed: " + std::string(kAllowed));
    return std::to_string(bytes);
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    return ObserveDeviceControl(machine, target, "mrrs");
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    return ApplyDeviceControl(machine, target, "mrrs", value);
  }
};

}  // namespace

std::unique_ptr<const Setting> make_pcie_max_read_request() { return std::make_unique<PcieMaxReadRequest>(); }

}  // namespace railwright
