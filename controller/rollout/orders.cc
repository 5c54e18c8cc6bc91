// What people order of a rollout.
#include <algorithm>

#include "controller/rollout/rollout.h"

namespace railwright {
namespace {

Status Senseless(const std::string& why) { return Status(Code::kFailedPrecondition, why); }

std::string Named(const RolloutRecord& record) {
  return "the rollout of generation " + std::to_string(record.generation.value);
}

}  // namespace

Result<RolloutWrite> Rollout::Pause(const std::string& by, const std::string& reason) const {
  if (record_.phase != RolloutPhase::kRunning)
    return Senseless(Named(record_) + " does not run: " +
                     (record_.reason.empty() ? "see railctl rollout status" : record_.reason));
  RolloutWrite write;
  write.record = record_;
  write.record->phase = RolloutPhase::kPaused;
  write.record->by = by;
  write.record->reason = reason.empty() ? "paused by " + by : reason;
  return write;
}

Result<RolloutWrite> Rollout::Resume(const RolloutLook& look, const std::string& by,
                                     const std::string& reason) const {
  if (record_.phase == RolloutPhase::kAborted)
    return Senseless(Named(record_) +
                     " was aborted, which is for good; railctl apply makes a generation that spreads anew");
  RolloutWrite write;
  write.record = record_;
  for (const RolloutMember& member : members_) {
    const bool failed = member.phase == MemberPhase::kFailed;
    const bool gone =
        member.phase == MemberPhase::kWaiting && member.on_the_way && !look.sight(member.node).connected;
    if (!failed && !gone) continue;
    RolloutMember& next = write.members.emplace_back(member);
    next.on_the_way = false;
    if (failed) {
      next.phase = MemberPhase::kAccepted;
      next.since = look.wall;
    }
  }
  if (record_.phase == RolloutPhase::kRunning && write.members.empty())
    return Senseless(Named(record_) + " runs, and no failed node holds it up");
  write.record->phase = RolloutPhase::kRunning;
  write.record->by = by;
  write.record->reason = reason;
  return write;
}

Result<RolloutWrite> Rollout::Abort(const std::string& by, const std::string& reason) const {
  if (record_.phase == RolloutPhase::kAborted) return Senseless(Named(record_) + " was aborted already");
  const bool over = std::all_of(members_.begin(), members_.end(), [](const RolloutMember& member) {
    return member.phase != MemberPhase::kWaiting;
  });
  if (over)
    return Senseless("every node of " + Named(record_) +
                     " has been begun, so there is nothing left to abort; railctl rollback goes back");
  RolloutWrite write;
  write.record = record_;
  write.record->phase = RolloutPhase::kAborted;
  write.record->by = by;
  write.record->reason = reason.empty() ? "aborted by " + by : reason;
  return write;
}

Result<RolloutWrite> Rollout::Approve(const RolloutApproval& approval) const {
  if (record_.approvals_needed == 0) return Senseless(Named(record_) + " needs no approval");
  if (record_.approved) return Senseless(Named(record_) + " has been approved already");
  if (record_.phase == RolloutPhase::kAborted) return Senseless(Named(record_) + " was aborted");
  if (approval.who == record_.author)
    return Status(Code::kPermissionDenied,
                  approval.who + " made generation " + std::to_string(record_.generation.value) +
                      " and cannot approve it; another person with the role approver must");
  RolloutWrite write;
  write.record = record_;
  std::erase_if(write.record->approvals, [&](const RolloutApproval& one) { return one.who == approval.who; });
  write.record->approvals.push_back(approval);
  return write;
}

std::uint32_t Rollout::ValidApprovals(std::chrono::system_clock::time_point wall) const {
  return static_cast<std::uint32_t>(
      std::count_if(record_.approvals.begin(), record_.approvals.end(),
                    [&](const RolloutApproval& one) { return wall - one.at < kApprovalFor; }));
}

}  // namespace railwright
