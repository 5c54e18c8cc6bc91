// qos.cable_length: how long a port's cable is, for the size of its headroom.
#include "agent/settings/qos_dcb.h"

namespace railwright {
namespace {

constexpr std::string_view kMetresDriver = "mlx5_core";

class QosCableLength final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "qos.cable_length",
        .code = "RW-1167",
        .help = "Length of a port's cable, from which the driver computes its headroom.",
        .why =
            "What is on its way when a port asks for a pause must still fit into its buffer. With a length "
            "that is too small a lossless priority drops under load; long cables need more buffer. mlx5 "
            "takes the delay of PFC as metres; other drivers take bit times, so it is not set there.",
        .targets = TargetKind::kPort,
        .syntax = "1…999 metres",
        .default_value = "7",
        .interface = "dcbnl IEEE_PFC, delay",
        .source = "kernel mlx5 en_dcbnl.c mlx5e_dcbnl_ieee_setpfc; en/port_buffer.c",
        .disruption = Disruption::kTrafficBlip,
        .noticed = DcbNoticed(),
        .effect = Effect::kRuntime,
        .order = 69,
        .group = "lossless",
        .likely_owners = {"lldpad", "mlnx_qos", "openibd"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const auto metres, ParseWhole(Trimmed(value), 1, 999, "1…999 metres"));
    return std::to_string(metres);
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_ASSIGN_OR_RETURN(Observation observed,
                        ObserveDcb<DcbPfc>(machine, target, "pfc",
                                           [](const DcbPfc& pfc) { return std::to_string(pfc.delay); }));
    if (observed.kind == Observation::Kind::kNotApplicable) return observed;
    RW_ASSIGN_OR_RETURN(const std::string driver, DriverOf(machine, target));
    if (driver == kMetresDriver) return observed;
    return Observation::NotApplicable(
        "NoCableLength", target.port->netdev + ": its driver" + (driver.empty() ? "" : " " + driver) +
                             " takes the delay of PFC as bit times; only " + std::string(kMetresDriver) +
                             " takes the length of the cable");
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    // An original may be what the driver ignores (0, 1000 and more).
    RW_ASSIGN_OR_RETURN(const auto metres, ParseWhole(value, 0, UINT16_MAX));
    RW_ASSIGN_OR_RETURN(const Observation now, Observe(machine, target));
    if (now.kind == Observation::Kind::kNotApplicable) return Status(Code::kFailedPrecondition, now.message);
    return machine.Set(DcbPath(target, "pfc"), "delay=" + std::to_string(metres));
  }

  // Buffers are resized under traffic.
  Disruption DisruptionOf(const Target&, std::string_view from, std::string_view to) const override {
    return from == to ? Disruption::kNone : Disruption::kTrafficBlip;
  }
};

}  // namespace

std::unique_ptr<const Setting> make_qos_cable_length() { return std::make_unique<QosCableLength>(); }

}  // namespace railwright
