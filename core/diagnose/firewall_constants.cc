#include "core/diagnose/firewall_constants.h"

#include <algorithm>
#include <charconv>

namespace railwright {
namespace {

using nft::Expression;
using Kind = Expression::Kind;

// Numbers behind the names that nft prints (kernel headers in brackets).
constexpr NamedNumber kProtocols[] = {{"icmp", 1},       {"igmp", 2},   {"tcp", 6},    {"udp", 17},
                                      {"gre", 47},       {"esp", 50},   {"ah", 51},    {"icmpv6", 58},
                                      {"ipv6-icmp", 58}, {"comp", 108}, {"sctp", 132}, {"dccp", 33},
                                      {"udplite", 136}};          // in.h
constexpr NamedNumber kFamilies[] = {{"ipv4", 2}, {"ipv6", 10}};  // socket.h
constexpr NamedNumber kEthernet[] = {
    {"ip", 0x0800}, {"arp", 0x0806}, {"vlan", 0x8100}, {"ip6", 0x86dd}};  // if_ether.h
constexpr NamedNumber kStates[] = {{"invalid", 1},
                                   {"established", 2},
                                   {"related", 4},
                                   {"new", 8},
                                   {"untracked", 64}};  // nf_conntrack_common.h
constexpr NamedNumber kStatus[] = {{"expected", 1}, {"seen-reply", 2}, {"assured", 4}, {"confirmed", 8},
                                   {"snat", 16},    {"dnat", 32},      {"dying", 512}};  // the same
constexpr NamedNumber kDirections[] = {{"original", 0}, {"reply", 1}};
constexpr NamedNumber kPacketTypes[] = {
    {"host", 0}, {"unicast", 0}, {"broadcast", 1}, {"multicast", 2}, {"other", 3}};  // if_packet.h
constexpr NamedNumber kTcpFlags[] = {{"fin", 1},  {"syn", 2},  {"rst", 4},  {"psh", 8},
                                     {"ack", 16}, {"urg", 32}, {"ecn", 64}, {"cwr", 128}};  // RFC 9293
constexpr NamedNumber kRouteTypes[] = {{"unspec", 0},    {"unicast", 1},     {"local", 2},
                                       {"broadcast", 3}, {"anycast", 4},     {"multicast", 5},
                                       {"blackhole", 6}, {"unreachable", 7}, {"prohibit", 8}};  // rtnetlink.h
constexpr NamedNumber kLinkTypes[] = {{"ether", 1}, {"ppp", 512}, {"loopback", 772}};           // if_arp.h

template <std::size_t N>
constexpr NumberNames Of(const NamedNumber (&table)[N]) {
  return {table, N};
}

std::optional<std::uint64_t> NumberIn(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

const NumberNames kProtocolNames = Of(kProtocols);
const NumberNames kFamilyNames = Of(kFamilies);
const NumberNames kEthernetNames = Of(kEthernet);
const NumberNames kStateNames = Of(kStates);
const NumberNames kStatusNames = Of(kStatus);
const NumberNames kDirectionNames = Of(kDirections);
const NumberNames kPacketTypeNames = Of(kPacketTypes);
const NumberNames kTcpFlagNames = Of(kTcpFlags);
const NumberNames kRouteTypeNames = Of(kRouteTypes);
const NumberNames kLinkTypeNames = Of(kLinkTypes);

std::optional<std::uint64_t> ConstantOf(const Expression& expression, NumberNames names) {
  switch (expression.kind) {
    case Kind::kNumber:
      if (expression.number < 0) return std::nullopt;
      return static_cast<std::uint64_t>(expression.number);
    case Kind::kBool: return static_cast<std::uint64_t>(expression.number);
    case Kind::kText:
      for (std::size_t i = 0; i < names.count; ++i)
        if (names.first[i].name == expression.name) return names.first[i].number;
      return NumberIn(expression.name);
    case Kind::kList: {
      std::uint64_t all = 0;
      for (const Expression& part : expression.parts) {
        const auto one = ConstantOf(part, names);
        if (!one) return std::nullopt;
        all |= *one;
      }
      return all;
    }
    case Kind::kBinary: {
      const auto left = ConstantOf(expression.parts[0], names),
                 right = ConstantOf(expression.parts[1], names);
      if (!left || !right) return std::nullopt;
      if (expression.name == "|") return *left | *right;
      if (expression.name == "&") return *left & *right;
      if (expression.name == "^") return *left ^ *right;
      if (*right >= 64) return std::nullopt;
      return expression.name == "<<" ? *left << *right : *left >> *right;
    }
    default: return std::nullopt;
  }
}

std::optional<IntervalSet> OrderedRange(const std::string& op, Number128 number) {
  constexpr Number128 kMost = ~Number128{0};
  if (op == "<") return number == 0 ? IntervalSet() : IntervalSet::Range(0, number - 1);
  if (op == "<=") return IntervalSet::Range(0, number);
  if (op == ">") return number == kMost ? IntervalSet() : IntervalSet::Range(number + 1, kMost);
  if (op == ">=") return IntervalSet::Range(number, kMost);
  return std::nullopt;
}

namespace {

bool IsSet(const Expression& right) { return right.kind == Kind::kSet || right.kind == Kind::kRange; }

// Whether `value` is an element; nothing when it is not among those that can be read.
std::optional<bool> IsMember(std::uint64_t value, const std::vector<Expression>& elements,
                             NumberNames names) {
  bool unread = false;
  for (const Expression& element : elements) {
    const Expression& key = element.kind == Kind::kPair ? element.parts[0] : element;
    if (key.kind == Kind::kWildcard) return true;
    if (key.kind == Kind::kRange && key.parts.size() == 2) {
      const auto first = ConstantOf(key.parts[0], names), last = ConstantOf(key.parts[1], names);
      if (first && last && *first <= value && value <= *last) return true;
      unread = unread || !first || !last;
    } else {
      const auto number = ConstantOf(key, names);
      if (number && *number == value) return true;
      unread = unread || !number;
    }
  }
  return unread ? std::nullopt : std::optional(false);
}

}  // namespace

std::optional<bool> HoldsFor(std::uint64_t value, const std::string& op, const Expression& right,
                             NumberNames names, const nft::Table& table) {
  const bool negated = op == "!=" || op == "!";
  if (right.kind == Kind::kWildcard) return !negated;
  const nft::Set* set = right.kind == Kind::kSetReference ? table.FindSet(right.name) : nullptr;
  if (right.kind == Kind::kSetReference && set == nullptr) return std::nullopt;
  if (set != nullptr || IsSet(right)) {
    const auto member = set != nullptr               ? IsMember(value, set->elements, names)
                        : right.kind == Kind::kRange ? IsMember(value, {right}, names)
                                                     : IsMember(value, right.parts, names);
    if (!member) return std::nullopt;
    return *member != negated;
  }
  const auto number = ConstantOf(right, names);
  if (!number) return std::nullopt;
  // Flags: any of them ("in", and lists that older versions print with "=="), or none of them ("!").
  const bool list = right.kind == Kind::kList;
  if (op == "in" || (op == "==" && list)) return (value & *number) != 0;
  if (op == "!" || (op == "!=" && list)) return (value & *number) == 0;
  if (op == "==") return value == *number;
  if (op == "!=") return value != *number;
  if (const auto range = OrderedRange(op, *number)) return range->Contains(value);
  return std::nullopt;
}

bool AppendInterfacePatterns(const Expression& right, const nft::Table& table,
                             std::vector<std::string>& patterns) {
  const std::vector<Expression>* elements = nullptr;
  if (right.kind == Kind::kSetReference) {
    const nft::Set* set = table.FindSet(right.name);
    if (set == nullptr) return false;
    elements = &set->elements;
  } else if (right.kind == Kind::kSet || right.kind == Kind::kList) {
    elements = &right.parts;
  }
  if (elements != nullptr) {
    return std::all_of(elements->begin(), elements->end(), [&](const Expression& one) {
      const Expression& key = one.kind == Kind::kPair ? one.parts[0] : one;
      return key.kind != Kind::kSetReference && AppendInterfacePatterns(key, table, patterns);
    });
  }
  if (right.kind == Kind::kWildcard) patterns.emplace_back("*");
  if (right.kind == Kind::kText) patterns.push_back(right.name);
  // A number is the index of an interface that is gone; it fits none of ours.
  return right.kind == Kind::kWildcard || right.kind == Kind::kText || right.kind == Kind::kNumber;
}

bool FitsInterfacePattern(std::string_view pattern, std::string_view name) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == name;
}

}  // namespace railwright
