// qos.pfc: the lossless priorities of a port.
#include <bit>

#include "agent/settings/qos_dcb.h"

namespace railwright {
namespace {

class QosPfc final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "qos.pfc",
        .code = "RW-1163",
        .help = "Priorities of a port that are lossless by priority flow control.",
        .why =
            "Without PFC a full buffer drops RoCE packets, and every drop costs a retransmission of the "
            "whole "
            "window. The peer must have the same priorities. mlx5 takes the link down and up when they "
            "change, which a running job may not survive.",
        .targets = TargetKind::kPort,
        .syntax = "a list of priorities 0…7 such as `3` or `[0, 3]`, or `none`",
        .default_value = "none",
        .interface = "dcbnl IEEE_PFC",
        .source = "IEEE 802.1Q clause 36; kernel mlx5 en_dcbnl.c mlx5e_dcbnl_ieee_setpfc",
        .disruption = Disruption::kLinkFlap,
        .noticed = DcbNoticed(),
        .effect = Effect::kRuntime,
        .order = 72,
        .group = "lossless",
        .likely_owners = {"lldpad", "mlnx_qos", "openibd", "the card's firmware"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const auto mask, ParsePriorities(value));
    return PrioritiesText(mask);
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    return ObserveDcb<DcbPfc>(machine, target, "pfc",
                              [](const DcbPfc& pfc) { return PrioritiesText(pfc.enabled); });
  }

  // Read first: a mask that is right already must not cost a link flap, whatever the driver makes of it.
  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const auto mask, ParsePriorities(value));
    RW_ASSIGN_OR_RETURN(const std::string text, machine.Get(DcbPath(target, "pfc")));
    const auto pfc = DcbPfc::Parse(text);
    if (!pfc.ok()) return pfc.status().Within(DcbPath(target, "pfc"));
    if (pfc->enabled == mask) return Ok();
    if (std::popcount(mask) > pfc->capacity)
      return Status(Code::kInvalidArgument,
                    target.port->netdev + " takes PFC on " + std::to_string(pfc->capacity) +
                        " priorities at once, not on " + PrioritiesText(mask) + "; name fewer in qos.pfc");
    return machine.Set(DcbPath(target, "pfc"), "enabled=" + PrioritiesText(mask));
  }

  Disruption DisruptionOf(const Target&, std::string_view from, std::string_view to) const override {
    return from == to ? Disruption::kNone : Disruption::kLinkFlap;
  }
};

}  // namespace

std::unique_ptr<const Setting> make_qos_pfc() { return std::make_unique<QosPfc>(); }

}  // namespace railwright
