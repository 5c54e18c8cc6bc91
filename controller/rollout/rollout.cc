#include "controller/rollout/rollout.h"

#include <algorithm>
#include <utility>

#include "controller/rollout/draft.h"

namespace railwright {

Rollout::Rollout(StoredRollout stored, RolloutPolicy policy, std::size_t fleet,
                 std::unordered_map<std::string, MemberTraits> traits)
    : record_(std::move(stored.record)),
      members_(std::move(stored.members)),
      policy_(std::move(policy)),
      fleet_(fleet),
      traits_(std::move(traits)),
      live_(members_.size()) {}

const RolloutMember* Rollout::Find(const std::string& node) const {
  const auto at = std::lower_bound(
      members_.begin(), members_.end(), node,
      [](const RolloutMember& member, const std::string& name) { return member.node < name; });
  return at != members_.end() && at->node == node ? &*at : nullptr;
}

bool Rollout::MaySend(const std::string& node) const {
  const RolloutMember* member = Find(node);
  return member == nullptr || member->phase != MemberPhase::kWaiting;
}

const MemberTraits& Rollout::TraitsOf(const std::string& node) const {
  static const MemberTraits kNone;
  const auto found = traits_.find(node);
  return found == traits_.end() ? kNone : found->second;
}

bool Rollout::Unavailable(const RolloutMember& member) {
  return member.phase == MemberPhase::kChanging || member.phase == MemberPhase::kFailed ||
         (member.phase == MemberPhase::kWaiting && member.on_the_way);
}

const Wave& Rollout::PolicyWave(std::uint32_t wave) const {
  return policy_.waves[std::min<std::size_t>(wave == 0 ? 0 : wave - 1, policy_.waves.size() - 1)];
}

bool Rollout::LastWave(std::uint32_t wave) const { return wave >= policy_.waves.size(); }

RolloutMove Rollout::Next(const RolloutLook& look) {
  RolloutMove move;
  if (began_ == Clock::Steady{}) {
    began_ = look.now;
    for (Live& live : live_) live.since = look.now;
  }
  if (record_.phase == RolloutPhase::kSuperseded || members_.empty()) {
    // Without members it may still wait for approval: of a change of the terms.
    if (record_.finished || record_.phase == RolloutPhase::kSuperseded) return move;
    Draft draft(record_, members_, look);
    draft.record.approved =
        draft.record.approved || ValidApprovals(look.wall) >= draft.record.approvals_needed;
    draft.record.finished = draft.record.approved;
    move.write = draft.Write(record_);
    return move;
  }
  Draft draft(record_, members_, look);
  Judge(draft, look);
  move.failed = draft.failed;
  HaltIfDue(draft, move);
  if (!draft.record.approved && ValidApprovals(look.wall) >= draft.record.approvals_needed)
    draft.record.approved = true;
  const bool goes_on = draft.record.phase == RolloutPhase::kRunning && draft.record.approved &&
                       look.held.empty() && policy_.Open(look.wall);
  if (goes_on) {
    OpenWaves(draft, look);
    Begin(draft, look, move);
  }
  move.write = draft.Write(record_);
  return move;
}

// Of the waves up to the present one nothing moves any more, and none is held up. A node that is not
// connected is passed over: it is changed when it comes.
//
// Somebody must have proved it: as long as everybody is away nothing is complete.
bool Rollout::Complete(const Draft& draft) const {
  bool proved = false, any_waits = false;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const RolloutMember& member = draft.At(i);
    if (member.phase == MemberPhase::kChanging) return false;
    any_waits = any_waits || member.phase == MemberPhase::kWaiting;
    if (member.wave == 0) continue;
    if (member.phase == MemberPhase::kWaiting && draft.sights[i].connected) return false;
    proved = proved || member.phase == MemberPhase::kDone || member.phase == MemberPhase::kAccepted;
  }
  return proved || !any_waits;
}

