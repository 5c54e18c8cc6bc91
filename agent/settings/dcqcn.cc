// dcqcn.<register>: how a sender slows down and recovers, and how often a receiver asks it to.
#include "agent/settings/dcqcn_place.h"
#include "agent/settings/dcqcn_write.h"
#include "core/decode/programmable_cc.h"

namespace railwright {
namespace {

Result<const DcqcnRegister*> Named(std::string_view param) {
  const DcqcnRegister* one = FindDcqcnRegister(param);
  if (one == nullptr || !IsDcqcnKey(*one)) return Status(Code::kInvalidArgument, UnknownDcqcn(param));
  return one;
}

std::vector<std::string> AllRegisters() {
  std::vector<std::string> names;
  for (const DcqcnRegister& one : DcqcnRegisters())
    if (IsDcqcnKey(one)) names.emplace_back(one.name);
  return names;
}

std::string Syntax() {
  std::string text = "a whole number in the register's range:";
  for (const DcqcnRegister& one : DcqcnRegisters())
    if (IsDcqcnKey(one))
      text += (text.back() == ':' ? " " : "; ") + std::string(one.name) + " " + AllowedValues(one);
  return text + "; rates up to the line rate";
}

std::string Defaults() {
  std::string text = "the firmware's; mostly";
  for (const DcqcnRegister& one : DcqcnRegisters())
    if (IsDcqcnKey(one))
      text +=
          (text.ends_with("mostly") ? " " : ", ") + std::string(one.name) + " " + std::string(one.factory);
  return text;
}

// Whether the card is known to run another algorithm than DCQCN. What cannot be read says nothing of the
// register, which is then judged by itself.
bool RunsAProgram(const Machine& machine, const BoundPort& port) {
  if (port.bdf.empty()) return false;
  const auto text = machine.Get("/nvconfig/" + port.bdf + "/USER_PROGRAMMABLE_CC");
  if (!text.ok()) return false;
  const auto read = ReadProgrammableCc(*text);
  return read.ok() && read->current.value_or(false);
}

class Dcqcn final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "dcqcn.<register>",
        .code = "RW-1172",
        .help = "A register of DCQCN congestion control, by the name that MLNX_OFED gives it.",
        .why =
            "All senders of a fabric share its queues: one whose registers differ takes the others' "
            "bandwidth or starves. The card forgets them at every reset, and reload of its driver. They mean "
            "little without the switches' ECN thresholds.",
        .targets = TargetKind::kPort,
        .syntax = Syntax(),
        .default_value = Defaults(),
        .interface =
            "sysfs net/<if>/ecn (MLNX_OFED), debugfs mlx5/<bdf>/cc_params, configfs bnxt_re; with none "
            "of them NVCONFIG <REGISTER>_P<n>, in force at the next boot",
        .source =
            "NVIDIA DCQCN CC parameters; mstflint mlxconfig database; kernel "
            "drivers/infiniband/hw/mlx5/cong.c",
        .disruption = Disruption::kTrafficBlip,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kRuntime,
        .order = 144,
        .group = "congestion",
        .likely_owners = {"openibd", "the site's start scripts", "doca_spcx_cc"},
        .recorded = AllRegisters()};
    return info;
  }

  Result<std::string> Canonical(std::string_view param, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const DcqcnRegister* const one, Named(param));
    auto canonical = CanonicalDcqcn(*one, value);
    if (!canonical.ok()) return canonical.status().Within("dcqcn." + std::string(param));
    return canonical;
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_ASSIGN_OR_RETURN(const DcqcnRegister* const one, Named(target.param));
    RW_ASSIGN_OR_RETURN(Observation seen, ObserveDcqcn(machine, target, *one));
    if (seen.kind == Observation::Kind::kValue && RunsAProgram(machine, *target.port))
      return Observation::NotApplicable(
          "ProgrammableCC", target.port->netdev +
                                ": its card runs programmable congestion control (USER_PROGRAMMABLE_CC), "
                                "which does not look at DCQCN's registers");
    return seen;
  }

  std::optional<WritePlace> WritesTo(const Target&, std::string_view desired,
                                     const Observation& seen) const override {
    return DcqcnWritesTo(desired, seen);
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const DcqcnRegister* const one, Named(target.param));
    return WriteDcqcn(machine, target, *one, value);
  }

  // bnxt_re shows a device only where a directory has been made for it; see roce.mode. The module cannot be
  // unloaded while one is there, so they are removed at stop.
  Result<std::vector<std::string>> Prepare(Machine& machine) const override {
    std::vector<std::string> made;
    const auto devices = machine.List("/sys/class/infiniband");
    const auto present = machine.List(kBnxtGroup);
    if (!devices.ok() || !present.ok()) return made;
    for (const auto& device : *devices) {
      const std::string path = std::string(kBnxtGroup) + "/" + device;
      // Another vendor's device is refused (ENODEV); it has no registers there.
      if (!Holds(*present, device) && machine.Set(path, "directory").ok()) made.push_back(path);
    }
    return made;
  }
};

}  // namespace

std::unique_ptr<const Setting> make_dcqcn() { return std::make_unique<Dcqcn>(); }

}  // namespace railwright
