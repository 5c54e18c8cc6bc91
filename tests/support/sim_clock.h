// SimClock: time that passes only when the test says so.
#pragma once

#include "railwright/clock.h"

namespace railwright {

class SimClock final : public Clock {
 public:
  Steady Now() const override { return Steady(offset_ + std::chrono::hours(1)); }
  Wall WallNow() const override {
    // 2026-11-30T00:00:00Z and what has passed since.
    return Wall(std::chrono::duration_cast<Wall::duration>(std::chrono::seconds(1'795'996'800) + offset_));
  }
  void Advance(std::chrono::nanoseconds by) { offset_ += by; }
  /// Moves to `when`; never backwards.
  void AdvanceTo(Steady when) {
    if (when > Now()) offset_ += when - Now();
  }

 private:
  std::chrono::nanoseconds offset_{0};
};

}  // namespace railwright
