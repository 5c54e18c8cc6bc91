#include "agent/reconcile/reconciler.h"

#include <algorithm>
#include <utility>

#include "agent/reconcile/bind_ports.h"
#include "agent/reconcile/diff.h"
#include "agent/reconcile/loop.h"

namespace railwright {

Reconciler::Impl::Impl(Machine& machine, const Catalog& catalog,
                       const std::vector<std::unique_ptr<const Check>>& checks, Journal& journal,
                       const Clock& clock, ReconcilerOptions options, std::function<bool(int)> our_pids)
    : machine_(machine),
      catalog_(catalog),
      journal_(journal),
      clock_(clock),
      options_(std::move(options)),
      our_pids_(std::move(our_pids)),
      writer_(machine, journal, options_.paused_now),
      jitter_(options_.seed),
      management_(options_.management),
      next_scan_(clock.Now()),
      next_sequence_(std::max<std::uint64_t>(1, options_.first_change_sequence)) {
  policy_.max_disruption = options_.max_disruption;
  for (const auto& check : checks) checks_.push_back({check.get(), {}, {}, true, true, {}});
}

Status Reconciler::Impl::Start() {
  started_ = clock_.Now();
  TakeUpTry();
  open_steps_ = journal_.OpenSteps();
  bool made = false;
  return Prepare(made);
}

Status Reconciler::Impl::Stop() {
  StopTry();
  std::vector<std::string> left = journal_.Prepared();
  Status first;
  for (std::size_t i = left.size(); i-- > 0;) {  // a directory's content was made after it
    Status status = machine_.Set(left[i], "");
    if (status.ok() || status.code() == Code::kNotFound) {
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
    } else if (first.ok()) {
      first = status.Within("made by this agent and not removed");
    }
  }
  writer_.RetryEnds();
  if (Status status = journal_.RecordPrepared(left); !status.ok() && first.ok()) first = std::move(status);
  return first;
}

Status Reconciler::Impl::Accept(const DesiredState& state) {
  if (state_ && state.generation < state_->generation)
    return Status(Code::kFailedPrecondition,
                  "generation " + std::to_string(state.generation.value) + " is older than generation " +
                      std::to_string(state_->generation.value) + " in force; a rollback is a new generation");
  if (state_ && state.generation == state_->generation && state.hash == state_->hash && !state.hash.empty())
    return Ok();
  RW_RETURN_IF_ERROR(CheckState(state, catalog_));

  std::vector<Entry> entries;
  for (Wish& wish : MakeWishes(state, catalog_, journal_.Originals())) {
    Entry entry;
    const auto old = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& other) {
      return other.wish.spec.key == wish.spec.key && other.wish.spec.target == wish.spec.target;
    });
    if (old != entries_.end()) {
      entry.finding = old->finding;
      entry.looked_at = old->looked_at;
      // The same wish that was fulfilled: a deviation is drift still, not the new generation's doing.
      entry.held_value = old->held_value;
      entry.held = old->held && !wish.restore && !old->wish.restore && old->wish.canonical == wish.canonical;
    }
    entry.wish = std::move(wish);
    entry.awaited = journal_.AwaitedOf(entry.wish.spec.key, entry.wish.spec.target);
    entries.push_back(std::move(entry));
  }
  KeepAllowances(entries);
  for (const AwaitedBoot& awaited : journal_.Awaited()) {
    const bool wished = std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
      return entry.wish.spec.key == awaited.key && entry.wish.spec.target == awaited.target;
    });
    // What the journal refuses now is forgotten with the next state.
    if (wished) continue;
    [[maybe_unused]] const Status status = journal_.ForgetAwaited(awaited.key, awaited.target);
  }
  for (Entry& old : entries_)
    if (old.hold && old.hold->verifying) writer_.End(old.wish.spec.key, old.wish.spec.target);
  entries_ = std::move(entries);
  state_ = state;
  policy_.try_management = state.try_for.count() > 0;
  KeepFailedTries(entries_);
  runs_.clear();
  policy_.pauses.clear();
  for (const Pause& pause : pauses_)
    if (pause.node.empty() || pause.node == state.node) policy_.pauses.push_back(pause);
  settled_ = false;
  scan_ = rebind_ = new_state_ = findings_changed_ = true;
  look_again_at_.reset();
  return Ok();
}

