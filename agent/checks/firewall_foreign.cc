// firewall.foreign: rules of others that stand in the way of the fabric's traffic. Reported, never removed.
#include <algorithm>
#include <map>
#include <optional>

#include "core/decode/nft_ruleset.h"
#include "core/decode/nft_tables.h"
#include "core/decode/rdma_ports.h"
#include "core/decode/values.h"
#include "core/diagnose/firewall.h"
#include "core/diagnose/firewall_owner.h"
#include "railwright/check.h"

namespace railwright {
namespace {

constexpr const char* kRuleset = "/nft/ruleset";
// The table of firewall.rdma. It only accepts.
const std::pair<std::string, std::string> kOurs{"inet", "railwright"};

// What is known of this host's rules.
struct Rules {
  nft::Ruleset foreign;             ///< without our own table
  std::vector<std::string> tables;  ///< "inet firewalld", for the evidence
  std::string hidden;  ///< tables of legacy iptables: "filter nat (IPv4)"; "" when there are none
};

// A rule in the way of one interface, and of what.
struct Hit {
  Obstacle obstacle;
  std::vector<std::string> traffic;  ///< "UDP 4791 (rocev2) from 10.9.0.0/24"
  std::string fix;
};

std::string LegacyTables(const Machine& machine, const char* path, const char* family, Status& error) {
  const auto names = machine.Get(path);
  if (!names.ok()) {
    // Without the module there is no such file, and there are no tables.
    if (names.status().code() != Code::kNotFound) error = names.status();
    return {};
  }
  std::vector<std::string> list;
  for (const std::string_view name : Words(*names)) list.emplace_back(name);
  return list.empty() ? "" : Joined(list, " ") + " (" + family + ")";
}

// "UDP 4791", "TCP 18515-18530 (perftest), 40000-40009 (nccl)"
std::string PortsWithNames(PortProtocol protocol, const IntervalSet& ports) {
  std::vector<std::string> parts;
  for (const RdmaPort& one : kRdmaPorts) {
    if (one.protocol != protocol) continue;
    const IntervalSet both = ports.And(IntervalSet::Range(one.first, one.last));
    if (!both.empty()) parts.push_back(PortsText(both) + " (" + std::string(one.name) + ")");
  }
  return (protocol == PortProtocol::kUdp ? "UDP " : "TCP ") + Joined(parts, ", ");
}

class FirewallForeign final : public Check {
 public:
  const CheckInfo& info() const override {
    static const CheckInfo info{
        .key = "firewall.foreign",
        .code = "RW-2101",
        .help = "No firewall rule of others drops the fabric's traffic.",
        .why =
            "A drop in any table is final: an accept of ours cannot overrule it. Soft RoCE, rdma_cm's "
            "helpers, "
            "perftest and NCCL's bootstrap then hang instead of failing. Cards carry RoCE past the host's "
            "firewall; for "
            "them a rule on UDP 4791 is a sign of what the owner believes, the TCP ports still count.",
        .interface = "nftables ruleset; /proc/net/ip_tables_names and ip6_tables_names",
        .noticed = {.by_event = true, .source = "nftables", .worst = std::chrono::milliseconds(1000)}};
    return info;
  }

  std::vector<Finding> Run(const Machine& machine, const NodeFacts& facts) const override {
    std::vector<const BoundPort*> ports;
    for (const BoundPort& port : facts.ports)
      if (port.port.role == PortRole::kFabric) ports.push_back(&port);
    if (ports.empty())
      return {Make("", Verdict::kNotApplicable, "NoFabricPort",
                   "no port of this node is declared a fabric port", "")};

    std::vector<Finding> findings;
    std::vector<std::string> interfaces;
    for (const BoundPort* port : ports)
      if (!port->netdev.empty()) interfaces.push_back(port->netdev);
    const auto rules = Read(machine);
    std::map<std::string, Hits> hits;
    if (rules.ok() && !interfaces.empty()) hits = Judge(*rules, facts, interfaces);
    for (const BoundPort* port : ports) {
      if (port->netdev.empty()) {
        findings.push_back(
            Make(port->port.name, Verdict::kUnknown, "PortNotFound", port->unbound,
                 "correct the port's selector in the Cluster document, or find out why the card is gone"));
      } else if (!rules.ok()) {
        findings.push_back(Unread(port->port.name, rules.status()));
      } else {
        findings.push_back(Conclude(*port, *rules, hits[port->netdev]));
      }
    }
    return findings;
  }

 private:
  using Hits = std::vector<Hit>;

