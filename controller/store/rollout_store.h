// What the store keeps of rollouts: how a generation spreads, and what is held back.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "railwright/state.h"

namespace railwright {

/// Values are stored; new ones go to the end.
enum class RolloutPhase : std::uint8_t {
  kRunning,     ///< it goes on by itself, as far as its policy lets it
  kPaused,      ///< by a person; a person resumes it
  kHalted,      ///< by itself, since nodes failed; a person resumes or aborts it
  kAborted,     ///< by a person; no further node gets the generation
  kSuperseded,  ///< a newer generation took its place
};

/// Values are stored; new ones go to the end.
enum class MemberPhase : std::uint8_t {
  kWaiting,   ///< it has not been sent the generation
  kChanging,  ///< it may have been sent it, and is not at rest yet
  kDone,      ///< it has settled with it, and is no worse than before
  kFailed,    ///< it refused it, is worse than before, or was not heard of again
  kAccepted,  ///< it failed, and a person let the rollout go on
};

struct RolloutApproval {
  std::string who;
  std::string from;  ///< the peer's address
  std::string reason;
  std::chrono::system_clock::time_point at{};
  friend bool operator==(const RolloutApproval&, const RolloutApproval&) = default;
};

/// How one generation spreads.
struct RolloutRecord {
  Generation generation;
  Generation base;  ///< the one before it
  std::string author;
  std::chrono::system_clock::time_point created{};
  std::string policy;       ///< the terms it runs by, serialised; the store does not look into it
  std::string policy_name;  ///< of the document, "RolloutPolicy/careful"; "" = built in
  RolloutPhase phase = RolloutPhase::kRunning;
  std::string reason;           ///< of the phase, when it is not kRunning
  std::string by;               ///< whose order the phase is
  std::uint32_t wave = 0;       ///< opened so far; 0 = none
  bool finished = false;        ///< every wave was opened, and has held
  bool policy_changed = false;  ///< it brings, changes or takes away the terms of those after it
  std::uint32_t approvals_needed = 0;
  bool approved = false;  ///< it had them all at once; they need not be valid any more
  std::vector<RolloutApproval> approvals;
  std::uint32_t members = 0;  ///< nodes that the generation changes
  std::uint32_t failed = 0;   ///< of them, so far, also those accepted
  friend bool operator==(const RolloutRecord&, const RolloutRecord&) = default;
};

/// One node that a generation changes.
struct RolloutMember {
  std::string node;
  std::uint32_t wave = 0;  ///< from 1; 0 = not chosen for one yet
  MemberPhase phase = MemberPhase::kWaiting;
  /// Of a waiting one: it was still changing to an earlier generation, or had failed to, when this one took
  /// that one's place, and has not come to rest since.
  bool on_the_way = false;
  std::string why;               ///< of kFailed and kAccepted
  std::vector<KeyTarget> ailed;  ///< what was not well there before it was sent the generation, sorted
  bool was_known = false;        ///< whether that was known
  std::chrono::system_clock::time_point since{};  ///< of the phase
  friend bool operator==(const RolloutMember&, const RolloutMember&) = default;
};

/// A part of a rollout, to be written in one transaction.
struct RolloutWrite {
  std::optional<RolloutRecord> record;  ///< none: nothing is written at all
  std::vector<RolloutMember> members;   ///< each takes the place of its node's
  bool anew = false;                    ///< the members of every other generation are dropped first
};

/// The newest rollout.
struct StoredRollout {
  RolloutRecord record;
  std::vector<RolloutMember> members;  ///< sorted by node
};

/// The breaker that only a person resets.
struct BreakerRecord {
  bool tripped = false;
  std::string reason;
  std::chrono::system_clock::time_point since{};
  friend bool operator==(const BreakerRecord&, const BreakerRecord&) = default;
};

}  // namespace railwright
