// Budget: so many at once, then so many a second.
#pragma once

#include <algorithm>
#include <chrono>

namespace railwright::gate {

class Budget {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Budget(double at_once, double a_second) : most_(at_once), a_second_(a_second), left_(at_once) {}
  /// False when there is none left now.
  bool Take(Time now) {
    if (last_ != Time{})
      left_ = std::min(most_, left_ + std::chrono::duration<double>(now - last_).count() * a_second_);
    last_ = now;
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

 private:
  double most_, a_second_, left_;
  Time last_{};
};

}  // namespace railwright::gate
