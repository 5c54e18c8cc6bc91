// Contention: a value that comes back again and again has another owner.
#pragma once

#include <chrono>
#include <deque>
#include <string>
#include <vector>

#include "railwright/clock.h"
#include "railwright/machine.h"

namespace railwright {

/// The returns of one (key, target) within a sliding window.
class Returns {
 public:
  /// Notes one return; the number of them within `window` that ends now.
  int Count(Clock::Steady now, std::chrono::nanoseconds window);
  /// Takes the last one back: it was no return.
  void Forgive() {
    if (!times_.empty()) times_.pop_back();
  }
  void Clear() { times_.clear(); }

 private:
  std::deque<Clock::Steady> times_;
};

/// The likely owner in words. `seen_by` is who the kernel named ("" when it did not); `known` are the
/// processes known to fight over the knob, looked up among the running ones (/proc/<pid>/comm) only here.
std::string LikelyOwner(const Machine& machine, const std::string& seen_by,
                        const std::vector<std::string>& known);

}  // namespace railwright
