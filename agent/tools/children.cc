#include "agent/tools/children.h"

#include <signal.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "agent/tools/tools.h"

namespace railwright {
namespace {

using Clock = std::chrono::steady_clock;

/// How long an ended tool is remembered; part of the contract of IsOurTool.
constexpr std::chrono::minutes kRemembered{1};

struct Children {
  std::mutex mutex;
  std::uint64_t spawned = 0;
  std::map<int, std::optional<Clock::time_point>> ended_at;  // nullopt: still running
  std::set<int> asked_to_end;                                // of those that run

  void Forget(Clock::time_point now) {
    std::erase_if(ended_at, [&](const auto& one) { return one.second && now - *one.second > kRemembered; });
  }
};

Children& All() {
  static Children children;
  return children;
}

}  // namespace

void NoteStarted(int pid) {
  std::lock_guard lock(All().mutex);
  ++All().spawned;
  All().Forget(Clock::now());
  All().ended_at[pid] = std::nullopt;
}

void NoteEnded(int pid) {
  std::lock_guard lock(All().mutex);
  All().ended_at[pid] = Clock::now();
  All().asked_to_end.erase(pid);
}

void EndRunningTools() {
  std::lock_guard lock(All().mutex);
  for (const auto& [pid, ended] : All().ended_at)
    if (!ended && All().asked_to_end.insert(pid).second) ::kill(-pid, SIGTERM);
}

std::uint64_t ProgramsSpawned() {
  std::lock_guard lock(All().mutex);
  return All().spawned;
}

bool IsOurTool(int pid) {
  std::lock_guard lock(All().mutex);
  All().Forget(Clock::now());
  return All().ended_at.contains(pid);
}

}  // namespace railwright
