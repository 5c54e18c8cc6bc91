// rail.address: the IP addresses of a port.
#include "core/decode/cidr.h"
#include "core/decode/fields.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

std::string PathOf(const Target& target) { return "/rtnl/addr/" + target.port->netdev; }

Result<std::string> CanonicalAddresses(std::string_view text) {
  RW_ASSIGN_OR_RETURN(const std::vector<Cidr> addresses, ParseCidrs(text));
  std::vector<std::string> texts;
  for (const Cidr& address : addresses) {
    RW_RETURN_IF_ERROR(address.CheckHost());
    texts.push_back(address.Text());
  }
  return Joined(texts, ",");
}

class RailAddress final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "rail.address",
        .code = "RW-1105",
        .help = "IP addresses of a port.",
        .why =
            "The GIDs of a RoCE port are made from its addresses; without the right one NCCL and rdma_cm "
            "find no "
            "GID, and every connection over the port fails. An address that is removed takes its GID along.",
        .targets = TargetKind::kPort,
        .syntax =
            "`declared` (what the Cluster document gives the port), or a list such as "
            "10.10.0.1/24,fd00:10::1/64",
        .default_value = "none",
        .interface = "rtnetlink RTM_NEWADDR, RTM_DELADDR",
        .source = "rtnetlink(7); kernel drivers/infiniband/core/roce_gid_mgmt.c",
        .disruption = Disruption::kTrafficBlip,
        .noticed = {.by_event = true, .source = "rtnetlink", .worst = std::chrono::milliseconds(1000)},
        .effect = Effect::kRuntime,
        .order = 130,
        .group = "rail",
        .goes_with_link = true,
        .likely_owners = {"NetworkManager", "systemd-networkd", "netplan", "dhclient", "ifupdown"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    value = Trimmed(value);
    if (value == "declared") return std::string(value);
    constexpr const char* kAllowed = "; allowed: declared, or addresses such as 10.10.0.1/24";
    auto canonical = CanonicalAddresses(value);
    if (canonical.ok() && canonical->empty())
      return Status(Code::kInvalidArgument, std::string("no address") + kAllowed);
    if (!canonical.ok()) return Status(Code::kInvalidArgument, canonical.status().message() + kAllowed);
    return canonical;
  }

  Result<std::string> Desired(const Target& target, std::string_view canonical) const override {
    if (canonical != "declared") return std::string(canonical);
    const Port& port = target.port->port;
    if (port.addresses.empty())
      return Status(Code::kInvalidArgument,
                    "port " + port.name +
                        " has no address in the Cluster document; give it one (ports: address, or "
                        "nodes: addresses), or list addresses here");
    return CanonicalAddresses(Joined(port.addresses, ","));
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_ASSIGN_OR_RETURN(const std::string text, machine.Get(PathOf(target)));
    const auto lines = SortedLines(text);
    return lines.empty() ? Observation::Absent() : Observation::Value(Joined(lines, ","));
  }

  // Addresses belong to one host: a profile names them by the word alone.
  Result<std::string> AsWish(const Target& target, const Observation& observed) const override {
    constexpr const char* kWord = "declared";
    auto declared = Desired(target, kWord);
    if (!declared.ok()) return declared.status();
    if (Satisfied(target, *declared, observed)) return std::string(kWord);
    return Status(Code::kFailedPrecondition, target.name + " has " +
                                                 (observed.value.empty() ? "no address" : observed.value) +
                                                 "; the Cluster document declares " + *declared);
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    std::vector<std::string> lines;
    for (const auto item : Words(value, ",")) lines.emplace_back(Trimmed(item));
    return machine.Set(PathOf(target), JoinLines(lines));
  }

  // An address that is added disturbs nobody; one that goes takes its connections along.
  Disruption DisruptionOf(const Target&, std::string_view from, std::string_view to) const override {
    for (const auto item : Words(from, ",")) {
      bool stays = false;
      for (const auto other : Words(to, ",")) stays = stays || other == item;
      if (!stays) return Disruption::kTrafficBlip;
    }
    return Disruption::kNone;
  }
};

}  // namespace

std::unique_ptr<const Setting> make_rail_address() { return std::make_unique<RailAddress>(); }

}  // namespace railwright
