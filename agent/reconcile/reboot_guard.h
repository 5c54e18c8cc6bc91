// Reboot guard: a value that a boot has not brought is no reason for another boot.
#pragma once

#include <optional>
#include <string>

#include "agent/reconcile/observe.h"
#include "agent/reconcile/wish.h"
#include "railwright/clock.h"
#include "railwright/journal.h"
#include "railwright/machine.h"
#include "railwright/state.h"

namespace railwright {

/// The boot that the loop runs in.
struct Boot {
  std::string id;        ///< "" when it is not known: then nothing is remembered, and nothing concluded
  std::string firmware;  ///< what the card of the wish's port runs now; "" when not known
  Clock::Wall now;
};

/// The firmware version of the port's card (/sys/class/infiniband/<ibdev>/fw_ver, which the kernel answers
/// without asking the card); "" for the node, and where it cannot be told.
std::string FirmwareOf(const Machine& machine, const Wish& wish);

/// What is to be remembered after a look, given what was remembered before. Pure.
/// - stored and waiting, seen for the first time: this boot;
/// - in force, wished otherwise, or taken out of the store in the boot that it was put there: nothing;
/// - another firmware runs than then (both known): as if seen for the first time;
/// - otherwise, and while it cannot be read: what was remembered.
std::optional<AwaitedBoot> AwaitedAfter(const std::optional<AwaitedBoot>& remembered, const Wish& wish,
                                        const Sight& sight, const Boot& boot);

/// Makes Pending(NeedsReboot) Drifted(RebootDidNotHelp) when the value is stored and the node has booted
/// since it was first seen so. `awaited` is what AwaitedAfter gave.
void TellRebootDidNotHelp(Finding& finding, const std::optional<AwaitedBoot>& awaited, const Wish& wish,
                          const Sight& sight, const std::string& boot_id);

}  // namespace railwright
