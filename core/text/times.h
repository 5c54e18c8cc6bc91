// Times and durations as text.
#pragma once

#include <chrono>
#include <string>

namespace railwright {

/// UTC, RFC 3339, whole milliseconds: "2026-11-30T12:00:00.250Z". For machine output.
std::string Rfc3339(std::chrono::system_clock::time_point at);
/// For people: "just now" (under a second, or in the future), "12s ago", "3m ago", "5h ago", "2d ago".
std::string Ago(std::chrono::system_clock::duration age);
/// For people: "840 µs", "12.4 ms", "3.1 s", "2m 05s".
std::string Took(std::chrono::microseconds took);

}  // namespace railwright
