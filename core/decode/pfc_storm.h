// PFC storm prevention: how long a port may be paused before it stops heeding pause frames.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "railwright/result.h"

namespace railwright {

/// PFC_STORM_PREVENTION_DISABLE and PFC_STORM_PREVENTION_AUTO of linux/ethtool.h.
inline constexpr std::uint16_t kPfcStormOff = 0, kPfcStormAuto = 0xffff;

/// "off", "auto", or milliseconds.
std::string PfcStormText(std::uint16_t milliseconds);
/// The reverse, for numbers from `least` to `most`. InvalidArgument names what is allowed.
Result<std::uint16_t> ParsePfcStorm(std::string_view text, std::uint16_t least, std::uint16_t most);

}  // namespace railwright
