// PeerRange: a range of IP addresses.
#pragma once

#include <string>
#include <string_view>

#include "railwright/result.h"

namespace railwright {

/// `10.1.0.0/16`, `2001:db8::/32`, or one address. Bits behind the prefix must be zero, so that a range is
/// what it looks like.
class PeerRange {
 public:
  static Result<PeerRange> Parse(std::string_view text);
  /// An address as text; an IPv4 address that came over an IPv6 socket (`::ffff:10.1.2.3`, RFC 4291 §2.5.5.2)
  /// is the IPv4 address. False for what is no address.
  bool Contains(std::string_view address) const;

 private:
  PeerRange(std::string bytes, unsigned bits) : bytes_(std::move(bytes)), bits_(bits) {}
  std::string bytes_;  // 4 or 16, in network order
  unsigned bits_;
};

/// The address in its one spelling, an IPv4 address that came over IPv6 as IPv4; unchanged when it is none.
std::string PlainAddress(std::string_view address);

}  // namespace railwright
