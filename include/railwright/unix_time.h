// Times as records and messages carry them: microseconds since 1970, UTC.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace railwright {

inline std::int64_t ToUnixMicros(std::chrono::system_clock::time_point at) {
  return std::chrono::duration_cast<std::chrono::microseconds>(at.time_since_epoch()).count();
}

/// The time of a stored number; none when it is beyond the clock, which counts nanoseconds in 64 bits (1677
/// to 2262): that is damage, and would overflow it.
inline std::optional<std::chrono::system_clock::time_point> FromUnixMicros(std::int64_t us) {
  using Span = std::chrono::system_clock::duration;
  using std::chrono::microseconds;
  const microseconds since(us);
  if (since < std::chrono::ceil<microseconds>(Span::min()) ||
      since > std::chrono::floor<microseconds>(Span::max()))
    return std::nullopt;
  return std::chrono::system_clock::time_point(since);
}

/// The time of a number that somebody else says: what is before 1970 or beyond the clock becomes the nearer
/// end, so that differences to the present cannot overflow either.
inline std::chrono::system_clock::time_point NearestToUnixMicros(std::int64_t us) {
  using Span = std::chrono::system_clock::duration;
  using std::chrono::microseconds;
  const std::int64_t most = std::chrono::floor<microseconds>(Span::max()).count();
  return std::chrono::system_clock::time_point(microseconds(std::clamp(us, std::int64_t{0}, most)));
}

}  // namespace railwright
