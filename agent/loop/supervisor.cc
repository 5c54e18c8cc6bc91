#include "agent/loop/supervisor.h"

#include <systemd/sd-daemon.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "railwright/utf8.h"

namespace railwright {

Supervisor::Supervisor() {
  std::uint64_t microseconds = 0;
  if (sd_watchdog_enabled(0, &microseconds) > 0)
    interval_ = std::chrono::milliseconds(std::max<std::uint64_t>(1, microseconds / 2000));
}

void Supervisor::Ready() {
  if (std::exchange(ready_, true)) return;
  sd_notify(0, "READY=1");
}

void Supervisor::Stopping() { sd_notify(0, "STOPPING=1"); }

void Supervisor::Status(const std::string& line) {
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
