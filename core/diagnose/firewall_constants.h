// Constants of rules: what names stand for, and whether a known value fulfils a condition. Private to the
// walk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/decode/nft_ruleset.h"
#include "core/diagnose/intervals.h"

namespace railwright {

struct NamedNumber {
  std::string_view name;
  std::uint64_t number;
};

/// A table of names; empty for plain numbers.
struct NumberNames {
  const NamedNumber* first = nullptr;
  std::size_t count = 0;
};

extern const NumberNames kProtocolNames;    ///< of meta l4proto, ip protocol
extern const NumberNames kFamilyNames;      ///< of meta nfproto
extern const NumberNames kEthernetNames;    ///< of meta protocol
extern const NumberNames kStateNames;       ///< bits of ct state
extern const NumberNames kStatusNames;      ///< bits of ct status
extern const NumberNames kDirectionNames;   ///< of ct direction
extern const NumberNames kPacketTypeNames;  ///< of meta pkttype
extern const NumberNames kTcpFlagNames;     ///< bits of tcp flags
extern const NumberNames kRouteTypeNames;   ///< of fib … type
extern const NumberNames kLinkTypeNames;    ///< of meta iiftype

inline constexpr std::uint64_t kStateInvalid = 1, kStateNew = 8, kStateUntracked = 64;

/// A constant of a right side or of a mask; lists of flags are joined. Nothing when it is no constant.
std::optional<std::uint64_t> ConstantOf(const nft::Expression& expression, NumberNames names);

/// nft's < <= > >= as the range that they hold for; nothing for another operator.
std::optional<IntervalSet> OrderedRange(const std::string& op, Number128 number);

/// Whether `value op right` holds; nothing when the right side cannot be read.
std::optional<bool> HoldsFor(std::uint64_t value, const std::string& op, const nft::Expression& right,
                             NumberNames names, const nft::Table& table);

/// The interface names and patterns ("eth*") of a right side, appended; false when it cannot be read.
bool AppendInterfacePatterns(const nft::Expression& right, const nft::Table& table,
                             std::vector<std::string>& patterns);
bool FitsInterfacePattern(std::string_view pattern, std::string_view name);

}  // namespace railwright