// Gives the present wave the nodes that it should have and has not. True: some were chosen.
bool Rollout::Choose(Draft& draft) const {
  const std::uint32_t wave = draft.record.wave;
  std::vector<std::size_t> open;  // not chosen yet, and here
  std::size_t live = 0, chosen = 0;
  std::set<std::string> racks;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const RolloutMember& member = draft.At(i);
    const bool here = draft.sights[i].connected;
    if (member.wave != 0) {
      const bool counts = member.phase != MemberPhase::kWaiting || here;
      live += member.wave == wave && counts;
      chosen += counts;
      racks.insert(TraitsOf(member.node).rack);
    } else if (member.phase == MemberPhase::kWaiting && here) {
      open.push_back(i);
    }
  }
  if (open.empty()) return false;
  // Those in the middle of an earlier change first, since they are harmed already; then those that are well.
  std::stable_sort(open.begin(), open.end(), [&](std::size_t a, std::size_t b) {
    const auto rank = [&](std::size_t i) {
      return std::pair(!draft.At(i).on_the_way,
                       !draft.sights[i].settings.empty() || !draft.sights[i].checks.empty());
    };
    return rank(a) < rank(b);
  });
  std::size_t take = open.size();
  const Wave& terms = PolicyWave(wave);
  if (terms.kind == Wave::Kind::kMore) {
    take = terms.amount.number > live ? terms.amount.number - live : 0;
  } else if (terms.kind == Wave::Kind::kUntil) {
    const std::size_t wanted = terms.amount.Of(members_.size());
    take = wanted > chosen ? wanted - chosen : 0;
  } else if (terms.kind == Wave::Kind::kRack || terms.kind == Wave::Kind::kRacks) {
    if (live > 0) return false;  // it has its rack; who comes there later is changed in a later wave
    // The rack of those that were first, so that what goes wrong stays together; else the next by name.
    std::string rack;
    bool found = false;
    for (const std::size_t i : open) {
      const std::string& here = TraitsOf(members_[i].node).rack;
      const bool begun = racks.contains(here);
      if (!found || std::pair(!begun, here) < std::pair(!racks.contains(rack), rack)) rack = here;
      found = true;
    }
    std::erase_if(open, [&](std::size_t i) { return TraitsOf(members_[i].node).rack != rack; });
    take = open.size();
  }
  take = std::min(take, open.size());
  for (std::size_t i = 0; i < take; ++i) draft.Edit(open[i]).wave = wave;
  return take > 0;
}

bool Rollout::AnyLeft(const Draft& draft) const {
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (draft.At(i).wave == 0 && draft.At(i).phase == MemberPhase::kWaiting && draft.sights[i].connected)
      return true;
  return false;
}

void Rollout::OpenWaves(Draft& draft, const RolloutLook& look) {
  if (draft.record.finished) {
    // The waves are over; who was away is changed as he comes.
    for (std::size_t i = 0; i < members_.size(); ++i)
      if (draft.At(i).wave == 0 && draft.At(i).phase == MemberPhase::kWaiting && draft.sights[i].connected)
        draft.Edit(i).wave = draft.record.wave;
    return;
  }
  if (draft.record.wave == 0) {
    const bool anyone = std::any_of(draft.sights.begin(), draft.sights.end(),
                                    [](const MemberSight& sight) { return sight.connected; });
    if (!anyone) return;
    draft.record.wave = 1;
  }
  (void)Choose(draft);
  if (!Complete(draft)) {
    complete_since_ = {};
    return;
  }
  if (complete_since_ == Clock::Steady{}) complete_since_ = look.now;
  if (look.now - complete_since_ < policy_.soak) return;
  // A wave for which none is left is no wave: the next one is opened at once.
  while (AnyLeft(draft)) {
    ++draft.record.wave;
    if (Choose(draft)) {
      complete_since_ = {};
      return;
    }
    if (LastWave(draft.record.wave)) return;
  }
  draft.record.wave = std::max(draft.record.wave, static_cast<std::uint32_t>(policy_.waves.size()));
  draft.record.finished = true;
}

