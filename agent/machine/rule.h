// A policy routing rule as one line of /rtnl/rule/<priority>.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agent/machine/ip_address.h"
#include "railwright/result.h"

namespace railwright::machine {

/// One line. In this order, what is the default left out:
///
///     [not] from PREFIX [to PREFIX] [tos N] [fwmark 0xM[/0xMASK]] [iif IF] [oif IF] [ipproto N] [sport
///     A[-B]]
///           [dport A[-B]] lookup TABLE | blackhole | unreachable | prohibit
///
/// - `from` is always there: `from all` for IPv4 without a source, `from ::/0` for IPv6. A host's address has
/// no
///   length: `from 10.10.0.1 lookup 101`.
struct Rule {
  bool inverted = false;
  int family = AF_INET;
  IpPrefix from, to;  ///< address none = all
  std::uint8_t tos = 0;
  std::uint32_t mark = 0;
  std::uint32_t mask = 0;  ///< 0 with mark 0 = no mark
  std::string iif, oif;
  std::uint8_t protocol = 0;                                         ///< of layer 4; 0 = any
  std::pair<std::uint16_t, std::uint16_t> sport{0, 0}, dport{0, 0};  ///< 0-0 = any
  std::string action;                                                ///< "" = lookup
  std::uint32_t table = 0;                                           ///< for lookup
  /// What the kernel says of it beyond the above ("suppress_prefixlength 0"): makes the line unlike any wish.
  std::string beyond;

  std::string Text() const;
  /// Also takes `from all` beside an IPv6 `to`, `table` for `lookup`, `main` and `default` for 254 and 253,
  /// and `proto`. InvalidArgument names the word.
  static Result<Rule> Parse(std::string_view line);
  friend bool operator==(const Rule&, const Rule&) = default;
};

}  // namespace railwright::machine
