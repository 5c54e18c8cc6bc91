// Plan: findings and policy → ordered, gated steps. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/reconcile/busy.h"
#include "agent/reconcile/conflict.h"
#include "agent/reconcile/observe.h"
#include "agent/reconcile/wish.h"
#include "railwright/state.h"

namespace railwright {

/// What may be written at all.
struct Policy {
  std::vector<std::string> management;  ///< of ManagementPath
  std::string management_unknown;       ///< of Management
  std::vector<std::string> storage;     ///< of StorageCards
  bool try_management = false;          ///< the operator allows tries on the way to the controller
  Disruption max_disruption = Disruption::kTrafficBlip;  ///< unless a profile allows more
  std::vector<Pause> pauses;                             ///< those of this node
};

/// Whether the step disturbs what leads to the controller; the member of `policy.management` that it hits, or
/// "".
std::string ManagementHit(const Step& step, const Wish& wish, const Policy& policy);

/// The pause that covers a key of `setting` (by the full key, its family, or all keys); null when none does.
const Pause* PauseOf(const std::vector<Pause>& pauses, const std::string& key, const Setting* setting);

/// The write that would fulfil the wish, or why it would not be done (`refused`). Nothing when there is
/// nothing to write: the value is as declared (an equal value is no step), could not be read, or does not
/// apply. When several refusals hold, the first of this order is told: NotFabricPort, ManagementPath,
/// ConflictingValues (`conflict`), ObserveOnly, NeedsReboot, ObserveMode, Paused, ApprovalNeeded. What is
/// only stored for the next boot (Observation::stored_in) disturbs nothing, and concerns the whole card. With
/// `policy.try_management` what touches the way to the controller is not refused for it, unless that way is
/// not known or a storage port shares the card: the caller writes it as a try.
std::optional<Step> MakeStep(const Wish& wish, const Sight& sight, const Policy& policy,
                             const std::optional<Conflict>& conflict = std::nullopt);

/// Refuses (Busy) a step above TrafficBlip that is not refused yet and would hurt a job.
void RefuseIfBusy(Step& step, const Busy& busy, const NodeFacts& facts);

/// Puts a refusal into the finding it belongs to: reason, message and the next step. ApprovalNeeded, Busy
/// and NeedsReboot make it Pending; every other refusal leaves it Drifted.
void Annotate(Finding& finding, const Step& step);

/// Whether a is executed before b: by the settings' order, then key, then target.
bool Before(const Wish& a, const Wish& b);

}  // namespace railwright
