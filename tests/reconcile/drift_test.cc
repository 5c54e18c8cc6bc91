// Drift, contention, pauses and time.
#include <set>

#include "tests/reconcile/node.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

Node& Enforced(Node& node) {
  node.Apply(Node::State(1)
                 .Enforce("sysctl.a", "", "1")
                 .Enforce("sysctl.b", "", "1")
                 .Enforce("link.mtu", "rail0", "4200"));
  node.machine.ClearLog();
  return node;
}

TEST(DriftTest, IsFoundByEventPutRightAndKeptAsHistory) {
  Node node;
  Enforced(node);
  node.Drift("/proc/sys/a", "7", "sysctl[4711]");
  EXPECT_EQ(node.Value("/proc/sys/a"), "1");
  EXPECT_EQ(node.Changes(ChangeKind::kDrift), Lines{"sysctl.a  1→7"});
  EXPECT_EQ(node.Changes(ChangeKind::kCorrective), Lines{"sysctl.a  7→1"});
  const ChangeRecord& corrective = node.history.back();
  EXPECT_EQ(corrective.by, "sysctl[4711]");
  EXPECT_EQ(corrective.noticed, "event");
  EXPECT_EQ(corrective.took, 2ms) << "from the hint to the read-back";
  EXPECT_EQ(corrective.generation.value, 1u);
  EXPECT_TRUE(corrective.ok);
  EXPECT_EQ(node.agent->counters().drift_by_event, 1u);
  EXPECT_EQ(node.agent->counters().drift_by_scan, 0u);
  EXPECT_EQ(node.agent->counters().corrected, 1u);
  EXPECT_EQ(node.agent->Report().verdict, Verdict::kCompliant);
}

TEST(DriftTest, SequenceNumbersGoOnFromTheFirstOneGiven) {
  Node node;
  node.options.first_change_sequence = 42;
  Enforced(node);
  node.Drift("/proc/sys/a", "7");
  node.Changes(ChangeKind::kDrift);
  for (std::size_t i = 0; i < node.history.size(); ++i) EXPECT_EQ(node.history[i].sequence, 42 + i);
  EXPECT_EQ(node.history.size(), 5u);
}

TEST(DriftTest, IsFoundByTheScanWhenNobodyTells) {
  Node node;
  Enforced(node);
  node.machine.Put("/proc/sys/a", "7");
  node.Pass(30s);
  EXPECT_EQ(node.Value("/proc/sys/a"), "7");
  node.Pass(70s);
  EXPECT_EQ(node.Value("/proc/sys/a"), "1");
  EXPECT_EQ(node.agent->counters().drift_by_scan, 1u);
  EXPECT_EQ(node.agent->counters().drift_by_event, 0u);
  ASSERT_EQ(node.Changes(ChangeKind::kCorrective).size(), 1u);
  EXPECT_EQ(node.history.back().noticed, "scan");
}

TEST(DriftTest, InObserveModeIsRecordedOncePerDeviation) {
  Node node;
  node.machine.Put("/proc/sys/a", "1");
  node.Apply(Node::State(1).Observe("sysctl.a", "", "1"));
  for (const char* value : {"7", "8"}) node.Drift("/proc/sys/a", value);
  node.Pass(5min);
  EXPECT_EQ(node.Changes(ChangeKind::kDrift), Lines{"sysctl.a  1→7"});
  node.Drift("/proc/sys/a", "1");
  node.Drift("/proc/sys/a", "9");
  EXPECT_EQ(node.Changes(ChangeKind::kDrift), (Lines{"sysctl.a  1→7", "sysctl.a  1→9"}));
  EXPECT_TRUE(node.machine.Writes().empty());
  EXPECT_EQ(node.Of("sysctl.a").reason, "ObserveMode");
}

TEST(DriftTest, NeverWrittenInObserveModeHoweverOftenItReturns) {
  Node node;
  node.machine.Put("/proc/sys/a", "1");
  node.Apply(Node::State(1).Observe("sysctl.a", "", "1"));
  for (int i = 0; i < 20; ++i) node.Drift("/proc/sys/a", i % 2 == 0 ? "7" : "1");
  EXPECT_TRUE(node.Changes(ChangeKind::kContended).empty()) << "who does not write does not fight";
}

