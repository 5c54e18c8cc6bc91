// The loop on the real kernel, with the real catalogue, hints and journal: two veth rails in a network and
// mount namespace of their own, /etc on a tmpfs.
#include <poll.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

#include "agent/journal/file_journal.h"
#include "agent/machine/linux_machine.h"
#include "agent/reconcile/reconciler.h"
#include "tests/machine/network_namespace.h"
#include "tests/support/build_state.h"
#include "tests/support/fork_child.h"

namespace railwright {

void PrintTo(Verdict verdict, std::ostream* out) { *out << Name(verdict); }

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
namespace fs = std::filesystem;

DesiredState Profile(std::uint64_t generation) {
  BuildState state(generation);
  state.Fabric("rail0", "rail0", {"10.10.0.1/24", "fd00:10::1/64"})
      .Fabric("rail1", "rail1", {"10.11.0.1/24"});
  state.Management("mgmt", "mgmt0").Subnets({"10.10.0.0/24", "10.11.0.0/24"});
  for (const char* rail : {"rail0", "rail1"}) {
    state.Enforce("link.mtu", rail, "4200");
    state.Enforce("rail.address", rail, "declared");
    state.Enforce("rail.routing", rail, "per-rail");
    state.Enforce("sysctl.net.ipv4.conf.{netdev}.arp_announce", rail, "2");
  }
  state.Enforce("sysctl.net.ipv4.conf.all.arp_ignore", "", "1");
  state.Enforce("firewall.rdma", "", "allow");
  state.Enforce("nccl.NCCL_IB_TC", "", "106");
  return state;
}

/// What Profile touches, as the kernel shows it.
const char* const kTouched[] = {"/rtnl/link/rail0/mtu",
                                "/rtnl/link/rail1/mtu",
                                "/rtnl/addr/rail0",
                                "/rtnl/addr/rail1",
                                "/rtnl/rule/1001",
                                "/rtnl/rule/1002",
                                "/rtnl/route/101",
                                "/rtnl/route/102",
                                "/proc/sys/net/ipv4/conf/all/arp_ignore",
                                "/proc/sys/net/ipv4/conf/rail0/arp_announce",
                                "/proc/sys/net/ipv4/conf/rail1/arp_announce",
                                "/nft/table/inet/railwright",
                                "/file/etc/nccl.conf"};

std::map<std::string, std::string> World(const Machine& machine) {
  std::map<std::string, std::string> world;
  for (const char* path : kTouched) world[path] = machine.Get(path).value_or("(none)");
  return world;
}

/// One life of an agent.
class Life {
 public:
  Life(const std::string& journal_path, ReconcilerOptions options = {}) {
    auto journal = OpenFileJournal(journal_path);
    if (!journal.ok()) std::abort();
    journal_ = std::move(*journal);
    auto hints = MakeLinuxHints(nullptr);
    if (!hints.ok()) std::abort();
    hints_ = std::move(*hints);
    agent = std::make_unique<Reconciler>(*machine_, catalog_, checks_, *journal_, clock_, options,
                                         [](int pid) { return pid == ::getpid(); });
    EXPECT_TRUE(agent->Start().ok());
  }

  /// Runs the loop as the agent's main does, until `done` or `limit` is over. False in the second case.
  bool Run(const std::function<bool()>& done, std::chrono::milliseconds limit = 5s) {
    const auto end = steady_clock::now() + limit;
    while (steady_clock::now() < end) {
      agent->Tick();
      hints_->Watch(agent->WatchedPaths());
      for (ChangeRecord& change : agent->TakeChanges()) changes.push_back(std::move(change));
      if (done()) return true;
      const auto due = std::min(agent->NextDue(), end);
      const auto wait = std::chrono::ceil<std::chrono::milliseconds>(due - steady_clock::now()).count();
      pollfd wake{hints_->fd(), POLLIN, 0};
      if (::poll(&wake, 1, static_cast<int>(std::clamp<long>(wait, 0, 1000))) > 0)
        agent->Notice(hints_->Drain());
    }
    return done();
  }
  bool Settle() {
    return Run([&] { return agent->Report().settled && agent->NextDue() > steady_clock::now(); });
  }
  void Accept(const DesiredState& state) {
    const Status status = agent->Accept(state);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_TRUE(Settle());
  }
  /// Everything that is not Compliant, for failure messages.
  std::string Trouble() const {
    std::string text;
    for (const Finding& finding : agent->Report().findings)
      if (finding.verdict != Verdict::kCompliant)
        text += std::string(Name(finding.verdict)) + "(" + finding.reason + "): " + finding.message + "\n";
    return text;
  }
  std::size_t Count(ChangeKind kind) const {
    return static_cast<std::size_t>(std::count_if(changes.begin(), changes.end(),
                                                  [&](const ChangeRecord& one) { return one.kind == kind; }));
  }

