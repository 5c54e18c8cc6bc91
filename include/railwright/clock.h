// Clock: time as something that tests own.
#pragma once

#include <chrono>

namespace railwright {

class Clock {
 public:
  using Steady = std::chrono::steady_clock::time_point;
  using Wall = std::chrono::system_clock::time_point;
  virtual ~Clock() = default;
  virtual Steady Now() const = 0;    ///< for intervals
  virtual Wall WallNow() const = 0;  ///< for people and records (UTC)
};

/// The clocks of the host.
class SystemClock final : public Clock {
 public:
  Steady Now() const override { return std::chrono::steady_clock::now(); }
  Wall WallNow() const override { return std::chrono::system_clock::now(); }
};

}  // namespace railwright
