// Reconciler: observe → diff → plan → apply → observe → diff, over a Machine, for one node.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "railwright/check.h"
#include "railwright/clock.h"
#include "railwright/hints.h"
#include "railwright/journal.h"
#include "railwright/machine.h"
#include "railwright/peer_probe.h"
#include "railwright/setting.h"
#include "railwright/state.h"

namespace railwright {

/// What leads to the controller and must not be disturbed, beside the ports that are declared for management.
struct Management {
  std::vector<std::string> netdevs;  ///< empty and known: none (a Unix socket, loopback)
  /// "" when it is known; else why it is not: then nothing is written that any interface could feel.
  std::string unknown;
  friend bool operator==(const Management&, const Management&) = default;
};

/// Who may confirm a try, beside the machine. Called in the loop's thread, never blocking. Empty: nobody is
/// asked.
struct TryWitnesses {
  std::function<bool()> connected{};  ///< whether the controller is connected now
  /// Ends the connection to the controller, if any, and dials anew. Once the controller has answered over one
  /// that was begun after this call, ControllerAnswered is called.
  std::function<void()> redial{};
  PeerProbe* peers = nullptr;  ///< outlives the reconciler
  /// Whether the controller was reached with this value before, by whatever boot. Empty: a node that is not
  /// connected is not asked for it.
  std::function<bool(const KeyTarget& what, const std::string& value)> confirmed_before{};
  /// The controller was reached with all of these.
  std::function<void(const std::map<KeyTarget, std::string>& values)> confirmed{};
};

struct ReconcilerOptions {
  std::chrono::milliseconds scan_interval{60'000};       ///< full scans, each ± jitter
  double scan_jitter = 0.1;                              ///< fraction of the interval, 0…0.5
  int contention_limit = 5;                              ///< a value that came back this often …
  std::chrono::seconds contention_window{600};           ///< … within this time is Contended
  Disruption max_disruption = Disruption::kTrafficBlip;  ///< anything above is Pending(ApprovalNeeded)
  Management management{};                               ///< until SetManagement says otherwise
  std::uint64_t first_change_sequence = 1;
  std::uint64_t seed = 0;  ///< of the jitter
  /// Of the boot that the agent runs in (/proc/sys/kernel/random/boot_id). "": not known, and a value that
  /// a boot did not bring goes on saying NeedsReboot.
  std::string boot_id{};
  /// Asked immediately before each write, beside the pauses of SetPauses; true leaves it unwritten. For a
  /// pause that arrives while a Tick is at work. Called in the loop's thread; may be empty.
  std::function<bool(std::string_view key)> paused_now{};
  TryWitnesses witnesses{};
};

/// A pure state machine around the loop: no thread, no descriptor, no sleep. One thread calls it: it posts
/// what happened and calls Tick when due. Everything it does to the host goes through `machine`.
class Reconciler {
 public:
  /// Everything given outlives the reconciler. `our_pids` tells whether a hint's process is ourselves or
  /// our child.
  Reconciler(Machine& machine, const Catalog& catalog,
             const std::vector<std::unique_ptr<const Check>>& checks, Journal& journal, const Clock& clock,
             ReconcilerOptions options, std::function<bool(int pid)> our_pids = {});
  ~Reconciler();

  /// First of all looks at a try that an earlier life left open (its deadline goes on; one of another boot is
  /// put back). Runs the settings' Prepare (a Tick runs it again where something is missing), then undoes or
  /// completes what the journal says was open when the agent died.
  Status Start();
  /// Puts back what is being tried, and removes what Prepare made. Values that were enforced stay as they
  /// are.
  Status Stop();

  /// Takes a new whole desired state. InvalidArgument names the key, target and value when any of it is not
  /// understood; then the last state stays in force. Does not touch the machine: the next Tick does.
  Status Accept(const DesiredState& state);
  /// Replaces the list of pauses; effective before the very next write.
  void SetPauses(std::vector<Pause> pauses);
  /// Replaces what must not be disturbed; effective before the very next write.
  void SetManagement(Management management);
  /// Of TryWitnesses::redial.
  void ControllerAnswered();
  /// "Look again": marks what reads below these prefixes.
  void Notice(const std::vector<Hint>& hints);
  /// A full scan at the next Tick.
  void Refresh();

  /// Does what is due now. True when the report or the pending changes differ from before.
  bool Tick();
  /// When Tick wants to be called next, at the latest.
  Clock::Steady NextDue() const;

  /// Present findings of every declared (key, target) and of every check.
  const NodeReport& Report() const;
  /// What is being tried now, for people: "" when nothing is, else "link.mtu on rail0 = 4200, …".
  std::string Trying() const;
  /// How long until it is put back unless it is confirmed; 0 when it is overdue.
  std::chrono::milliseconds TryLeft() const;
  /// History since the last call, oldest first. The caller keeps it until it is stored.
  std::vector<ChangeRecord> TakeChanges();
  /// What `state` would do here; reads, never writes.
  Result<Plan> DryRun(const DesiredState& state);
  /// Machine paths read by the last observation of everything, for Hints::Watch.
  std::vector<std::string> WatchedPaths() const;

  struct Counters {
    std::uint64_t scans = 0, hints = 0, drift_by_event = 0, drift_by_scan = 0, corrected = 0, failed = 0,
                  contended = 0;
  };
  const Counters& counters() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Binds declared ports to what the machine has (BDF or name → netdev, RDMA device). Never fails as a whole:
/// a port that is not there says why in `unbound`.
NodeFacts BindPorts(const Machine& machine, const DesiredState& state);

/// One pass without a loop, for `railwright-agent check`: findings of a state against a machine, no writes.
NodeReport CheckOnce(const Machine& machine, const Catalog& catalog,
                     const std::vector<std::unique_ptr<const Check>>& checks, const DesiredState& state);

}  // namespace railwright
