// One pass: bind, look, judge, check, publish.
#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "agent/reconcile/bind_ports.h"
#include "agent/reconcile/diff.h"
#include "agent/reconcile/loop.h"
#include "agent/reconcile/text.h"

namespace railwright {
namespace {

bool SameBinding(const NodeFacts& a, const NodeFacts& b) {
  return a.node == b.node && a.subnets == b.subnets &&
         std::equal(a.ports.begin(), a.ports.end(), b.ports.begin(), b.ports.end(),
                    [](const BoundPort& x, const BoundPort& y) {
                      return x.port == y.port && x.netdev == y.netdev && x.bdf == y.bdf &&
                             x.ibdev == y.ibdev && x.unbound == y.unbound;
                    });
}

// No event tells that a queue pair or a process has gone; one dump a device is some microseconds.
constexpr std::chrono::seconds kLookForJobsAgain{10};

}  // namespace

void Reconciler::Impl::Rebind() {
  rebind_ = false;
  NodeFacts facts;
  std::vector<std::string> management;
  {
    const TracingMachine through(machine_, bind_trace_);
    facts = BindPorts(through, *state_);
    management = ManagementPath(through, facts, management_.netdevs);
  }
  const bool policy_differs =
      management != policy_.management || policy_.management_unknown != management_.unknown;
  policy_.management_unknown = management_.unknown;
  policy_.management = std::move(management);
  policy_.storage = StorageCards(facts);
  const bool facts_differ = new_state_ || !SameBinding(facts, *facts_);
  new_state_ = false;
  if (!facts_differ && !policy_differs) return;
  if (facts_differ) {
    prepare_due_ = true;
    auto bound = std::make_unique<NodeFacts>(std::move(facts));
    for (Entry& entry : entries_) {
      BindWish(entry.wish, *bound);
      // "declared" may stand for another address now: what differs then is no drift.
      if (entry.wish.unbound.empty() && entry.wish.desired != entry.held_value) entry.held = false;
    }
    facts_ = std::move(bound);
    for (CheckEntry& check : checks_) check.marked = check.stale = true;
  }
  for (Entry& entry : entries_) {
    if (facts_differ) entry.sight.looked = false;  // the same reads may mean something else now
    entry.reassess = entry.mark.set = true;
  }
}

void Reconciler::Impl::ObserveMarked() {
  bool vanished = false;
  for (Entry& entry : entries_) {
    if (entry.gone || !entry.mark.set) {
      entry.mark = {};
      continue;
    }
    const bool had = entry.sight.error.ok();
    Observe(entry);
    vanished =
        vanished || (had && entry.wish.target.port != nullptr && entry.sight.error.code() == Code::kNotFound);
  }
  if (!vanished) return;
  // An interface that was there is gone or has another name: look where the port is now.
  Rebind();
  for (Entry& entry : entries_)
    if (!entry.gone && entry.mark.set) Observe(entry);
}

// Which of the wishes name one place with different values; before anything is written, and cheap while no
// look gives anything new.
void Reconciler::Impl::CompareWishes() {
  if (!std::exchange(compare_, false)) return;
  std::vector<SeenWish> all;
  std::vector<Entry*> of;
  for (Entry& entry : entries_) {
    if (entry.gone) continue;
    all.push_back({&entry.wish, &entry.sight});
    of.push_back(&entry);
  }
  std::vector<std::optional<Conflict>> conflicts = FindConflicts(all);
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (conflicts[i] == of[i]->conflict) continue;
    of[i]->conflict = std::move(conflicts[i]);
    RefreshFinding(*of[i]);
  }
}

void Reconciler::Impl::Observe(Entry& entry) {
  const Mark mark = std::exchange(entry.mark, {});
  entry.looked_at = clock_.Now();
  entry.tick = tick_;
  entry.epoch = epoch_;
  // While a boot is awaited, another firmware may come meanwhile, which the setting does not read.
  if (Look(machine_, entry.wish, entry.sight) || entry.reassess || entry.awaited) Assess(entry, mark);

  // A read that failed for a moment shall not leave the verdict Unknown for a whole scan interval.
  const Cure cure = CureOf(entry.sight.error.code());
  if (entry.sight.error.ok() || cure == Cure::kUndoAndWait || cure == Cure::kWait) {
    entry.failed_reads = 0;
    entry.read_again_at.reset();
  } else {
    entry.read_again_at = entry.looked_at + BackoffAfter(++entry.failed_reads, jitter_);
  }
}

