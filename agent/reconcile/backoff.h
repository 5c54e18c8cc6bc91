// Backoff: which failures are tried again, and when. And the jitter of everything periodic.
#pragma once

#include <chrono>
#include <cstdint>

#include "railwright/clock.h"
#include "railwright/result.h"

namespace railwright {

/// What a failed write calls for; the error's code decides.
enum class Cure : std::uint8_t {
  kRetry,      ///< the world is busy: the same call may succeed. Unavailable, Aborted, DeadlineExceeded,
               ///< ResourceExhausted
  kUndoRetry,  ///< it may or may not pass (EIO from a firmware): undone, then a few more tries. Internal,
               ///< Unknown, DataLoss
  kWait,  ///< nothing was done, since the world is not ready for it (a link that is down): what the group has
          ///< done stays, its other steps go on, and this one waits until the world changes.
          ///< FailedPrecondition
  kUndoAndWait,  ///< it will stay wrong until the world or the wish changes. All others
};
Cure CureOf(Code code);

/// Tries of kUndoRetry before it is treated as kUndoAndWait.
inline constexpr int kUndoRetries = 3;

/// A small generator (splitmix64), so that a fleet does not scan in step and a test is reproducible.
class Jitter {
 public:
  explicit Jitter(std::uint64_t seed) : state_(seed) {}
  /// `base` spread evenly over ±`fraction` of itself.
  std::chrono::nanoseconds Spread(std::chrono::nanoseconds base, double fraction);

 private:
  std::uint64_t state_;
};

/// Wait before try number `tries` + 1: 1 s, doubled each time, at most 5 min, ± 20 %. `tries` counts from 1.
std::chrono::nanoseconds BackoffAfter(int tries, Jitter& jitter);

/// Passes that hints may cause: 20 at once, then 10 a second. A storm of events (a firewall that is rewritten
/// for every pod) costs freshness, not CPU.
class PassBudget {
 public:
  bool Take(Clock::Steady now);
  /// When the next pass may be taken.
  Clock::Steady Next(Clock::Steady now) const;

 private:
  static constexpr double kBurst = 20, kPerSecond = 10;
  double At(Clock::Steady now) const;

  double left_ = kBurst;
  Clock::Steady since_{};
};

}  // namespace railwright
