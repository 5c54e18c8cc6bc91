// The loop's state: what is wished, what was seen, what stands in the way. Internal to this folder.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/reconcile/apply.h"
#include "agent/reconcile/backoff.h"
#include "agent/reconcile/busy.h"
#include "agent/reconcile/conflict.h"
#include "agent/reconcile/contention.h"
#include "agent/reconcile/plan.h"
#include "agent/reconcile/reboot_guard.h"
#include "agent/reconcile/reconciler.h"

namespace railwright {

/// "Look again at this": set by a hint, a scan, a retry or our own writes.
struct Mark {
  bool set = false;
  bool event = false;  ///< a hint came
  bool own = false;    ///< only because we wrote something near it
  Clock::Steady at{};  ///< of the hint
  std::string by;      ///< who, when the kernel told and it was not us
};

/// The present deviation of one wish, from when it was first seen until it is gone.
struct Deviation {
  ChangeKind kind = ChangeKind::kIntended;  ///< what its correction will be called
  Clock::Steady since{};
  std::string by;
  bool by_event = false;
  bool counted = false;  ///< as a return, towards contention
};

/// Why a deviation is not corrected right now, although policy allows it.
struct Hold {
  enum class Until : std::uint8_t {
    kTime,         ///< a retry is due at `retry_at`
    kWorldChange,  ///< until what was read differs from `version`, and not before `retry_at`
    kCause,        ///< as long as entry `cause`, a step of the same group, is held
    kPerson,       ///< until a new generation, or a pause that is lifted
  } until = Until::kTime;
  std::size_t cause = 0;
  Clock::Steady retry_at{};
  std::uint64_t version = 0;
  /// Written and accepted, but not seen yet; `before` is what to go back to if it never is.
  bool verifying = false;
  Observation before;
  std::string reason, message, fix;
};

/// One wish and everything the loop knows about it.
struct Entry {
  Wish wish;
  Sight sight;
  Finding finding;
  std::optional<Step> step;
  std::optional<Conflict> conflict;

  Mark mark;
  bool reassess = true;  ///< judge again even if nothing read differs
  Clock::Steady looked_at{};
  std::uint64_t tick = 0, epoch = 0;  ///< of the last look

  bool held = false;       ///< was as declared when last judged by value: a deviation from here on is drift
  std::string held_value;  ///< the concrete value that was fulfilled then
  bool gone = false;       ///< a restore that is done
  std::optional<Deviation> deviation;
  std::optional<Hold> hold;
  int tries = 0;                               ///< failed writes since it was last as declared
  int failed_reads = 0;                        ///< in a row
  std::optional<Clock::Steady> read_again_at;  ///< before the next scan, since the last read failed
  bool paused_now = false;
  Returns returns;              ///< of what we would set again
  Returns bounces;              ///< of those that came with the port's link going or coming
  Returns drifts;               ///< of anything
  std::string carrier_changes;  ///< of the port, when it was last as declared
  std::string last_by;
  std::optional<AwaitedBoot> awaited;  ///< as the journal has it
  bool contended = false;
  std::string contended_message;

  /// A write is wanted and allowed, whatever holds it.
  bool Wanted() const {
    return !gone && finding.verdict == Verdict::kDrifted && step && step->refused.empty();
  }
  bool Eligible() const { return Wanted() && !hold && !contended && !paused_now; }
};

struct CheckEntry {
  const Check* check = nullptr;
  Trace trace;
  std::vector<Finding> findings;
  bool marked = true;
  bool stale = true;  ///< run it even if what it reads is the same: the ports are bound otherwise
  Clock::Steady looked_at{};
};

struct Reconciler::Impl {
  Impl(Machine& machine, const Catalog& catalog, const std::vector<std::unique_ptr<const Check>>& checks,
       Journal& journal, const Clock& clock, ReconcilerOptions options, std::function<bool(int)> our_pids);

  // reconciler.cc: what comes in from outside
  Status Start();
  Status Stop();
  Status Accept(const DesiredState& state);
  void KeepAllowances(const std::vector<Entry>& entries);
  void SetPauses(std::vector<Pause> pauses);
  void SetManagement(Management management);
  void Notice(const std::vector<Hint>& hints);
  bool Tick();
  Clock::Steady NextDue() const;
  std::vector<std::string> WatchedPaths() const;

  // prepare.cc: what must be there before anything can be looked at
  /// Makes what is not there and journals it; without a journal nothing is left behind. `made_any`: something
  /// was made that is there now.
  Status Prepare(bool& made_any);
  /// Prepare, where a read says NotFound: once a scan, once more each time that ports are bound differently
  /// or something was written. Looks again at what was missing. True when something was made.
  bool PrepareWhereMissing();