void Reconciler::Impl::Assess(Entry& entry, const Mark& mark) {
  entry.reassess = false;
  compare_ = true;
  if (!mark.by.empty()) entry.last_by = mark.by;
  NoteAwaited(entry);
  RefreshFinding(entry);
  const Verdict verdict = entry.finding.verdict;
  const bool deviates =
      verdict == Verdict::kDrifted || (verdict == Verdict::kPending && !entry.sight.satisfied);
  if (verdict == Verdict::kCompliant) {
    if (entry.hold && entry.hold->verifying) {
      const Observation before = entry.hold->before;
      entry.hold.reset();
      writer_.End(entry.wish.spec.key, entry.wish.spec.target);
      Done(entry, before);
      return;
    }
    entry.held = true;
    entry.held_value = entry.wish.desired;
    NoteCarrier(entry);
    entry.deviation.reset();
    entry.hold.reset();
    entry.tries = 0;
    // Somebody else made it so.
    if (entry.tried_in_vain) [[maybe_unused]]
      const Status status = ForgetFailedTry(entry);
    if (entry.wish.restore && journal_.Forget(entry.wish.spec.key, entry.wish.spec.target).ok()) {
      entry.gone = findings_changed_ = true;
    }
    return;
  }
  if (!deviates) return;

  if (!entry.deviation) {
    Deviation deviation;
    deviation.since = mark.event ? mark.at : pass_start_;
    deviation.by = mark.by;
    deviation.by_event = mark.event || pass_by_event_;
    if (entry.wish.restore) {
      deviation.kind = ChangeKind::kRestored;
    } else if (entry.held) {
      deviation.kind = mark.own && !settled_ ? ChangeKind::kIntended : ChangeKind::kCorrective;
    }
    entry.deviation = std::move(deviation);
    if (std::exchange(entry.held, false)) {
      if (!mark.own) {
        ++(entry.deviation->by_event ? counters_.drift_by_event : counters_.drift_by_scan);
        // A value that flaps without being enforced would flood the history.
        constexpr int kDriftsKept = 20;
        if (entry.drifts.Count(clock_.Now(), options_.contention_window) <= kDriftsKept)
          Record(entry, ChangeKind::kDrift, Observation::Value(entry.wish.desired),
                 ValueToApply(entry.sight.observation), false, {});
      }
      NoteReturn(entry, mark.own);
      RefreshFinding(entry);
    }
  }
  if (entry.hold && entry.hold->until == Hold::Until::kWorldChange &&
      entry.sight.trace.version() != entry.hold->version)
    entry.hold->until = Hold::Until::kTime;  // it may work now; the backoff still holds
}

void Reconciler::Impl::NoteAwaited(Entry& entry) {
  if (!entry.awaited && !entry.sight.observation.pending_reboot) return;
  const Boot boot{options_.boot_id, FirmwareOf(machine_, entry.wish), clock_.WallNow()};
  std::optional<AwaitedBoot> next = AwaitedAfter(entry.awaited, entry.wish, entry.sight, boot);
  if (next == entry.awaited) return;
  const Status status = next ? journal_.RecordAwaited(*next)
                             : journal_.ForgetAwaited(entry.wish.spec.key, entry.wish.spec.target);
  if (status.ok()) {
    entry.awaited = std::move(next);
  } else {
    entry.reassess = true;  // again with the next look
  }
}

const Busy& Reconciler::Impl::JobsNow() {
  if (!busy_) busy_ = LookForJobs(machine_, *facts_);
  return *busy_;
}

void Reconciler::Impl::RefreshFinding(Entry& entry) {
  static const std::string kNoError;
  const auto prepare = prepare_errors_.find(entry.wish.setting);
  Finding finding =
      Judge(entry.wish, entry.sight, prepare == prepare_errors_.end() ? kNoError : prepare->second);
  entry.step = MakeStep(entry.wish, entry.sight, policy_, entry.conflict);
  if (entry.step && entry.step->refused.empty() && entry.step->disruption > Disruption::kTrafficBlip) {
    RefuseIfBusy(*entry.step, JobsNow(), *facts_);
    if (entry.step->refused == "Busy") busy_again_at_ = clock_.Now() + kLookForJobsAgain;
  }
  if (entry.step) Annotate(finding, *entry.step);
  TellRebootDidNotHelp(finding, entry.awaited, entry.wish, entry.sight, options_.boot_id);
  if (entry.conflict) TellConflict(finding, entry.step, *entry.conflict);
  if (finding.verdict == Verdict::kDrifted && entry.step && entry.step->refused.empty()) {
    if (entry.paused_now) {
      entry.step->refused = "Paused";
      entry.step->refused_message = "an operator paused it while it was about to be written";
      Annotate(finding, *entry.step);
    } else if (entry.contended) {
      finding.reason = "Contended";
      finding.message += "; " + entry.contended_message;
      finding.fix = "stop that owner or take the key out of " +
                    (finding.origin.document.empty() ? "the profile" : finding.origin.document) +
                    "; then `railctl pause " + finding.key + "` and `railctl pause --resume " + finding.key +
                    "`";
    } else if (entry.hold) {
      finding.reason = entry.hold->reason;
      finding.message += "; " + entry.hold->message;
      finding.fix = entry.hold->fix;
    }
  }
  TellOverdue(finding);
  if (finding == entry.finding) return;
  entry.finding = std::move(finding);
  findings_changed_ = true;
}