TEST(DriftTest, AValueThatFlapsDoesNotFloodTheHistory) {
  Node node;
  node.machine.Put("/proc/sys/a", "1");
  node.Apply(Node::State(1).Observe("sysctl.a", "", "1"));
  for (int i = 0; i < 2000; ++i) {
    node.Drift("/proc/sys/a", i % 2 == 0 ? "7" : "1");
    node.Pass(100ms);
  }
  EXPECT_EQ(node.Changes(ChangeKind::kDrift).size(), 20u);
  EXPECT_EQ(node.agent->counters().drift_by_event, 1000u);
}

TEST(DriftTest, WhatWeWroteOurselvesIsNoDrift) {
  Node node;
  node.our_pids = [](int pid) { return pid == 99; };
  node.machine.on_set = [&](const std::string& path, const std::string&) {
    if (node.agent) node.agent->Notice({{path, "railwright[99]", 99, node.clock.Now()}});
  };
  Enforced(node);
  node.Settle();
  EXPECT_TRUE(node.Changes(ChangeKind::kDrift).empty());
  EXPECT_TRUE(node.Changes(ChangeKind::kCorrective).empty());
  node.Drift("/proc/sys/a", "7");
  EXPECT_EQ(node.Changes(ChangeKind::kDrift).size(), 1u);
  EXPECT_EQ(node.agent->counters().drift_by_event, 1u);
}

TEST(DriftTest, OurOwnNameIsNeverGivenAsTheCulprit) {
  Node node;
  node.our_pids = [](int pid) { return pid == 99; };
  Enforced(node);
  node.machine.Put("/proc/sys/a", "7");
  node.agent->Notice({{"/proc/sys/a", "railwright[99]", 99, node.clock.Now()}});
  node.Settle();
  ASSERT_EQ(node.Changes(ChangeKind::kDrift).size(), 1u);
  EXPECT_EQ(node.history.back().by, "");
}

TEST(DriftTest, ANewGenerationWithTheSameWishDoesNotHideDrift) {
  Node node;
  Enforced(node);
  node.machine.Put("/proc/sys/a", "7");
  node.Apply(Node::State(2).Enforce("sysctl.a", "", "1").Enforce("sysctl.b", "", "2"));
  EXPECT_EQ(node.Changes(ChangeKind::kDrift), Lines{"sysctl.a  1→7"});
  EXPECT_EQ(node.Changes(ChangeKind::kCorrective), Lines{"sysctl.a  7→1"});
  const Lines intended = node.Changes(ChangeKind::kIntended);
  ASSERT_FALSE(intended.empty());
  EXPECT_EQ(intended.back(), "sysctl.b  1→2");
}

TEST(DriftTest, ANewAddressBehindTheSameWordIsIntended) {
  Node node;
  node.machine.Put("/rtnl/addr/rail0", "");
  node.Apply(Node::State(1).Enforce("rail.address", "rail0", "declared"));
  node.Apply(
      BuildState(2).Fabric("rail0", {}, {"10.10.0.77/24"}).Enforce("rail.address", "rail0", "declared"));
  EXPECT_EQ(node.Value("/rtnl/addr/rail0"), "10.10.0.77/24");
  EXPECT_TRUE(node.Changes(ChangeKind::kDrift).empty());
  EXPECT_EQ(node.Changes(ChangeKind::kIntended).back(), "rail.address rail0 10.10.0.1/24→10.10.0.77/24");
}

TEST(DriftTest, SeveralAtOnceAreEachRecorded) {
  Node node;
  Enforced(node);
  node.machine.Put("/proc/sys/a", "7").Put("/proc/sys/b", "8").Put("/rtnl/link/rail0/mtu", "1500");
  node.Hint("/proc/sys/a");  // the hints of the others are still on their way
  node.Settle();
  EXPECT_EQ(node.Changes(ChangeKind::kDrift).size(), 3u);
  EXPECT_EQ(node.Changes(ChangeKind::kCorrective).size(), 3u);
  EXPECT_EQ(node.agent->Report().verdict, Verdict::kCompliant);
}

TEST(DriftTest, AReadThatFailsForAWhileHidesNothing) {
  Node node;
  Enforced(node);
  node.machine.FailReads("/proc/sys/a", FromErrno(EIO, "/proc/sys/a"));
  node.Hint("/proc/sys/a");
  node.Settle();
  EXPECT_EQ(node.Of("sysctl.a").verdict, Verdict::kUnknown);
  EXPECT_TRUE(node.Changes(ChangeKind::kDrift).empty());
  node.machine.FailReads("/proc/sys/a", Ok());
  node.Drift("/proc/sys/a", "7");
  EXPECT_EQ(node.Changes(ChangeKind::kDrift), Lines{"sysctl.a  1→7"});
}

