// Clock: time as something that tests own.
#pragma once

#include <chrono>
#include <ctime>

namespace railwright {

class Clock {
 public:
  using Steady = std::chrono::steady_clock::time_point;
  using Wall = std::chrono::system_clock::time_point;
  virtual ~Clock() = default;
  virtual Steady Now() const = 0;    ///< for intervals
  virtual Wall WallNow() const = 0;  ///< for people and records (UTC)
  /// Since this machine booted, time asleep included: for deadlines that outlive a process. No clock that
  /// somebody sets moves it. Counts only together with the boot's id.
  virtual std::chrono::milliseconds BootNow() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Now().time_since_epoch());
  }
};

/// The clocks of the host.
class SystemClock final : public Clock {
 public:
  Steady Now() const override { return std::chrono::steady_clock::now(); }
  Wall WallNow() const override { return std::chrono::system_clock::now(); }
  std::chrono::milliseconds BootNow() const override {
    std::timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);  // cannot fail: the kernel has it since 2.6.39
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::seconds(now.tv_sec) +
                                                                 std::chrono::nanoseconds(now.tv_nsec));
  }
};

}  // namespace railwright
