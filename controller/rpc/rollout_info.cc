#include "controller/rpc/rollout_info.h"

#include <algorithm>

#include "railwright/unix_time.h"

namespace railwright {
namespace {

v1::RolloutNodeState ToWire(MemberPhase phase) {
  switch (phase) {
    case MemberPhase::kWaiting: return v1::ROLLOUT_NODE_STATE_WAITING;
    case MemberPhase::kChanging: return v1::ROLLOUT_NODE_STATE_CHANGING;
    case MemberPhase::kDone: return v1::ROLLOUT_NODE_STATE_DONE;
    case MemberPhase::kFailed: return v1::ROLLOUT_NODE_STATE_FAILED;
    case MemberPhase::kAccepted: return v1::ROLLOUT_NODE_STATE_ACCEPTED;
  }
  return v1::ROLLOUT_NODE_STATE_UNSPECIFIED;
}

v1::RolloutState ToWire(const RolloutRecord& record) {
  switch (record.phase) {
    case RolloutPhase::kPaused: return v1::ROLLOUT_STATE_PAUSED;
    case RolloutPhase::kHalted: return v1::ROLLOUT_STATE_HALTED;
    case RolloutPhase::kAborted: return v1::ROLLOUT_STATE_ABORTED;
    case RolloutPhase::kSuperseded: return v1::ROLLOUT_STATE_SUPERSEDED;
    case RolloutPhase::kRunning: break;
  }
  return record.finished ? v1::ROLLOUT_STATE_DONE : v1::ROLLOUT_STATE_RUNNING;
}

std::string NextStep(const v1::RolloutInfo& info) {
  switch (info.state()) {
    case v1::ROLLOUT_STATE_PAUSED: return "railctl rollout resume";
    case v1::ROLLOUT_STATE_HALTED:
      return "railctl get findings " + (info.members().empty() ? "" : info.members(0).node()) +
             "; then railctl rollout abort --rollback, or railctl rollout resume to accept what failed";
    case v1::ROLLOUT_STATE_ABORTED: return "railctl rollback, so that all nodes have one state again";
    case v1::ROLLOUT_STATE_WAITING:
      return info.approvals_needed() > static_cast<std::uint32_t>(info.approvals_size())
                 ? "railctl rollout approve " + std::to_string(info.generation()) +
                       ", by somebody else than " + info.author()
                 : "";
    default: return "";
  }
}

}  // namespace

v1::RolloutInfo ToInfo(const RolloutRecord& record) {
  v1::RolloutInfo info;
  info.set_generation(record.generation.value);
  info.set_base(record.base.value);
  info.set_author(record.author);
  info.set_created_unix_us(ToUnixMicros(record.created));
  info.set_state(ToWire(record));
  info.set_reason(record.reason);
  info.set_by(record.by);
  info.set_policy(record.policy_name);
  info.set_wave(record.wave);
  info.set_nodes(record.members);
  info.set_failed(record.failed);
  info.set_approvals_needed(record.approvals_needed);
  for (const RolloutApproval& approval : record.approvals) {
    auto* one = info.add_approvals();
    one->set_who(approval.who);
    one->set_from(approval.from);
    one->set_reason(approval.reason);
    one->set_at_unix_us(ToUnixMicros(approval.at));
  }
  return info;
}

v1::RolloutInfo ToInfo(const Rollout& rollout, const RolloutLook& look, const std::string& node) {
  v1::RolloutInfo info = ToInfo(rollout.record());
  const Rollout::Counts counts = rollout.Count(look);
  info.set_waiting(static_cast<std::uint32_t>(counts.waiting));
  info.set_changing(static_cast<std::uint32_t>(counts.changing));
  info.set_done(static_cast<std::uint32_t>(counts.done));
  info.set_failed(static_cast<std::uint32_t>(counts.failed));
  info.set_accepted(static_cast<std::uint32_t>(counts.accepted));
  info.set_away(static_cast<std::uint32_t>(counts.away));
  info.set_unavailable_most(static_cast<std::uint32_t>(rollout.unavailable_most()));
  if (!rollout.members().empty())
    for (const Wave& wave : rollout.policy().waves) info.add_waves(wave.Text());
  for (std::string& sentence : rollout.WaitsFor(look)) info.add_waits_for(std::move(sentence));
  if (info.state() == v1::ROLLOUT_STATE_RUNNING && !rollout.Stopped(look).empty())
    info.set_state(v1::ROLLOUT_STATE_WAITING);
  // Failed ones first: they are what a person must look at.
  const auto told = [&](const RolloutMember& member) {
    auto* one = info.add_members();
    one->set_node(member.node);
    one->set_wave(member.wave);
    one->set_state(ToWire(member.phase));
    one->set_why(rollout.Why(member, look));
    one->set_since_unix_us(ToUnixMicros(member.since));
  };
  for (const MemberPhase phase :
       {MemberPhase::kFailed, MemberPhase::kChanging, MemberPhase::kAccepted, MemberPhase::kWaiting})
    for (const RolloutMember& member : rollout.members())
      if (member.phase == phase && info.members_size() < kMembersTold &&
          (phase != MemberPhase::kWaiting || member.wave != 0 || member.on_the_way))
        told(member);
  if (const RolloutMember* member = rollout.Find(node))
    if (std::none_of(info.members().begin(), info.members().end(),
                     [&](const v1::RolloutNode& one) { return one.node() == node; }))
      told(*member);
  info.set_next(NextStep(info));
  return info;
}

std::vector<std::string> Foretell(const RolloutPolicy& policy, const RolloutPolicy& next, std::size_t members,
                                  std::size_t fleet, std::chrono::system_clock::time_point now) {
  std::vector<std::string> sentences;
  const auto persons = [](std::uint32_t count) {
    return std::to_string(count) + (count == 1 ? " other person" : " other persons") + " must approve";
  };
  if (members > 0) {
    std::string waves;
    for (const Wave& wave : policy.waves) waves += (waves.empty() ? "" : ", then ") + wave.Text();
    if (policy.soak.count() > 0)
      waves += "; each must hold for " + std::to_string(policy.soak.count()) + " s";
    sentences.push_back(waves);
    sentences.push_back("at most " + std::to_string(policy.UnavailableMost(fleet)) + " of " +
                        std::to_string(fleet) + " nodes change at the same time");
    if (const std::uint32_t approvals = policy.ApprovalsFor(members, fleet); approvals > 0)
      sentences.push_back("it changes " + std::to_string(members) + " of " + std::to_string(fleet) +
                          " nodes, which " + persons(approvals) + " first");
    if (!policy.Open(now))
      sentences.push_back("it is outside of the maintenance windows now, and would wait");
  }
  if (const std::uint32_t approvals = policy.ApprovalsFor(fleet, fleet); next != policy && approvals > 0)
    sentences.push_back("it changes how generations spread, which " + persons(approvals) + " first");
  return sentences;
}

}  // namespace railwright
