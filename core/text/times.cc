#include "core/text/times.h"

#include <array>
#include <cstdio>
#include <ctime>

namespace railwright {

using namespace std::chrono;

std::string Rfc3339(system_clock::time_point at) {
  const auto whole = floor<milliseconds>(at.time_since_epoch());
  const auto in_seconds = floor<seconds>(whole);
  const std::time_t when = static_cast<std::time_t>(in_seconds.count());
  std::tm utc{};
  if (gmtime_r(&when, &utc) == nullptr) return "0000-00-00T00:00:00.000Z";
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", utc.tm_year + 1900,
                utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                static_cast<int>((whole - in_seconds).count()));
  return text.data();
}

std::string Ago(system_clock::duration age) {
  const auto s = duration_cast<seconds>(age).count();
  if (s < 1) return "just now";
  if (s < 120) return std::to_string(s) + "s ago";
  if (s < 2 * 3600) return std::to_string(s / 60) + "m ago";
  if (s < 2 * 86400) return std::to_string(s / 3600) + "h ago";
  return std::to_string(s / 86400) + "d ago";
}

std::string Took(microseconds took) {
  const auto us = took.count();
  std::array<char, 48> text{};
  if (us < 1000)
    std::snprintf(text.data(), text.size(), "%lld µs", static_cast<long long>(us));
  else if (us < 1'000'000)
    std::snprintf(text.data(), text.size(), "%.1f ms", static_cast<double>(us) / 1e3);
  else if (us < 60'000'000)
    std::snprintf(text.data(), text.size(), "%.1f s", static_cast<double>(us) / 1e6);
  else
    std::snprintf(text.data(), text.size(), "%lldm %02llds", static_cast<long long>(us / 60'000'000),
                  static_cast<long long>(us / 1'000'000 % 60));
  return text.data();
}

}  // namespace railwright
