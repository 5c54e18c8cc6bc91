// RolloutKeeper: the rollout of the generation in force and the brakes, kept in the store; what holds is what
// the store has taken. The fleet model owns it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/rollout/brakes.h"
#include "controller/rollout/rollout.h"
#include "controller/rpc/desired.h"
#include "railwright/v1/admin.pb.h"

namespace railwright {

/// What the keeper asks the fleet model.
struct FleetSights {
  std::function<MemberSight(const std::string& node)> sight;
  std::function<std::vector<std::string>(const std::vector<std::string>& nodes)>
      ready;  ///< RolloutLook::ready
  /// Whether the node has settled with this state, and was sent no other since.
  std::function<bool(const std::string& node, const std::string& hash)> holds;
};

class RolloutKeeper {
 public:
  /// From so many members on it looks ten times a second, not after each batch of messages.
  static constexpr std::size_t kManyMembers = 500;
  static constexpr std::chrono::milliseconds kLookEvery{100};

  RolloutKeeper(Store& store, const Clock& clock, RolloutPolicy built_in, FleetSights sights);

  /// From the store, for the generation in force.
  Status Load(const FleetState& state);

  /// How `next` is to spread, ordered by `person`: by the terms in force before it.
  RolloutWrite Propose(const FleetState& base, const FleetState& next, const std::string& person) const;
  /// `next` and its rollout are durable.
  void Begin(const FleetState& next, const RolloutWrite& write);

  /// Whether the node may be sent the generation in force.
  bool MaySend(const std::string& node) const { return !rollout_ || rollout_->MaySend(node); }
  /// Why not, for its status.
  std::string Turn() const;

  struct Moved {
    std::vector<std::string> begun;  ///< to be sent the generation now
    bool any = false;                ///< something that people see changed
    bool braked = false;             ///< pauses of brakes came or went
  };
  /// Looks at the fleet and takes the next step. Errors are the store's; nothing happened then.
  Result<Moved> Move();
  /// Whether a node is heard of; for racks that go silent at once.
  void NoteHeard(const std::string& node, const std::string& rack, bool silent) {
    racks_.Note(node, rack, silent, clock_.Now());
  }
  void Drop(const std::string& node) { racks_.Drop(node); }
  /// Signatures came: who was not ready is asked again at once.
  void AskAllAgain() {
    if (rollout_) rollout_->AskAllAgain();
  }

  bool AnyBrake() const { return breaker_.tripped || !racks_.frozen().empty(); }
  /// What brakes keep from being enforced on a node: at most one pause.
  std::optional<Pause> BrakeOn(const std::string& node) const;

  /// Why the rollout does not go on by itself; "" = it does, or is over.
  std::string Stopped() const;
  std::string WaveText() const { return rollout_ ? rollout_->WaveText() : ""; }
  v1::RolloutsResponse Tell(const std::string& node) const;

  // Orders; durable with their audit row when they return. FailedPrecondition, PermissionDenied: refused;
  // other errors are the store's.
  Status Order(v1::RolloutOrder order, std::uint64_t generation, const std::string& by,
               const std::string& reason, AuditRow audit);
  Status Approve(std::uint64_t generation, const RolloutApproval& approval, AuditRow audit);
  Result<std::vector<v1::Brake>> ResetBreaker(AuditRow audit);
  /// Nodes that the present rollout changes and has not done; for scopes.
  std::vector<std::string> Members() const;

 private:
  RolloutPolicy PolicyOf(const RolloutRecord& record) const;
  std::unique_ptr<Rollout> MakeRollout(StoredRollout stored, const FleetState& state) const;
  RolloutLook Look() const;
  Status CheckGeneration(std::uint64_t generation) const;
  std::vector<v1::Brake> Brakes() const;

  Store& store_;
  const Clock& clock_;
  const RolloutPolicy built_in_;
  const FleetSights sights_;
  std::unique_ptr<Rollout> rollout_;  // null: no generation was stored with one
  std::map<std::string, std::string> racks_of_nodes_;
  std::size_t fleet_ = 0;
  bool at_rest_ = false;  // nothing is left to look at
  Clock::Steady next_look_{};
  FailureCount failures_;
  SilentRacks racks_;
  BreakerRecord breaker_;
};

/// The nodes whose state `next` changes, sorted.
std::vector<std::string> ChangedNodes(const FleetState& base, const FleetState& next);
/// The terms by which what follows `base` spreads; `next` counts only where nothing was in force before.
const std::optional<RolloutPolicy>& TermsFor(const FleetState& base, const FleetState& next);

}  // namespace railwright
