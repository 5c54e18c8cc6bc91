// qos.dscp_map: the priority of every DSCP on a port.
#include <algorithm>

#include "agent/settings/qos_dcb.h"
#include "core/decode/dscp_map.h"

namespace railwright {
namespace {

class QosDscpMap final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "qos.dscp_map",
        .code = "RW-1162",
        .help = "Which priority each DSCP gets on a port.",
        .why =
            "RoCE marks its packets with a DSCP; unless that falls into the lossless priority, PFC protects "
            "nothing. All 64 are written and compared, those not named as dscp/8 (26 → 3, 48 → 6), since an "
            "entry that is not listed says nothing of what the card does.",
        .targets = TargetKind::kPort,
        .syntax = "`default` (dscp/8), or pairs DSCP:PRIORITY that differ: `26:3,48:6`, `24-31:4`",
        .default_value = "none listed; the card then has dscp/8",
        .interface = "dcbnl IEEE_APP_TABLE, selector 5",
        .source = "kernel mlx5 en_dcbnl.c mlx5e_dcbnl_ieee_setapp; IEEE 802.1Q D.2.9",
        .disruption = Disruption::kTrafficBlip,
        .noticed = DcbNoticed(),
        .effect = Effect::kRuntime,
        .order = 64,
        .group = "lossless",
        .likely_owners = {"lldpad", "mlnx_qos", "openibd", "the card's firmware"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const DscpMap map, DscpMap::Parse(value));
    return map.Text();
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_ASSIGN_OR_RETURN(const DcbText read, ReadDcb(machine, target, "app"));
    if (const auto* none = std::get_if<Observation>(&read)) return *none;
    const auto table = ParseAppTable(std::get<std::string>(read));
    if (!table.ok()) return table.status().Within(DcbPath(target, "app"));
    const ListedDscps listed(*table);
    Observation observed = listed.entries.empty() ? Observation::Absent() : Observation::Value(listed.Text());
    if (listed.count() < kDscps)
      observed.message = std::to_string(listed.count()) +
                         " of 64 DSCPs are listed; what the card does with the others is not known";
    return WithDcbxNote(machine, target, std::move(observed));
  }

  // "only …" is an original, never a wish: what was listed then, and no statement on the others.
  bool Satisfied(const Target& target, std::string_view desired, const Observation& observed) const override {
    if (Setting::Satisfied(target, desired, observed)) return true;
    const auto wanted = ParseOnlyDscps(desired);
    const auto seen = DscpMap::Parse(observed.value);
    if (!wanted.ok() || !seen.ok() || observed.kind != Observation::Kind::kValue) return false;
    return *seen == Completed(*wanted);
  }

  // To put back "only …" nothing is removed: mlx5 would give the DSCP of a removed entry priority 0, which it
  // did not have before. The others are left listed with dscp/8.
  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const std::string text, machine.Get(DcbPath(target, "app")));
    const auto table = ParseAppTable(text);
    if (!table.ok()) return table.status().Within(DcbPath(target, "app"));
    if (value == ListedDscps(*table).Text()) return Ok();
    if (value.empty()) return WriteApps(machine, target, WithoutDscps(*table));
    DscpMap map;
    if (const auto only = ParseOnlyDscps(value); only.ok()) {
      map = Completed(*only);
    } else {
      RW_ASSIGN_OR_RETURN(map, DscpMap::Parse(value));
    }
    return WriteApps(machine, target, WithDscpMap(*table, map));
  }

  Disruption DisruptionOf(const Target&, std::string_view from, std::string_view to) const override {
    return from == to ? Disruption::kNone : Disruption::kTrafficBlip;
  }

 private:
  static DscpMap Completed(const std::vector<DcbApp>& entries) {
    DscpMap map = DscpMap::Default();
    for (const DcbApp& app : entries) map.priority[app.protocol] = app.priority;
    return map;
  }
};

}  // namespace

std::unique_ptr<const Setting> make_qos_dscp_map() { return std::make_unique<QosDscpMap>(); }

}  // namespace railwright
