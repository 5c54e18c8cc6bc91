#include "core/decode/ecn_priorities.h"

#include "core/decode/values.h"

namespace railwright {

Result<EcnPriorities> ParseEcnPriorities(std::string_view text) {
  constexpr std::string_view kAllowed = "a list of priorities 0…7, `none` or `all`";
  const auto words = Words(text, " \t,");
  if (words.size() == 1 && words[0] == "none") return EcnPriorities();
  if (words.size() == 1 && words[0] == "all") return EcnPriorities().set();
  if (words.empty())
    return Status(Code::kInvalidArgument,
                  Quoted(text) + " names no priority; allowed: " + std::string(kAllowed));
  EcnPriorities priorities;
  for (const std::string_view word : words) {
    RW_ASSIGN_OR_RETURN(const std::uint64_t priority, ParseWhole(word, 0, 7, kAllowed));
    priorities.set(priority);
  }
  return priorities;
}

std::string Text(const EcnPriorities& priorities) {
  if (priorities.none()) return "none";
  if (priorities.all()) return "all";
  std::string text;
  for (std::size_t i = 0; i < priorities.size(); ++i) {
    if (!priorities.test(i)) continue;
    if (!text.empty()) text += ',';
    text += std::to_string(i);
  }
  return text;
}

}  // namespace railwright
