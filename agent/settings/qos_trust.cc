// qos.trust: by what a port sorts packets into priorities, their DSCP or the PCP of a VLAN tag.
#include "agent/settings/qos_dcb.h"
#include "core/decode/dscp_map.h"

namespace railwright {
namespace {

constexpr std::string_view kDscpTrust = "dscp", kPcpTrust = "pcp";

class QosTrust final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "qos.trust",
        .code = "RW-1161",
        .help = "What a port sorts packets by: their DSCP, or the PCP of a VLAN tag.",
        .why =
            "Untagged RoCE packets have no PCP: with `pcp` all of them fall into priority 0, which is not "
            "lossless, whatever their DSCP says. A port trusts DSCPs as soon as its APP table holds one; for "
            "`dscp` all 64 are written, by qos.dscp_map's default, unless some are there.",
        .targets = TargetKind::kPort,
        .syntax = "`dscp` or `pcp`",
        .default_value = "pcp",
        .interface = "dcbnl IEEE_APP_TABLE, selector 5",
        .source = "kernel mlx5 en_dcbnl.c mlx5e_dcbnl_ieee_setapp, mlx5e_dcbnl_ieee_delapp",
        .disruption = Disruption::kTrafficBlip,
        .noticed = DcbNoticed(),
        .effect = Effect::kRuntime,
        .order = 62,
        .group = "lossless",
        .likely_owners = {"lldpad", "mlnx_qos", "openibd", "the card's firmware"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    value = Trimmed(value);
    if (value == kDscpTrust || value == kPcpTrust) return std::string(value);
    return Status(Code::kInvalidArgument, Quoted(value) + " is no trust; allowed: dscp, pcp");
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_ASSIGN_OR_RETURN(const DcbText read, ReadDcb(machine, target, "app"));
    if (const auto* none = std::get_if<Observation>(&read)) return *none;
    const auto table = ParseAppTable(std::get<std::string>(read));
    if (!table.ok()) return table.status().Within(DcbPath(target, "app"));
    const ListedDscps listed(*table);
    Observation observed = Observation::Value(std::string(listed.entries.empty() ? kPcpTrust : kDscpTrust));
    if (!listed.entries.empty() && listed.count() < kDscps)
      observed.message = std::to_string(listed.count()) +
                         " of 64 DSCPs are listed; what the card does with the others is not known "
                         "(qos.dscp_map writes all)";
    return WithDcbxNote(machine, target, std::move(observed));
  }

  // Entries are never removed to reach `dscp`: the last one takes the trust along.
  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    if (value != kDscpTrust && value != kPcpTrust)
      return Status(Code::kInvalidArgument, Quoted(value) + " is no trust; allowed: dscp, pcp");
    RW_ASSIGN_OR_RETURN(const std::string text, machine.Get(DcbPath(target, "app")));
    const auto table = ParseAppTable(text);
    if (!table.ok()) return table.status().Within(DcbPath(target, "app"));
    const bool listed = !ListedDscps(*table).entries.empty();
    if (listed == (value == kDscpTrust)) return Ok();
    return WriteApps(machine, target,
                     listed ? WithoutDscps(*table) : WithDscpMap(*table, DscpMap::Default()));
  }

  Disruption DisruptionOf(const Target&, std::string_view from, std::string_view to) const override {
    return from == to ? Disruption::kNone : Disruption::kTrafficBlip;
  }
};

}  // namespace

std::unique_ptr<const Setting> make_qos_trust() { return std::make_unique<QosTrust>(); }

}  // namespace railwright
