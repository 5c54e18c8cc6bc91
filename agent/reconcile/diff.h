// Diff: (wish, what was seen) → finding. Pure.
#pragma once

#include <string>
#include <vector>

#include "agent/reconcile/observe.h"
#include "agent/reconcile/wish.h"
#include "railwright/check.h"
#include "railwright/state.h"

namespace railwright {

/// The verdict on one wish, before policy has had its say. A deviation that the loop would correct is
/// Drifted(Differs); plan.h says what policy makes of it. `prepare_error` is why the setting's Prepare failed
/// when it ran last, "" when it did not.
Finding Judge(const Wish& wish, const Sight& sight, const std::string& prepare_error = {});

/// What a check gave, made fit for a report: its key and code, evidence from the reads when it gave none,
/// clean text. No finding at all becomes Unknown(NoChecksRun).
std::vector<Finding> CompleteFindings(const Check& check, std::vector<Finding> findings, const Trace& trace);

}  // namespace railwright
