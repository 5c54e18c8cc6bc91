#include "railwright/explain.h"

#include <algorithm>
#include <vector>

namespace railwright {

std::string_view Nearest(std::string_view typed, std::span<const std::string_view> known) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, typed.size() / 3) + 1;
  for (const std::string_view word : known) {
    // Optimal string alignment (Levenshtein with transposition of neighbours), three rows.
    std::vector<std::size_t> before(word.size() + 1), last(word.size() + 1), row(word.size() + 1);
    for (std::size_t j = 0; j <= word.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= typed.size(); ++i) {
      row[0] = i;
      for (std::size_t j = 1; j <= word.size(); ++j) {
        row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (typed[i - 1] == word[j - 1] ? 0 : 1)});
        if (i > 1 && j > 1 && typed[i - 1] == word[j - 2] && typed[i - 2] == word[j - 1])
          row[j] = std::min(row[j], before[j - 2] + 1);
      }
      before.swap(last);
      last.swap(row);
    }
    if (last[word.size()] < best_distance) {
      best_distance = last[word.size()];
      best = word;
    }
  }
  return best;
}

}  // namespace railwright
