// Writing: steps in order, groups that are undone together, what holds a step back.
//
// A group is what one new generation asks of one port's settings that lean on one another
// (SettingInfo::group); any other setting is a group of its own. When a step of a group fails for good, the
// group's steps that are done are undone in reverse order. A correction of drift is never undone by the
// failure of another: what it would go back to is the drift.
#include <algorithm>
#include <utility>

#include "agent/reconcile/loop.h"
#include "agent/reconcile/text.h"

namespace railwright {
namespace {

constexpr std::chrono::seconds kLookAgain{1};

std::string SubjectOf(const Entry& entry) { return Subject(entry.wish.spec.key, entry.wish.spec.target); }

std::string Reads(const Entry& entry) {
  if (!entry.sight.looked) return "cannot be seen now";
  if (!entry.sight.error.ok()) return "cannot be read now (" + entry.sight.error.message() + ")";
  if (entry.sight.observation.value.empty()) return "is not set now";
  return "is " + OneLine(entry.sight.observation.value) + " now";
}

std::string Wanted(const Entry& entry) {
  return entry.wish.desired.empty() ? "nothing" : OneLine(entry.wish.desired);
}

ChangeKind KindOf(const Entry& entry) {
  return entry.deviation ? entry.deviation->kind : ChangeKind::kIntended;
}

using Group = std::pair<std::string, std::string>;
Group GroupOf(const Entry& entry) { return {entry.wish.spec.target, entry.wish.setting->info().group}; }
bool HasGroup(const Entry& entry) {
  return !entry.wish.spec.target.empty() && entry.wish.setting != nullptr &&
         !entry.wish.setting->info().group.empty();
}
bool SameGroup(const Entry& a, const Entry& b) {
  return HasGroup(a) && HasGroup(b) && GroupOf(a) == GroupOf(b);
}

std::string Seconds(std::chrono::nanoseconds time) {
  return std::to_string(std::max<std::int64_t>(1, std::chrono::round<std::chrono::seconds>(time).count())) +
         " s";
}

}  // namespace

void Reconciler::Impl::Enforce() {
  written_paths_.clear();
  for (Entry& entry : entries_)
    if (entry.hold && entry.hold->verifying && entry.hold->retry_at <= pass_start_) Verify(entry);

  // Before the first write everything is looked at: what differs afterwards is our own doing, and no drift.
  if (std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.Eligible(); }))
    for (Entry& entry : entries_)
      if (!entry.gone && entry.tick != tick_) Observe(entry);

  // Settings lean on one another (an address that goes takes its routes along), so what writing one has
  // changed in another is put right in the same pass. Two that undo each other end as Contended.
  constexpr int kRounds = 3;
  for (int round = 0; round < kRounds; ++round) {
    CompareWishes();
    FreeDependents();
    std::vector<Entry*> steps;
    for (Entry& entry : entries_)
      if (entry.Eligible()) steps.push_back(&entry);
    if (steps.empty()) break;
    std::sort(steps.begin(), steps.end(),
              [](const Entry* a, const Entry* b) { return Before(a->wish, b->wish); });
    const std::uint64_t epoch = epoch_;
    for (Entry* entry : steps) {
      if (!entry->Eligible()) continue;  // a step before it has failed
      if (entry->epoch != epoch_) {
        entry->mark.own = true;
        Observe(*entry);
        if (!entry->Eligible()) continue;
      }
      Correct(*entry);
    }
    if (epoch_ == epoch) break;
    LookAround();
  }
  CompareWishes();
  CloseRuns();
  if (std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.Eligible(); }))
    look_again_at_ = clock_.Now() + kLookAgain;
}

void Reconciler::Impl::Correct(Entry& entry) {
  if (WaitsForLink(entry)) return;
  if (entry.step->disruption > Disruption::kTrafficBlip) {
    busy_.reset();  // a job may have started since this pass began
    RefreshFinding(entry);
    if (!entry.Eligible()) return;
  }
  const Observation before = entry.sight.observation;
  const bool tried = NeedsTry(entry);
  if (tried && !JoinTry(entry)) return;
  entry.looked_at = clock_.Now();
  Outcome outcome = writer_.Fulfil(entry.wish, entry.sight);
  if (outcome.touched) {
    entry.epoch = ++epoch_;
    last_written_ = SubjectOf(entry);
    std::move(outcome.written.begin(), outcome.written.end(), std::back_inserter(written_paths_));
  }
  if (tried) WrittenInTry(entry, outcome);
  switch (outcome.kind) {
    case Outcome::Kind::kPaused:
      entry.paused_now = true;
      RefreshFinding(entry);
      break;
    case Outcome::Kind::kDone: Done(entry, before); break;
    case Outcome::Kind::kFailed: Fail(entry, before, outcome); break;
    case Outcome::Kind::kNotYet: {
      Hold hold;
      hold.verifying = true;
      hold.before = before;
      hold.retry_at = clock_.Now() + kLookAgain;
      hold.reason = "ApplyFailed";
      hold.message = "writing " + Wanted(entry) + ": " + outcome.error.message() + "; looked at again in " +
                     Seconds(kLookAgain);
      hold.fix = "wait a second";
      entry.hold = std::move(hold);
      RefreshFinding(entry);
      HoldBack(entry);
      break;
    }
  }
}

