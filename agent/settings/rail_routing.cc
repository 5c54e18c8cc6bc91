// rail.routing: what leaves with a port's address leaves through that port.
#include "core/decode/rail_routing.h"

#include <algorithm>
#include <cerrno>

#include "core/decode/fields.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

std::string RulePath(const RailRouting& where) { return "/rtnl/rule/" + std::to_string(where.priority); }
std::string RoutePath(const RailRouting& where) { return "/rtnl/route/" + std::to_string(where.table); }
std::string StatePath(const Target& target) { return "/rtnl/link/" + target.port->netdev + "/state"; }

// A table or priority that nobody uses is an empty set, however the machine says so.
Result<std::vector<std::string>> ReadSet(const Machine& machine, const std::string& path) {
  auto text = machine.Get(path);
  if (!text.ok() && text.status().code() == Code::kNotFound) return std::vector<std::string>{};
  if (!text.ok()) return text.status();
  return SortedLines(*text);
}

Result<RailRouting> Read(const Machine& machine, RailRouting where) {
  RW_ASSIGN_OR_RETURN(where.rules, ReadSet(machine, RulePath(where)));
  RW_ASSIGN_OR_RETURN(where.routes, ReadSet(machine, RoutePath(where)));
  return where;
}

// The wish and an original both say where to look; without either, the places of the plain `per-rail`.
RailRouting PlaceOf(const Target& target) {
  if (auto wish = RailRouting::Parse(target.wish); wish.ok()) return *std::move(wish);
  const RailRoutingWish plain;
  const auto offset = static_cast<std::uint32_t>(std::max(target.port->index, 0));
  return {plain.priority + offset, plain.table + offset, {}, {}};
}

// What stands in our places, is none of ours and is not wanted: somebody else uses the same number.
std::string ForeignItem(const RailRouting& now, const RailRouting& wanted, const std::string& netdev) {
  const auto is_in = [](const std::vector<std::string>& list, const std::string& item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  };
  const std::string lookup = " lookup " + std::to_string(wanted.table);
  for (const auto& rule : now.rules)
    if (!is_in(wanted.rules, rule) && !(rule + " ").ends_with(lookup + " "))
      return "rule \"" + std::to_string(now.priority) + ": " + rule + "\"";
  for (const auto& route : now.routes)
    if (!is_in(wanted.routes, route) && (route + " ").find(" dev " + netdev + " ") == std::string::npos)
      return "route \"" + route + " table " + std::to_string(now.table) + "\"";
  return {};
}

class RailRoutingSetting final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "rail.routing",
        .code = "RW-1106",
        .help = "A routing table of its own for each rail, chosen by the source address.",
        .why =
            "With several rails the kernel sends by destination alone and answers over the wrong port; "
            "rdma_cm "
            "then refuses the peer, since the way back does not lead through the port that was asked. The "
            "kernel "
            "drops these routes when a link goes down; they are put back when it comes up.",
        .targets = TargetKind::kPort,
        .syntax =
            "`per-rail`, and table=N priority=N for the node's first port (101 and 1001; each next port has "
            "the "
            "next number)",
        .default_value = "none",
        .interface = "rtnetlink RTM_NEWRULE, RTM_NEWROUTE",
        .source = "ip-rule(8), ip-route(8); kernel drivers/infiniband/core/cma.c validate_ipv4_net_dev",
        .disruption = Disruption::kTrafficBlip,
        // The kernel does not announce IPv4 routes that go with their link; the link's own message does.
        .noticed = {.by_event = true, .source = "rtnetlink", .worst = std::chrono::milliseconds(1000)},
        .effect = Effect::kRuntime,
        .order = 140,
        .group = "rail",
        .goes_with_link = true,
        .likely_owners = {"NetworkManager", "systemd-networkd", "netplan"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const RailRoutingWish wish, RailRoutingWish::Parse(value));
    return wish.Text();
  }

  Result<std::string> Desired(const Target& target, std::string_view canonical) const override {
    RW_ASSIGN_OR_RETURN(const RailRoutingWish wish, RailRoutingWish::Parse(canonical));
    const BoundPort& port = *target.port;
    const auto routing =
        RailRouting::For(wish, port.index, port.netdev, port.port.addresses, port.port.gateways);
    if (!routing.ok()) return routing.status().Within("port " + port.port.name);
    return routing->Text();
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    // The state is evidence, and reading it ties this setting to the link's events.
    RW_ASSIGN_OR_RETURN(const std::string state, machine.Get(StatePath(target)));
    RW_ASSIGN_OR_RETURN(const RailRouting now, Read(machine, PlaceOf(target)));
    Observation observed = Observation::Value(now.Text());
    if (state != "up")
      observed.message = target.port->netdev + " is " + state +
                         ", so the kernel keeps no routes over it; they are put back when it comes up";
    return observed;
  }

  // Rules and routes hold the addresses of one host: a profile names them by the word alone.
  Result<std::string> AsWish(const Target& target, const Observation& observed) const override {
    const std::string word = RailRoutingWish().Text();
    RW_ASSIGN_OR_RETURN(const std::string per_rail, Desired(target, word));
    if (Satisfied(target, per_rail, observed)) return word;
    return Status(Code::kFailedPrecondition,
                  target.name + " has no routing of its own as `" + word + "` makes it: " + observed.value);
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const RailRouting wanted, RailRouting::Parse(value));
    const std::string& netdev = target.port->netdev;
    RW_ASSIGN_OR_RETURN(const RailRouting now, Read(machine, {wanted.priority, wanted.table, {}, {}}));
    if (const std::string foreign = ForeignItem(now, wanted, netdev); !foreign.empty())
      return Status(Code::kFailedPrecondition, "somebody else's " + foreign +
                                                   " stands in the place of this rail; remove it, or give "
                                                   "rail.routing another table= and priority=");
    if (!wanted.routes.empty()) {
      RW_ASSIGN_OR_RETURN(const std::string state, machine.Get(StatePath(target)));
      // Refused before the kernel does (ENETDOWN), with the cause; nothing is half done.
      if (state != "up")
        return Status(Code::kFailedPrecondition,
                      netdev + " is " + state + ": no route can lead over it; bring it up (ip link set " +
                          netdev + " up), the routes follow by themselves",
                      ENETDOWN);
    }
    // Routes first: a rule that leads to an empty table sends its packets on to the main one. When rules go,
    // they go first for the same reason.
    const bool clearing = wanted.rules.empty();
    if (clearing && !now.rules.empty()) RW_RETURN_IF_ERROR(machine.Set(RulePath(wanted), ""));
    if (now.routes != wanted.routes)
      RW_RETURN_IF_ERROR(machine.Set(RoutePath(wanted), JoinLines(wanted.routes)));
    if (!clearing && now.rules != wanted.rules)
      RW_RETURN_IF_ERROR(machine.Set(RulePath(wanted), JoinLines(wanted.rules)));
    return Ok();
  }
};

}  // namespace

std::unique_ptr<const Setting> make_rail_routing() { return std::make_unique<RailRoutingSetting>(); }

}  // namespace railwright
