// Sets of the eight priorities of a port, as an operator writes them.
#pragma once

#include <bitset>
#include <string>
#include <string_view>

#include "railwright/result.h"

namespace railwright {

/// Bit n: priority n is in the set.
using EcnPriorities = std::bitset<8>;

/// `3`, `3,4`, `none` or `all`; numbers 0…7 divided by commas or blanks. InvalidArgument names what is none.
Result<EcnPriorities> ParseEcnPriorities(std::string_view text);
/// "none", "all", or the numbers in order, divided by commas.
std::string Text(const EcnPriorities& priorities);

}  // namespace railwright