void Reconciler::Impl::Verify(Entry& entry) {
  const Hold hold = *std::exchange(entry.hold, std::nullopt);
  writer_.End(entry.wish.spec.key, entry.wish.spec.target);
  Look(machine_, entry.wish, entry.sight);
  if (entry.sight.satisfied || entry.sight.observation.pending_reboot) return Done(entry, hold.before);
  Outcome outcome;
  outcome.touched = true;
  outcome.error = !entry.wish.unbound.empty() ? Status(Code::kNotFound, entry.wish.unbound)
                  : entry.sight.error.ok()
                      ? Status(Code::kInvalidArgument, "written and accepted, but it " + Reads(entry))
                      : entry.sight.error.Within("written, but it cannot be read back");
  Fail(entry, hold.before, outcome);
}

void Reconciler::Impl::Done(Entry& entry, const Observation& before) {
  const ChangeKind kind = KindOf(entry);
  Record(entry, kind, before, entry.wish.desired, true, AwaitedFor(entry));
  if (kind == ChangeKind::kCorrective) ++counters_.corrected;
  if (kind == ChangeKind::kIntended && HasGroup(entry)) {
    auto& run = runs_[GroupOf(entry)];
    const std::size_t index = IndexOf(entry);
    const bool known =
        std::any_of(run.begin(), run.end(), [&](const DoneStep& step) { return step.entry == index; });
    if (!known) run.push_back({index, before});
  }
  entry.deviation.reset();
  entry.hold.reset();
  Assess(entry, {});
}

void Reconciler::Impl::Fail(Entry& entry, const Observation& before, const Outcome& outcome) {
  ++entry.tries;
  ++counters_.failed;
  const ChangeKind kind = KindOf(entry);
  Cure cure = CureOf(outcome.error.code());
  if (cure == Cure::kUndoRetry && entry.tries > kUndoRetries) cure = Cure::kUndoAndWait;
  const std::string what = "writing " + Wanted(entry) + " failed: " + outcome.error.message();
  Record(entry, kind, before, entry.wish.desired, false, what);

  std::string left;
  // The value went because the world changed (a link went down and took its routes): nobody fights for it.
  if (cure == Cure::kWait && entry.deviation && std::exchange(entry.deviation->counted, false))
    entry.returns.Forgive();
  if (kind == ChangeKind::kIntended && cure != Cure::kRetry && cure != Cure::kWait)
    left = UndoGroup(entry, before, outcome.touched);
  Look(machine_, entry.wish, entry.sight);
  if (left.empty()) left = "it " + Reads(entry);

  // The first change of the world is answered at once; from then on the backoff bounds a world that never
  // rests.
  const bool wait_for_world = cure == Cure::kUndoAndWait || cure == Cure::kWait;
  const std::chrono::nanoseconds wait =
      !wait_for_world
          ? BackoffAfter(entry.tries, jitter_)
          : (entry.tries <= 1 ? std::chrono::nanoseconds(0) : BackoffAfter(entry.tries - 1, jitter_));
  Hold hold;
  hold.until = wait_for_world ? Hold::Until::kWorldChange : Hold::Until::kTime;
  hold.retry_at = clock_.Now() + wait;
  hold.version = entry.sight.trace.version();
  hold.reason = "ApplyFailed";
  hold.message = what + "; " + left;
  if (wait_for_world) {
    hold.message += "; tried again when what is read here changes, or with the next generation";
    hold.fix = "correct the value, or remove what stands in its way; `railctl pause " + entry.wish.spec.key +
               "` and `railctl pause --resume " + entry.wish.spec.key + "` try it again as it is";
  } else {
    hold.message += "; try " + std::to_string(entry.tries + 1) + " in " + Seconds(wait);
    hold.fix = "wait for the next try, or remove what stands in its way";
  }
  entry.hold = std::move(hold);
  if (!entry.deviation) entry.deviation = Deviation{kind, clock_.Now(), {}};
  RefreshFinding(entry);
  if (cure != Cure::kWait) HoldBack(entry);
}

