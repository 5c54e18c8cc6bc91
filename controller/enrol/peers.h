// Peers: how often one address may come, and how often it may be wrong.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace railwright {

/// Bounds for one address. Time comes in; one thread.
class Peers {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Terms {
    double accepts_a_second = 20;
    double accepts_at_once = 100;
    std::size_t failures_a_minute = 5;
    std::chrono::milliseconds delay{5000};  ///< of each request beyond them
  };
  /// Beyond so many, all new ones share one account: memory is bounded, and a flood pays for itself.
  static constexpr std::size_t kMost = 4096;

  explicit Peers(Terms terms) : terms_(terms) {}

  /// Whether one more connection of `peer` is let in now.
  bool Admit(const std::string& peer, Time now);
  void Failed(const std::string& peer, Time now);
  /// How long a request of `peer` waits before it is looked at.
  std::chrono::milliseconds DelayOf(const std::string& peer, Time now);
  std::size_t size() const { return all_.size(); }

  /// Whom an address is counted with: itself, or its /64 for IPv6.
  static std::string Of(std::string_view address);

 private:
  struct Account {
    double allowance = 0;
    Time counted{};
    std::deque<Time> failures;  // of the last minute, at most failures_a_minute
  };
  Account& At(const std::string& peer, Time now);
  void Forget(Time now);

  Terms terms_;
  std::unordered_map<std::string, Account> all_;
  Time forgot_{};
};

}  // namespace railwright