TEST(HintTest, APartialPassReadsOnlyWhatIsHinted) {
  Node node;
  Enforced(node);
  node.clock.Advance(1ms);
  node.Hint("/proc/sys/a");
  node.Settle();
  EXPECT_EQ(node.machine.Reads(), Lines{"/proc/sys/a"});
  node.machine.ClearLog();
  node.Hint("/proc/sys/unrelated");
  node.Hint("/proc/sys/aa");  // a longer name is no child
  node.Settle();
  EXPECT_TRUE(node.machine.Reads().empty());
  node.Hint("/proc/sys");  // above both
  node.Settle();
  EXPECT_EQ(node.machine.Reads(), (Lines{"/proc/sys/a", "/proc/sys/b"}));
}

TEST(HintTest, AnEmptyPrefixMeansEverything) {
  Node node;
  Enforced(node);
  node.machine.Put("/proc/sys/a", "7").Put("/rtnl/link/rail0/mtu", "1500");
  node.clock.Advance(1ms);
  node.Hint("");
  node.Settle();
  EXPECT_EQ(node.Value("/proc/sys/a"), "1");
  EXPECT_EQ(node.Value("/rtnl/link/rail0/mtu"), "4200");
  EXPECT_EQ(node.agent->counters().drift_by_event, 2u);
}

TEST(HintTest, OneThatIsOlderThanTheLastLookCostsNothing) {
  Node node;
  Enforced(node);
  const auto before = node.clock.Now() - 1ms;
  node.agent->Notice({{"/proc/sys/a", {}, 0, before}});
  EXPECT_GT(node.agent->NextDue(), node.clock.Now());
}

TEST(HintTest, AStormCostsFreshnessNotWork) {
  Node node;
  Enforced(node);
  int passes = 0;
  const auto end = node.clock.Now() + 10s;
  while (node.clock.Now() < end) {
    node.clock.Advance(1ms);
    node.Hint("/proc/sys/a");
    node.machine.ClearLog();
    node.agent->Tick();
    passes += node.machine.Reads().empty() ? 0 : 1;
  }
  EXPECT_LE(passes, 20 + 10 * 10 + 1);
  EXPECT_GE(passes, 100);
  EXPECT_LE(node.agent->NextDue() - node.clock.Now(), 101ms);
}

TEST(ContentionTest, AValueThatKeepsComingBackIsLeftAloneWithItsOwnerNamed) {
  Node node;
  Enforced(node);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(node.Value("/proc/sys/a"), "1");
    node.Drift("/proc/sys/a", "7", "tuned[812]");
    node.Pass(1s);
  }
  EXPECT_EQ(node.Value("/proc/sys/a"), "7") << "left alone";
  const Finding& finding = node.Of("sysctl.a");
  EXPECT_EQ(finding.verdict, Verdict::kDrifted);
  EXPECT_EQ(finding.reason, "Contended");
  EXPECT_NE(finding.message.find("tuned[812]"), std::string::npos) << finding.message;
  EXPECT_EQ(node.Changes(ChangeKind::kContended), Lines{"sysctl.a  1→7"});
  EXPECT_EQ(node.history.back().by, "tuned[812]");
  EXPECT_EQ(node.Changes(ChangeKind::kCorrective).size(), 4u);
  EXPECT_EQ(node.agent->counters().contended, 1u);
  node.machine.ClearLog();
  node.Pass(1h);
  EXPECT_TRUE(node.machine.Writes().empty());
  EXPECT_EQ(node.Of("sysctl.b").verdict, Verdict::kCompliant) << "the others go on";
  node.Drift("/proc/sys/b", "5");
  EXPECT_EQ(node.Value("/proc/sys/b"), "1");
}

TEST(ContentionTest, ReturnsThatAreFarApartAreNoFight) {
  Node node;
  node.options.contention_window = 60s;
  Enforced(node);
  for (int i = 0; i < 20; ++i) {
    node.Drift("/proc/sys/a", "7");
    node.Pass(16s);
  }
  EXPECT_EQ(node.Value("/proc/sys/a"), "1");
  EXPECT_TRUE(node.Changes(ChangeKind::kContended).empty());
}