std::string Reconciler::Impl::UndoGroup(Entry& entry, const Observation& before, bool touched) {
  std::string left;
  const auto tell = [&](const std::string& sentence) {
    if (!sentence.empty()) left += (left.empty() ? "" : "; ") + sentence;
  };
  if (touched) tell(UndoOne(entry, before));
  const auto run = HasGroup(entry) ? runs_.find(GroupOf(entry)) : runs_.end();
  if (run == runs_.end()) return left;
  const std::vector<DoneStep> done = std::move(run->second);
  runs_.erase(run);
  for (auto step = done.rbegin(); step != done.rend(); ++step) {
    Entry& other = entries_[step->entry];
    if (&other == &entry) continue;
    tell(UndoOne(other, step->before));
    Hold hold;
    hold.until = Hold::Until::kCause;
    hold.cause = IndexOf(entry);
    hold.reason = "Undone";
    hold.message = "put back, since " + SubjectOf(entry) + " of the same generation failed";
    hold.fix = "`railctl why` " + entry.wish.spec.key + " on " + entry.wish.spec.target + " says what failed";
    other.hold = std::move(hold);
    other.held = false;
    other.deviation = Deviation{ChangeKind::kIntended, clock_.Now(), {}};
    Assess(other, {});  // one that could not be undone is as declared, and stays so
  }
  return left;
}

std::string Reconciler::Impl::UndoOne(Entry& entry, const Observation& before) {
  Look(machine_, entry.wish, entry.sight);
  if (entry.sight.error.ok() && SameValue(entry.sight.observation, before)) return {};
  const Observation present = entry.sight.observation;
  Outcome outcome = writer_.PutBack(entry.wish, entry.sight, before);
  if (outcome.touched) {
    entry.epoch = ++epoch_;
    std::move(outcome.written.begin(), outcome.written.end(), std::back_inserter(written_paths_));
  }
  const bool undone = outcome.kind == Outcome::Kind::kDone;
  std::string sentence = SubjectOf(entry);
  if (undone) {
    sentence += before.value.empty() ? " is unset again" : " is " + OneLine(before.value) + " again";
  } else if (outcome.kind == Outcome::Kind::kPaused) {
    sentence += " was not put back, since it is paused, and " + Reads(entry);
  } else {
    if (outcome.kind == Outcome::Kind::kNotYet) writer_.End(entry.wish.spec.key, entry.wish.spec.target);
    sentence += " could not be put back to " + (before.value.empty() ? "unset" : OneLine(before.value)) +
                " (" + outcome.error.message() + ") and " + Reads(entry);
  }
  Record(entry, ChangeKind::kUndone, present, before.value, undone, undone ? std::string() : sentence);
  return sentence;
}

void Reconciler::Impl::HoldBack(const Entry& cause) {
  if (KindOf(cause) != ChangeKind::kIntended) return;
  for (Entry& entry : entries_) {
    if (&entry == &cause || !SameGroup(entry, cause) || !entry.Eligible() ||
        KindOf(entry) != ChangeKind::kIntended)
      continue;
    Hold hold;
    hold.until = Hold::Until::kCause;
    hold.cause = IndexOf(cause);
    hold.reason = "HeldBack";
    hold.message = "not tried, since " + SubjectOf(cause) + " comes first and has not succeeded";
    hold.fix = "`railctl why` " + cause.wish.spec.key + " on " + cause.wish.spec.target + " says what failed";
    entry.hold = std::move(hold);
    RefreshFinding(entry);
  }
}

// The second half of the loop: what our writes changed, wanted or not, is seen in the same pass.
void Reconciler::Impl::LookAround() {
  for (Entry& entry : entries_) {
    if (entry.gone || entry.epoch == epoch_) continue;
    entry.mark.own = true;
    Observe(entry);
  }
  for (CheckEntry& check : checks_)
    check.marked =
        check.marked || std::any_of(written_paths_.begin(), written_paths_.end(),
                                    [&](const std::string& path) { return check.trace.Touches(path); });
}

void Reconciler::Impl::FreeDependents() {
  for (Entry& entry : entries_) {
    if (!entry.hold || entry.hold->until != Hold::Until::kCause || entries_[entry.hold->cause].hold) continue;
    entry.hold.reset();
    RefreshFinding(entry);
  }
}

void Reconciler::Impl::CloseRuns() {
  std::erase_if(runs_, [&](const auto& run) {
    return std::none_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
      return HasGroup(entry) && GroupOf(entry) == run.first && entry.Wanted() &&
             KindOf(entry) == ChangeKind::kIntended;
    });
  });
}

}  // namespace railwright
