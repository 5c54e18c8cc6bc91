// Which application gets which priority: the APP table of DCB (struct dcb_app of linux/dcbnl.h).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright {

/// One entry; the same protocol may stand in the table with several priorities.
struct DcbApp {
  static constexpr std::size_t kSize = 4;
  static constexpr std::uint8_t kEthertype = 1, kStream = 2, kDgram = 3, kAny = 4, kDscp = 5;
  /// DCB_APP_SEL_PCP, since Linux 6.2: not in IEEE 802.1Qaz, carried in an attribute of its own.
  static constexpr std::uint8_t kPcp = 255;
  std::uint8_t selector = 0;
  std::uint16_t protocol = 0;  ///< DSCP, port, Ethertype …, in the order of the host
  std::uint8_t priority = 0;

  /// Internal when there are fewer than 4 bytes.
  static Result<DcbApp> FromBytes(std::span<const std::uint8_t> bytes);
  std::array<std::uint8_t, kSize> Bytes() const;
  /// "dscp 26 prio 3", "dgram 4791 prio 3", "ethertype 0x8915 prio 3"; a selector without a name is its
  /// number.
  std::string Text() const;
  /// The reverse. InvalidArgument names what is not understood: selector, protocol (DSCP 0…63, PCP 0…15,
  /// else 16 bits), priority 0…7.
  static Result<DcbApp> Parse(std::string_view line);
  friend auto operator<=>(const DcbApp&, const DcbApp&) = default;
};

/// One entry a line, sorted as text, each once.
std::string AppTableText(const std::vector<DcbApp>& table);
/// The reverse, sorted by value, each once.
Result<std::vector<DcbApp>> ParseAppTable(std::string_view text);

}  // namespace railwright
