// IPv4 and IPv6 addresses with a prefix length, in their one spelling.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright {

/// "10.10.0.1/24" or "fd00:10::1/64". Ordered IPv4 before IPv6, then by number.
struct Cidr {
  bool v6 = false;
  std::array<std::uint8_t, 16> bytes{};  ///< network order; IPv4 uses the first four
  int length = 0;

  /// InvalidArgument says what is wrong. No zones, no leading zeros in IPv4, no missing length.
  static Result<Cidr> Parse(std::string_view text);
  /// Without a length: a host's, /32 or /128.
  static Result<Cidr> ParseAddress(std::string_view text);

  int longest() const { return v6 ? 128 : 32; }
  std::string Address() const;  ///< RFC 5952 for IPv6
  std::string Text() const;     ///< address and length
  Cidr Network() const;         ///< host bits cleared
  bool Contains(const Cidr& other) const;
  /// An error when no port of a host can have it: unspecified, loopback, multicast, link-local, or the
  /// network's own or broadcast address (not for /31, /32, /127, /128: RFC 3021, RFC 6164).
  Status CheckHost() const;
  auto operator<=>(const Cidr&) const = default;
};

/// A list between blanks or commas; each must parse. Sorted by text, each once.
Result<std::vector<Cidr>> ParseCidrs(std::string_view text);
/// The networks that no other of the list contains, sorted.
std::vector<Cidr> OutermostNetworks(const std::vector<Cidr>& networks);

}  // namespace railwright
