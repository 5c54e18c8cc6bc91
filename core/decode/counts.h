// Counts that a device keeps by kind (channels, rings): what is wished, what there is, and the greatest it
// takes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/decode/fields.h"
#include "railwright/result.h"

namespace railwright {

/// What a device says: `rx=4 rx_max=8 combined=2 combined_max=63`. Kinds that it does not have are missing.
struct DeviceCounts {
  struct Count {
    std::uint64_t now = 0;
    std::optional<std::uint64_t> max;  ///< as the driver tells it
    friend bool operator==(const Count&, const Count&) = default;
  };
  std::map<std::string, Count, std::less<>> kinds;

  /// Takes the kinds in `wanted` out of the fields; others ("other") are left alone.
  static Result<DeviceCounts> Decode(std::string_view fields, const std::vector<std::string>& wanted);
  /// "combined=8 rx=0 tx=0", kinds in alphabetical order.
  std::string Now() const;
  /// The same with the greatest values; "" when the driver tells none.
  std::string Greatest() const;
};

/// A wish: `max`, one number for every kind, or numbers by kind.
struct CountWish {
  bool max = false;
  std::optional<std::uint64_t> each;
  std::map<std::string, std::uint64_t, std::less<>> by_kind;

  /// `max`, `8`, `rx=4 tx=4` or `rx=4,tx=4`; numbers 0…65535 by kind, 1…65535 for all, at least one above 0.
  /// InvalidArgument names the kinds allowed.
  static Result<CountWish> Parse(std::string_view text, const std::vector<std::string>& kinds);
  std::string Text() const;

  /// The number of each kind that fulfils the wish on this device. A device with combined channels gets them
  /// all there, its rx and tx left at 0. InvalidArgument names what the device has, and its greatest.
  Result<std::map<std::string, std::uint64_t, std::less<>>> On(const DeviceCounts& device) const;
  /// Whether `now` (and, for max, `greatest`) of a device fulfil the wish. False when a number is missing.
  bool FulfilledBy(std::string_view now, std::string_view greatest) const;
};

}  // namespace railwright
