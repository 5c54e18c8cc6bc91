#include "agent/machine/route.h"

#include <linux/rtnetlink.h>

#include <algorithm>
#include <utility>

#include "agent/machine/netlink_socket.h"
#include "agent/machine/set_valued.h"
#include "core/decode/fields.h"

namespace railwright::machine {
namespace {

/// IP6_RT_PRIO_USER of the kernel: the metric of an IPv6 route that asks for none.
constexpr std::uint32_t kIpv6Metric = 1024;

std::uint32_t DefaultMetric(int family) { return family == AF_INET6 ? kIpv6Metric : 0; }

constexpr std::string_view kTypes[] = {"blackhole", "unreachable", "prohibit", "throw"};

std::string HopText(const NextHop& hop, int family) {
  std::string text;
  if (hop.via) text += (hop.via.family == family ? " via " : " via inet6 ") + hop.via.Text();
  if (!hop.dev.empty()) text += " dev " + hop.dev;
  return text;
}

Status Wrong(std::string_view line, const std::string& what) {
  return Status(Code::kInvalidArgument, "route \"" + std::string(line) + "\": " + what);
}

/// A number after a keyword, at most `most`.
Result<std::uint32_t> TakeNumber(Words& words, std::string_view line, std::string_view after,
                                 std::uint64_t most) {
  const std::string_view word = words.Take();
  const Result<std::uint64_t> number = ParseNumber(word);
  if (!number.ok() || *number > most)
    return Wrong(line, "\"" + std::string(after) + "\" wants a number up to " + std::to_string(most) +
                           ", not \"" + std::string(word) + "\"");
  return static_cast<std::uint32_t>(*number);
}

Result<int> ParseScope(std::string_view word, std::string_view line) {
  if (word == "global") return static_cast<int>(RT_SCOPE_UNIVERSE);
  if (word == "site") return static_cast<int>(RT_SCOPE_SITE);
  if (word == "link") return static_cast<int>(RT_SCOPE_LINK);
  if (word == "host") return static_cast<int>(RT_SCOPE_HOST);
  const Result<std::uint64_t> number = ParseNumber(word);
  if (!number.ok() || *number > 255)
    return Wrong(line, "scope \"" + std::string(word) + "\" (known: global, site, link, host, 0…255)");
  return static_cast<int>(*number);
}

std::string ScopeText(int scope) {
  switch (scope) {
    case RT_SCOPE_UNIVERSE: return "global";
    case RT_SCOPE_SITE: return "site";
    case RT_SCOPE_LINK: return "link";
    case RT_SCOPE_HOST: return "host";
    default: return std::to_string(scope);
  }
}

/// Takes the words of one hop; false when the next word is none of them.
Result<bool> TakeHopWord(Words& words, std::string_view line, NextHop& hop) {
  if (words.TakeIf("via")) {
    words.TakeIf("inet6");
    words.TakeIf("inet");
    const Result<IpAddress> via = IpAddress::Parse(words.Take());
    if (!via.ok()) return Wrong(line, via.status().message());
    hop.via = *via;
  } else if (words.TakeIf("dev")) {
    hop.dev = words.Take();
    if (!IsInterfaceName(hop.dev)) return Wrong(line, "\"" + hop.dev + "\" is no name of an interface");
  } else if (words.TakeIf("weight")) {
    RW_ASSIGN_OR_RETURN(const std::uint32_t weight, TakeNumber(words, line, "weight", 256));
    hop.weight = static_cast<int>(weight);
    if (weight == 0) return Wrong(line, "a weight is 1…256");
  } else if (words.TakeIf("onlink")) {
    hop.onlink = true;
  } else {
    return false;
  }
  return true;
}

Status ParseHops(Words& words, std::string_view line, Route& route, bool& scope_given) {
  bool several = false;
  while (!words.done()) {
    if (words.TakeIf("nexthop")) {
      if (!several) route.hops.clear();
      several = true;
      route.hops.emplace_back();
      continue;
    }
    RW_ASSIGN_OR_RETURN(const bool of_hop, TakeHopWord(words, line, route.hops.back()));
    if (of_hop) continue;
    if (words.TakeIf("scope")) {
      RW_ASSIGN_OR_RETURN(route.scope, ParseScope(words.Take(), line));
      scope_given = true;
    } else if (words.TakeIf("src")) {
      const Result<IpAddress> source = IpAddress::Parse(words.Take());
      if (!source.ok()) return Wrong(line, source.status().message());
      route.source = *source;
    } else if (words.TakeIf("metric")) {
      RW_ASSIGN_OR_RETURN(route.metric, TakeNumber(words, line, "metric", UINT32_MAX));
    } else if (words.TakeIf("mtu")) {
      RW_ASSIGN_OR_RETURN(route.mtu, TakeNumber(words, line, "mtu", 65535));
    } else if (words.TakeIf("tos")) {
      RW_ASSIGN_OR_RETURN(const std::uint32_t tos, TakeNumber(words, line, "tos", 255));
      route.tos = static_cast<std::uint8_t>(tos);
    } else if (words.TakeIf("proto") || words.TakeIf("pref")) {
      words.Take();
    } else {
      return Wrong(line, "\"" + std::string(words.Peek()) + "\" is not understood");
    }
  }
  return Ok();
}

/// "default" has no family of its own: an address on the line tells, else it is IPv4.
int FamilyOnLine(const Route& route) {
  if (route.source) return route.source.family;
  for (const NextHop& hop : route.hops)
    if (hop.via) return hop.via.family;
  return AF_INET;
}

Status Check(const Route& route, std::string_view line, bool is_default) {
  if (route.destination.HasHostBits())
    return Wrong(line, route.destination.Text() + " has bits beyond its prefix length");
  if (route.source && route.source.family != route.family()) return Wrong(line, "src is of the other family");
  for (const NextHop& hop : route.hops) {
    if (hop.via && hop.via.family == AF_INET && route.family() == AF_INET6)
      return Wrong(line, "an IPv6 route cannot go via an IPv4 gateway");
    if (route.type.empty() && hop.dev.empty()) return Wrong(line, "\"dev\" is missing");
    if (!route.type.empty() && (hop.via || !hop.dev.empty()))
      return Wrong(line, route.type + " routes have neither gateway nor interface");
  }
  if (is_default && route.destination.length != 0) return Wrong(line, "default has length 0");
  return Ok();
}

}  // namespace

void SortHops(std::vector<NextHop>& hops) {
  std::sort(hops.begin(), hops.end(), [](const NextHop& a, const NextHop& b) {
    return std::pair(a.dev, a.via.Text()) < std::pair(b.dev, b.via.Text());
  });
}

std::string Route::Text() const {
  const bool several = hops.size() > 1;
  bool shows_family = source.family == AF_INET6;
  for (const NextHop& hop : hops) shows_family = shows_family || hop.via.family == AF_INET6;
  std::string text = type.empty() ? "" : type + " ";
  const bool is_default = destination.length == 0 && destination.address.IsZero();
  text += is_default && (family() == AF_INET || shows_family) ? "default" : destination.Text();
  if (tos != 0) text += " tos " + std::to_string(tos);
  if (!several && !hops.empty()) text += HopText(hops[0], family()) + (hops[0].onlink ? " onlink" : "");
  const bool with_gateway =
      std::any_of(hops.begin(), hops.end(), [](const NextHop& hop) { return bool(hop.via); });
  // Without a gateway "link" is assumed where none is said, so that none is ever left unsaid.
  if (family() == AF_INET && type.empty() && (scope != RT_SCOPE_UNIVERSE || !with_gateway))
    text += " scope " + ScopeText(scope);
  if (source) text += " src " + source.Text();
  if (metric != DefaultMetric(family())) text += " metric " + std::to_string(metric);
  if (mtu != 0) text += " mtu " + std::to_string(mtu);
  if (!beyond.empty()) text += " " + beyond;
  if (several)
    for (const NextHop& hop : hops)
      text += " nexthop" + HopText(hop, family()) +
              (hop.weight != 1 ? " weight " + std::to_string(hop.weight) : "") +
              (hop.onlink ? " onlink" : "");
  return text;
}

Result<Route> Route::Parse(std::string_view line) {
  Words words(line);
  Route route;
  words.TakeIf("unicast");
  for (std::string_view type : kTypes)
    if (words.TakeIf(type)) route.type = type;
  const std::string_view destination = words.Take();
  const bool is_default = destination == "default";
  if (destination.empty()) return Wrong(line, "no destination");
  if (!is_default) {
    const Result<IpPrefix> prefix = IpPrefix::Parse(destination, true);
    if (!prefix.ok()) return Wrong(line, prefix.status().message());
    route.destination = *prefix;
  }
  bool scope_given = false;
  constexpr std::uint32_t kNotGiven = UINT32_MAX;
  route.metric = kNotGiven;
  route.hops.emplace_back();
  RW_RETURN_IF_ERROR(ParseHops(words, line, route, scope_given));
  if (is_default) route.destination.address.family = FamilyOnLine(route);
  RW_RETURN_IF_ERROR(Check(route, line, is_default));
  const bool with_gateway =
      std::any_of(route.hops.begin(), route.hops.end(), [](const NextHop& hop) { return bool(hop.via); });
  if (!scope_given) route.scope = with_gateway || !route.type.empty() ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK;
  if (route.family() == AF_INET6) route.scope = RT_SCOPE_UNIVERSE;
  // 0 asks IPv6 for its own default.
  if (route.metric == kNotGiven || (route.family() == AF_INET6 && route.metric == 0))
    route.metric = DefaultMetric(route.family());
  if (!route.type.empty()) route.hops.clear();
  if (route.hops.size() == 1) route.hops[0].weight = 1;
  SortHops(route.hops);
  return route;
}

}  // namespace railwright::machine
