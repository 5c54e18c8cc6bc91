// Random: the one source of chance of a run, so that a seed is a run.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

namespace railwright::sim {

/// splitmix64: the same numbers with every library and compiler.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// 0 … n − 1; 0 when n is 0.
  std::uint64_t Below(std::uint64_t n) { return n == 0 ? 0 : Next() % n; }
  bool Chance(double probability) {
    return static_cast<double>(Next() >> 11) < probability * 9007199254740992.0;  // 2^53
  }
  std::chrono::nanoseconds Between(std::chrono::nanoseconds least, std::chrono::nanoseconds most) {
    if (most <= least) return least;
    return least + std::chrono::nanoseconds(Below(static_cast<std::uint64_t>((most - least).count()) + 1));
  }
  template <class T>
  const T& Pick(const std::vector<T>& list) {
    return list[Below(list.size())];
  }
  /// A generator of its own: what one part of the world draws does not move what another draws.
  Random Fork() { return Random(Next()); }

 private:
  std::uint64_t state_;
};

}  // namespace railwright::sim
