// StatusFile: what the running agent leaves in its state directory for `railwright-agent status`.
#pragma once

#include <chrono>
#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/reconcile/reconciler.h"
#include "railwright/state.h"

namespace railwright {

/// status.json is never older while the loop lives, so that its age tells a loop that hangs.
inline constexpr std::chrono::seconds kStatusAge{60};

/// All that `status` shows. Beside the members of the command contract: agent{…}, pauses[], changes[],
/// counters{}.
struct StatusFile {
  NodeReport report;
  std::chrono::system_clock::time_point written_at, started_at;
  int pid = 0;
  std::string version, boot_id, controller, session, management_netdev;
  std::string trying;                                 ///< Reconciler::Trying
  std::chrono::system_clock::time_point tried_until;  ///< by the present time of day; when something is tried
  std::string trouble;                                ///< of the state directory; "" = none
  std::string refused;                                ///< why the newest state was refused; "" = it was not
  Generation refused_generation;
  std::uint64_t unstored_changes = 0, dropped_changes = 0;
  std::vector<std::string> missing_hints;
  std::vector<Pause> pauses;
  std::deque<ChangeRecord> changes;  ///< newest first
  Reconciler::Counters counters;
};

nlohmann::ordered_json ToJson(const StatusFile& status);

}  // namespace railwright
