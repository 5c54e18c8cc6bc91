#include "agent/reconcile/backoff.h"

#include <algorithm>

namespace railwright {

Cure CureOf(Code code) {
  switch (code) {
    case Code::kUnavailable:
    case Code::kAborted:
    case Code::kDeadlineExceeded:
    case Code::kResourceExhausted: return Cure::kRetry;
    case Code::kInternal:
    case Code::kUnknown:
    case Code::kDataLoss: return Cure::kUndoRetry;
    case Code::kFailedPrecondition: return Cure::kWait;
    default: return Cure::kUndoAndWait;
  }
}

std::chrono::nanoseconds Jitter::Spread(std::chrono::nanoseconds base, double fraction) {
  state_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  const double unit = static_cast<double>(z >> 11) * 0x1.0p-53;  // 0 … 1
  const double factor = 1.0 + fraction * (2.0 * unit - 1.0);
  return std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<double>(base.count()) * factor));
}

std::chrono::nanoseconds BackoffAfter(int tries, Jitter& jitter) {
  constexpr std::chrono::seconds kFirst{1}, kMost{300};
  std::chrono::seconds wait = kFirst;
  for (int i = 1; i < tries && wait < kMost; ++i) wait *= 2;
  return jitter.Spread(std::min(wait, kMost), 0.2);
}

double PassBudget::At(Clock::Steady now) const {
  const double passed = std::chrono::duration<double>(now - since_).count();
  return std::min(kBurst, left_ + std::max(0.0, passed) * kPerSecond);
}

bool PassBudget::Take(Clock::Steady now) {
  left_ = At(now);
  since_ = now;
  // A hair of tolerance: waiting until Next() must be enough in spite of rounding.
  if (left_ < 1.0 - 1e-6) return false;
  left_ -= 1.0;
  return true;
}

Clock::Steady PassBudget::Next(Clock::Steady now) const {
  const double missing = 1.0 - At(now);
  if (missing <= 0) return now;
  return now + std::chrono::duration_cast<Clock::Steady::duration>(
                   std::chrono::duration<double>(missing / kPerSecond));
}

}  // namespace railwright
