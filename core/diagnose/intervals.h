// Sets of numbers as sorted, disjoint ranges: addresses of both families and ports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace railwright {

__extension__ typedef unsigned __int128 Number128;  // an IPv6 address, an IPv4 address or a port

class IntervalSet {
 public:
  struct Interval {
    Number128 first = 0;
    Number128 last = 0;  ///< included
    friend bool operator==(const Interval&, const Interval&) = default;
  };

  IntervalSet() = default;
  /// Any order, overlaps allowed; those with first > last are left out.
  explicit IntervalSet(std::vector<Interval> intervals);
  static IntervalSet Of(Number128 one) { return Range(one, one); }
  static IntervalSet Range(Number128 first, Number128 last);

  bool empty() const { return intervals_.empty(); }
  const std::vector<Interval>& intervals() const { return intervals_; }
  bool Contains(Number128 number) const;
  IntervalSet And(const IntervalSet& other) const;
  IntervalSet Without(const IntervalSet& other) const;
  IntervalSet Or(const IntervalSet& other) const;
  friend bool operator==(const IntervalSet&, const IntervalSet&) = default;

 private:
  std::vector<Interval> intervals_;
};

/// "10.0.0.1" or "fd00::1"; nothing when it is neither. `ipv6` tells which.
struct NumberedAddress {
  Number128 number = 0;
  bool ipv6 = false;
};
std::optional<NumberedAddress> ParseNumberedAddress(std::string_view text);

/// All addresses of a prefix; host bits are ignored. Nothing when `length` is out of range.
std::optional<IntervalSet> PrefixRange(const NumberedAddress& address, std::int64_t length);

/// "10.0.0.0/24", "10.0.0.1", "fd00::/64", and of iptables "10.0.0.0/255.255.255.0".
struct Network {
  IntervalSet addresses;
  bool ipv6 = false;
};
std::optional<Network> ParseNetwork(std::string_view text);

/// "4791", "18515-18530,32768-60999".
std::string PortsText(const IntervalSet& ports);
/// "10.9.0.0/24, 10.10.0.1": whole prefixes where a range is one, else first-last; at most `most` of them.
std::string AddressesText(const IntervalSet& addresses, bool ipv6, std::size_t most = 8);

}  // namespace railwright
