// A generation that goes to every node at once, for tests that are about something else than how it spreads.
#pragma once

#include "controller/fleet/rollout_policy.h"

namespace railwright {

inline RolloutPolicy AtOnce() {
  RolloutPolicy policy;
  policy.waves = {Wave{}};
  policy.soak = std::chrono::seconds(0);
  policy.max_unavailable = policy.max_failed = policy.breaker = {100, true};
  return policy;
}

}  // namespace railwright
