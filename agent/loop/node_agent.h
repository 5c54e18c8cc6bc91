// NodeAgent: what the loop does with what happened. One thread; no descriptor, no sleep, no gRPC.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agent/gate/messages.h"
#include "agent/loop/change_log.h"
#include "agent/loop/confirmed_values.h"
#include "agent/loop/crash_latch.h"
#include "agent/loop/log.h"
#include "agent/loop/management_link.h"
#include "agent/loop/pauses.h"
#include "agent/loop/progress_machine.h"
#include "agent/loop/reporter.h"
#include "agent/loop/state_dir.h"
#include "agent/loop/state_seal.h"
#include "agent/reconcile/reconciler.h"
#include "railwright/clock.h"
#include "railwright/v1/agent.pb.h"

namespace railwright {

struct NodeAgentOptions {
  std::string node;
  std::string version;
  std::string controller;         ///< as given, for status.json
  std::string boot_id;            ///< /proc/sys/kernel/random/boot_id
  std::string management_netdev;  ///< as told; "" = found by the route to the controller
  std::vector<std::string> missing_hints;
  std::chrono::milliseconds heartbeat{10'000};
};

/// Between the mailbox and the reconciler. Owns everything in the state directory but the journal.
/// - A desired state is verified (StateSeal), parsed and checked, taken by the reconciler, made durable, and
///   only then acknowledged; a bad one is answered with the sentence that says why, and the last good one
///   stays in force.
/// - A change is durable before it is reported, and kept until the controller says that it is stored.
/// - While the state directory takes no writes, nothing is written to the machine either.
class NodeAgent {
 public:
  struct Parts {
    Machine& machine;
    const Catalog& catalog;
    const std::vector<std::unique_ptr<const Check>>& checks;
    Journal& journal;
    const StateDir& state_dir;
    const Clock& clock;
    std::function<void(ToController)> send;
    std::function<std::string()> session_text;
    std::function<bool(int pid)> our_pids;
    Log log;
    /// Called before each operation on the machine: a pass that takes long gets on. May be empty.
    std::function<void()> at_work{};
    ManagementLink::Route route{};  ///< needed unless the controller is local or the interface is told
    StateSeal::Trust trust{};       ///< whose states are taken; without it none is
    std::function<std::uint64_t()> redial{};  ///< Session::Redial; empty: no try awaits the controller
    PeerProbe* peers = nullptr;               ///< null: no try awaits a neighbour
  };
  /// Everything given outlives it. `reconciler` without paused_now, which is set here.
  NodeAgent(NodeAgentOptions options, ReconcilerOptions reconciler, Parts parts);
  ~NodeAgent();

  /// Reads the state directory and takes up where the last agent stopped: the state that was accepted is in
  /// force again before any controller is reached. An error means that it must not run.
  Status Start();
  /// Removes what was made at start, writes the last status. Values that were enforced stay.
  Status Stop();

  void Handle(FromController message);
  void Notice(const std::vector<Hint>& hints);
  /// paused.json may have changed.
  void LookAtPauses();
  /// Look at everything again now.
  void Refresh();

  /// Does what is due. True when the watched paths may have changed.
  bool Tick();
  Clock::Steady NextDue() const;
  std::vector<std::string> WatchedPaths() const;

  /// For the session, in any thread.
  v1::Hello Hello() const;
  /// One line for a supervisor: "gpu-001: Compliant, generation 7, connected".
  std::string Summary() const;
  /// The first pass over the state that was in force at start has ended (or there was none).
  bool Ready() const;

 private:
  struct Asked {
    v1::Command command;
    std::uint64_t connection = 0;
    Clock::Steady deadline;
    std::uint64_t scans_before = 0;  // for refresh
  };

  /// Of a Nack or a refused dry run: what it quotes of the state is poison, perhaps.
  static constexpr std::size_t kLongestReason = 1024;
  static std::string Of(Generation generation);
  Status TakeUp();
  Status TakeUpKept();
  void NoteRefusal(const v1::DesiredState& message, const std::string& why);
  void OnWelcome(const v1::Welcome& welcome, const FromController& message);
  void OnDesired(const v1::DesiredState& message);
  void OnCommand(v1::Command command, std::uint64_t connection);
  void OnReportAck(const v1::ReportAck& ack);
  void OnPauses(const v1::PauseList& list);
  Status Take(const v1::DesiredState& message, const identity::OpenedEnvelope& opened,
              const DesiredState& state);
  Status Keep();
  void Answer(const Asked& asked, v1::CommandResult result);
  void RunCommands();
  Result<Plan> DryRun(const DesiredState& state);
  void SendReport();
  void Beat();
  void ApplyPauses();
  bool PausedNow(std::string_view key);
  void WorkOnTrouble();
  void SetTrouble(Status trouble);
  void LogChange(const ChangeRecord& change) const;
  void LookAtValidity();
  const NodeReport& Report();
  Status WriteStatus();
  void LookAtSession();
  void LookAtManagement();
  static ReconcilerOptions Completed(ReconcilerOptions options, NodeAgent& agent);
  /// Of a try: a new connection, over which a whole report is acknowledged.
  void Redial();
  void Meanwhile();
  void PublishHello();
  void Send(ToController message);
  template <class Body>
  void Say(Body body) {
    Send({std::move(body), connection_});
  }

  const NodeAgentOptions options_;
  const Parts parts_;
  ProgressMachine machine_;
  Reconciler reconciler_;
  ChangeLog changes_;
  CrashLatch latch_;
  StateSeal seal_;
  ConfirmedValues confirmed_;
  PauseFile local_pauses_;
  ManagementLink management_;
  Management told_management_;  // of the last log line
  Reporter reporter_;
  std::vector<Pause> controller_pauses_;

  DesiredState state_;                      // in force and durable; generation 0: none
  std::optional<v1::DesiredState> unkept_;  // taken, not durable yet: nothing is written meanwhile
  std::optional<v1::DesiredState>
      unraised_;  // verified, but the floor below it is not durable: not taken yet
  std::optional<identity::Time> valid_until_;  // of the signed state in force
  bool stale_ = false;                         // past that
  NodeReport stale_report_;                    // the reconciler's, with the finding that says so
  Generation given_up_;               // accepted by an earlier life, which died with it again and again
  std::uint64_t connection_ = 0;      // of the last Welcome
  bool dialling_anew_ = false;        // a try awaits an answer …
  std::uint64_t dialled_before_ = 0;  // … over a connection above this one
  bool DialledAnew() const { return dialling_anew_ && connection_ > dialled_before_; }
  std::deque<Asked> commands_;
  std::optional<v1::DesiredState> refused_;  // the last one answered with a Nack, for status.json
  std::string refused_message_;

  bool started_ = false;
  Status trouble_;       // of the state directory
  Status status_error_;  // of the last WriteStatus
  Clock::Steady next_probe_{};
  Clock::Steady last_sent_{};
  Clock::Steady next_status_{}, status_written_{};
  bool status_stale_ = true;
  bool pauses_stale_ = false;
  std::string session_text_ = "connecting: not tried yet";
  std::deque<ChangeRecord> recent_;  // for status.json
  std::chrono::system_clock::time_point started_at_;

  mutable std::mutex hello_mutex_;
  v1::Hello hello_;
};

}  // namespace railwright
