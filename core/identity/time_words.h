// Times and spans as sentences about identities say them.
#pragma once

#include <chrono>
#include <string>

namespace railwright::identity {

/// UTC, whole seconds: "2026-12-01T10:00:00Z".
std::string Utc(std::chrono::system_clock::time_point at);
/// The two largest units, rounded down: "40 d 3 h", "3 h 12 min", "5 min", "42 s". A negative span is "0 s".
std::string Span(std::chrono::seconds span);
inline std::string Span(std::chrono::system_clock::duration span) {
  return Span(std::chrono::floor<std::chrono::seconds>(span));
}

}  // namespace railwright::identity
