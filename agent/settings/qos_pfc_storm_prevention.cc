// qos.pfc_storm_prevention: after how long of being paused a port stops heeding pause frames.
#include <cerrno>

#include "core/decode/pfc_storm.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

// mlx5 en_ethtool.c: MLX5E_PFC_PREVEN_TOUT_MIN_MSEC, …_TOUT_MAX_MSEC, …_AUTO_TOUT_MSEC.
constexpr std::uint16_t kLeast = 80, kGreatest = 8000;
constexpr std::string_view kAutoOfMlx5 = "100";

std::string PathOf(const Target& target) {
  return "/ethtool/" + target.port->netdev + "/pfc_storm_prevention";
}

class QosPfcStormPrevention final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "qos.pfc_storm_prevention",
        .code = "RW-1164",
        .help = "After how long of being paused a port drops instead of pausing its peers.",
        .why =
            "A host that stops taking packets pauses its switch, which pauses others: one dead node stops a "
            "fabric. With it the port of the dead node gives up being lossless. Beyond `auto` (100 ms) a "
            "storm lasts longer.",
        .targets = TargetKind::kPort,
        .syntax = "`off`, `auto` (100 ms), or 80…8000 ms",
        .default_value = "the firmware's",
        .interface = "SIOCETHTOOL tunable ETHTOOL_PFC_PREVENTION_TOUT",
        .source = "kernel include/uapi/linux/ethtool.h; mlx5 en_ethtool.c",
        .disruption = Disruption::kNone,
        // Tunables tell nobody.
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kRuntime,
        .order = 70,
        .group = "lossless",
        .likely_owners = {"mlnx_tune", "openibd"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const auto milliseconds, ParsePfcStorm(value, kLeast, kGreatest));
    return PfcStormText(milliseconds);
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    const auto text = machine.Get(PathOf(target));
    if (!text.ok() && text.status().error_number() == EOPNOTSUPP)
      return Observation::NotApplicable(
          "NoPfcStormPrevention",
          target.port->netdev +
              ": its driver or firmware has no PFC storm prevention: " + text.status().message());
    if (!text.ok()) return text.status();
    const auto milliseconds = ParsePfcStorm(*text, 1, kPfcStormAuto - 1);
    if (!milliseconds.ok())
      return Status(Code::kInternal, PathOf(target) + ": " + milliseconds.status().message());
    return Observation::Value(PfcStormText(*milliseconds));
  }

  // mlx5 keeps the number that it makes of `auto`.
  bool Satisfied(const Target& target, std::string_view desired, const Observation& observed) const override {
    if (Setting::Satisfied(target, desired, observed)) return true;
    return desired == "auto" && observed.kind == Observation::Kind::kValue && observed.value == kAutoOfMlx5;
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    RW_RETURN_IF_ERROR(ParsePfcStorm(value, 1, kPfcStormAuto - 1).status());
    return machine.Set(PathOf(target), value);
  }
};

}  // namespace

std::unique_ptr<const Setting> make_qos_pfc_storm_prevention() {
  return std::make_unique<QosPfcStormPrevention>();
}

}  // namespace railwright