  std::unique_ptr<Reconciler> agent;
  std::vector<ChangeRecord> changes;

 private:
  std::unique_ptr<Machine> machine_ = MakeLinuxMachine();
  Catalog catalog_ = MakeCatalog();
  std::vector<std::unique_ptr<const Check>> checks_ = MakeChecks();
  std::unique_ptr<Journal> journal_;
  SystemClock clock_;
  std::unique_ptr<Hints> hints_;
};

class KernelLoopTest : public machine::NetworkNamespaceTest {
 protected:
  void SetUp() override {
    NetworkNamespaceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_EQ(::mount("tmpfs", "/etc", "tmpfs", 0, "size=4m"), 0);
    folder_ = fs::temp_directory_path() / ("rw-loop-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    journal_path_ = (folder_ / "journal").string();
    MakeVeth("rail0", "sw0");
    MakeVeth("rail1", "sw1");
    MakeVeth("mgmt0", "sw2");
    other_ = MakeLinuxMachine();
    for (const char* link : {"rail0", "sw0", "rail1", "sw1", "mgmt0", "sw2"})
      Do("/rtnl/link/" + std::string(link) + "/state", "up");
    before_ = World(*other_);
  }
  void TearDown() override {
    other_.reset();
    if (!folder_.empty()) fs::remove_all(folder_);
    NetworkNamespaceTest::TearDown();
  }
  /// Another hand on the same machine.
  void Do(const std::string& path, const std::string& value) {
    const Status status = other_->Set(path, value);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  std::string Now(const std::string& path) { return other_->Get(path).value_or("(none)"); }

  fs::path folder_;
  std::string journal_path_;
  std::unique_ptr<Machine> other_;
  std::map<std::string, std::string> before_;
};

bool IsCheck(const std::string& key) {
  const auto checks = MakeChecks();
  return std::any_of(checks.begin(), checks.end(),
                     [&](const auto& check) { return check->info().key == key; });
}

TEST_F(KernelLoopTest, BringsTwoRailsUpAndPutsEverythingBack) {
  Life life(journal_path_);
  life.Accept(Profile(1));
  EXPECT_EQ(life.agent->Report().verdict, Verdict::kCompliant) << life.Trouble();
  EXPECT_EQ(Now("/rtnl/link/rail0/mtu"), "4200");
  EXPECT_EQ(Now("/rtnl/addr/rail1"), "10.11.0.1/24");
  EXPECT_NE(Now("/rtnl/route/101").find("rail0"), std::string::npos);
  EXPECT_EQ(life.Count(ChangeKind::kDrift), 0u) << "what we caused is not drift";
  EXPECT_EQ(life.Count(ChangeKind::kCorrective), 0u);

  const std::map<std::string, std::string> after = World(*other_);
  life.agent->Refresh();
  EXPECT_TRUE(life.Settle());
  EXPECT_EQ(World(*other_), after);
  EXPECT_EQ(life.Count(ChangeKind::kIntended), 11u);

  BuildState restore(2);
  restore.Fabric("rail0", "rail0", {"10.10.0.1/24", "fd00:10::1/64"})
      .Fabric("rail1", "rail1", {"10.11.0.1/24"});
  for (const SettingSpec& spec : Profile(1).settings) restore.Restore(spec.key, spec.target);
  life.Accept(restore);
  EXPECT_EQ(World(*other_), before_) << life.Trouble();
  for (const Finding& finding : life.agent->Report().findings)
    EXPECT_TRUE(IsCheck(finding.key)) << finding.key << ": only checks are left: " << life.Trouble();
}

TEST_F(KernelLoopTest, DriftIsFoundByEventAndPutRightWithinASecond) {
  ReconcilerOptions options;
  options.scan_interval = 1h;  // only events can find it
  Life life(journal_path_, options);
  life.Accept(Profile(1));
  ASSERT_EQ(life.agent->Report().verdict, Verdict::kCompliant) << life.Trouble();
  const std::map<std::string, std::string> after = World(*other_);
  const std::pair<const char*, const char*> faults[] = {
      {"/rtnl/link/rail0/mtu", "1500"},
      {"/rtnl/addr/rail1", "10.99.0.1/24"},
      {"/rtnl/route/101", ""},
      {"/rtnl/rule/1002", ""},
      {"/proc/sys/net/ipv4/conf/all/arp_ignore", "0"},
      {"/nft/table/inet/railwright", ""},
      {"/file/etc/nccl.conf", "NCCL_IB_TC=0\nNCCL_DEBUG=INFO\n"},
  };
  for (const auto& [path, value] : faults) {
    SCOPED_TRACE(path);
    const std::size_t corrected = life.Count(ChangeKind::kCorrective);
    const auto start = steady_clock::now();
    Do(path, value);
    EXPECT_TRUE(life.Run([&] { return life.Count(ChangeKind::kCorrective) > corrected; }, 2s))
        << life.Trouble();
    const auto took = steady_clock::now() - start;
    std::cout << path << ": " << std::chrono::duration<double, std::milli>(took).count() << " ms\n";
    EXPECT_LT(took, 1s);
    EXPECT_TRUE(life.Settle());
    EXPECT_EQ(life.changes.back().noticed, "event");
  }
  std::map<std::string, std::string> now = World(*other_);
  EXPECT_EQ(now["/file/etc/nccl.conf"], "NCCL_IB_TC=106\nNCCL_DEBUG=INFO\n") << "lines of others are kept";
  now["/file/etc/nccl.conf"] = after.at("/file/etc/nccl.conf");
  EXPECT_EQ(now, after);
  EXPECT_EQ(life.agent->counters().drift_by_scan, 0u);
  EXPECT_EQ(life.agent->Report().verdict, Verdict::kCompliant) << life.Trouble();
}

TEST_F(KernelLoopTest, RoutesComeBackWithTheirLink) {
  ReconcilerOptions options;
  options.scan_interval = 1h;
  Life life(journal_path_, options);
  life.Accept(Profile(1));
  const std::string routes = Now("/rtnl/route/101");
  for (int i = 0; i < 7; ++i) {  // more often than the limit of contention
    Do("/rtnl/link/rail0/state", "down");
    EXPECT_TRUE(life.Run([&] { return life.agent->Report().verdict == Verdict::kDrifted; }, 2s));
    Do("/rtnl/link/rail0/state", "up");
    EXPECT_TRUE(life.Run([&] { return Now("/rtnl/route/101") == routes; }, 4s)) << life.Trouble();
    EXPECT_TRUE(life.Run([&] { return life.agent->Report().verdict == Verdict::kCompliant; }, 4s))
        << life.Trouble();
  }
  EXPECT_EQ(life.agent->counters().contended, 0u);
}

TEST_F(KernelLoopTest, TheManagementPortAndWhatIsPausedAreNotTouched) {
  BuildState state(1);
  state.Fabric("rail0", "rail0", {"10.10.0.1/24"}).Management("mgmt", "mgmt0");
  state.Enforce("link.mtu", "rail0", "4200").Enforce("link.mtu", "mgmt", "4200");
  Life life(journal_path_);
  life.agent->SetPauses({{"", "link.mtu", "ada", "cable work"}});
  life.Accept(state);
  EXPECT_EQ(Now("/rtnl/link/rail0/mtu"), "1500");
  life.agent->SetPauses({});
  EXPECT_TRUE(life.Settle());
  EXPECT_EQ(Now("/rtnl/link/rail0/mtu"), "4200");
  EXPECT_EQ(Now("/rtnl/link/mgmt0/mtu"), "1500");
}

TEST_F(KernelLoopTest, WhatTheDeviceCannotDoIsToldAndWhatLeansOnNothingGoesOn) {
  BuildState state(1);
  state.Fabric("rail0", "rail0", {"10.10.0.1/24"}).Fabric("rail1", "rail1", {"10.11.0.1/24"});
  for (const char* rail : {"rail0", "rail1"})
    state.Enforce("link.mtu", rail, "4200").Enforce("rail.address", rail, "declared");
  state.Enforce("link.channels", "rail0", "rx=8 tx=8");  // this veth has one queue
  Life life(journal_path_);
  life.Accept(state);
  EXPECT_EQ(Now("/rtnl/link/rail0/mtu"), "4200");
  EXPECT_EQ(Now("/rtnl/addr/rail0"), "10.10.0.1/24");
  EXPECT_EQ(Now("/rtnl/link/rail1/mtu"), "4200");
  EXPECT_EQ(Now("/rtnl/addr/rail1"), "10.11.0.1/24");
  for (const Finding& finding : life.agent->Report().findings) {
    if (finding.target != "rail0" || IsCheck(finding.key)) continue;
    if (finding.key == "link.channels") {
      EXPECT_EQ(finding.verdict, Verdict::kDrifted);
      EXPECT_EQ(finding.reason, "ApplyFailed");
      EXPECT_NE(finding.message.find("rx=8 is more than"), std::string::npos) << finding.message;
    }
  }
}

TEST_F(KernelLoopTest, ARecordingGivesTheSameVerdictsAsTheMachine) {
  {
    Life life(journal_path_);
    life.Accept(Profile(1));
  }
  Do("/rtnl/link/rail0/mtu", "1500");
  const Catalog catalog = MakeCatalog();
  const auto checks = MakeChecks();
  const NodeReport seen = CheckOnce(*other_, catalog, checks, Profile(1));
  EXPECT_EQ(seen.verdict, Verdict::kDrifted);
  const std::string snapshot = (folder_ / "snapshot").string();
  {
    auto recording = MakeRecordingMachine(*other_, snapshot, /*redact=*/false);
    ASSERT_TRUE(recording.ok()) << recording.status().ToString();
    CheckOnce(**recording, catalog, checks, Profile(1));
  }
  auto recorded = OpenSnapshotMachine(snapshot);
  ASSERT_TRUE(recorded.ok()) << recorded.status().ToString();
  const NodeReport again = CheckOnce(**recorded, catalog, checks, Profile(1));
  EXPECT_EQ(again.verdict, seen.verdict);
  ASSERT_EQ(again.findings.size(), seen.findings.size());
  for (std::size_t i = 0; i < seen.findings.size(); ++i)
    EXPECT_EQ(again.findings[i], seen.findings[i]) << seen.findings[i].message << "\n"
                                                   << again.findings[i].message;
}

TEST_F(KernelLoopTest, KilledAnywhereTheNextLifeFinishesAndEverythingCanBePutBack) {
  for (int delay_us = 0; delay_us <= 60'000; delay_us += 4'000) {
    const pid_t child = ForkChild();
    if (child == 0) {
      Life life(journal_path_);
      (void)life.agent->Accept(Profile(1));
      life.Run([] { return false; }, 10s);
      ::_exit(0);
    }
    ::usleep(static_cast<useconds_t>(delay_us));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);

    {
      Life life(journal_path_);
      life.Accept(Profile(1));
      ASSERT_EQ(life.agent->Report().verdict, Verdict::kCompliant) << delay_us << " us: " << life.Trouble();
      BuildState restore(2);
      restore.Fabric("rail0", "rail0", {"10.10.0.1/24", "fd00:10::1/64"})
          .Fabric("rail1", "rail1", {"10.11.0.1/24"});
      for (const SettingSpec& spec : Profile(1).settings) restore.Restore(spec.key, spec.target);
      life.Accept(restore);
      ASSERT_EQ(World(*other_), before_) << delay_us << " us: " << life.Trouble();
    }
  }
}

}  // namespace
}  // namespace railwright
