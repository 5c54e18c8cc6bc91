// Observe: one look at one wish.
#pragma once

#include <string>

#include "agent/reconcile/trace.h"
#include "agent/reconcile/wish.h"
#include "railwright/machine.h"
#include "railwright/setting.h"

namespace railwright {

/// What the last look at a wish gave. Kept from look to look.
struct Sight {
  Trace trace;
  bool looked = false;      ///< false: never, or not possible (unbound, not understood)
  Status error;             ///< the read failed
  Observation observation;  ///< when `error` is Ok
  bool satisfied = false;   ///< the wish is fulfilled by what was read
};

/// Reads through `machine`; never writes. True when anything differs from the last look: only then can the
/// verdict differ, since settings hold no state. A wish that is unbound or not understood is not looked at.
bool Look(const Machine& machine, const Wish& wish, Sight& sight);

/// Whether two observations show the same value; absent and empty are the same.
bool SameValue(const Observation& a, const Observation& b);

/// The text that Setting::Apply takes to make `observation` so again.
const std::string& ValueToApply(const Observation& observation);

/// The wish's goal as an observation, for comparing exactly (an original, an undo).
Observation OriginalAsObservation(const Original& original);

}  // namespace railwright
