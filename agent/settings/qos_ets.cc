// qos.ets: how the priorities of a port share its bandwidth.
#include "agent/settings/qos_dcb.h"
#include "core/decode/ets_wish.h"

namespace railwright {
namespace {

class QosEts final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "qos.ets",
        .code = "RW-1165",
        .help = "Traffic classes of a port, and how they share its bandwidth.",
        .why =
            "Congestion notifications must overtake the data that they slow down, and storage must not "
            "starve "
            "RoCE. A driver's load turns all classes to `vendor` and swaps priorities 0 and 1, so it has to "
            "be set again after each.",
        .targets = TargetKind::kPort,
        .syntax =
            "groups of priorities with percent or strict: `3:50,6:strict,rest:50`, or `prio_tc=… tsa=… bw=…`",
        .default_value = "prio_tc=1,0,2,3,4,5,6,7, all vendor",
        .interface = "dcbnl IEEE_ETS",
        .source = "IEEE 802.1Q clause 37; kernel mlx5 en_dcbnl.c mlx5e_dbcnl_validate_ets",
        .disruption = Disruption::kTrafficBlip,
        .noticed = DcbNoticed(),
        .effect = Effect::kRuntime,
        .order = 66,
        .group = "lossless",
        .likely_owners = {"lldpad", "mlnx_qos", "openibd", "the card's firmware"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const EtsWish wish, EtsWish::Parse(value));
    return wish.Text();
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    return ObserveDcb<DcbEts>(machine, target, "ets",
                              [](const DcbEts& ets) { return EtsWish::Of(ets).Text(); });
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    // An original may break the rules for wishes.
    RW_ASSIGN_OR_RETURN(const EtsWish wish, EtsWish::ParseObserved(value));
    return machine.Set(DcbPath(target, "ets"), wish.Text());
  }

  Disruption DisruptionOf(const Target&, std::string_view from, std::string_view to) const override {
    return from == to ? Disruption::kNone : Disruption::kTrafficBlip;
  }
};

}  // namespace

std::unique_ptr<const Setting> make_qos_ets() { return std::make_unique<QosEts>(); }

}  // namespace railwright
