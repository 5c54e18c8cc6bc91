// Operators' texts within sentences.
#pragma once

#include <string>
#include <string_view>

namespace railwright::fleet {

/// `"abc"`: cut at 80 bytes (never within a character), control characters shown as blanks.
std::string Quoted(std::string_view text);

}  // namespace railwright::fleet
