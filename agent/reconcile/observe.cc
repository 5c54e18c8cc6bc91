#include "agent/reconcile/observe.h"

#include <optional>

namespace railwright {
namespace {

bool IsSatisfied(const Wish& wish, const Observation& observation) {
  if (observation.kind == Observation::Kind::kNotApplicable) return false;
  if (wish.restore) return SameValue(observation, OriginalAsObservation(*wish.restore));
  return wish.setting->Satisfied(wish.target, wish.desired, observation);
}

}  // namespace

bool SameValue(const Observation& a, const Observation& b) {
  if (a.kind == Observation::Kind::kNotApplicable || b.kind == Observation::Kind::kNotApplicable)
    return a.kind == b.kind;
  return a.value == b.value;
}

const std::string& ValueToApply(const Observation& observation) { return observation.value; }

Observation OriginalAsObservation(const Original& original) {
  return original.kind == Original::Kind::kValue ? Observation::Value(original.value) : Observation::Absent();
}

bool Look(const Machine& machine, const Wish& wish, Sight& sight) {
  if (wish.setting == nullptr || !wish.error.ok() || !wish.unbound.empty() || !wish.desired_error.ok()) {
    const bool differs = sight.looked;
    sight.trace.Start();  // nothing is read any more; its version goes on growing
    sight.trace.Finish();
    sight.looked = sight.satisfied = false;
    sight.error = Ok();
    sight.observation = Observation();
    return differs;
  }
  if (sight.looked && sight.trace.Repeats(machine)) return false;
  const std::uint64_t before = sight.trace.version();
  std::optional<Result<Observation>> seen;
  {
    const TracingMachine through(machine, sight.trace);
    seen.emplace(wish.setting->Observe(through, wish.target));
  }
  if (sight.looked && sight.trace.version() == before) return false;
  sight.looked = true;
  if (seen->ok()) {
    sight.error = Ok();
    sight.observation = std::move(**seen);
    sight.satisfied = IsSatisfied(wish, sight.observation);
  } else {
    sight.error = seen->status();
    sight.observation = Observation();
    sight.satisfied = false;
  }
  return true;
}

}  // namespace railwright