  Finding Make(std::string target, Verdict verdict, std::string reason, std::string message,
               std::string fix) const {
    Finding finding;
    finding.code = info().code;
    finding.key = info().key;
    finding.target = std::move(target);
    finding.verdict = verdict;
    finding.reason = std::move(reason);
    finding.message = std::move(message);
    finding.fix = std::move(fix);
    return finding;
  }

  Finding Unread(const std::string& port, const Status& status) const {
    if (status.code() == Code::kUnimplemented)
      return Make(port, Verdict::kNotApplicable, "NoNftables", status.message(), "");
    return Make(port, Verdict::kUnknown, "ReadFailed", status.message(),
                status.code() == Code::kNotFound
                    ? "install the package nftables, so that the rules can be listed"
                    : "run the agent with CAP_NET_ADMIN, and look at `nft list ruleset`");
  }

  // Legacy tables are looked at also where nftables is not there: they do not need it.
  static Result<Rules> Read(const Machine& machine) {
    Rules rules;
    Status legacy_error;
    const std::string four = LegacyTables(machine, "/proc/net/ip_tables_names", "IPv4", legacy_error);
    const std::string six = LegacyTables(machine, "/proc/net/ip6_tables_names", "IPv6", legacy_error);
    rules.hidden = four + (four.empty() || six.empty() ? "" : ", ") + six;

    const auto text = machine.Get(kRuleset);
    if (!text.ok()) {
      if (text.status().code() == Code::kNotFound) {
        // No nft to list with. A generation of 1 is that of a network namespace whose ruleset was never
        // touched.
        const auto generation = machine.Get("/nft/generation");
        if (!generation.ok() || *generation != "1") return text.status();
      } else if (text.status().code() != Code::kUnimplemented || rules.hidden.empty()) {
        return text.status();
      }
    } else {
      const auto names = nft::TableNames(*text);
      const bool foreign =
          !names || std::any_of(names->begin(), names->end(), [](const auto& one) { return one != kOurs; });
      if (foreign) {
        auto decoded = nft::DecodeRuleset(*text);
        if (!decoded.ok()) return decoded.status().Within(kRuleset);
        rules.foreign = std::move(*decoded);
        std::erase_if(rules.foreign.tables,
                      [](const nft::Table& table) { return std::pair(table.family, table.name) == kOurs; });
      }
      for (const nft::Table& table : rules.foreign.tables)
        rules.tables.push_back(table.family + " " + table.name);
    }
    if (!legacy_error.ok()) return legacy_error;
    return rules;
  }

  // The classes of packets that a fabric needs, with every interface and peer at once.
  static std::vector<PacketClass> Classes(const NodeFacts& facts,
                                          const std::vector<std::string>& interfaces) {
    std::vector<PacketClass> classes;
    for (const bool ipv6 : {false, true}) {
      IntervalSet peers, own;
      for (const std::string& subnet : facts.subnets)
        if (const auto network = ParseNetwork(subnet); network && network->ipv6 == ipv6)
          peers = peers.Or(network->addresses);
      for (const BoundPort& port : facts.ports) {
        if (port.port.role != PortRole::kFabric) continue;
        for (const std::string& text : port.port.addresses) {
          const auto address = ParseNumberedAddress(std::string_view(text).substr(0, text.find('/')));
          if (address && address->ipv6 == ipv6) own = own.Or(IntervalSet::Of(address->number));
          // Without subnets in the Cluster document, the ports' own networks.
          const auto network = ParseNetwork(text);
          if (facts.subnets.empty() && network && network->ipv6 == ipv6) peers = peers.Or(network->addresses);
        }
      }
      if (peers.empty()) continue;
      for (const PortProtocol protocol : {PortProtocol::kUdp, PortProtocol::kTcp}) {
        PacketClass packets;
        packets.ipv6 = ipv6;
        packets.protocol = protocol;
        packets.peers = peers;
        packets.own = own;
        packets.interfaces = interfaces;
        for (const RdmaPort& one : kRdmaPorts)
          if (one.protocol == protocol)
            packets.ports = packets.ports.Or(IntervalSet::Range(one.first, one.last));
        classes.push_back(packets);
        packets.direction = PacketClass::Direction::kSend;
        classes.push_back(packets);
      }
    }
    return classes;
  }

