#include "controller/rpc/rollout_keeper.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "controller/rpc/rollout_info.h"
#include "railwright/unix_time.h"

namespace railwright {
namespace {

constexpr const char* kSelf = "railwright-controller";

std::string Named(std::uint64_t generation) { return "rollout of generation " + std::to_string(generation); }

const v1::RolloutPolicy* DocumentOf(const FleetState& state) {
  for (const Document& document : state.documents)
    if (const auto* policy = std::get_if<v1::RolloutPolicy>(&document.body)) return policy;
  return nullptr;
}

}  // namespace

std::vector<std::string> ChangedNodes(const FleetState& base, const FleetState& next) {
  std::vector<std::string> nodes;
  for (const auto& [name, desired] : next.desired) {
    const auto before = base.desired.find(name);
    if (before == base.desired.end() || before->second.hash != desired.hash) nodes.push_back(name);
  }
  return nodes;
}

const std::optional<RolloutPolicy>& TermsFor(const FleetState& base, const FleetState& next) {
  return base.number() > 0 && base.problem.empty() ? base.resolved.rollout : next.resolved.rollout;
}

RolloutKeeper::RolloutKeeper(Store& store, const Clock& clock, RolloutPolicy built_in, FleetSights sights)
    : store_(store), clock_(clock), built_in_(std::move(built_in)), sights_(std::move(sights)) {}

RolloutPolicy RolloutKeeper::PolicyOf(const RolloutRecord& record) const {
  if (record.policy_name.empty()) return built_in_;
  v1::RolloutPolicy message;
  if (message.ParseFromString(record.policy))
    if (auto policy = ReadRolloutPolicy(message); policy.ok()) return *policy;
  spdlog::error("the terms of the {}, {}, cannot be read by this build; the built-in ones are taken",
                Named(record.generation.value), record.policy_name);
  return built_in_;
}

std::unique_ptr<Rollout> RolloutKeeper::MakeRollout(StoredRollout stored, const FleetState& state) const {
  RolloutPolicy policy = PolicyOf(stored.record);
  std::unordered_map<std::string, MemberTraits> traits;
  for (const RolloutMember& member : stored.members) {
    const auto node = state.resolved.nodes.find(member.node);
    if (node == state.resolved.nodes.end()) continue;
    MemberTraits& one = traits[member.node];
    one.rack = node->second.node.rack;
    for (const std::string& label : policy.apart) {
      const auto& labels = node->second.node.labels;
      const auto value = labels.find(label);
      if (label == "rack" && !one.rack.empty())
        one.apart.push_back("rack=" + one.rack);
      else if (value != labels.end())
        one.apart.push_back(label + "=" + value->second);
    }
  }
  return std::make_unique<Rollout>(std::move(stored), std::move(policy), state.resolved.nodes.size(),
                                   std::move(traits));
}

Status RolloutKeeper::Load(const FleetState& state) {
  RW_ASSIGN_OR_RETURN(breaker_, store_.Breaker());
  RW_ASSIGN_OR_RETURN(auto stored, store_.LatestRollout());
  fleet_ = state.resolved.nodes.size();
  for (const auto& [name, node] : state.resolved.nodes) racks_of_nodes_[name] = node.node.rack;
  rollout_.reset();
  at_rest_ = false;
  if (stored && stored->record.generation.value == state.number())
    rollout_ = MakeRollout(std::move(*stored), state);
  return Ok();
}

RolloutWrite RolloutKeeper::Propose(const FleetState& base, const FleetState& next,
                                    const std::string& person) const {
  RolloutWrite write;
  RolloutRecord& record = write.record.emplace();
  record.generation = next.stored.generation;
  record.base = base.stored.generation;
  record.author = person;
  record.created = next.stored.created;
  RolloutPolicy policy = built_in_;
  if (rollout_ && rollout_->record().generation == record.base && !rollout_->record().approved) {
    // Terms that others were to agree to first, and did not, are none.
    policy = rollout_->policy();
    record.policy = rollout_->record().policy;
    record.policy_name = rollout_->record().policy_name;
  } else if (const auto& terms = TermsFor(base, next)) {
    policy = *terms;
    record.policy_name = policy.name;
    const FleetState& from = base.number() > 0 && base.problem.empty() ? base : next;
    if (const v1::RolloutPolicy* document = DocumentOf(from)) record.policy = document->SerializeAsString();
  }
  const auto declared = [&](const std::string& node) { return next.desired.contains(node); };
  const std::vector<std::string> changed = ChangedNodes(base, next);
  write.members = MembersOf(changed, rollout_.get(), declared);
  write.anew = true;
  record.members = static_cast<std::uint32_t>(write.members.size());
  const std::size_t fleet = next.resolved.nodes.size();
  // Who has it already is not sent it: going back from a rollout that one node has seen changes one node.
  const auto sent = static_cast<std::size_t>(
      std::count_if(write.members.begin(), write.members.end(), [&](const RolloutMember& member) {
        return member.on_the_way || !sights_.holds(member.node, next.desired.at(member.node).hash);
      }));
  record.approvals_needed = policy.ApprovalsFor(sent, fleet);
  // A change of the terms is one of every node: what follows could reach them all.
  record.policy_changed = base.number() > 0 && next.resolved.rollout.value_or(built_in_) != policy;
  if (record.policy_changed)
    record.approvals_needed = std::max(record.approvals_needed, policy.ApprovalsFor(fleet, fleet));
  record.approved = record.approvals_needed == 0;
  for (RolloutMember& member : write.members) member.since = record.created;
  return write;
}

void RolloutKeeper::Begin(const FleetState& next, const RolloutWrite& write) {
  fleet_ = next.resolved.nodes.size();
  racks_of_nodes_.clear();
  for (const auto& [name, node] : next.resolved.nodes) racks_of_nodes_[name] = node.node.rack;
  rollout_ = MakeRollout({*write.record, write.members}, next);
  at_rest_ = false;
  next_look_ = {};
}

std::string RolloutKeeper::Turn() const {
  const std::uint64_t generation = rollout_ ? rollout_->record().generation.value : 0;
  return "generation " + std::to_string(generation) +
         " spreads in waves and has not come to it yet; railctl rollout status";
}

RolloutLook RolloutKeeper::Look() const {
  RolloutLook look;
  look.now = clock_.Now();
  look.wall = clock_.WallNow();
  look.sight = sights_.sight;
  look.ready = sights_.ready;
  if (breaker_.tripped) look.held = "the mass-failure breaker is open: " + breaker_.reason;
  for (const auto& [rack, frozen] : racks_.frozen()) look.frozen.insert(rack);
  return look;
}

Result<RolloutKeeper::Moved> RolloutKeeper::Move() {
  Moved moved;
  const Clock::Steady now = clock_.Now();
  if (racks_.Look(now, clock_.WallNow())) {
    moved.any = moved.braked = true;
    for (const auto& [rack, frozen] : racks_.frozen())
      spdlog::warn("rack {} is frozen, nothing is put right there: {}", rack, frozen.reason);
  }
  if (!rollout_ || at_rest_ || now < next_look_) return moved;
  if (rollout_->members().size() > kManyMembers) next_look_ = now + kLookEvery;
  RolloutMove move = rollout_->Next(Look());
  if (!move.write.record) return moved;

  AuditRow audit;
  audit.at = clock_.WallNow();
  audit.who = kSelf;
  audit.subject = Named(rollout_->record().generation.value);
  for (const std::string& node : move.failed) failures_.Note(node, now);
  const auto failed = failures_.TooMany(fleet_, rollout_->policy().breaker, now);
  if (!failed.empty() && !breaker_.tripped) {
    BreakerRecord breaker;
    breaker.tripped = true;
    breaker.since = audit.at;
    breaker.reason = std::to_string(failed.size()) + " of " + std::to_string(fleet_) +
                     " nodes failed within " + std::to_string(FailureCount::kWindow.count()) + " minutes (" +
                     FoldNames(failed) + ")";
    if (move.write.record->phase == RolloutPhase::kRunning) {
      move.write.record->phase = RolloutPhase::kHalted;
      move.write.record->by = kSelf;
      move.write.record->reason = breaker.reason;
    }
    audit.action = "breaker";
    audit.detail = breaker.reason;
    RW_RETURN_IF_ERROR(store_.PutBreaker(breaker, move.write, audit));
    spdlog::error("the mass-failure breaker is open until a person resets it: {}", breaker.reason);
    breaker_ = std::move(breaker);
    moved.braked = true;
  } else if (!move.halted.empty()) {
    audit.action = "halt";
    audit.detail = move.halted;
    RW_RETURN_IF_ERROR(store_.PutRollout(move.write, audit));
    spdlog::warn("the {} halted: {}", audit.subject, move.halted);
  } else {
    RW_RETURN_IF_ERROR(store_.PutRollout(move.write, std::nullopt));
  }
  rollout_->Take(move.write, now);
  if (rollout_->record().finished && move.write.record->finished)
    spdlog::debug("the {} has gone through its waves", audit.subject);
  at_rest_ =
      rollout_->record().finished &&
      std::all_of(rollout_->members().begin(), rollout_->members().end(), [](const RolloutMember& one) {
        return one.phase == MemberPhase::kDone || one.phase == MemberPhase::kAccepted;
      });
  moved.begun = std::move(move.begun);
  moved.any = true;
  return moved;
}

std::optional<Pause> RolloutKeeper::BrakeOn(const std::string& node) const {
  Pause pause;
  pause.by = kSelf;
  if (breaker_.tripped) {
    pause.reason = "the mass-failure breaker is open: " + breaker_.reason +
                   "; when it is clear why: railctl rollout reset-breaker";
    return pause;
  }
  const auto rack = racks_of_nodes_.find(node);
  if (rack == racks_of_nodes_.end()) return std::nullopt;
  const auto frozen = racks_.frozen().find(rack->second);
  if (frozen == racks_.frozen().end()) return std::nullopt;
  pause.node = node;
  pause.reason = "the rack is frozen: " + frozen->second.reason +
                 "; it ends by itself when they are back, or by railctl rollout reset-breaker";
  return pause;
}

std::string RolloutKeeper::Stopped() const { return rollout_ ? rollout_->Stopped(Look()) : ""; }

std::vector<std::string> RolloutKeeper::Members() const {
  std::vector<std::string> nodes;
  if (rollout_)
    for (const RolloutMember& member : rollout_->members()) nodes.push_back(member.node);
  return nodes;
}

Status RolloutKeeper::CheckGeneration(std::uint64_t generation) const {
  if (!rollout_) return Status(Code::kFailedPrecondition, "there is no rollout; see railctl get generations");
  const std::uint64_t present = rollout_->record().generation.value;
  if (generation != 0 && generation != present)
    return Status(Code::kFailedPrecondition, "generation " + std::to_string(generation) +
                                                 " is not in force any more, generation " +
                                                 std::to_string(present) + " is; see railctl rollout status");
  return Ok();
}

Status RolloutKeeper::Order(v1::RolloutOrder order, std::uint64_t generation, const std::string& by,
                            const std::string& reason, AuditRow audit) {
  RW_RETURN_IF_ERROR(CheckGeneration(generation));
  const auto write = order == v1::ROLLOUT_ORDER_PAUSE    ? rollout_->Pause(by, reason)
                     : order == v1::ROLLOUT_ORDER_RESUME ? rollout_->Resume(Look(), by, reason)
                     : order == v1::ROLLOUT_ORDER_ABORT
                         ? rollout_->Abort(by, reason)
                         : Result<RolloutWrite>(Status(Code::kInvalidArgument, "no such order of a rollout"));
  RW_RETURN_IF_ERROR(write.status());
  audit.detail = reason;
  for (const RolloutMember& member : write->members)
    if (member.phase == MemberPhase::kAccepted)
      audit.detail += (audit.detail.empty() ? "accepted: " : "; accepted: ") + member.node + " " + member.why;
  RW_RETURN_IF_ERROR(store_.PutRollout(*write, audit));
  rollout_->Take(*write, clock_.Now());
  at_rest_ = false;
  return Ok();
}

Status RolloutKeeper::Approve(std::uint64_t generation, const RolloutApproval& approval, AuditRow audit) {
  RW_RETURN_IF_ERROR(CheckGeneration(generation));
  RW_ASSIGN_OR_RETURN(const RolloutWrite write, rollout_->Approve(approval));
  audit.detail = approval.reason;
  RW_RETURN_IF_ERROR(store_.PutRollout(write, audit));
  rollout_->Take(write, clock_.Now());
  return Ok();
}

std::vector<v1::Brake> RolloutKeeper::Brakes() const {
  std::vector<v1::Brake> brakes;
  if (breaker_.tripped) {
    v1::Brake& one = brakes.emplace_back();
    one.set_reason(breaker_.reason);
    one.set_since_unix_us(ToUnixMicros(breaker_.since));
  }
  for (const auto& [rack, frozen] : racks_.frozen()) {
    v1::Brake& one = brakes.emplace_back();
    one.set_rack(rack);
    one.set_reason(frozen.reason);
    one.set_since_unix_us(ToUnixMicros(frozen.since));
  }
  return brakes;
}

Result<std::vector<v1::Brake>> RolloutKeeper::ResetBreaker(AuditRow audit) {
  std::vector<v1::Brake> brakes = Brakes();
  if (brakes.empty())
    return Status(Code::kFailedPrecondition, "the breaker is not open and no rack is frozen");
  for (const v1::Brake& brake : brakes)
    audit.detail += (audit.detail.empty() ? "" : "; ") +
                    (brake.rack().empty() ? "breaker: " : "rack " + brake.rack() + ": ") + brake.reason();
  RW_RETURN_IF_ERROR(store_.PutBreaker({}, {}, audit));
  breaker_ = {};
  failures_.Forget();
  racks_.Reset();
  return brakes;
}

v1::RolloutsResponse RolloutKeeper::Tell(const std::string& node) const {
  v1::RolloutsResponse response;
  if (rollout_) *response.add_rollouts() = ToInfo(*rollout_, Look(), node);
  for (const v1::Brake& brake : Brakes()) *response.add_brakes() = brake;
  return response;
}

}  // namespace railwright
