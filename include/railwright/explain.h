// Explain pages for every stable finding code and reason word; offline, compiled in.
#pragma once

#include <span>
#include <string_view>

namespace railwright {

/// A page for a reason word (ReadFailed …) or a code that belongs to no setting or check.
struct ReasonPage {
  std::string_view word;     ///< "Contended"
  std::string_view code;     ///< "RW-9004"
  std::string_view summary;  ///< one line
  std::string_view detail;   ///< what it means, how it is seen, what to do next
};

/// All pages, sorted by word.
std::span<const ReasonPage> ReasonPages();

/// The known name nearest to `typed` by edit distance (at most a third of its length, at least 2), or "".
std::string_view Nearest(std::string_view typed, std::span<const std::string_view> known);

}  // namespace railwright
