#include "core/diagnose/intervals.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace railwright {
namespace {

constexpr Number128 kMost = ~Number128{0};

std::optional<std::uint64_t> Decimal(std::string_view text, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value > most)
    return std::nullopt;
  return value;
}

std::optional<Number128> ParseIpv4(std::string_view text) {
  Number128 number = 0;
  for (int i = 0; i < 4; ++i) {
    const auto dot = i < 3 ? text.find('.') : text.size();
    if (dot == std::string_view::npos || dot > 3) return std::nullopt;
    const auto byte = Decimal(text.substr(0, dot), 255);
    if (!byte) return std::nullopt;
    number = number << 8 | *byte;
    text.remove_prefix(std::min(dot + 1, text.size()));
  }
  return text.empty() ? std::optional(number) : std::nullopt;
}

std::optional<Number128> ParseIpv6(std::string_view text) {
  // Groups before and after "::"; an IPv4 tail counts as two groups.
  std::array<std::vector<std::uint16_t>, 2> groups;
  std::size_t side = 0;
  if (text.starts_with("::")) {
    side = 1;
    text.remove_prefix(2);
  }
  while (!text.empty()) {
    if (groups[0].size() + groups[1].size() >= 8) return std::nullopt;
    const auto colon = std::min(text.find(':'), text.size());
    const std::string_view group = text.substr(0, colon);
    if (group.find('.') != std::string_view::npos) {
      const auto tail = ParseIpv4(group);
      if (!tail || colon != text.size()) return std::nullopt;
      groups[side].push_back(static_cast<std::uint16_t>(*tail >> 16));
      groups[side].push_back(static_cast<std::uint16_t>(*tail & 0xffff));
      break;
    }
    std::uint16_t value = 0;
    const auto [end, error] = std::from_chars(group.data(), group.data() + group.size(), value, 16);
    if (group.empty() || group.size() > 4 || error != std::errc() || end != group.data() + group.size())
      return std::nullopt;
    groups[side].push_back(value);
    text.remove_prefix(colon);
    if (text.empty()) break;
    if (text.starts_with("::")) {
      if (side == 1) return std::nullopt;
      side = 1;
      text.remove_prefix(2);
    } else {
      text.remove_prefix(1);
      if (text.empty()) return std::nullopt;
    }
  }
  const std::size_t count = groups[0].size() + groups[1].size();
  if (side == 0 ? count != 8 : count > 7) return std::nullopt;
  Number128 number = 0;
  for (const std::uint16_t group : groups[0]) number = number << 16 | group;
  for (std::size_t i = count; i < 8; ++i) number <<= 16;
  for (const std::uint16_t group : groups[1]) number = number << 16 | group;
  return number;
}

std::string Ipv4Text(Number128 number) {
  const auto bits = static_cast<std::uint32_t>(number);
  return std::to_string(bits >> 24) + "." + std::to_string(bits >> 16 & 0xff) + "." +
         std::to_string(bits >> 8 & 0xff) + "." + std::to_string(bits & 0xff);
}

// RFC 5952: lower case, the longest run of at least two zero groups as "::".
std::string Ipv6Text(Number128 number) {
  std::array<unsigned, 8> groups{};
  for (std::size_t i = 0; i < 8; ++i) groups[i] = static_cast<unsigned>(number >> (112 - 16 * i) & 0xffff);
  std::size_t best = 8, best_length = 1;
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t length = 0;
    while (i + length < 8 && groups[i + length] == 0) ++length;
    if (length > best_length) {
      best = i;
      best_length = length;
    }
  }
  std::string text;
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == best) {
      text += "::";
      i += best_length - 1;
      continue;
    }
    if (!text.empty() && text.back() != ':') text += ':';
    char group[5];
    std::snprintf(group, sizeof group, "%x", groups[i]);
    text += group;
  }
  return text;
}

}  // namespace

IntervalSet::IntervalSet(std::vector<Interval> intervals) {
  std::erase_if(intervals, [](const Interval& one) { return one.first > one.last; });
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.first < b.first; });
  for (const Interval& one : intervals) {
    if (!intervals_.empty() && (intervals_.back().last == kMost || one.first <= intervals_.back().last + 1))
      intervals_.back().last = std::max(intervals_.back().last, one.last);
    else
      intervals_.push_back(one);
  }
}

IntervalSet IntervalSet::Range(Number128 first, Number128 last) {
  return IntervalSet(std::vector<Interval>{{first, last}});
}

bool IntervalSet::Contains(Number128 number) const {
  const auto after = std::upper_bound(intervals_.begin(), intervals_.end(), number,
                                      [](Number128 n, const Interval& one) { return n < one.first; });
  return after != intervals_.begin() && std::prev(after)->last >= number;
}

