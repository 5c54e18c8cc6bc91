// Rollout: how one generation spreads over the nodes that it changes. Plain values and rules: no clock, no
// store, no network.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/fleet/rollout_policy.h"
#include "controller/store/rollout_store.h"
#include "railwright/clock.h"
#include "railwright/result.h"

namespace railwright {

/// What is known of a node now.
struct MemberSight {
  bool connected = false;
  std::chrono::milliseconds lost_for{0};  ///< not connected: for so long
  bool has_it = false;   ///< it is connected, and has settled with this generation's state and no other since
  bool at_rest = false;  ///< it is connected, and has settled with whatever it was sent last
  std::string refused;   ///< why it refused this generation's state; "" = it did not
  bool known = false;    ///< it has reported at least once
  std::vector<KeyTarget> settings;  ///< enforced, and drifted or unknown; sorted
  std::vector<KeyTarget> checks;    ///< that fail; sorted
};

/// What does not change about a node while a generation is in force.
struct MemberTraits {
  std::string rack;
  std::vector<std::string> apart;  ///< "label=value" of each label that the policy keeps apart
};

/// The world at one moment, as the rollout's owner sees it.
struct RolloutLook {
  Clock::Steady now{};
  std::chrono::system_clock::time_point wall{};
  std::function<MemberSight(const std::string& node)> sight;
  std::string held;              ///< why no node may be begun now (the breaker …); "" = it may
  std::set<std::string> frozen;  ///< racks in which none may be begun
  /// For each node whether it could be sent the generation at once: "" or why not. Asked before one is begun.
  std::function<std::vector<std::string>(const std::vector<std::string>& nodes)> ready;
};

/// What a look leads to. It holds when the store has taken `write`, and Take was called.
struct RolloutMove {
  RolloutWrite write;               ///< empty: nothing changed
  std::vector<std::string> begun;   ///< may be sent the generation from now on
  std::vector<std::string> failed;  ///< since the last look
  std::string halted;               ///< why it halted by itself; "" = it did not
};

class Rollout {
 public:
  /// A node that ails after it has settled: for so long, or it was only passing. A member that was done is
  /// given longer, since by then drift that is about to be corrected is likelier than harm by the change.
  static constexpr std::chrono::seconds kAilingFor{3}, kAilingForWhenDone{30};
  /// A node that is gone: above the agents' longest pause between two dials, with which they come back to a
  /// controller that was restarted.
  static constexpr std::chrono::seconds kLostFor{180};
  /// A node that was not ready is asked again after.
  static constexpr std::chrono::seconds kAskAgain{2};
  /// Approvals count for so long, until all are there.
  static constexpr std::chrono::hours kApprovalFor{1};

  /// `fleet`: nodes of the inventory. Of a node that is not in `traits` nothing is known.
  Rollout(StoredRollout stored, RolloutPolicy policy, std::size_t fleet,
          std::unordered_map<std::string, MemberTraits> traits);

  const RolloutRecord& record() const { return record_; }
  const RolloutPolicy& policy() const { return policy_; }
  /// Null: the generation does not change the node.
  const RolloutMember* Find(const std::string& node) const;
  const std::vector<RolloutMember>& members() const { return members_; }
  /// Whether the node may be sent the generation.
  bool MaySend(const std::string& node) const;
  std::size_t unavailable_most() const { return policy_.UnavailableMost(fleet_); }

  RolloutMove Next(const RolloutLook& look);
  /// The move, or the order's write, is durable.
  void Take(const RolloutWrite& write, Clock::Steady now);
  /// What was not ready is asked at the next look.
  void AskAllAgain() { not_ready_.clear(); }

  // Orders. FailedPrecondition says why it makes no sense now.
  Result<RolloutWrite> Pause(const std::string& by, const std::string& reason) const;
  /// Those that failed are accepted, and nodes that are gone in the middle of an earlier change no longer
  /// waited for.
  Result<RolloutWrite> Resume(const RolloutLook& look, const std::string& by,
                              const std::string& reason) const;
  Result<RolloutWrite> Abort(const std::string& by, const std::string& reason) const;
  /// PermissionDenied for its author.
  Result<RolloutWrite> Approve(const RolloutApproval& approval) const;

  /// For people.
  struct Counts {
    std::size_t waiting = 0, changing = 0, done = 0, failed = 0, accepted = 0, away = 0, unavailable = 0;
  };
  Counts Count(const RolloutLook& look) const;
  /// Why it does not go on by itself, whatever the nodes do: a person, approvals, windows, the breaker; "" =
  /// it does.
  std::string Stopped(const RolloutLook& look) const;
  /// All that it waits for, in sentences that name the nodes.
  std::vector<std::string> WaitsFor(const RolloutLook& look) const;
  /// What this member waits for, or how it failed.
  std::string Why(const RolloutMember& member, const RolloutLook& look) const;
  /// "wave 2 of 3"; "" when no node is changed.
  std::string WaveText() const;

 private:
  struct Live {             // of one member, in this life of the controller
    Clock::Steady since{};  // of its phase
    Clock::Steady ailing_since{};
    bool ailing = false;
  };
  class Draft;

  void Judge(Draft& draft, const RolloutLook& look);
  void HaltIfDue(Draft& draft, RolloutMove& move) const;
  void OpenWaves(Draft& draft, const RolloutLook& look);
  bool Choose(Draft& draft) const;
  bool Complete(const Draft& draft) const;
  bool AnyLeft(const Draft& draft) const;
  void Begin(Draft& draft, const RolloutLook& look, RolloutMove& move);
  const Wave& PolicyWave(std::uint32_t wave) const;
  bool LastWave(std::uint32_t wave) const;
  std::uint32_t ValidApprovals(std::chrono::system_clock::time_point wall) const;
  const MemberTraits& TraitsOf(const std::string& node) const;
  static bool Unavailable(const RolloutMember& member);

  RolloutRecord record_;
  std::vector<RolloutMember> members_;  // sorted by node
  const RolloutPolicy policy_;
  const std::size_t fleet_;
  const std::unordered_map<std::string, MemberTraits> traits_;
  std::vector<Live> live_;                                                  // beside members_
  std::map<std::string, std::pair<std::string, Clock::Steady>> not_ready_;  // node → why, asked when
  Clock::Steady complete_since_{};                                          // of the wave; epoch: it is not
  Clock::Steady began_{};                                                   // of this object
};

/// The members of `next` upon `base`: nodes whose state it changes, and those that have not come to rest with
/// what `before` (the rollout of `base`; may be null) gave them. Sorted. `changed`: nodes whose state
/// differs.
std::vector<RolloutMember> MembersOf(const std::vector<std::string>& changed, const Rollout* before,
                                     const std::function<bool(const std::string&)>& declared);

}  // namespace railwright
