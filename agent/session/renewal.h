// Renewal: a new certificate before the present one ends.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "agent/session/session.h"

namespace railwright {

/// When a certificate is renewed: after two thirds of its life, ± 10 % of the life, so that nodes that joined
/// together do not come together. `chance` is from 0 to 1.
std::chrono::system_clock::time_point RenewalTime(std::chrono::system_clock::time_point not_before,
                                                  std::chrono::system_clock::time_point not_after,
                                                  double chance);

/// How long after the n-th failure in a row (from 1) it is tried again: 30 s doubled to 15 min, from half of
/// it to the whole.
std::chrono::seconds RenewalPause(int failures, double chance);

struct RenewalOptions {
  std::string state_dir;
  std::function<Result<Way>()> way;
  /// For a certificate that has ended: asks at the enrolment port and stores what came. May be empty.
  std::function<Status()> recover;
  std::function<void(const std::string&)> log;
  std::uint64_t seed = 0;
};

/// A thread that keeps the certificate in `<state-dir>/front` young.
class Renewal {
 public:
  explicit Renewal(RenewalOptions options);
  ~Renewal();
  Renewal(const Renewal&) = delete;
  Renewal& operator=(const Renewal&) = delete;

 private:
  void Run();
  /// One try; how long to wait for the next look.
  std::chrono::seconds Look();
  Status Renew();

  const RenewalOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::string leaf_;  // of which `due_` was drawn
  std::chrono::system_clock::time_point due_;
  int failures_ = 0;
  std::uint64_t random_;
  std::thread thread_;
};

}  // namespace railwright