IntervalSet IntervalSet::And(const IntervalSet& other) const {
  // The shorter one drives, so that a port is found in a list of thousands by bisection.
  if (other.intervals_.size() < intervals_.size()) return other.And(*this);
  IntervalSet both;
  for (const Interval& mine : intervals_) {
    auto theirs = std::lower_bound(other.intervals_.begin(), other.intervals_.end(), mine.first,
                                   [](const Interval& one, Number128 n) { return one.last < n; });
    for (; theirs != other.intervals_.end() && theirs->first <= mine.last; ++theirs)
      both.intervals_.push_back({std::max(mine.first, theirs->first), std::min(mine.last, theirs->last)});
  }
  return both;
}

IntervalSet IntervalSet::Without(const IntervalSet& other) const {
  IntervalSet rest;
  for (const Interval& mine : intervals_) {
    Number128 from = mine.first;
    bool open = true;
    auto theirs = std::lower_bound(other.intervals_.begin(), other.intervals_.end(), mine.first,
                                   [](const Interval& one, Number128 n) { return one.last < n; });
    for (; theirs != other.intervals_.end() && theirs->first <= mine.last; ++theirs) {
      if (theirs->first > from) rest.intervals_.push_back({from, theirs->first - 1});
      if (theirs->last >= mine.last) {
        open = false;
        break;
      }
      from = theirs->last + 1;
    }
    if (open) rest.intervals_.push_back({from, mine.last});
  }
  return rest;
}

IntervalSet IntervalSet::Or(const IntervalSet& other) const {
  std::vector<Interval> all = intervals_;
  all.insert(all.end(), other.intervals_.begin(), other.intervals_.end());
  return IntervalSet(std::move(all));
}

std::optional<NumberedAddress> ParseNumberedAddress(std::string_view text) {
  if (text.find(':') != std::string_view::npos) {
    const auto number = ParseIpv6(text);
    return number ? std::optional(NumberedAddress{*number, true}) : std::nullopt;
  }
  const auto number = ParseIpv4(text);
  return number ? std::optional(NumberedAddress{*number, false}) : std::nullopt;
}

std::optional<IntervalSet> PrefixRange(const NumberedAddress& address, std::int64_t length) {
  const int bits = address.ipv6 ? 128 : 32;
  if (length < 0 || length > bits) return std::nullopt;
  const auto host = static_cast<unsigned>(bits - length);
  const Number128 low = host == 128 ? kMost : (Number128{1} << host) - 1;
  return IntervalSet::Range(address.number & ~low, address.number | low);
}

std::optional<Network> ParseNetwork(std::string_view text) {
  const auto slash = text.find('/');
  const auto address = ParseNumberedAddress(text.substr(0, slash));
  if (!address) return std::nullopt;
  std::int64_t length = address->ipv6 ? 128 : 32;
  if (slash != std::string_view::npos) {
    const std::string_view rest = text.substr(slash + 1);
    if (const auto number = Decimal(rest, 128)) {
      length = static_cast<std::int64_t>(*number);
    } else {
      // A mask whose ones are all in front.
      const auto mask = ParseNumberedAddress(rest);
      if (!mask || mask->ipv6 != address->ipv6) return std::nullopt;
      length = 0;
      const int bits = address->ipv6 ? 128 : 32;
      while (length < bits && (mask->number >> (bits - 1 - length) & 1) != 0) ++length;
      const auto whole = PrefixRange({~Number128{0} >> (128 - bits), mask->ipv6}, length);
      if (!whole || whole->intervals().front().first != mask->number) return std::nullopt;
    }
  }
  auto range = PrefixRange(*address, length);
  if (!range) return std::nullopt;
  return Network{std::move(*range), address->ipv6};
}

std::string PortsText(const IntervalSet& ports) {
  std::string text;
  for (const auto& one : ports.intervals()) {
    if (!text.empty()) text += ",";
    text += std::to_string(static_cast<std::uint64_t>(one.first));
    if (one.first != one.last) text += "-" + std::to_string(static_cast<std::uint64_t>(one.last));
  }
  return text;
}

std::string AddressesText(const IntervalSet& addresses, bool ipv6, std::size_t most) {
  std::string text;
  std::size_t count = 0;
  for (const auto& one : addresses.intervals()) {
    if (count++ == most) return text + ", …";
    if (!text.empty()) text += ", ";
    const auto show = [&](Number128 number) { return ipv6 ? Ipv6Text(number) : Ipv4Text(number); };
    const Number128 size = one.last - one.first;  // one less than the count
    int host = 0;
    while (host < 128 && (size >> host) != 0) ++host;
    const Number128 low = host == 128 ? kMost : (Number128{1} << host) - 1;
    text += show(one.first);
    if (size == low && (one.first & low) == 0) {
      if (host != 0) text += "/" + std::to_string((ipv6 ? 128 : 32) - host);
    } else {
      text += "-" + show(one.last);
    }
  }
  return text;
}

}  // namespace railwright