  // pass.cc: looking and judging
  void Rebind();
  void Observe(Entry& entry);
  void ObserveMarked();
  void CompareWishes();
  void Assess(Entry& entry, const Mark& mark);
  void RefreshFinding(Entry& entry);
  void NoteAwaited(Entry& entry);
  const Busy& JobsNow();
  void ReleaseHolds(Clock::Steady now);
  void RunChecks(bool all);
  void ReportOpenSteps();
  void Publish();

  // enforce.cc: writing
  void Enforce();
  void Correct(Entry& entry);
  void Verify(Entry& entry);
  void Done(Entry& entry, const Observation& before);
  void Fail(Entry& entry, const Observation& before, const Outcome& outcome);
  std::string UndoGroup(Entry& entry, const Observation& before, bool touched);
  std::string UndoOne(Entry& entry, const Observation& before);
  void HoldBack(const Entry& cause);
  void LookAround();
  void FreeDependents();

  // link_watch.cc: what a step may have taken down must come back
  /// `entry` is about to be written: whether its port's link is up, and so must be afterwards.
  bool LinkMustReturn(const Entry& entry) const;
  void WatchLink(const Entry& entry, const Observation& before);
  void LookAtLinks();
  void KeepLinkWatches(const std::vector<Entry>& entries);
  /// A step on a port whose link one of our steps took down waits for it.
  bool WaitsForLink(Entry& entry);
  void PutBackForLink(const std::string& port);
  void CloseRuns();

  // drift.cc: history and contention
  void Record(const Entry& entry, ChangeKind kind, const Observation& from, const std::string& to, bool ok,
              std::string message);
  void NoteReturn(Entry& entry, bool own);
  void NoteCarrier(Entry& entry);
  /// The port's link went or came since the value was last as declared.
  bool LinkMoved(const Entry& entry) const;

  std::size_t IndexOf(const Entry& entry) const { return static_cast<std::size_t>(&entry - entries_.data()); }

  Machine& machine_;
  const Catalog& catalog_;
  Journal& journal_;
  const Clock& clock_;
  const ReconcilerOptions options_;
  const std::function<bool(int)> our_pids_;
  Writer writer_;
  Jitter jitter_;
  PassBudget budget_;

  std::optional<DesiredState> state_;
  std::vector<Pause> pauses_;  // all that were given
  Management management_;
  Policy policy_;
  std::optional<Busy> busy_;  // as seen in this pass; looked for only when a step asks
  std::optional<Clock::Steady> busy_again_at_;
  std::unique_ptr<NodeFacts> facts_ = std::make_unique<NodeFacts>();
  Trace bind_trace_;
  std::map<const Setting*, std::string> prepare_errors_;
  std::vector<OpenStep> open_steps_;  // of the life before this one

  std::vector<Entry> entries_;  // sorted by (key, target)
  bool compare_ = false;        // a look gave something new: wishes may be in conflict, or no longer
  std::vector<CheckEntry> checks_;

  // Steps of the present generation that are done while their group is not.
  struct DoneStep {
    std::size_t entry;
    Observation before;
  };
  std::map<std::pair<std::string, std::string>, std::vector<DoneStep>> runs_;  // by port and group
  // Ports whose link was up before steps that may take it down.
  struct LinkWatch {
    std::vector<DoneStep> steps;  // in order
    Clock::Steady since{};        // of the last one
  };
  std::map<std::string, LinkWatch> link_watches_;  // by port
  bool IsAmong(const LinkWatch& watch, const Entry& entry) const;

  bool scan_ = false;    // a full scan at the next Tick
  bool rebind_ = false;  // bind the ports at the next Tick
  bool prepare_due_ = false;
  bool new_state_ = false;  // bind the wishes, too
  bool look_now_ = false;   // some mark does not come from a hint
  std::optional<Clock::Steady> look_again_at_;
  Clock::Steady next_scan_{};
  Clock::Steady pass_start_{};
  bool pass_by_event_ = false;
  std::uint64_t tick_ = 0;   // number of the present pass
  std::uint64_t epoch_ = 0;  // number of writes so far
  bool settled_ = false;
  std::string last_written_;                // "link.mtu on rail0"
  std::vector<std::string> written_paths_;  // in this pass

  NodeReport report_;
  bool findings_changed_ = false;
  bool changed_ = false;
  std::vector<ChangeRecord> changes_;
  std::uint64_t next_sequence_ = 1;
  Counters counters_;
};

}  // namespace railwright