// What is allowed for a key today is what putting its original back may use when it is declared no more. What
// the journal refuses now stays as it was until the next state.
void Reconciler::Impl::KeepAllowances(const std::vector<Entry>& entries) {
  for (Original original : journal_.Originals()) {
    const auto entry = std::find_if(entries.begin(), entries.end(), [&](const Entry& other) {
      return other.wish.spec.key == original.key && other.wish.spec.target == original.target;
    });
    if (entry == entries.end() || entry->wish.restore ||
        entry->wish.spec.max_disruption == original.max_disruption)
      continue;
    original.max_disruption = entry->wish.spec.max_disruption;
    [[maybe_unused]] const Status status = journal_.RecordOriginal(original);
  }
}

void Reconciler::Impl::SetPauses(std::vector<Pause> pauses) {
  std::vector<Pause> here;
  for (const Pause& pause : pauses)
    if (!state_ || pause.node.empty() || pause.node == state_->node) here.push_back(pause);
  for (Entry& entry : entries_) {
    const std::string& key = entry.wish.spec.key;
    const Pause* before = PauseOf(policy_.pauses, key, entry.wish.setting);
    const Pause* after = PauseOf(here, key, entry.wish.setting);
    const bool same = before == nullptr ? after == nullptr : after != nullptr && *before == *after;
    if (same && !entry.paused_now) continue;
    if (before != nullptr && after == nullptr) {
      // Resumed by a person: contention and failures are forgiven.
      entry.contended = false;
      entry.returns.Clear();
      entry.bounces.Clear();
      entry.tries = 0;
      if (entry.hold && !entry.hold->verifying) entry.hold.reset();
      if (entry.tried_in_vain) [[maybe_unused]]
        const Status status = ForgetFailedTry(entry);
      if (entry.awaited && journal_.ForgetAwaited(key, entry.wish.spec.target).ok()) entry.awaited.reset();
    }
    entry.paused_now = false;
    entry.reassess = true;
    entry.mark.set = true;
    look_now_ = true;
  }
  pauses_ = std::move(pauses);
  policy_.pauses = std::move(here);
}

void Reconciler::Impl::SetManagement(Management management) {
  if (management == management_) return;
  management_ = std::move(management);
  rebind_ = true;  // which judges all anew, before anything is written
}

void Reconciler::Impl::ControllerAnswered() {
  if (!try_ || !try_->redialled || try_->answered) return;
  try_->answered = true;
  LookAtTryAgain(clock_.Now());
}

void Reconciler::Impl::Notice(const std::vector<Hint>& hints) {
  const auto fresher = [](const Hint& hint, Clock::Steady looked_at) {
    // What was read after the hint had been taken off its socket shows the change already.
    return hint.at == Clock::Steady{} || hint.at >= looked_at;
  };
  for (const Hint& hint : hints) {
    ++counters_.hints;
    const bool ours = hint.pid != 0 && our_pids_ && our_pids_(hint.pid);
    const Clock::Steady at = hint.at == Clock::Steady{} ? clock_.Now() : hint.at;
    for (Entry& entry : entries_) {
      if (!entry.sight.trace.Touches(hint.prefix) && !(hint.prefix.empty())) continue;
      if (!fresher(hint, entry.looked_at)) continue;
      Mark& mark = entry.mark;
      if (!mark.event || at < mark.at) mark.at = at;
      mark.set = mark.event = true;
      if (!ours && !hint.by.empty()) mark.by = hint.by;
    }
    for (CheckEntry& check : checks_)
      if ((hint.prefix.empty() || check.trace.Touches(hint.prefix)) && fresher(hint, check.looked_at))
        check.marked = true;
    if (bind_trace_.Touches(hint.prefix)) rebind_ = true;
  }
}

