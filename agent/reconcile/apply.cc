#include "agent/reconcile/apply.h"

#include <algorithm>

#include "agent/reconcile/text.h"

namespace railwright {
namespace {

// Some drivers answer a write before a read shows it; a few reads bridge that without sleeping.
constexpr int kReadBacks = 3;

Original OriginalFrom(const Wish& wish, const Sight& sight) {
  Original original;
  original.key = wish.spec.key;
  original.target = wish.spec.target;
  const Observation& seen = sight.observation;
  original.kind = seen.kind == Observation::Kind::kAbsent ? Original::Kind::kAbsent : Original::Kind::kValue;
  original.value = seen.value;
  original.max_disruption = wish.spec.max_disruption;
  return original;
}

Outcome Failed(Status error) {
  Outcome outcome;
  outcome.error = std::move(error);
  return outcome;
}

}  // namespace

Outcome Writer::Fulfil(const Wish& wish, Sight& sight) { return Write(wish, sight, wish.desired, nullptr); }

Outcome Writer::PutBack(const Wish& wish, Sight& sight, const Observation& before) {
  return Write(wish, sight, ValueToApply(before), &before);
}

Outcome Writer::EndTry(const Wish& wish, Sight& sight, const Observation& before) {
  return Write(wish, sight, ValueToApply(before), &before, Promised::kYes);
}

Status Writer::Note(const Wish& wish, const Sight& sight, const std::string& to) {
  const std::string& key = wish.spec.key;
  const std::string& target = wish.spec.target;
  if (!journal_.OriginalOf(key, target)) {
    if (Status status = journal_.RecordOriginal(OriginalFrom(wish, sight)); !status.ok())
      return status.Within("nothing was written, since its present value could not be journalled");
  }
  if (Status status = journal_.Begin({key, target, ValueToApply(sight.observation), to}); !status.ok())
    return status.Within("nothing was written, since the step could not be journalled");
  return Ok();
}

Outcome Writer::Write(const Wish& wish, Sight& sight, const std::string& to, const Observation* exact,
                      Promised promised) {
  const std::string& key = wish.spec.key;
  const std::string& target = wish.spec.target;
  if (!wish.unbound.empty()) return Failed(Status(Code::kNotFound, wish.unbound));
  if (promised == Promised::kNo) {
    if (paused_now_ && paused_now_(key)) {
      Outcome outcome;
      outcome.kind = Outcome::Kind::kPaused;
      return outcome;
    }
    if (Status status = Note(wish, sight, to); !status.ok()) return Failed(std::move(status));
  }

  WriteTracer tracer(machine_);
  Outcome outcome;
  outcome.error = wish.setting->Apply(tracer, wish.target, to);
  outcome.touched = true;
  outcome.written = std::move(tracer.written);

  // Success is what is read back, also when the write was answered with an error.
  bool as_wanted = false;
  for (int read = 0; read < kReadBacks && !as_wanted; ++read) {
    Look(machine_, wish, sight);
    as_wanted = sight.looked && sight.error.ok() &&
                (exact != nullptr ? SameValue(sight.observation, *exact) ||
                                        wish.setting->Satisfied(wish.target, to, sight.observation)
                                  : sight.satisfied || sight.observation.pending_reboot);
    if (!outcome.error.ok()) break;
  }
  if (as_wanted) {
    outcome.kind = Outcome::Kind::kDone;
    outcome.error = Ok();
  } else if (!outcome.error.ok()) {
    outcome.kind = Outcome::Kind::kFailed;
  } else if (!sight.error.ok()) {
    outcome.error = sight.error.Within("written, but it cannot be read back");
  } else {
    outcome.kind = Outcome::Kind::kNotYet;
    outcome.error =
        Status(Code::kInvalidArgument,
               "written and accepted, but it reads " +
                   (sight.observation.value.empty() ? "nothing" : OneLine(sight.observation.value)));
    return outcome;
  }
  End(key, target);
  return outcome;
}

void Writer::End(const std::string& key, const std::string& target) {
  if (!journal_.End(key, target).ok()) unended_.emplace_back(key, target);
}

bool Writer::RetryEnds() {
  std::erase_if(unended_, [&](const auto& place) { return journal_.End(place.first, place.second).ok(); });
  return unended_.empty();
}

}  // namespace railwright