void Rollout::Begin(Draft& draft, const RolloutLook& look, RolloutMove& move) {
  const std::size_t most = unavailable_most();
  std::size_t unavailable = 0;
  std::map<std::string, std::size_t> taken;  // of what is kept apart
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (!Unavailable(draft.At(i))) continue;
    ++unavailable;
    for (const std::string& value : TraitsOf(members_[i].node).apart) ++taken[value];
  }
  std::vector<std::size_t> queue;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const RolloutMember& member = draft.At(i);
    if (member.phase == MemberPhase::kWaiting && member.wave != 0 && draft.sights[i].connected)
      queue.push_back(i);
  }
  std::stable_sort(queue.begin(), queue.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(!draft.At(a).on_the_way, draft.At(a).wave) <
           std::pair(!draft.At(b).on_the_way, draft.At(b).wave);
  });
  // Who was asked and is not ready takes nobody's place; so they are asked a few at a time.
  for (std::size_t at = 0; at < queue.size();) {
    std::vector<std::size_t> asked;
    std::vector<std::string> names;
    for (; at < queue.size(); ++at) {
      const std::size_t i = queue[at];
      const RolloutMember& member = draft.At(i);
      const MemberTraits& traits = TraitsOf(member.node);
      if (unavailable >= most && !member.on_the_way) break;
      if (look.frozen.contains(traits.rack)) continue;
      if (const auto known = not_ready_.find(member.node);
          known != not_ready_.end() && look.now - known->second.second < kAskAgain)
        continue;
      const std::size_t own = member.on_the_way ? 1 : 0;
      const bool clash = std::any_of(traits.apart.begin(), traits.apart.end(),
                                     [&](const std::string& value) { return taken[value] > own; });
      if (clash) continue;
      if (own == 0) {
        ++unavailable;
        for (const std::string& value : traits.apart) ++taken[value];
      }
      asked.push_back(i);
      names.push_back(member.node);
    }
    if (asked.empty()) break;
    const std::vector<std::string> answers = look.ready(names);
    bool refused = false;
    for (std::size_t k = 0; k < asked.size(); ++k) {
      const std::size_t i = asked[k];
      const RolloutMember& member = draft.At(i);
      if (answers[k].empty()) {
        not_ready_.erase(member.node);
        const MemberSight& sight = draft.sights[i];
        RolloutMember& next = draft.Change(i, MemberPhase::kChanging);
        next.on_the_way = false;
        next.was_known = sight.known;
        next.ailed.clear();
        std::set_union(sight.settings.begin(), sight.settings.end(), sight.checks.begin(), sight.checks.end(),
                       std::back_inserter(next.ailed));
        move.begun.push_back(next.node);
        continue;
      }
      not_ready_[member.node] = {answers[k], look.now};
      if (member.on_the_way) continue;
      refused = true;
      --unavailable;
      for (const std::string& value : TraitsOf(member.node).apart) --taken[value];
    }
    if (!refused) break;
  }
}

void Rollout::Take(const RolloutWrite& write, Clock::Steady now) {
  if (!write.record) return;
  record_ = *write.record;
  for (const RolloutMember& member : write.members) {
    const auto index = static_cast<std::size_t>(Find(member.node) - members_.data());
    if (members_[index].phase != member.phase) live_[index] = {now, {}, false};
    members_[index] = member;
  }
}

std::vector<RolloutMember> MembersOf(const std::vector<std::string>& changed, const Rollout* before,
                                     const std::function<bool(const std::string&)>& declared) {
  std::map<std::string, RolloutMember> members;
  for (const std::string& node : changed) members[node].node = node;
  if (before != nullptr)
    for (const RolloutMember& old : before->members()) {
      if (!declared(old.node)) continue;
      const bool moving = old.phase == MemberPhase::kChanging || old.phase == MemberPhase::kFailed ||
                          (old.phase == MemberPhase::kWaiting && old.on_the_way);
      const auto found = members.find(old.node);
      if (found != members.end()) {
        found->second.on_the_way = moving;
      } else if (old.phase == MemberPhase::kWaiting) {
        // This generation gives it what the last one would have: it has neither.
        RolloutMember& member = members[old.node];
        member.node = old.node;
        member.on_the_way = old.on_the_way;
      } else if (moving) {
        // It was sent this very state, and is judged by it.
        RolloutMember& member = members[old.node] = old;
        member.wave = 0;
      }
    }
  std::vector<RolloutMember> list;
  list.reserve(members.size());
  for (auto& [node, member] : members) list.push_back(std::move(member));
  return list;
}

}  // namespace railwright
