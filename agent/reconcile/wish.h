// Wish: one declared (key, target), understood: its setting, its canonical value, its place on this node.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "railwright/journal.h"
#include "railwright/setting.h"
#include "railwright/state.h"

namespace railwright {

struct Wish {
  SettingSpec spec;
  const Setting* setting = nullptr;  ///< null when this build does not know the key; `error` says so
  std::string canonical;             ///< "" when `error` is set
  Status error;                      ///< why key or value are not understood
  /// Set: no longer declared, and this original is to be put back; the value of `spec` does not count, and
  /// its max_disruption is the original's.
  std::optional<Original> restore;

  // Where it applies, once BindWishes has run.
  Target target;         ///< points into the NodeFacts given
  std::string unbound;   ///< why the port is not there; empty = bound
  std::string desired;   ///< the concrete value for this target
  Status desired_error;  ///< why there is none (InvalidValue)
};

/// Wishes of all settings and restores, sorted by (key, target). Never fails: what is not understood carries
/// its error. Restores of what is declared again, or of what the journal has no original for, are left out.
std::vector<Wish> MakeWishes(const DesiredState& state, const Catalog& catalog,
                             const std::vector<Original>& originals);

/// Finds the target of each wish in `facts` and works out its concrete value. `facts` outlives the wishes.
void BindWish(Wish& wish, const NodeFacts& facts);

/// Whether a whole state can be taken: every key known, every value canonical, every target a declared port,
/// nothing declared twice. InvalidArgument names the first that is not, with its place in the documents.
Status CheckState(const DesiredState& state, const Catalog& catalog);

}  // namespace railwright
