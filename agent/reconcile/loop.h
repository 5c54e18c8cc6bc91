// The loop's state: what is wished, what was seen, what stands in the way. Internal to this folder.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
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
  bool tried_in_vain = false;          ///< the journal has a FailedTry of it
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
  void ControllerAnswered();
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

  // try.cc: what may cut the node off, or take a link down, is put back unless it is confirmed
  bool NeedsTry(const Entry& entry) const;
  /// Journals that `entry` is about to be written. False: not now; it is held and says why.
  bool JoinTry(Entry& entry);
  /// Whether the neighbours on the ports have been asked, which takes a moment.
  bool PeersAsked(const std::vector<const BoundPort*>& ports);
  std::vector<std::string> PeersOf(const std::string& port) const;
  std::string WhySilent(const std::string& port) const;
  void WrittenInTry(const Entry& entry, const Outcome& outcome);
  /// What is awaited from the try that `entry` has joined, and what is not and why; a sentence.
  std::string AwaitedFor(const Entry& entry) const;
  /// A step on a port whose link one of our steps took down waits for it.
  bool WaitsForLink(Entry& entry);
  void KeepFailedTries(std::vector<Entry>& entries);
  Status ForgetFailedTry(Entry& entry);
  /// As declared, and yet to be put back.
  void TellOverdue(Finding& finding) const;
  static void HoldAfterTry(Entry& entry, const FailedTry& failed);

  // try_end.cc: confirmed, or put back
  void TakeUpTry();
  void StopTry();
  void LookAtTry();
  void LookAtTryAgain(Clock::Steady at);
  bool PeersMissing(const OpenTry::Evidence& evidence, const BoundPort& port);
  void Confirm();
  void FailTry(const std::set<std::string>* ports, const std::string& reason,
               const std::vector<std::string>& missing);
  void PutBackFailed();
  bool PutBackStep(const OpenTry::Step& step, std::string& left);
  bool PutBackSurroundings(const std::vector<OpenTry::Evidence>& around, std::string& left);
  Entry* EntryOf(const std::string& key, const std::string& target);

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
  // The node's one try, as journalled and as it goes.
  struct LiveTry {
    OpenTry record;
    std::map<std::string, Clock::Steady> written;  // by port ("" the node): its last write
    bool redialled = false;                        // since the last write
    bool answered = false;                         // by the controller, over a connection begun since
    std::set<std::string> asked, heard;            // ports whose neighbours were asked, and have answered
    bool confirmed = false;                        // all was seen; the journal may not have taken it yet
    // Steps that are to be put back, and have not been yet; the last stands first.
    struct Failed {
      OpenTry::Step step;
      FailedTry why;
      std::vector<OpenTry::Evidence> around;  // of the step's ports
      std::string error;                      // why it could not be put back yet
      bool told = false;                      // in the history
    };
    std::vector<Failed> failed;
    int tries = 0;  // to put them back
  };
  std::optional<LiveTry> try_;
  std::optional<Clock::Steady> try_look_at_;
  std::map<std::string, Clock::Steady> peers_asked_;  // by port: before a try
  Clock::Steady started_{};

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