  static std::map<std::string, Hits> Judge(const Rules& rules, const NodeFacts& facts,
                                           const std::vector<std::string>& interfaces) {
    std::map<std::string, Hits> hits;
    FirewallOptions options;
    options.hidden_rules = !rules.hidden.empty();
    for (const PacketClass& packets : Classes(facts, interfaces))
      for (const Obstacle& obstacle : JudgeFirewall(rules.foreign, packets, options).obstacles)
        for (const std::string& interface : obstacle.interfaces)
          Add(obstacle, packets, interface, hits[interface]);
    return hits;
  }

  // One hit a rule, whatever it is in the way of.
  static void Add(const Obstacle& obstacle, const PacketClass& packets, const std::string& interface,
                  Hits& hits) {
    const bool receive = packets.direction == PacketClass::Direction::kReceive;
    const std::string peers = AddressesText(obstacle.peers, packets.ipv6);
    std::string traffic =
        PortsWithNames(packets.protocol, obstacle.ports) + (receive ? " from " : " to ") + peers;
    for (Hit& hit : hits) {
      if (hit.obstacle.passage != obstacle.passage || hit.obstacle.why != obstacle.why ||
          hit.obstacle.behind != obstacle.behind || hit.obstacle.Where() != obstacle.Where())
        continue;
      hit.traffic.push_back(std::move(traffic));
      return;
    }
    hits.push_back({obstacle,
                    {std::move(traffic)},
                    FirewallFix(obstacle, packets, interface, peers.substr(0, peers.find(',')))});
  }

  static std::string Sentence(const Hit& hit) {
    const Obstacle& obstacle = hit.obstacle;
    const std::string owner = FirewallOwner(obstacle);
    std::string text = obstacle.Where() + (owner.empty() ? "" : ", kept by " + owner + ",");
    const std::string traffic = Joined(hit.traffic, "; ");
    switch (obstacle.passage) {
      case Passage::kCannotTell:
        return text + " decides over " + traffic + ", and it cannot be told how: " + obstacle.why;
      case Passage::kThrottled: return text + " throttles " + traffic + " (" + obstacle.why + ")";
      case Passage::kDropped:
      case Passage::kPasses: break;
    }
    return text + (obstacle.behind ? " would drop next: " : " drops ") + traffic;
  }

  Finding Conclude(const BoundPort& port, const Rules& rules, const Hits& hits) const {
    Finding finding = Make(port.port.name, Verdict::kCompliant, "", "", "");
    Passage worst = Passage::kPasses;
    for (const Hit& hit : hits)
      if (!hit.obstacle.behind) worst = std::max(worst, hit.obstacle.passage);
    if (worst != Passage::kPasses) {
      const bool drifted = worst >= Passage::kThrottled;
      finding.verdict = drifted ? Verdict::kDrifted : Verdict::kUnknown;
      finding.reason = drifted ? "ForeignRule" : "UnclearRule";
      std::vector<std::string> sentences;
      for (const Hit& hit : hits) {
        if (drifted != (hit.obstacle.passage >= Passage::kThrottled)) continue;
        sentences.push_back(Sentence(hit));
        if (finding.fix.empty()) finding.fix = hit.fix;
      }
      finding.message = "on " + port.netdev + ": " + Joined(sentences, ". ");
      if (!drifted) finding.fix = "put an accept for the cluster's subnets before it: " + finding.fix;
    } else if (!rules.hidden.empty()) {
      finding.verdict = Verdict::kUnknown;
      finding.reason = "HiddenRules";
      finding.message = "legacy iptables tables are loaded, and nftables does not show them: " + rules.hidden;
      finding.fix = "look at them with `iptables-legacy-save`; when they are empty, unload ip_tables";
    }
    finding.observed = std::string(Name(worst));
    finding.evidence.push_back(
        std::string(kRuleset) + ": " +
        (rules.tables.empty() ? "no table but ours" : "tables " + Joined(rules.tables, ", ")));
    if (!rules.hidden.empty()) finding.evidence.push_back("/proc/net/ip_tables_names: " + rules.hidden);
    for (const Hit& hit : hits) {
      std::string where = hit.obstacle.Where() + " in " + hit.obstacle.base_chain;
      if (std::find(finding.evidence.begin(), finding.evidence.end(), where) == finding.evidence.end())
        finding.evidence.push_back(std::move(where));
    }
    if (!port.ibdev.empty() && !port.ibdev.starts_with("rxe") && worst != Passage::kPasses)
      finding.evidence.push_back(
          port.ibdev + " carries RoCE past the host's firewall; TCP and soft RoCE do not pass it by");
    return finding;
  }
};

}  // namespace

std::unique_ptr<const Check> make_firewall_foreign() { return std::make_unique<FirewallForeign>(); }

}  // namespace railwright
