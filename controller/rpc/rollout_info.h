// rollout_info: rollouts as messages for people. Pure.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "controller/rollout/rollout.h"
#include "railwright/v1/admin.pb.h"

namespace railwright {

/// Members that are told at most.
inline constexpr int kMembersTold = 1000;

/// The present one, with what it waits for; `node`: also this member, whatever its phase.
v1::RolloutInfo ToInfo(const Rollout& rollout, const RolloutLook& look, const std::string& node);
/// One that is not the present one.
v1::RolloutInfo ToInfo(const RolloutRecord& record);
/// How a generation that changes `members` of `fleet` nodes would spread by `policy`, and that `next` are the
/// terms after it: a sentence for the waves, the cap, approvals, windows.
std::vector<std::string> Foretell(const RolloutPolicy& policy, const RolloutPolicy& next, std::size_t members,
                                  std::size_t fleet, std::chrono::system_clock::time_point now);

}  // namespace railwright
