// Supervisor: what systemd, or whoever set NOTIFY_SOCKET, is told (sd_notify(3)). Nothing when nobody
// listens.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace railwright {

class Supervisor {
 public:
  Supervisor();
  void Ready();
  void Stopping();
  /// Shown by `systemctl status`; sent only when it differs from the last.
  void Status(const std::string& line);
  /// Feeds the watchdog when half of WATCHDOG_USEC has passed. To be called from the loop itself.
  void Alive(std::chrono::steady_clock::time_point now);
  /// How often Alive wants to be called; none without a watchdog.
  std::optional<std::chrono::milliseconds> interval() const { return interval_; }

 private:
  std::optional<std::chrono::milliseconds> interval_;
  std::chrono::steady_clock::time_point fed_{};
  std::string line_;
  bool ready_ = false;
};

}  // namespace railwright
