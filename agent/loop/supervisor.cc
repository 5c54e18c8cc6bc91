#include "agent/loop/supervisor.h"

#include <systemd/sd-daemon.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "railwright/utf8.h"

namespace railwright {

Supervisor::Supervisor() {
  std::uint64_t microseconds = 0;
  if (sd_watchdog_enabled(0, &microseconds) > 0)
    interval_ = std::chrono::milliseconds(std::max<std::uint64_t>(1, microseconds / 2000));
}

Supervisor::~Supervisor() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  if (patience_.joinable()) patience_.join();
}

void Supervisor::Starting(const std::string& begins, std::string still_runs,
                          std::chrono::milliseconds within) {
  Status(begins);
  if (std::getenv("NOTIFY_SOCKET") == nullptr) return;  // nobody waits
  patience_ = std::thread([this, within, line = std::move(still_runs)] {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, within, [this] { return ready_ || ended_; })) return;
    ready_ = true;
    Tell(line);
    sd_notify(0, "READY=1");
  });
}

void Supervisor::Ready() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(ready_, true)) return;
    sd_notify(0, "READY=1");
  }
  changed_.notify_all();
}

void Supervisor::Stopping() { sd_notify(0, "STOPPING=1"); }

void Supervisor::Status(const std::string& line) {
  const std::lock_guard lock(mutex_);
  Tell(line);
}

void Supervisor::Tell(const std::string& line) {
  if (line == line_) return;
  line_ = line;
  std::string clean = ValidUtf8(line);
  for (char& c : clean)
    if (c == '\n') c = ' ';  // a newline would begin the next assignment
  sd_notify(0, ("STATUS=" + clean).c_str());
}

void Supervisor::Alive(std::chrono::steady_clock::time_point now) {
  if (!interval_ || now < fed_ + *interval_) return;
  fed_ = now;
  sd_notify(0, "WATCHDOG=1");
}

}  // namespace railwright
