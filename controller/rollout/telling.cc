// What a rollout tells people: how far it is, and what it waits for.
#include <algorithm>
#include <ctime>

#include "controller/fleet/resolve.h"
#include "controller/rollout/rollout.h"

namespace railwright {
namespace {

std::string Named(std::vector<std::string> nodes) {
  constexpr std::size_t kMost = 12;
  const std::size_t all = nodes.size();
  if (all <= kMost) return FoldNames(std::move(nodes));
  nodes.resize(kMost);
  return FoldNames(std::move(nodes)) + " and " + std::to_string(all - kMost) + " more";
}

std::string Minute(std::chrono::system_clock::time_point at) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(at);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%a %Y-%m-%d %H:%M UTC", &parts);
  return text;
}

std::string Nodes(std::size_t count) { return std::to_string(count) + (count == 1 ? " node" : " nodes"); }

}  // namespace

Rollout::Counts Rollout::Count(const RolloutLook& look) const {
  Counts counts;
  for (const RolloutMember& member : members_) {
    counts.unavailable += Unavailable(member);
    switch (member.phase) {
      case MemberPhase::kWaiting:
        ++counts.waiting;
        counts.away += !look.sight(member.node).connected;
        break;
      case MemberPhase::kChanging: ++counts.changing; break;
      case MemberPhase::kDone: ++counts.done; break;
      case MemberPhase::kFailed: ++counts.failed; break;
      case MemberPhase::kAccepted: ++counts.accepted; break;
    }
  }
  return counts;
}

std::string Rollout::Stopped(const RolloutLook& look) const {
  const std::string by = record_.by.empty() ? "" : " by " + record_.by;
  switch (record_.phase) {
    case RolloutPhase::kPaused: return "paused" + by + ": " + record_.reason;
    case RolloutPhase::kHalted: return "halted: " + record_.reason;
    case RolloutPhase::kAborted: return "aborted" + by + ": " + record_.reason;
    case RolloutPhase::kSuperseded: return record_.reason;
    case RolloutPhase::kRunning: break;
  }
  const bool any_waits = std::any_of(members_.begin(), members_.end(), [](const RolloutMember& member) {
    return member.phase == MemberPhase::kWaiting;
  });
  if (!any_waits && record_.approved) return "";
  if (!record_.approved) {
    const std::uint32_t valid = ValidApprovals(look.wall);
    if (valid < record_.approvals_needed)
      return "waits for approval: it changes " +
             (record_.policy_changed ? std::string("how generations spread")
                                     : Nodes(members_.size()) + " of " + std::to_string(fleet_)) +
             ", which " + std::to_string(record_.approvals_needed) +
             (record_.approvals_needed == 1 ? " other person" : " other persons") + " must approve; so far " +
             std::to_string(valid);
  }
  if (!any_waits) return "";
  if (!look.held.empty()) return look.held;
  if (!policy_.Open(look.wall)) {
    auto next = policy_.windows.front().Next(look.wall);
    for (const Window& window : policy_.windows) next = std::min(next, window.Next(look.wall));
    return "waits for a maintenance window; the next begins " + Minute(next);
  }
  return "";
}

std::string Rollout::Why(const RolloutMember& member, const RolloutLook& look) const {
  if (member.phase == MemberPhase::kFailed || member.phase == MemberPhase::kAccepted) return member.why;
  const MemberSight sight = look.sight(member.node);
  if (member.phase == MemberPhase::kChanging) {
    if (!sight.connected) return "not connected";
    if (!sight.refused.empty()) return "refused it: " + sight.refused;
    return sight.has_it ? "settled, but something is not well there" : "has not settled yet";
  }
  if (member.phase != MemberPhase::kWaiting) return "";
  if (!sight.connected)
    return member.on_the_way ? "went away in the middle of an earlier change" : "not connected";
  if (look.frozen.contains(TraitsOf(member.node).rack)) return "its rack is frozen";
  if (const auto known = not_ready_.find(member.node); known != not_ready_.end()) return known->second.first;
  if (member.wave == 0) return "its wave has not come";
  return "its turn has not come";
}

std::vector<std::string> Rollout::WaitsFor(const RolloutLook& look) const {
  std::vector<std::string> sentences;
  if (std::string stopped = Stopped(look); !stopped.empty()) sentences.push_back(std::move(stopped));
  // By reason, so that a hundred nodes with one reason are one sentence.
  std::map<std::string, std::vector<std::string>> why;
  std::vector<std::string> away;
  for (const RolloutMember& member : members_) {
    if (member.phase == MemberPhase::kDone || member.phase == MemberPhase::kAccepted) continue;
    if (member.phase == MemberPhase::kWaiting && !member.on_the_way && !look.sight(member.node).connected) {
      away.push_back(member.node);
      continue;
    }
    if (member.phase == MemberPhase::kWaiting && member.wave == 0 && !member.on_the_way) continue;
    why[Why(member, look)].push_back(member.node);
  }
  for (auto& [reason, nodes] : why) sentences.push_back(Named(std::move(nodes)) + ": " + reason);
  if (!away.empty())
    sentences.push_back(Named(std::move(away)) + (record_.phase == RolloutPhase::kRunning
                                                      ? ": not connected, changed when connected again"
                                                      : ": not connected"));
  if (sentences.empty() && !members_.empty() && !record_.finished &&
      record_.phase == RolloutPhase::kRunning) {
    if (complete_since_ == Clock::Steady{}) {
      sentences.push_back("no node that it changes is connected");
    } else {
      const auto left = std::chrono::ceil<std::chrono::seconds>(policy_.soak - (look.now - complete_since_));
      if (left.count() > 0)
        sentences.push_back("wave " + std::to_string(record_.wave) + " has settled and must hold for " +
                            std::to_string(left.count()) + " s more");
    }
  }
  return sentences;
}

std::string Rollout::WaveText() const {
  if (members_.empty()) return "";
  const std::size_t waves = std::max<std::size_t>(policy_.waves.size(), record_.wave);
  const std::string number = std::to_string(std::max<std::uint32_t>(1, record_.wave));
  return (record_.wave == 0 ? "before wave " : "wave ") + number + " of " + std::to_string(waves);
}

}  // namespace railwright
