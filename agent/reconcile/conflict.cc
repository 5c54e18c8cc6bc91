#include "agent/reconcile/conflict.h"

#include <map>

#include "agent/reconcile/text.h"

namespace railwright {
namespace {

struct Claim {
  std::size_t index = 0;
  WritePlace place;
  bool restore = false;
};

std::string Tell(const Wish& wish) {
  std::string text = Subject(wish.spec.key, wish.spec.target) + " = " + OneLine(wish.desired);
  if (wish.restore) return text + " (to be restored)";
  if (!wish.spec.origin.place.empty()) text += " (" + wish.spec.origin.place + ")";
  return text;
}

// The claim that `own` cannot be fulfilled beside; null when there is none.
const Claim* Against(const Claim& own, const std::vector<Claim>& claims) {
  const Claim* other_restore = nullptr;
  for (const Claim& other : claims) {
    if (other.index == own.index || other.place.value == own.place.value) continue;
    if (!other.restore) return &other;
    other_restore = &other;
  }
  return own.restore ? other_restore : nullptr;
}

}  // namespace

std::vector<std::optional<Conflict>> FindConflicts(const std::vector<SeenWish>& all) {
  std::map<std::string, std::vector<Claim>> places;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [wish, sight] = all[i];
    if (!sight->looked || !sight->error.ok() ||
        sight->observation.kind == Observation::Kind::kNotApplicable ||
        (wish->restore && wish->restore->kind == Original::Kind::kUnknown))
      continue;
    auto place = wish->setting->WritesTo(wish->target, wish->desired, sight->observation);
    if (!place) continue;
    std::string path = place->path;
    places[std::move(path)].push_back({i, *std::move(place), wish->restore.has_value()});
  }
  std::vector<std::optional<Conflict>> conflicts(all.size());
  for (const auto& [path, claims] : places) {
    if (claims.size() < 2) continue;
    for (const Claim& own : claims) {
      const Claim* other = Against(own, claims);
      if (other == nullptr) continue;
      const bool yields = own.restore && !other->restore;
      Conflict conflict;
      conflict.message = Tell(*all[own.index].wish) + " and " + Tell(*all[other->index].wish) +
                         " are the same thing on this node (" + path + ") and differ; " +
                         (yields ? "what is declared stays" : "neither is written");
      conflict.fix = yields ? "take the declared key out too, or apply without --restore"
                            : "declare the same value for both, or take one of them out";
      if (!yields && !own.place.apart.empty()) conflict.fix += ", " + own.place.apart;
      conflicts[own.index] = std::move(conflict);
    }
  }
  return conflicts;
}

void TellConflict(Finding& finding, const std::optional<Step>& step, const Conflict& conflict) {
  if (step) {
    if (step->refused == "ConflictingValues") finding.fix = conflict.fix;
    return;
  }
  finding.message = OneLine(finding.message + "; " + conflict.message, 1024);
  if (finding.fix.empty()) finding.fix = conflict.fix;
}

}  // namespace railwright