bool Reconciler::Impl::Tick() {
  const Clock::Steady now = clock_.Now();
  if (try_look_at_ && *try_look_at_ <= now) LookAtTry();
  if (!state_) return std::exchange(changed_, false);
  ReleaseHolds(now);
  const bool scan = scan_ || now >= next_scan_;
  const bool again = look_now_ || (look_again_at_ && *look_again_at_ <= now);
  const bool event =
      rebind_ ||
      std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.mark.set; }) ||
      std::any_of(checks_.begin(), checks_.end(), [](const CheckEntry& check) { return check.marked; });
  if (!scan && !again && !(event && budget_.Take(now))) return std::exchange(changed_, false);

  ++tick_;
  busy_.reset();
  pass_start_ = now;
  pass_by_event_ = !scan && !again;
  scan_ = look_now_ = false;
  if (look_again_at_ && *look_again_at_ <= now) look_again_at_.reset();
  if (scan) {
    prepare_due_ = true;
    for (Entry& entry : entries_) {
      entry.mark.set = true;
      if (std::exchange(entry.paused_now, false)) entry.reassess = true;
    }
    // A port's interface is bound anew when something says so, when it was not there, and now and then in
    // case nothing told.
    constexpr std::uint64_t kRebindEvery = 10;
    if (counters_.scans % kRebindEvery == 0 ||
        std::any_of(facts_->ports.begin(), facts_->ports.end(),
                    [](const BoundPort& port) { return port.netdev.empty(); }))
      rebind_ = true;
  }
  if (rebind_) Rebind();
  ObserveMarked();
  PrepareWhereMissing();
  CompareWishes();
  if (!open_steps_.empty()) ReportOpenSteps();
  const std::uint64_t epoch = epoch_;
  Enforce();
  // A module that was just loaded brings what can be prepared now.
  if (epoch_ != epoch) prepare_due_ = true;
  if (PrepareWhereMissing()) look_now_ = true;
  RunChecks(scan);
  if (scan) {
    ++counters_.scans;
    next_scan_ =
        clock_.Now() + jitter_.Spread(options_.scan_interval, std::clamp(options_.scan_jitter, 0.0, 0.5));
  }
  for (const OpenStep& step : std::exchange(open_steps_, {})) writer_.End(step.key, step.target);
  writer_.RetryEnds();
  Publish();
  return std::exchange(changed_, false);
}

Clock::Steady Reconciler::Impl::NextDue() const {
  const Clock::Steady now = clock_.Now();
  const Clock::Steady try_due = try_look_at_.value_or(Clock::Steady::max());
  if (!state_) return std::min(try_due, now + options_.scan_interval);
  if (scan_ || look_now_) return now;
  Clock::Steady due = std::min(next_scan_, try_due);
  if (look_again_at_) due = std::min(due, *look_again_at_);
  if (busy_again_at_) due = std::min(due, *busy_again_at_);
  bool event = rebind_;
  for (const Entry& entry : entries_) {
    event = event || entry.mark.set;
    if (entry.read_again_at) due = std::min(due, *entry.read_again_at);
    if (entry.hold && entry.hold->until == Hold::Until::kTime) due = std::min(due, entry.hold->retry_at);
  }
  for (const CheckEntry& check : checks_) event = event || check.marked;
  if (event) due = std::min(due, budget_.Next(now));
  return due;
}

std::vector<std::string> Reconciler::Impl::WatchedPaths() const {
  std::vector<std::string> paths;
  bind_trace_.AppendPaths(paths);
  for (const Entry& entry : entries_) entry.sight.trace.AppendPaths(paths);
  for (const CheckEntry& check : checks_) check.trace.AppendPaths(paths);
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

Reconciler::Reconciler(Machine& machine, const Catalog& catalog,
                       const std::vector<std::unique_ptr<const Check>>& checks, Journal& journal,
                       const Clock& clock, ReconcilerOptions options, std::function<bool(int)> our_pids)
    : impl_(std::make_unique<Impl>(machine, catalog, checks, journal, clock, std::move(options),
                                   std::move(our_pids))) {}
Reconciler::~Reconciler() = default;
Status Reconciler::Start() { return impl_->Start(); }
Status Reconciler::Stop() { return impl_->Stop(); }
Status Reconciler::Accept(const DesiredState& state) { return impl_->Accept(state); }
void Reconciler::SetPauses(std::vector<Pause> pauses) { impl_->SetPauses(std::move(pauses)); }
void Reconciler::SetManagement(Management management) { impl_->SetManagement(std::move(management)); }
void Reconciler::ControllerAnswered() { impl_->ControllerAnswered(); }
void Reconciler::Notice(const std::vector<Hint>& hints) { impl_->Notice(hints); }
void Reconciler::Refresh() { impl_->scan_ = true; }
bool Reconciler::Tick() { return impl_->Tick(); }
Clock::Steady Reconciler::NextDue() const { return impl_->NextDue(); }
const NodeReport& Reconciler::Report() const { return impl_->report_; }
std::vector<ChangeRecord> Reconciler::TakeChanges() { return std::exchange(impl_->changes_, {}); }
std::vector<std::string> Reconciler::WatchedPaths() const { return impl_->WatchedPaths(); }
const Reconciler::Counters& Reconciler::counters() const { return impl_->counters_; }

}  // namespace railwright
