// A route as one line of /rtnl/route/<table>.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/machine/ip_address.h"
#include "railwright/result.h"

namespace railwright::machine {

struct NextHop {
  IpAddress via;        ///< none for a directly connected network; IPv6 also for an IPv4 route
  std::string dev;      ///< interface name; "" when the kernel names none
  int weight = 1;       ///< 1…256, of several hops
  bool onlink = false;  ///< the gateway is taken to be on the link though no route says so
  friend bool operator==(const NextHop&, const NextHop&) = default;
};

/// One line. In this order, what is the default left out:
///
///     [TYPE] DESTINATION [tos N] [via [inet6] GATEWAY] dev IF [onlink] [scope link|host|site|N] [src
///     ADDRESS]
///            [metric N] [mtu N]
///     [TYPE] DESTINATION … nexthop [via GATEWAY] dev IF [weight N] [onlink] nexthop …
///
/// - TYPE is blackhole, unreachable, prohibit or throw; none for unicast.
/// - DESTINATION always has its prefix length, except `default`. An IPv6 default route on whose line no IPv6
///   address shows its family is `::/0`.
/// - scope is shown for IPv4 where it is not global, and without a gateway always (link is assumed there).
/// IPv6 has none.
/// - metric is shown where it is not 0 (IPv4) or 1024 (IPv6, what the kernel takes when asked for none).
struct Route {
  std::string type;  ///< "" = unicast
  IpPrefix destination;
  std::vector<NextHop> hops;  ///< one; several for a multipath route; none for blackhole and the like
  int scope = 0;              ///< RT_SCOPE_*; always 0 for IPv6
  IpAddress source;
  std::uint32_t metric = 0;
  std::uint32_t mtu = 0;
  std::uint8_t tos = 0;
  /// What the kernel says of it beyond the above ("nhid 7", "encap"): makes the line unlike any wish.
  std::string beyond;

  int family() const { return destination.address.family; }
  std::string Text() const;
  /// Also takes what iproute2 prints of the above, `proto`, `pref`, `scope global` and `scope link` of IPv6
  /// (ignored), host addresses without length, and a missing `scope` (link without gateway). InvalidArgument
  /// names the word.
  static Result<Route> Parse(std::string_view line);
  friend bool operator==(const Route&, const Route&) = default;
};

/// The order in which several hops of a route are shown: they have none of their own.
void SortHops(std::vector<NextHop>& hops);

}  // namespace railwright::machine
