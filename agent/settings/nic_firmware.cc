// nic.firmware: the version of the firmware that a port's card runs. Read only in this version.
#include "core/decode/package_wish.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

constexpr std::string_view kAllowed = "28.39.1002, >=28.39.1002 <29, 28.39.*";

class NicFirmware final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "nic.firmware",
        .code = "RW-1184",
        .help = "Firmware version of a port's card.",
        .why =
            "Driver and firmware must fit each other, and one card with another version is the slow one of "
            "its "
            "rail. An image fits only cards with its PSID, which the evidence names.",
        .targets = TargetKind::kPort,
        .syntax = "`28.39.1002`, `>=28.39.1002 <29`, `28.39.*`",
        .default_value = "what the card came with",
        .interface = "/sys/class/infiniband/<ibdev>/fw_ver, board_id",
        .source = "kernel drivers/infiniband/hw/mlx5/main.c",
        .disruption = Disruption::kFunctionReset,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kObserveOnly,
        .order = 12,
        .likely_owners = {"mlxfwmanager", "fwupd", "doca-host"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    const auto wish = PackageWish::Parse(value);
    if (!wish.ok() || wish->absent || wish->hold || wish->conditions.empty())
      return Status(Code::kInvalidArgument, Quoted(value) + "; allowed: " + std::string(kAllowed));
    return wish->Text();
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    const BoundPort& port = *target.port;
    if (port.ibdev.empty()) {
      // The port was bound without one; that must not be because nobody could look.
      const auto devices = machine.List("/sys/class/infiniband");
      if (!devices.ok() && devices.status().code() != Code::kNotFound) return devices.status();
      if (const auto link = machine.Get("/rtnl/link/" + port.netdev); !link.ok()) return link.status();
      return Observation::NotApplicable("NoRdmaDevice",
                                        port.netdev + " has no RDMA device, which would tell its firmware");
    }
    const std::string device = "/sys/class/infiniband/" + port.ibdev;
    RW_ASSIGN_OR_RETURN(const std::string version, machine.Get(device + "/fw_ver"));
    RW_ASSIGN_OR_RETURN(const std::string psid, machine.Get(device + "/board_id"));
    if (Words(version).size() != 1)
      return Status(Code::kInternal, device + "/fw_ver: " + Quoted(version) + " is no version");
    Observation seen = Observation::Value(std::string(Trimmed(version)));
    seen.message = "PSID " + std::string(Trimmed(psid));
    return seen;
  }

  bool Satisfied(const Target&, std::string_view desired, const Observation& observed) const override {
    const auto wish = PackageWish::Parse(desired);
    return wish.ok() && observed.kind == Observation::Kind::kValue &&
           wish->FulfilledBy(observed.value, false);
  }

  Status Apply(Machine&, const Target&, std::string_view value) const override {
    return Status(Code::kUnimplemented, "nic.firmware: this version does not flash cards; bring it to " +
                                            Quoted(value) + " with the vendor's tool, node drained");
  }
};

}  // namespace

std::unique_ptr<const Setting> make_nic_firmware() { return std::make_unique<NicFirmware>(); }

}  // namespace railwright
