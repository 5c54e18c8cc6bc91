#include "agent/tools/children.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

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
