// cnp.priority: the priority of the notifications that a receiver sends back.
#include "agent/settings/dcqcn_place.h"
#include "agent/settings/dcqcn_write.h"

namespace railwright {
namespace {

const DcqcnRegister& Register() { return *FindDcqcnRegister("cnp_802p_prio"); }

// The inbox driver shows beside the priority whether the firmware uses it: 0 does, and writing the priority
// sets 0. "6 (prio_mode 1)" is a priority that is not used, and so fulfils no wish.
constexpr std::string_view kMode = " (prio_mode ";

struct Priority {
  std::string number;
  std::string mode;  ///< "" when the number is in use
};

Priority Parse(std::string_view text) {
  const auto at = text.find(kMode);
  if (at == std::string_view::npos || !text.ends_with(")")) return {std::string(text), {}};
  const auto mode = text.substr(at + kMode.size());
  return {std::string(text.substr(0, at)), std::string(mode.substr(0, mode.size() - 1))};
}

class CnpPriority final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "cnp.priority",
        .code = "RW-1174",
        .help = "Priority of congestion notification packets.",
        .why =
            "The priority chooses the sender's queue and, in a VLAN, the tag. Writing it makes the firmware "
            "use it: on the inbox driver np_cnp_prio_mode becomes 0.",
        .targets = TargetKind::kPort,
        .syntax = "0…7",
        .default_value = "the firmware's; mostly 6",
        .interface =
            "sysfs net/<if>/ecn/roce_np/cnp_802p_prio (MLNX_OFED), debugfs cc_params/np_cnp_prio, configfs "
            "bnxt_re; with none of them NVCONFIG CNP_802P_PRIO_P<n>, in force at the next boot",
        .source = "NVIDIA DCQCN CC parameters; kernel drivers/infiniband/hw/mlx5/cong.c; IEEE 802.1Q",
        .disruption = Disruption::kTrafficBlip,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kRuntime,
        .order = 145,
        .group = "congestion",
        .likely_owners = {"openibd", "the site's start scripts"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    return CanonicalDcqcn(Register(), value);
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_ASSIGN_OR_RETURN(const FoundDcqcn found, FindDcqcn(machine, target, Register()));
    if (const auto* none = std::get_if<Observation>(&found)) return *none;
    const auto& place = std::get<DcqcnPlace>(found);
    RW_ASSIGN_OR_RETURN(Observation seen, ShowDcqcn(machine, target, Register(), place));
    RW_ASSIGN_OR_RETURN(const std::string mode, ModeOf(machine, place));
    if (mode == "0") return seen;
    seen.message = "np_cnp_prio_mode is " + mode +
                   ", so the firmware chooses the priority and does not use " + seen.value +
                   "; writing a priority sets the mode to 0";
    seen.value += std::string(kMode) + mode + ")";
    return seen;
  }

  std::optional<WritePlace> WritesTo(const Target&, std::string_view desired,
                                     const Observation& seen) const override {
    return DcqcnWritesTo(Parse(desired).number, seen);
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    const Priority wanted = Parse(value);
    RW_RETURN_IF_ERROR(WriteDcqcn(machine, target, Register(), wanted.number));
    if (wanted.mode.empty()) return Ok();
    RW_ASSIGN_OR_RETURN(const FoundDcqcn found, FindDcqcn(machine, target, Register()));
    const auto* place = std::get_if<DcqcnPlace>(&found);
    if (place == nullptr || place->form != DcqcnPlace::Form::kInbox)
      return Status(Code::kFailedPrecondition, "only the inbox driver has a mode of the CNP's priority");
    RW_ASSIGN_OR_RETURN(const std::uint64_t mode, ParseWhole(wanted.mode, 0, 1));
    return WithLockdown(machine, machine.Set(ModePath(*place), std::to_string(mode)));
  }

 private:
  static std::string ModePath(const DcqcnPlace& place) { return place.folder + "/np_cnp_prio_mode"; }

  // "0" where there is no such thing.
  static Result<std::string> ModeOf(const Machine& machine, const DcqcnPlace& place) {
    if (place.form != DcqcnPlace::Form::kInbox) return std::string("0");
    const auto text = machine.Get(ModePath(place));
    if (!text.ok() && text.status().code() == Code::kNotFound) return std::string("0");
    if (!text.ok()) return WithLockdown(machine, text.status());
    auto mode = ReadDcqcn(*text);
    if (!mode.ok()) return mode.status().Within(ModePath(place));
    return mode;
  }
};

}  // namespace

std::unique_ptr<const Setting> make_cnp_priority() { return std::make_unique<CnpPriority>(); }

}  // namespace railwright
