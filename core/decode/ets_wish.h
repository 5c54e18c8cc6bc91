// How the traffic classes of a port share it: what an operator writes, and what ieee_ets holds of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/decode/dcb.h"
#include "railwright/result.h"

namespace railwright {

/// The class of every priority, and how each class is served. Bandwidths count for classes that are served by
/// `ets` only and are 0 for others, whatever a driver reports there.
struct EtsWish {
  PerClass<std::uint8_t> traffic_class{};
  PerClass<std::uint8_t> algorithm{};
  PerClass<std::uint8_t> bandwidth{};  ///< percent

  /// Two spellings:
  /// - `prio_tc=0,1,2,3,4,5,6,7 tsa=ets,strict,… bw=50,0,…`: eight values each, all three.
  /// - `3:50,6:strict,rest:50`: for each group of priorities (`0+1`, `rest` for all that are not named) its
  ///   percentage, or `strict`. A group is served in the class of its lowest priority; classes without
  ///   priorities are strict.
  /// InvalidArgument names what is wrong: unknown words, a priority named twice or not at all, percentages of
  /// `ets` classes that do not add up to 100, `cb_shaper`, which no RoCE card has.
  static Result<EtsWish> Parse(std::string_view text);
  /// As Parse, for a value that was read: without the rules on sums and algorithms.
  static Result<EtsWish> ParseObserved(std::string_view text);
  static EtsWish Of(const DcbEts& ets);
  /// The first spelling.
  std::string Text() const;
  friend bool operator==(const EtsWish&, const EtsWish&) = default;
};

}  // namespace railwright
