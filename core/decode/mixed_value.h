// One value that several like things should have: all of a node's GPUs, all of its processors.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "railwright/result.h"

namespace railwright {

/// Names with their values, in the order they were read.
using NamedValues = std::vector<std::pair<std::string, std::string>>;

/// The value when all have the same. Else who has what, the most frequent first, so that a reader sees the
/// odd one and each can be put back: `mixed: on 7, off 1; off: 0000:3b:00.0`. "" for no values.
std::string MixedText(const NamedValues& values);

/// What MixedText said, back for `names`. A plain value is that of all. InvalidArgument: no such text, or a
/// name that is not among `names`.
Result<NamedValues> ParseMixed(std::string_view text, const std::vector<std::string>& names);

}  // namespace railwright
