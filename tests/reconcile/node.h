// Node: a fake host with two rails and an agent's loop on it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "agent/reconcile/reconciler.h"
#include "tests/reconcile/knobs.h"
#include "tests/support/build_state.h"
#include "tests/support/fake_machine.h"
#include "tests/support/faulty_machine.h"
#include "tests/support/memory_journal.h"
#include "tests/support/sim_clock.h"

namespace railwright {

inline void PrintTo(Verdict verdict, std::ostream* out) { *out << Name(verdict); }

class Node {
 public:
  Node() {
    for (const char* rail : {"rail0", "rail1", "eno1", "nvme0"}) {
      const std::string link = "/rtnl/link/" + std::string(rail);
      machine.Put(link, "mtu=1500").Put(link + "/mtu", "1500");
      machine.Put("/ethtool/" + std::string(rail) + "/channels", "4");
      machine.Put("/ethtool/" + std::string(rail) + "/speed", "100");
      machine.Put("/ethtool/" + std::string(rail) + "/rings", "1024");
    }
    machine.Put("/proc/sys/a", "0").Put("/proc/sys/b", "0").Put("/proc/sys/c", "0");
    machine.Put("/nvconfig/current", "0").Put("/nvconfig/next", "0");
    machine.Put("/proc/cmdline", "quiet")
        .Put("/proc/blast", "0")
        .Put("/proc/card", "0")
        .Put("/proc/configfs", "0");
  }

  /// A desired state of two fabric rails; add wishes.
  static BuildState State(std::uint64_t generation) {
    return BuildState(generation)
        .Fabric("rail0", {}, {"10.10.0.1/24"})
        .Fabric("rail1")
        .Storage("nvme", "nvme0")
        .Management("mgmt", "eno1");
  }

  /// The agent, started anew over the same machine and journal.
  Reconciler& Boot() { return Boot(machine); }
  Reconciler& Boot(Machine& through) {
    agent.reset();
    agent = std::make_unique<Reconciler>(through, catalog, checks, journal, clock, options, our_pids);
    EXPECT_TRUE(agent->Start().ok());
    machine.ClearLog();
    return *agent;
  }
  /// Accepts and runs until nothing is due at once.
  void Apply(const DesiredState& state) {
    if (!agent) Boot();
    ASSERT_TRUE(agent->Accept(state).ok());
    Settle();
  }
  void Settle() {
    for (int i = 0; i < 20; ++i) {
      agent->Tick();
      if (agent->NextDue() > clock.Now()) return;
    }
    ADD_FAILURE() << "the loop never comes to rest";
  }
  /// Lets simulated time pass, doing what falls due.
  void Pass(std::chrono::nanoseconds time) {
    const auto end = clock.Now() + time;
    for (int i = 0; i < 100'000; ++i) {
      const auto due = agent->NextDue();
      if (due > end) break;
      clock.AdvanceTo(due);
      agent->Tick();
    }
    clock.AdvanceTo(end);
  }
  void Hint(const std::string& prefix, const std::string& by = {}, int pid = 0) {
    agent->Notice({{prefix, by, pid, clock.Now()}});
  }
  /// Somebody changes `path` behind the agent's back, and the kernel tells.
  void Drift(const std::string& path, const std::string& value, const std::string& by = {}) {
    machine.Put(path, value);
    clock.Advance(std::chrono::milliseconds(1));
    Hint(path, by);
    clock.Advance(std::chrono::milliseconds(2));
    Settle();
  }

  const Finding& Of(const std::string& key, const std::string& target = {}) const {
    static const Finding kNone;
    for (const Finding& finding : agent->Report().findings)
      if (finding.key == key && finding.target == target) return finding;
    ADD_FAILURE() << "no finding for " << key << " " << target;
    return kNone;
  }
  /// Keeps what TakeChanges gives, and shows those of one kind as "key target from→to".
  std::vector<std::string> Changes(ChangeKind kind) {
    for (ChangeRecord& record : agent->TakeChanges()) history.push_back(std::move(record));
    std::vector<std::string> list;
    for (const ChangeRecord& record : history)
      if (record.kind == kind)
        list.push_back(record.key + " " + record.target + " " + record.from + "→" + record.to +
                       (record.ok                                                      ? ""
                        : kind == ChangeKind::kDrift || kind == ChangeKind::kContended ? ""
                                                                                       : " FAILED"));
    return list;
  }
  std::string Value(const std::string& path) const { return machine.Value(path); }

  FakeMachine machine;
  SimClock clock;
  MemoryJournal journal;
  Catalog catalog{TestSettings()};
  std::vector<std::unique_ptr<const Check>> checks;
  ReconcilerOptions options;
  std::function<bool(int)> our_pids;
  std::unique_ptr<Reconciler> agent;
  std::vector<ChangeRecord> history;
};

using Lines = std::vector<std::string>;

}  // namespace railwright
