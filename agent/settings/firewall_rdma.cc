// firewall.rdma: a table of our own that accepts the cluster's RDMA traffic.
#include "core/decode/rdma_firewall.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

constexpr const char* kPath = "/nft/table/inet/railwright";

class FirewallRdma final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "firewall.rdma",
        .code = "RW-1107",
        .help = "Our own nftables table that accepts RDMA and NCCL traffic from the cluster's subnets.",
        .why =
            "Soft RoCE, rdma_cm's helpers, perftest and NCCL's bootstrap pass the host's firewall; cards "
            "terminate "
            "UDP 4791 below it. An accept here does not overrule a drop in another table: those are reported "
            "as "
            "firewall.foreign, never removed.",
        .targets = TargetKind::kNode,
        .syntax =
            "`allow` (UDP 4791; TCP 7174, 7471, 18515-18530, 32768-60999), a list such as "
            "udp:4791,tcp:18515-18530, or `allow` and a list",
        .default_value = "no table",
        .interface = "nftables, table inet railwright, chain input at priority -10",
        .source = "nft(8); core/decode/rdma_ports.h names the source of each port",
        .disruption = Disruption::kNone,
        .noticed = {.by_event = true, .source = "nftables", .worst = std::chrono::milliseconds(1000)},
        .effect = Effect::kRuntime,
        .order = 150,
        .likely_owners = {"firewalld", "nftables.service", "ufw", "docker"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const RdmaFirewallWish wish, RdmaFirewallWish::Parse(value));
    return wish.Text();
  }

  Result<std::string> Desired(const Target& target, std::string_view canonical) const override {
    RW_ASSIGN_OR_RETURN(const RdmaFirewallWish wish, RdmaFirewallWish::Parse(canonical));
    if (target.facts->subnets.empty())
      return Status(Code::kInvalidArgument,
                    "the Cluster document names no subnets to accept traffic from; give it `subnets: "
                    "[10.10.0.0/16]`, or "
                    "addresses to its fabric ports");
    const auto firewall = RdmaFirewall::For(target.facts->subnets, wish.AllPorts());
    if (!firewall.ok()) return firewall.status().Within("subnets of the Cluster document");
    return firewall->Text();
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    const auto json = machine.Get(kPath);
    if (!json.ok() && json.status().code() == Code::kNotFound) return Observation::Absent();
    if (!json.ok()) return json.status();
    const auto reading = ReadRdmaFirewall(*json, target.wish);
    if (!reading.ok()) return reading.status().Within(kPath);
    Observation observed = Observation::Value(reading->value);
    if (!reading->differences.empty())
      observed.message = "table inet railwright differs: " + Joined(reading->differences, "; ");
    return observed;
  }

  Status Apply(Machine& machine, const Target&, std::string_view value) const override {
    if (value.empty()) return machine.Set(kPath, "");
    if (const auto firewall = RdmaFirewall::Parse(value); firewall.ok())
      return machine.Set(kPath, firewall->Transaction());
    RW_ASSIGN_OR_RETURN(const std::string transaction, OtherTableTransaction(value));
    return machine.Set(kPath, transaction);
  }
};

}  // namespace

std::unique_ptr<const Setting> make_firewall_rdma() { return std::make_unique<FirewallRdma>(); }

}  // namespace railwright
