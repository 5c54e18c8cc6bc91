// nic.nvconfig.<KEY>: a parameter that the card keeps in its flash and its firmware reads at reset.
#include "agent/settings/pci_place.h"
#include "agent/settings/stored_parameter.h"
#include "core/decode/mstconfig.h"
#include "core/decode/nvconfig_names.h"

namespace railwright {
namespace {

class NicNvconfig final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "nic.nvconfig.<KEY>",
        .code = "RW-1183",
        .help = "Parameter in the flash of a port's ConnectX card.",
        .why =
            "Firmware that runs its own LLDP and DCBX swallows the switch's frames and overrules the host's "
            "PFC; ordering, address translation and congestion control are decided there, too. Running is "
            "what was there at the last reset, not what was set since.",
        .targets = TargetKind::kPort,
        .syntax = "a number, `true`, `false`, or a word as mstconfig prints it; names of a fixed list",
        .default_value = "the card's; `mstconfig -e q` tells it",
        .interface = "mstconfig -d <bdf> -e q, set",
        .source = "mstconfig(1); firmware release notes",
        .disruption = Disruption::kNone,  // of storing it; the next boot or reset of the card brings it
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::minutes(10)},
        .effect = Effect::kNextBoot,
        .order = 15,
        .likely_owners = {"mlxconfig", "nic-configuration-operator", "sriov-network-operator"},
        .recorded = {"CNP_DSCP_P1", "DCBX_IEEE_P1", "DCBX_WILLING_P1", "LINK_TYPE_P1", "LLDP_NB_DCBX_P1",
                     "LLDP_NB_RX_MODE_P1", "LLDP_NB_TX_MODE_P1", "MAX_ACC_OUT_READ", "PCI_WR_ORDERING",
                     "ROCE_CC_PRIO_MASK_P1", "ROCE_CONTROL"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view param, std::string_view value) const override {
    RW_RETURN_IF_ERROR(CheckNvParameter(param));
    std::string text = NvValueToSet(value);
    RW_RETURN_IF_ERROR(CheckNvValue(param, text));
    return text;
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_RETURN_IF_ERROR(CheckNvParameter(target.param));
    RW_ASSIGN_OR_RETURN(const PciPlace place, FindPciPlace(machine, target));
    if (const auto* none = std::get_if<Observation>(&place)) return *none;
    RW_ASSIGN_OR_RETURN(const auto stored, ReadStored(machine, PathOf(place, target)));
    if (!stored)
      return Observation::NotApplicable(
          "NoSuchParameter", "the firmware of " + std::get<std::string>(place) + " has no parameter " +
                                 target.param + "; some are shown only with ADVANCED_PCI_SETTINGS=1");
    return ShowStored(*stored, target.wish);
  }

  // What runs as wished and would not after the next boot is no fulfilled wish.
  bool Satisfied(const Target&, std::string_view desired, const Observation& observed) const override {
    return observed.kind == Observation::Kind::kValue && SameNvValue(observed.value, desired);
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    RW_RETURN_IF_ERROR(CheckNvParameter(target.param));
    const std::string text = NvValueToSet(ValueToStore(value));
    RW_RETURN_IF_ERROR(CheckNvValue(target.param, text));
    RW_ASSIGN_OR_RETURN(const PciPlace place, FindPciPlace(machine, target));
    if (const auto* none = std::get_if<Observation>(&place))
      return Status(Code::kFailedPrecondition, none->message);
    return machine.Set(PathOf(place, target), text);
  }

  std::optional<WritePlace> WritesTo(const Target&, std::string_view desired,
                                     const Observation& seen) const override {
    if (seen.stored_in.empty()) return std::nullopt;
    return PlaceInFlash(seen.stored_in, NvValueToSet(ValueToStore(desired)));
  }

 private:
  static std::string PathOf(const PciPlace& place, const Target& target) {
    return "/nvconfig/" + std::get<std::string>(place) + "/" + target.param;
  }
};

}  // namespace

std::unique_ptr<const Setting> make_nic_nvconfig() { return std::make_unique<NicNvconfig>(); }

}  // namespace railwright
