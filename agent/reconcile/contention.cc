#include "agent/reconcile/contention.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace railwright {
namespace {

// The kernel keeps 15 bytes of a process name (TASK_COMM_LEN, include/linux/sched.h).
constexpr std::size_t kCommLength = 15;

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

bool IsPid(std::string_view name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

int Returns::Count(Clock::Steady now, std::chrono::nanoseconds window) {
  times_.push_back(now);
  while (times_.front() < now - window) times_.pop_front();
  return static_cast<int>(times_.size());
}

std::string LikelyOwner(const Machine& machine, const std::string& seen_by,
                        const std::vector<std::string>& known) {
  if (!seen_by.empty()) return seen_by + " (named by the kernel)";
  std::vector<std::string> running;
  if (const auto entries = machine.List("/proc"); entries.ok() && !known.empty()) {
    for (const std::string& entry : *entries) {
      if (!IsPid(entry)) continue;
      const auto comm = machine.Get("/proc/" + entry + "/comm");
      if (!comm.ok()) continue;  // it has ended in the meantime
      for (const std::string& name : known)
        if (*comm == name.substr(0, kCommLength)) running.push_back(name + "[" + entry + "]");
    }
  }
  if (!running.empty()) return Joined(running) + " (running here and known to set it)";
  return known.empty() ? "unknown" : "unknown; known owners of this knob: " + Joined(known);
}

}  // namespace railwright
