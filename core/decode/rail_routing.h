// A rail's own routing: rules that send what comes from its addresses to a table of its own, and that table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright {

/// The declared form, `per-rail table=101 priority=1001`: the numbers of the node's first port; the next port
/// has the next ones.
struct RailRoutingWish {
  std::uint32_t table = 101;
  std::uint32_t priority = 1001;

  static Result<RailRoutingWish> Parse(std::string_view text);
  std::string Text() const;  ///< without the numbers that are the defaults
};

/// What one rail has, or should have.
struct RailRouting {
  std::uint32_t priority = 0;
  std::uint32_t table = 0;
  std::vector<std::string> rules;   ///< lines of /rtnl/rule/<priority>, sorted
  std::vector<std::string> routes;  ///< lines of /rtnl/route/<table>, sorted

  /// "priority 1001: from 10.10.0.1 lookup 101; table 101: 10.10.0.0/24 dev rail0 …, default via …"; "none"
  /// for an empty part.
  std::string Text() const;
  static Result<RailRouting> Parse(std::string_view text);

  /// For a port with these addresses and gateways (CIDR and plain addresses). A connected route for each
  /// subnet, a default route for each gateway, a rule for each address. InvalidArgument when a gateway lies
  /// in no subnet of the port or there is no address.
  static Result<RailRouting> For(const RailRoutingWish& wish, int index, const std::string& netdev,
                                 const std::vector<std::string>& addresses,
                                 const std::vector<std::string>& gateways);
};

}  // namespace railwright
