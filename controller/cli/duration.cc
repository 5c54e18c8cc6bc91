#include <charconv>

#include "controller/cli/command_line.h"

namespace railwright::cli {

Result<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  const Status wrong(Code::kInvalidArgument,
                     "\"" + std::string(text) + "\" is no time; write 500ms, 10s, 1m30s, 2h or 7d");
  constexpr std::int64_t kLimit = std::int64_t{366} * 24 * 3600 * 1000;  // a year; more is a slip
  if (text.empty()) return wrong;
  std::int64_t total = 0;
  for (std::string_view rest = text; !rest.empty();) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc() || number < 0 || number > kLimit) return wrong;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    std::int64_t unit = 1000;
    if (rest.starts_with("ms")) {
      unit = 1;
      rest.remove_prefix(2);
    } else if (!rest.empty()) {
      switch (rest.front()) {
        case 's': break;
        case 'm': unit = 60'000; break;
        case 'h': unit = 3'600'000; break;
        case 'd': unit = 86'400'000; break;
        default: return wrong;
      }
      rest.remove_prefix(1);
    }
    if (number > kLimit / unit) return wrong;
    total += number * unit;
    if (total > kLimit) return wrong;
  }
  return std::chrono::milliseconds(total);
}

}  // namespace railwright::cli
