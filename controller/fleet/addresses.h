// Addresses in CIDR form, and the patterns that make one for every node. Pure text, no sockets.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright::fleet {

/// An IPv4 or IPv6 address with the length of its network's prefix.
struct Cidr {
  bool v6 = false;
  std::array<std::uint8_t, 16> bytes{};  ///< network order; IPv4 uses the first four
  int prefix = 0;

  int bits() const { return v6 ? 128 : 32; }
  std::string Address() const;  ///< "10.10.0.1", RFC 5952 spelling for IPv6
  std::string Text() const;     ///< "10.10.0.1/24"
  Cidr Network() const;         ///< host bits cleared
  bool Contains(const Cidr& other) const;
  auto operator<=>(const Cidr&) const = default;
};

/// "10.10.0.1/24" or "fd00::1/64". InvalidArgument says what is wrong.
Result<Cidr> ParseCidr(std::string_view text);
/// Without a prefix length; the result's prefix is that of a host.
Result<Cidr> ParseAddress(std::string_view text);
/// InvalidArgument when a port cannot have it: the network's own or broadcast address (RFC 1122 §3.2.1.3, not
/// for /31 and /127, RFC 3021 and 6164), loopback, multicast, unspecified, link-local, IPv4-mapped.
Status CheckHost(const Cidr& address);

/// What a pattern may speak of.
struct PatternFacts {
  int index = 0;  ///< of the node in its cluster, from 1
  std::string_view node, rack, port;
};

/// "10.10.{index/250}.{index%250+1}/16": {index}, {n} (the last number in the node's name), {node}, {rack},
/// {port}. A name may be followed by +N -N *N /N %N, computed from left to right on {index}, {n}, or the last
/// number in the other names.
class Pattern {
 public:
  static Result<Pattern> Parse(std::string_view text);
  Result<std::string> Expand(const PatternFacts& facts) const;
  const std::string& text() const { return text_; }
  /// Whether two nodes can get different texts.
  bool varies() const { return varies_; }

 private:
  struct Piece {
    std::string literal;
    std::string name;  ///< "" = the literal
    std::vector<std::pair<char, std::int64_t>> operations;
  };
  std::string text_;
  std::vector<Piece> pieces_;
  bool varies_ = false;
};

}  // namespace railwright::fleet
