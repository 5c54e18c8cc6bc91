// qos.dcbx: who negotiates priorities with the switch, the host or the card's firmware.
#include "agent/settings/qos_dcb.h"
#include "core/decode/fields.h"

namespace railwright {
namespace {

constexpr std::string_view kHost = "host", kFirmware = "firmware";
// What mlx5 starts with in host mode: CEE beside IEEE.
constexpr std::string_view kHostWithCee = "host+cee";
constexpr std::uint8_t kHostBits = DcbxMode::kHost | DcbxMode::kIeee;

// One of the words above, or all bits of another mode of the host.
std::string Shown(const DcbxMode& mode) {
  if (!mode.host()) return std::string(kFirmware);
  if (mode.bits == kHostBits) return std::string(kHost);
  if (mode.bits == (kHostBits | DcbxMode::kCee)) return std::string(kHostWithCee);
  return mode.Text();
}

Result<DcbxMode> ModeOf(std::string_view shown) {
  if (shown == kFirmware) return DcbxMode{};
  if (shown == kHost) return DcbxMode{kHostBits};
  if (shown == kHostWithCee) return DcbxMode{kHostBits | DcbxMode::kCee};
  return DcbxMode::Parse(shown);
}

class QosDcbx final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "qos.dcbx",
        .code = "RW-1160",
        .help = "Who negotiates PFC, ETS and priorities with the switch: the host, or the card's firmware.",
        .why =
            "In firmware mode the card is willing: what the host writes is accepted and later overridden by "
            "what the switch announces. `host` with IEEE DCBX must stand before any other qos setting.",
        .targets = TargetKind::kPort,
        .syntax = "`host` (with IEEE DCBX), or `firmware`",
        .default_value = "the card's; often firmware",
        .interface = "dcbnl GDCBX, SDCBX",
        .source = "kernel mlx5 en_dcbnl.c mlx5e_dcbnl_setdcbx; include/uapi/linux/dcbnl.h DCB_CAP_DCBX_*",
        .disruption = Disruption::kTrafficBlip,
        .noticed = DcbNoticed(),
        .effect = Effect::kRuntime,
        .order = 60,
        .group = "lossless",
        .likely_owners = {"lldpad", "mlnx_qos", "openibd", "the card's firmware"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    value = Trimmed(value);
    if (value == kHost || value == kFirmware) return std::string(value);
    return Status(Code::kInvalidArgument, Quoted(value) + " is no DCBX mode; allowed: host, firmware");
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_ASSIGN_OR_RETURN(const DcbText read, ReadDcb(machine, target, "dcbx"));
    if (const auto* none = std::get_if<Observation>(&read)) return *none;
    const auto mode = DcbxMode::Parse(std::get<std::string>(read));
    if (!mode.ok()) return mode.status().Within(DcbPath(target, "dcbx"));
    return Observation::Value(Shown(*mode));
  }

  // CEE beside IEEE changes nothing of what is set here.
  bool Satisfied(const Target&, std::string_view desired, const Observation& observed) const override {
    if (observed.kind != Observation::Kind::kValue) return false;
    if (observed.value == desired) return true;
    const auto mode = ModeOf(observed.value);
    return desired == kHost && mode.ok() && (mode->bits & kHostBits) == kHostBits &&
           (mode->bits & DcbxMode::kLldManaged) == 0;
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const DcbxMode mode, ModeOf(value));
    // What is so already stays as it is: `firmware` stands for several bits, and which of them is the card's.
    const auto now = Observe(machine, target);
    if (now.ok() && now->kind == Observation::Kind::kValue && now->value == value) return Ok();
    return machine.Set(DcbPath(target, "dcbx"), mode.Text());
  }

  // In firmware mode the switch decides from then on, and may turn classes over.
  Disruption DisruptionOf(const Target&, std::string_view from, std::string_view to) const override {
    return from != to && to == kFirmware ? Disruption::kTrafficBlip : Disruption::kNone;
  }
};

}  // namespace

std::unique_ptr<const Setting> make_qos_dcbx() { return std::make_unique<QosDcbx>(); }

}  // namespace railwright