void Fight(Node& node, const std::string& path, const std::string& value) {
  for (int i = 0; i < node.options.contention_limit; ++i) {
    node.Drift(path, value);
    node.Pass(1s);
  }
}

TEST(ContentionTest, AKnownOwnerThatRunsIsNamed) {
  Node node;
  node.machine.Put("/proc/1/comm", "init")
      .Put("/proc/812/comm", "NetworkManager")
      .Put("/proc/813/comm", "sh");
  node.machine.Put("/proc/900/comm", "systemd-network");  // the kernel keeps 15 bytes of "systemd-networkd"
  Enforced(node);
  node.machine.ClearLog();
  node.Drift("/rtnl/link/rail0/mtu", "1500");
  const Lines reads = node.machine.Reads();
  EXPECT_EQ(std::find(reads.begin(), reads.end(), "/proc/812/comm"), reads.end())
      << "looked up only when needed";
  Fight(node, "/rtnl/link/rail0/mtu", "1500");
  EXPECT_EQ(node.Of("link.mtu", "rail0").reason, "Contended");
  EXPECT_NE(node.Of("link.mtu", "rail0").message.find("NetworkManager[812]"), std::string::npos);
  EXPECT_NE(node.Of("link.mtu", "rail0").message.find("systemd-networkd[900]"), std::string::npos);
}

TEST(ContentionTest, WhenNoneOfThemRunsTheKnownOwnersAreListed) {
  Node node;
  node.machine.Put("/proc/1/comm", "init");
  Enforced(node);
  Fight(node, "/rtnl/link/rail0/mtu", "1500");
  EXPECT_NE(node.Of("link.mtu", "rail0").message.find("unknown; known owners of this knob: NetworkManager"),
            std::string::npos);
}

TEST(ContentionTest, ANewGenerationTakesEnforcementUpAgain) {
  Node node;
  Enforced(node);
  Fight(node, "/proc/sys/a", "7");
  EXPECT_EQ(node.Of("sysctl.a").reason, "Contended");
  node.Apply(Node::State(2).Enforce("sysctl.a", "", "1"));
  EXPECT_EQ(node.Value("/proc/sys/a"), "1");
  EXPECT_EQ(node.Of("sysctl.a").verdict, Verdict::kCompliant);
}

TEST(ContentionTest, APauseThatIsLiftedTakesEnforcementUpAgain) {
  Node node;
  Enforced(node);
  Fight(node, "/proc/sys/a", "7");
  node.agent->SetPauses({{"", "sysctl.a", "ada", ""}});
  node.Settle();
  EXPECT_EQ(node.Value("/proc/sys/a"), "7");
  EXPECT_EQ(node.Of("sysctl.a").reason, "Paused");
  node.agent->SetPauses({});
  node.Settle();
  EXPECT_EQ(node.Value("/proc/sys/a"), "1");
}

struct PauseCase {
  const char* name;
  Pause pause;
  bool stops_a, stops_mtu;
};
void PrintTo(const PauseCase& one, std::ostream* out) { *out << one.name; }
class PauseTest : public testing::TestWithParam<PauseCase> {};

