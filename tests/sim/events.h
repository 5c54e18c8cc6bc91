// Events: simulated time. What happens next is the earliest event; of equal times the one that was made
// first.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "railwright/clock.h"

namespace railwright::sim {

using Duration = std::chrono::nanoseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class Events {
 public:
  Duration now() const { return now_; }
  std::uint64_t done() const { return done_; }
  void After(Duration wait, std::function<void()> act) {
    queue_.push({now_ + (wait > Duration(0) ? wait : Duration(0)), next_++, std::move(act)});
  }
  /// Does the next event; false when it is later than `until` (then it is `until`).
  bool Step(Duration until) {
    if (queue_.empty() || queue_.top().at > until) {
      now_ = until;
      return false;
    }
    const Event event = queue_.top();
    queue_.pop();
    now_ = event.at;
    ++done_;
    event.act();
    return true;
  }

 private:
  struct Event {
    Duration at;
    std::uint64_t number;
    std::function<void()> act;
    bool operator<(const Event& other) const {
      return at != other.at ? at > other.at : number > other.number;
    }
  };
  Duration now_{0};
  std::uint64_t next_ = 0, done_ = 0;
  std::priority_queue<Event> queue_;
};

/// A host's clocks: its steady one began somewhere else, its wall clock is wrong and may jump.
class HostClock final : public Clock {
 public:
  HostClock(const Events& events, Duration steady, Duration wall)
      : events_(events), steady_(steady), wall_(wall) {}
  Steady Now() const override { return Steady(events_.now() + steady_); }
  Wall WallNow() const override {
    // 2026-11-30T00:00:00Z and what has passed since.
    return Wall(std::chrono::duration_cast<Wall::duration>(seconds(1'795'996'800) + events_.now() + wall_));
  }
  void StepWall(Duration by) { wall_ += by; }

 private:
  const Events& events_;
  Duration steady_, wall_;
};

}  // namespace railwright::sim
