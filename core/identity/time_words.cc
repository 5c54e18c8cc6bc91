#include "core/identity/time_words.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace railwright::identity {

std::string Utc(std::chrono::system_clock::time_point at) {
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(at - day));
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text.data();
}

std::string Span(std::chrono::seconds span) {
  auto left = std::max<long long>(0, span.count());
  constexpr std::array<std::pair<long long, const char*>, 4> kUnits = {
      {{86400, " d"}, {3600, " h"}, {60, " min"}, {1, " s"}}};
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    const auto [size, name] = kUnits[i];
    if (left < size && i + 1 < kUnits.size()) continue;
    std::string text = std::to_string(left / size) + name;
    left %= size;
    if (i + 1 < kUnits.size() && left >= kUnits[i + 1].first)
      text += " " + std::to_string(left / kUnits[i + 1].first) + kUnits[i + 1].second;
    return text;
  }
  return "0 s";
}

}  // namespace railwright::identity