TEST_P(PauseTest, StopsWhatItNamesAndNothingElse) {
  Node node;
  Enforced(node);
  node.agent->SetPauses({GetParam().pause});
  node.Drift("/proc/sys/a", "7");
  node.Drift("/rtnl/link/rail0/mtu", "1500");
  EXPECT_EQ(node.Value("/proc/sys/a"), GetParam().stops_a ? "7" : "1");
  EXPECT_EQ(node.Value("/rtnl/link/rail0/mtu"), GetParam().stops_mtu ? "1500" : "4200");
  if (GetParam().stops_a) {
    EXPECT_EQ(node.Of("sysctl.a").reason, "Paused");
    EXPECT_NE(node.Of("sysctl.a").message.find("paused by ada: cable work"), std::string::npos);
  }
  EXPECT_EQ(node.Changes(ChangeKind::kDrift).size(), 2u) << "a pause stops writing, not seeing";
  node.agent->SetPauses({});
  node.Settle();
  EXPECT_EQ(node.Value("/proc/sys/a"), "1");
  EXPECT_EQ(node.Value("/rtnl/link/rail0/mtu"), "4200");
  EXPECT_EQ(node.Changes(ChangeKind::kCorrective).size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(
    Pauses, PauseTest,
    testing::Values(PauseCase{"Everything", {"", "", "ada", "cable work"}, true, true},
                    PauseCase{"ThisNode", {"gpu-001", "", "ada", "cable work"}, true, true},
                    PauseCase{"AnotherNode", {"gpu-002", "", "ada", "cable work"}, false, false},
                    PauseCase{"OneKey", {"", "sysctl.a", "ada", "cable work"}, true, false},
                    PauseCase{"AFamily", {"", "sysctl.<name>", "ada", "cable work"}, true, false},
                    PauseCase{"AnotherKey", {"", "sysctl.b", "ada", "cable work"}, false, false},
                    PauseCase{"KeyOnAnotherNode", {"gpu-002", "sysctl.a", "ada", ""}, false, false}),
    [](const auto& one) { return one.param.name; });

TEST(PauseTest, OneThatComesInTheMiddleOfATickStopsTheVeryNextWrite) {
  Node node;
  bool paused = false;
  node.options.paused_now = [&](std::string_view) { return paused; };
  node.machine.on_set = [&](const std::string& path, const std::string&) {
    if (path == "/proc/sys/a") paused = true;
  };
  node.Apply(
      Node::State(1).Enforce("sysctl.a", "", "1").Enforce("sysctl.b", "", "1").Enforce("sysctl.c", "", "1"));
  EXPECT_EQ(node.machine.Writes().size(), 1u);
  EXPECT_EQ(node.Of("sysctl.a").verdict, Verdict::kCompliant) << "what is done stays";
  EXPECT_EQ(node.Of("sysctl.b").reason, "Paused");
  EXPECT_EQ(node.Of("sysctl.c").reason, "Paused");
  EXPECT_TRUE(node.journal.OpenSteps().empty());
  paused = false;
  node.Pass(2min);
  EXPECT_EQ(node.Value("/proc/sys/b"), "1");
  EXPECT_EQ(node.Value("/proc/sys/c"), "1");
}

TEST(ScanTest, IsSpreadByTheJitterAndReproducibleByTheSeed) {
  const auto times = [](std::uint64_t seed) {
    Node node;
    node.options.seed = seed;
    Enforced(node);
    std::vector<std::int64_t> list;
    for (int i = 0; i < 50; ++i) {
      const auto due = node.agent->NextDue();
      list.push_back(std::chrono::round<std::chrono::milliseconds>(due - node.clock.Now()).count());
      node.clock.AdvanceTo(due);
      const auto scans = node.agent->counters().scans;
      node.agent->Tick();
      EXPECT_EQ(node.agent->counters().scans, scans + 1);
    }
    return list;
  };
  const auto list = times(7);
  for (const auto interval : list) {
    EXPECT_GE(interval, 54'000);
    EXPECT_LE(interval, 66'000);
  }
  EXPECT_GT(std::set<std::int64_t>(list.begin(), list.end()).size(), 40u);
  EXPECT_EQ(times(7), list);
  EXPECT_NE(times(8), list);
}

TEST(ScanTest, ThatFindsNothingChangesNothing) {
  Node node;
  node.checks.push_back(std::make_unique<ProbeCheck>());
  node.machine.Put("/proc/check", "good");
  Enforced(node);
  const NodeReport before = node.agent->Report();
  node.clock.AdvanceTo(node.agent->NextDue());
  EXPECT_FALSE(node.agent->Tick());
  EXPECT_EQ(node.agent->Report().findings, before.findings);
  EXPECT_TRUE(node.machine.Writes().empty());
}

TEST(ScanTest, RefreshMakesOneAtOnce) {
  Node node;
  Enforced(node);
  node.machine.Put("/proc/sys/a", "7");
  node.agent->Refresh();
  EXPECT_EQ(node.agent->NextDue(), node.clock.Now());
  EXPECT_TRUE(node.agent->Tick());
  EXPECT_EQ(node.Value("/proc/sys/a"), "1");
}

TEST(ScanTest, TheReportOfTheOldGenerationStandsUntilTheNewOneWasLookedAt) {
  Node node;
  Enforced(node);
  ASSERT_TRUE(node.agent->Accept(Node::State(2).Enforce("sysctl.c", "", "1")).ok());
  EXPECT_EQ(node.agent->Report().generation.value, 1u);
  EXPECT_TRUE(node.agent->Tick());
  EXPECT_EQ(node.agent->Report().generation.value, 2u);
  ASSERT_EQ(node.agent->Report().findings.size(), 1u);
}

}  // namespace
}  // namespace railwright
