// address_range: where a peer comes from, and whether that is within a range.
#pragma once

#include <string>
#include <string_view>

#include "core/decode/cidr.h"
#include "railwright/result.h"

namespace railwright {

/// `10.1.0.0/16`, `2001:db8::/32`, or one address. Bits behind the prefix must be zero, so that a range is
/// what it looks like.
Result<Cidr> ParseRange(std::string_view text);
/// An address as text, in any spelling that PlainAddress takes. False for what is no address.
bool InRange(const Cidr& range, std::string_view address);
/// The address in its one spelling; an IPv4 address that came over an IPv6 socket (`::ffff:10.1.2.3`, RFC
/// 4291 §2.5.5.2) is the IPv4 address. Unchanged when it is none.
std::string PlainAddress(std::string_view address);

}  // namespace railwright
