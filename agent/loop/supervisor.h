// Supervisor: what systemd, or whoever set NOTIFY_SOCKET, is told (sd_notify(3)). Nothing when nobody
// listens.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace railwright {

class Supervisor {
 public:
  /// Whoever waits for this unit (schedulers' daemons) waits no longer than this for the first pass.
  static constexpr std::chrono::seconds kReadyWithin{30};

  Supervisor();
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// The first pass is about to begin. READY=1 is said by Ready, or after `within` by a thread of this
  /// object's own (the pass may hang in one call), then with STATUS=`still_runs`. To be called once at most.
  void Starting(const std::string& begins, std::string still_runs,
                std::chrono::milliseconds within = kReadyWithin);
  void Ready();
  void Stopping();
  /// Shown by `systemctl status`; sent only when it differs from the last.
  void Status(const std::string& line);
  /// Feeds the watchdog when half of WATCHDOG_USEC has passed. To be called from the loop itself, also from
  /// within a pass as long as that gets on; from nowhere else, or a loop that hangs would look alive.
  void Alive(std::chrono::steady_clock::time_point now);
  /// How often Alive wants to be called; none without a watchdog.
  std::optional<std::chrono::milliseconds> interval() const { return interval_; }

 private:
  void Tell(const std::string& line);  // mutex_ held

  std::optional<std::chrono::milliseconds> interval_;
  std::chrono::steady_clock::time_point fed_{};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string line_;
  bool ready_ = false, ended_ = false;
  std::thread patience_;
};

}  // namespace railwright
