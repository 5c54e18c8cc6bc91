// Conflict: two wishes that end in one place and want different things there. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/reconcile/observe.h"
#include "agent/reconcile/wish.h"
#include "railwright/state.h"

namespace railwright {

/// Why a wish is not written: another one names the same place (Setting::WritesTo) with another value.
struct Conflict {
  std::string message;  ///< both wishes with their values, and the place
  std::string fix;
  friend bool operator==(const Conflict&, const Conflict&) = default;
};

/// One wish with what was seen of it. Both outlive the call.
struct SeenWish {
  const Wish* wish = nullptr;
  const Sight* sight = nullptr;
};

/// For each of `all`, its conflict, if it has one. All declared wishes of one place that do not agree have
/// one: which of them is meant cannot be known. What is declared goes before a restore, which has one when it
/// would undo that. A wish of which nothing could be seen names no place: it is not written either.
std::vector<std::optional<Conflict>> FindConflicts(const std::vector<SeenWish>& all);

/// Puts a conflict into the finding of its wish: next step and, where nothing is to be written (the value is
/// as declared now), the sentence.
void TellConflict(Finding& finding, const std::optional<Step>& step, const Conflict& conflict);

}  // namespace railwright