// Marks what time has come for: reads and writes to be tried again, second looks.
void Reconciler::Impl::ReleaseHolds(Clock::Steady now) {
  for (Entry& entry : entries_) {
    const bool read = entry.read_again_at && *entry.read_again_at <= now;
    const bool verify = entry.hold && entry.hold->verifying && entry.hold->retry_at <= now;
    if (read || verify) entry.mark.set = look_now_ = true;
  }
  if (busy_again_at_ && *busy_again_at_ <= now) {
    busy_again_at_.reset();
    for (Entry& entry : entries_)
      if (entry.step && entry.step->refused == "Busy") entry.reassess = entry.mark.set = look_now_ = true;
  }
  bool released = true;
  while (released) {  // a cause first, then those that wait for it
    released = false;
    for (Entry& entry : entries_) {
      if (!entry.hold || entry.hold->verifying) continue;
      const bool due = entry.hold->until == Hold::Until::kTime && entry.hold->retry_at <= now;
      const bool free = entry.hold->until == Hold::Until::kCause && !entries_[entry.hold->cause].hold;
      if (!due && !free) continue;
      entry.hold.reset();
      entry.reassess = entry.mark.set = look_now_ = released = true;
    }
  }
}

void Reconciler::Impl::RunChecks(bool all) {
  for (CheckEntry& entry : checks_) {
    if (!all && !entry.marked) continue;
    entry.marked = false;
    entry.looked_at = clock_.Now();
    const bool ran = entry.trace.version() != 0;
    if (ran && !entry.stale && entry.trace.Repeats(machine_)) continue;
    entry.stale = false;
    std::vector<Finding> findings;
    {
      const TracingMachine through(machine_, entry.trace);
      findings = entry.check->Run(through, *facts_);
    }
    findings = CompleteFindings(*entry.check, std::move(findings), entry.trace);
    if (ran && findings == entry.findings) continue;
    entry.findings = std::move(findings);
    findings_changed_ = true;
  }
}

// A write was begun in an earlier life and its end is not known. The loop itself completes what is still
// declared; what nobody would see otherwise is a value that is neither the old nor the new one.
void Reconciler::Impl::ReportOpenSteps() {
  for (const OpenStep& step : open_steps_) {
    Entry shown;
    const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& other) {
      return other.wish.spec.key == step.key && other.wish.spec.target == step.target;
    });
    if (entry != entries_.end()) {
      shown.wish = entry->wish;
      shown.sight = entry->sight;
    } else {
      const auto match = catalog_.Find(step.key);
      if (!match.ok()) continue;
      shown.wish.spec.key = step.key;
      shown.wish.spec.target = step.target;
      shown.wish.setting = match->setting;
      shown.wish.target.param = match->param;
      shown.wish.restore = Original{step.key, step.target, Original::Kind::kUnknown, {}};
      BindWish(shown.wish, *facts_);
      Look(machine_, shown.wish, shown.sight);
    }
    if (!shown.sight.looked || !shown.sight.error.ok()) continue;
    const std::string& now = ValueToApply(shown.sight.observation);
    if (now == step.from || now == step.to) continue;
    Record(
        shown, ChangeKind::kDrift, Observation::Value(step.from), now, false,
        "the agent died while it wrote " + OneLine(step.to) + "; found is neither that nor the value before");
  }
}

void Reconciler::Impl::Publish() {
  const bool remaining =
      try_ || std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        if (entry.Eligible()) return true;
        // A card's firmware is being asked, which takes seconds; after some 30 s that is the result.
        constexpr int kReadsAwaited = 5;
        if (!entry.gone && entry.read_again_at && entry.sight.error.code() == Code::kUnavailable &&
            entry.failed_reads <= kReadsAwaited)
          return true;
        const Entry* cause = &entry;
        while (cause->hold && cause->hold->until == Hold::Until::kCause)
          cause = &entries_[cause->hold->cause];
        constexpr int kSoon =
            3;  // up to the third retry, about 7 s: wait for it before calling it the result
        return entry.Wanted() && !entry.contended && cause->hold &&
               cause->hold->until == Hold::Until::kTime && cause->tries <= kSoon;
      });
  settled_ = settled_ || !remaining;
  changed_ = changed_ || findings_changed_ || report_.settled != settled_ ||
             report_.generation != state_->generation || report_.state_hash != state_->hash;
  report_.node = state_->node;
  report_.generation = state_->generation;
  report_.state_hash = state_->hash;
  report_.settled = settled_;
  if (!std::exchange(findings_changed_, false) && !report_.findings.empty()) return;
  report_.findings.clear();
  for (const Entry& entry : entries_)
    if (!entry.gone) report_.findings.push_back(entry.finding);
  for (const CheckEntry& check : checks_)
    report_.findings.insert(report_.findings.end(), check.findings.begin(), check.findings.end());
  std::stable_sort(report_.findings.begin(), report_.findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.key, a.target) < std::tie(b.key, b.target);
  });
  report_.verdict = WorstOf(report_.findings);
}

}  // namespace railwright
