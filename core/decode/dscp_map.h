// DSCP to priority: what an operator writes, and what the APP table of a port holds of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/decode/dcb_app.h"
#include "railwright/result.h"

namespace railwright {

inline constexpr std::size_t kDscps = 64;

/// The priority of every DSCP.
struct DscpMap {
  std::array<std::uint8_t, kDscps> priority{};

  /// dscp >> 3 for all: what a card has from its maker (26 → 3, 48 → 6).
  static DscpMap Default();
  /// `default`, or what differs from it: `26:4`, `24-31:5,48:6`, separated by commas or blanks.
  /// InvalidArgument names what is wrong, also a DSCP named twice.
  static Result<DscpMap> Parse(std::string_view text);
  /// "default", or only what differs from it, in ranges: "26:4,40-47:3".
  std::string Text() const;
  friend bool operator==(const DscpMap&, const DscpMap&) = default;
};

/// What a table lists of DSCPs. The driver's map may hold others: an entry proves what the hardware does, its
/// absence says nothing.
struct ListedDscps {
  std::vector<DcbApp> entries;  ///< sorted; a DSCP may have several on drivers that add

  explicit ListedDscps(const std::vector<DcbApp>& table);
  std::size_t count() const;  ///< different DSCPs
  /// "" for none; the text of a DscpMap when all 64 stand there once; else "only 26:3,48:6", everything that
  /// is listed.
  std::string Text() const;
};

/// The entries of an "only …" text, as ListedDscps::Text gives it; InvalidArgument for other texts.
Result<std::vector<DcbApp>> ParseOnlyDscps(std::string_view text);

/// `table` with exactly `map` for DSCPs, other entries kept.
std::vector<DcbApp> WithDscpMap(const std::vector<DcbApp>& table, const DscpMap& map);
/// `table` without entries for DSCPs.
std::vector<DcbApp> WithoutDscps(const std::vector<DcbApp>& table);

}  // namespace railwright
