// Draft: a rollout as it would be after a look. Nothing of it holds before it is durable.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "controller/rollout/rollout.h"

namespace railwright {

class Rollout::Draft {
 public:
  Draft(const RolloutRecord& present, const std::vector<RolloutMember>& members, const RolloutLook& look)
      : record(present), members_(members), wall_(look.wall) {
    sights.reserve(members.size());
    for (const RolloutMember& member : members) sights.push_back(look.sight(member.node));
  }

  RolloutRecord record;
  std::vector<MemberSight> sights;  ///< beside the members
  std::vector<std::string> failed;

  const RolloutMember& At(std::size_t index) const {
    const auto changed = changed_.find(index);
    return changed == changed_.end() ? members_[index] : changed->second;
  }
  RolloutMember& Edit(std::size_t index) {
    return changed_.try_emplace(index, members_[index]).first->second;
  }
  RolloutMember& Change(std::size_t index, MemberPhase phase) {
    RolloutMember& member = Edit(index);
    member.phase = phase;
    member.since = wall_;
    return member;
  }
  /// Empty when it is all as it was.
  RolloutWrite Write(const RolloutRecord& before) {
    RolloutWrite write;
    if (changed_.empty() && record == before) return write;
    write.record = std::move(record);
    for (auto& [index, member] : changed_) write.members.push_back(std::move(member));
    return write;
  }

 private:
  const std::vector<RolloutMember>& members_;
  const std::chrono::system_clock::time_point wall_;
  std::map<std::size_t, RolloutMember> changed_;
};

}  // namespace railwright
