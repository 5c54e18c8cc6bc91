// The loop as a whole: verdicts, order, what is written and what is not.
#include "tests/reconcile/node.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

TEST(ReconcilerTest, BringsEverythingToTheDeclaredValuesInOrder) {
  Node node;
  node.Apply(Node::State(1)
                 .Enforce("sysctl.a", "", "1")
                 .Enforce("link.channels", "rail0", "8")
                 .Enforce("link.mtu", "rail1", "4200")
                 .Enforce("link.mtu", "rail0", "4200"));
  EXPECT_EQ(node.machine.Writes(),
            (std::vector<std::pair<std::string, std::string>>{{"/rtnl/link/rail0/mtu", "4200"},
                                                              {"/rtnl/link/rail1/mtu", "4200"},
                                                              {"/ethtool/rail0/channels", "8"},
                                                              {"/proc/sys/a", "1"}}));
  const NodeReport& report = node.agent->Report();
  EXPECT_EQ(report.verdict, Verdict::kCompliant);
  EXPECT_TRUE(report.settled);
  EXPECT_EQ(report.generation.value, 1u);
  EXPECT_EQ(report.state_hash, "hash-1");
  ASSERT_EQ(report.findings.size(), 4u);
  EXPECT_EQ(report.findings[0].key, "link.channels");  // sorted by key, then target
  EXPECT_EQ(report.findings[1].target, "rail0");
  EXPECT_EQ(node.Of("link.mtu", "rail0").evidence, Lines{"/rtnl/link/rail0/mtu = 4200"});
  EXPECT_EQ(node.Of("link.mtu", "rail0").code, "RW-1101");
  EXPECT_EQ(node.Changes(ChangeKind::kIntended),
            (Lines{"link.mtu rail0 1500→4200", "link.mtu rail1 1500→4200", "link.channels rail0 4→8",
                   "sysctl.a  0→1"}));
}

TEST(ReconcilerTest, AnEqualValueIsNeverWritten) {
  Node node;
  node.machine.Put("/proc/sys/a", "1");
  node.Apply(Node::State(1).Enforce("sysctl.a", "", "001"));
  EXPECT_TRUE(node.machine.Writes().empty());
  EXPECT_TRUE(node.journal.Originals().empty());
  EXPECT_EQ(node.Of("sysctl.a").verdict, Verdict::kCompliant);
}

TEST(ReconcilerTest, TheOriginalIsDurableBeforeTheFirstWriteAndEveryStepEnds) {
  Node node;
  node.Apply(Node::State(1).Enforce("sysctl.a", "", "1").Enforce("file.etc/x", "", "text"));
  EXPECT_EQ(node.journal.log, (Lines{"prepared 1", "original sysctl.a ", "begin sysctl.a ", "end sysctl.a ",
                                     "original file.etc/x ", "begin file.etc/x ", "end file.etc/x "}));
  EXPECT_EQ(node.journal.OriginalOf("sysctl.a", "")->value, "0");
  EXPECT_EQ(node.journal.OriginalOf("file.etc/x", "")->kind, Original::Kind::kAbsent);
  EXPECT_TRUE(node.journal.OpenSteps().empty());
}

TEST(ReconcilerTest, WithoutAJournalNothingIsWritten) {
  Node node;
  node.Boot();
  node.journal.fail_from = node.journal.calls + 1;
  node.Apply(Node::State(1).Enforce("sysctl.a", "", "1"));
  EXPECT_TRUE(node.machine.Writes().empty());
  EXPECT_EQ(node.Of("sysctl.a").reason, "ApplyFailed");
  EXPECT_NE(node.Of("sysctl.a").message.find("No space left on device"), std::string::npos);
  node.journal.fail_from = 0;  // room again: it heals by itself
  node.Pass(3s);
  EXPECT_EQ(node.Value("/proc/sys/a"), "1");
  EXPECT_EQ(node.Of("sysctl.a").verdict, Verdict::kCompliant);
}

TEST(ReconcilerTest, AFailedReadIsUnknownNeverCompliant) {
  Node node;
  node.machine.FailReads("/proc/sys/a", FromErrno(EIO, "/proc/sys/a"));
  node.Apply(Node::State(1).Enforce("sysctl.a", "", "0"));
  const Finding& finding = node.Of("sysctl.a");
  EXPECT_EQ(finding.verdict, Verdict::kUnknown);
  EXPECT_EQ(finding.reason, "ReadFailed");
  EXPECT_NE(finding.message.find("/proc/sys/a: Input/output error"), std::string::npos) << finding.message;
  EXPECT_EQ(finding.evidence, Lines{"/proc/sys/a: Internal: Input/output error"});
  EXPECT_TRUE(node.machine.Writes().empty());
  EXPECT_EQ(node.agent->Report().verdict, Verdict::kUnknown);
}

TEST(ReconcilerTest, ADesiredStateThatAsksForNothingIsUnknown) {
  Node node;
  node.Apply(Node::State(1));
  EXPECT_EQ(node.agent->Report().verdict, Verdict::kUnknown);
  EXPECT_TRUE(node.agent->Report().settled);
}

TEST(ReconcilerTest, WhatDoesNotApplyIsNotDriftAndNotWritten) {
  Node node;
  node.machine.Put("/ethtool/rail0/channels", "unsupported");
  node.Apply(Node::State(1).Enforce("link.channels", "rail0", "8"));
  EXPECT_EQ(node.Of("link.channels", "rail0").verdict, Verdict::kNotApplicable);
  EXPECT_EQ(node.Of("link.channels", "rail0").reason, "NoSuchKnob");
  EXPECT_TRUE(node.machine.Writes().empty());
}

TEST(ReconcilerTest, APortThatIsNotThereIsUnknownAndBoundWhenItComes) {
  Node node;
  node.machine.Remove("/rtnl/link/rail1");
  node.Apply(Node::State(1).Enforce("link.mtu", "rail1", "4200").Enforce("sysctl.a", "", "1"));
  EXPECT_EQ(node.Of("link.mtu", "rail1").verdict, Verdict::kUnknown);
  EXPECT_EQ(node.Of("link.mtu", "rail1").reason, "PortNotFound");
  EXPECT_NE(node.Of("link.mtu", "rail1").message.find("no interface rail1"), std::string::npos);
  EXPECT_EQ(node.Value("/proc/sys/a"), "1");
  node.machine.Put("/rtnl/link/rail1/mtu", "1500");
  node.Drift("/rtnl/link/rail1", "mtu=1500");
  EXPECT_EQ(node.Value("/rtnl/link/rail1/mtu"), "4200");
  EXPECT_EQ(node.Of("link.mtu", "rail1").verdict, Verdict::kCompliant);
}

TEST(ReconcilerTest, AnInterfaceThatGoesAndComesBackIsPutRightAgain) {
  Node node;
  node.Apply(Node::State(1).Enforce("link.mtu", "rail1", "4200"));
  node.machine.Remove("/rtnl/link/rail1");
  node.Hint("/rtnl/link/rail1");
  node.Settle();
  EXPECT_EQ(node.Of("link.mtu", "rail1").reason, "PortNotFound");
  EXPECT_EQ(node.agent->Report().verdict, Verdict::kUnknown);
  node.machine.Put("/rtnl/link/rail1/mtu", "1500");
  node.Drift("/rtnl/link/rail1", "mtu=1500");
  EXPECT_EQ(node.Value("/rtnl/link/rail1/mtu"), "4200");
  EXPECT_EQ(node.Changes(ChangeKind::kCorrective), Lines{"link.mtu rail1 1500→4200"});
}

TEST(ReconcilerTest, AValueThatCannotBeWorkedOutHereIsUnknown) {
  Node node;
  node.machine.Put("/rtnl/addr/rail0", "").Put("/rtnl/addr/rail1", "");
  node.Apply(Node::State(1)
                 .Enforce("rail.address", "rail0", "declared")
                 .Enforce("rail.address", "rail1", "declared"));
  EXPECT_EQ(node.Value("/rtnl/addr/rail0"), "10.10.0.1/24");
  EXPECT_EQ(node.Of("rail.address", "rail0").desired, "10.10.0.1/24");
  EXPECT_EQ(node.Of("rail.address", "rail1").verdict, Verdict::kUnknown);
  EXPECT_EQ(node.Of("rail.address", "rail1").reason, "InvalidValue");
}

TEST(ReconcilerTest, ObserveModeReportsAndNeverWrites) {
  Node node;
  node.Apply(Node::State(1).Observe("link.mtu", "rail0", "4200").Observe("sysctl.a", "", "0"));
  EXPECT_TRUE(node.machine.Writes().empty());
  EXPECT_EQ(node.Of("link.mtu", "rail0").verdict, Verdict::kDrifted);
  EXPECT_EQ(node.Of("link.mtu", "rail0").reason, "ObserveMode");
  EXPECT_NE(node.Of("link.mtu", "rail0").fix.find("railctl apply -f test.yaml"), std::string::npos);
  EXPECT_EQ(node.Of("sysctl.a").verdict, Verdict::kCompliant);
  EXPECT_TRUE(node.agent->Report().settled);
}

struct Refusal {
  const char* name;
  const char* key;
  const char* target;
  const char* value;
  const char* reason;
  Verdict verdict;
};
void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }
class RefusalTest : public testing::TestWithParam<Refusal> {};

TEST_P(RefusalTest, IsTheReasonAndNothingIsWritten) {
  const Refusal& refusal = GetParam();
  Node node;
  node.machine.Put("/rtnl/link/eno1/mtu", "1500");
  node.machine.Put("/sys/class/net/eno1/device/uevent", "DRIVER=ixgbe\nPCI_SLOT_NAME=0000:01:00.0");
  node.Apply(Node::State(1).Enforce(refusal.key, refusal.target, refusal.value));
  const Finding& finding = node.Of(refusal.key, refusal.target);
  EXPECT_EQ(finding.reason, refusal.reason);
  EXPECT_EQ(finding.verdict, refusal.verdict);
  EXPECT_FALSE(finding.fix.empty());
  EXPECT_TRUE(node.machine.Writes().empty());
  EXPECT_TRUE(node.journal.Originals().empty());
  EXPECT_TRUE(node.agent->Report().settled);
}

INSTANTIATE_TEST_SUITE_P(
    Plan, RefusalTest,
    testing::Values(
        Refusal{"Storage", "link.mtu", "nvme", "9000", "NotFabricPort", Verdict::kDrifted},
        Refusal{"ManagementPort", "link.mtu", "mgmt", "9000", "NotFabricPort", Verdict::kDrifted},
        Refusal{"BlastHitsManagement", "node.blast", "", "1", "ManagementPath", Verdict::kDrifted},
        Refusal{"BlastHitsTheCard", "node.card", "", "1", "ManagementPath", Verdict::kDrifted},
        Refusal{"ReadOnlySetting", "link.rings", "rail0", "4096", "ObserveOnly", Verdict::kDrifted},
        Refusal{"NextBoot", "kernel.cmdline", "", "iommu=pt", "NeedsReboot", Verdict::kPending},
        Refusal{"TooDisruptive", "link.speed", "rail0", "400", "ApprovalNeeded", Verdict::kPending}),
    [](const auto& one) { return one.param.name; });

TEST(ReconcilerTest, TheInterfaceOfTheControllerConnectionIsNeverWrittenEvenIfDeclaredFabric) {
  Node node;
  node.options.management.netdevs = {"rail0"};
  node.Apply(Node::State(1).Enforce("link.mtu", "rail0", "4200").Enforce("link.mtu", "rail1", "4200"));
  EXPECT_EQ(node.Of("link.mtu", "rail0").reason, "ManagementPath");
  EXPECT_EQ(node.Value("/rtnl/link/rail0/mtu"), "1500");
  EXPECT_EQ(node.Value("/rtnl/link/rail1/mtu"), "4200");
}

TEST(ReconcilerTest, AWayToTheControllerThatMovesIsLeftAloneBeforeTheNextWrite) {
  Node node;
  node.options.management.netdevs = {"rail0"};
  node.Apply(Node::State(1).Enforce("link.mtu", "rail0", "4200").Enforce("link.mtu", "rail1", "4200"));
  ASSERT_EQ(node.Value("/rtnl/link/rail1/mtu"), "4200");
  node.agent->SetManagement({{"rail1"}, ""});
  node.Drift("/rtnl/link/rail1/mtu", "1500");
  EXPECT_EQ(node.Value("/rtnl/link/rail1/mtu"), "1500") << "the drift and the move came together";
  EXPECT_EQ(node.Of("link.mtu", "rail1").reason, "ManagementPath");
  EXPECT_EQ(node.Value("/rtnl/link/rail0/mtu"), "4200") << "no longer in the way";
  node.agent->SetManagement({});
  node.Settle();
  EXPECT_EQ(node.Value("/rtnl/link/rail1/mtu"), "4200");
}

TEST(ReconcilerTest, WhileTheWayToTheControllerIsUnknownNothingIsWrittenThatAnInterfaceCouldFeel) {
  Node node;
  node.machine.Put("/proc/blast", "0");
  node.options.management.unknown = "route to 10.0.0.7: Network is unreachable";
  const DesiredState state = Node::State(1)
                                 .Enforce("link.mtu", "rail0", "4200")
                                 .Enforce("node.blast", "", "1")
                                 .Enforce("sysctl.a", "", "1");
  node.Apply(state);
  EXPECT_EQ(node.Value("/rtnl/link/rail0/mtu"), "1500");
  EXPECT_EQ(node.Value("/proc/blast"), "0");
  EXPECT_EQ(node.Value("/proc/sys/a"), "1") << "felt by no interface";
  const Finding& finding = node.Of("link.mtu", "rail0");
  EXPECT_EQ(finding.reason, "ManagementPath");
  EXPECT_NE(finding.message.find("route to 10.0.0.7: Network is unreachable"), std::string::npos)
      << finding.message;
  EXPECT_NE(finding.fix.find("--management-netdev"), std::string::npos) << finding.fix;
  const auto plan = node.agent->DryRun(state);
  ASSERT_TRUE(plan.ok());
  for (const Step& step : plan->steps) EXPECT_EQ(step.refused, "ManagementPath") << step.key;
  node.agent->SetManagement({{"eno1"}, ""});
  node.Settle();
  EXPECT_EQ(node.Value("/rtnl/link/rail0/mtu"), "4200");
  EXPECT_EQ(node.Value("/proc/blast"), "0") << "which disturbs eno1";
}

TEST(ReconcilerTest, WhatTheManagementInterfaceStandsUponIsManagementToo) {
  Node node;
  node.options.management.netdevs = {"bond0.7"};
  node.machine.Put("/sys/class/net/bond0.7/lower_bond0/x", "").Put("/sys/class/net/bond0/lower_rail1/x", "");
  node.Apply(Node::State(1).Enforce("link.mtu", "rail1", "4200"));
  EXPECT_EQ(node.Of("link.mtu", "rail1").reason, "ManagementPath");
  EXPECT_EQ(node.Value("/rtnl/link/rail1/mtu"), "1500");
}

TEST(ReconcilerTest, WhatIsStoredForTheNextBootIsWrittenOnceAndPendingUntilThen) {
  Node node;
  node.Apply(Node::State(1).Enforce("nic.nvconfig", "", "1"));
  EXPECT_EQ(node.Value("/nvconfig/next"), "1");
  EXPECT_EQ(node.Of("nic.nvconfig").verdict, Verdict::kPending);
  EXPECT_EQ(node.Of("nic.nvconfig").reason, "NeedsReboot");
  EXPECT_TRUE(node.agent->Report().settled);
  EXPECT_TRUE(node.journal.OpenSteps().empty());
  node.Pass(10min);
  EXPECT_EQ(node.machine.Writes().size(), 1u);
  node.machine.Put("/nvconfig/current", "1");  // the node has booted
  node.Pass(2min);
  EXPECT_EQ(node.Of("nic.nvconfig").verdict, Verdict::kCompliant);
  EXPECT_EQ(node.machine.Writes().size(), 1u);
}

TEST(ReconcilerTest, AHigherCapAllowsWhatPolicyAllows) {
  Node node;
  node.options.max_disruption = Disruption::kLinkFlap;
  node.Apply(Node::State(1).Enforce("link.speed", "rail0", "400"));
  EXPECT_EQ(node.Value("/ethtool/rail0/speed"), "400");
}

struct Poison {
  const char* name;
  DesiredState state;
  const char* says;
};
void PrintTo(const Poison& poison, std::ostream* out) { *out << poison.name; }
class PoisonTest : public testing::TestWithParam<Poison> {};

TEST_P(PoisonTest, IsRefusedAndTheLastStateStays) {
  Node node;
  node.Apply(Node::State(1).Enforce("sysctl.a", "", "1"));
  const Status status = node.agent->Accept(GetParam().state);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find(GetParam().says), std::string::npos) << status.message();
  node.Drift("/proc/sys/a", "7");
  EXPECT_EQ(node.Value("/proc/sys/a"), "1");
  EXPECT_EQ(node.agent->Report().generation.value, 1u);
}

INSTANTIATE_TEST_SUITE_P(
    Accept, PoisonTest,
    testing::Values(
        Poison{"UnknownKey", Node::State(2).Enforce("link.mut", "rail0", "1"), "did you mean \"link.mtu\"?"},
        Poison{"BadValue", Node::State(2).Enforce("link.mtu", "rail0", "huge"),
               "link.mtu on rail0 = \"huge\""},
        Poison{"NamesThePlace", Node::State(2).Enforce("link.mtu", "rail0", "huge"), "test.yaml:1:3"},
        Poison{"UnknownPort", Node::State(2).Enforce("link.mtu", "rail7", "1"), "rail0, rail1, nvme, mgmt"},
        Poison{"PortMissing", Node::State(2).Enforce("link.mtu", "", "1"), "applies to a port"},
        Poison{"PortTooMuch", Node::State(2).Enforce("sysctl.a", "rail0", "1"), "applies to the node"},
        Poison{"Twice", Node::State(2).Enforce("sysctl.a", "", "1").Enforce("sysctl.a", "", "2"),
               "declared twice"},
        Poison{"PortTwice", Node::State(2).Fabric("rail0"), "rail0 is declared twice"}),
    [](const auto& one) { return one.param.name; });

TEST(ReconcilerTest, GenerationsNeverGoBackAndTheSameOneIsTakenOnce) {
  Node node;
  node.Apply(Node::State(5).Enforce("sysctl.a", "", "1"));
  EXPECT_EQ(node.agent->Accept(Node::State(4).Enforce("sysctl.a", "", "2")).code(),
            Code::kFailedPrecondition);
  EXPECT_TRUE(node.agent->Accept(Node::State(5).Enforce("sysctl.a", "", "1")).ok());
  EXPECT_GT(node.agent->NextDue(), node.clock.Now()) << "nothing new, nothing due";
}

TEST(ReconcilerTest, AKeyThatIsNoLongerDeclaredIsLeftAloneAndItsOriginalKept) {
  Node node;
  node.Apply(Node::State(1).Enforce("sysctl.a", "", "1").Enforce("sysctl.b", "", "1"));
  node.Apply(Node::State(2).Enforce("sysctl.b", "", "1"));
  EXPECT_EQ(node.agent->Report().findings.size(), 1u);
  node.Drift("/proc/sys/a", "9");
  EXPECT_EQ(node.Value("/proc/sys/a"), "9");
  EXPECT_EQ(node.journal.OriginalOf("sysctl.a", "")->value, "0");
}

TEST(ReconcilerTest, RestorePutsTheOriginalBackOnceAndForgetsIt) {
  Node node;
  node.Apply(Node::State(1).Enforce("sysctl.a", "", "1").Enforce("file.etc/x", "", "text"));
  node.Apply(Node::State(2).Restore("sysctl.a", "").Restore("file.etc/x", "").Restore("sysctl.b", ""));
  EXPECT_EQ(node.Value("/proc/sys/a"), "0");
  EXPECT_FALSE(node.machine.Exists("/file/etc/x"));
  EXPECT_TRUE(node.journal.Originals().empty());
  EXPECT_TRUE(node.agent->Report().findings.empty()) << "no longer declared, and done";
  EXPECT_EQ(node.Changes(ChangeKind::kRestored), (Lines{"sysctl.a  1→0", "file.etc/x  text→"}));
  node.Drift("/proc/sys/a", "5");
  EXPECT_EQ(node.Value("/proc/sys/a"), "5") << "once only";
}

TEST(ReconcilerTest, ARestoreThatFailsIsReportedAndKeptInTheJournal) {
  Node node;
  node.Apply(Node::State(1).Enforce("sysctl.a", "", "1"));
  node.machine.FailWrites("/proc/sys/a", FromErrno(EPERM, "/proc/sys/a"));
  node.Apply(Node::State(2).Restore("sysctl.a", ""));
  EXPECT_EQ(node.Of("sysctl.a").verdict, Verdict::kDrifted);
  EXPECT_EQ(node.Of("sysctl.a").reason, "ApplyFailed");
  EXPECT_TRUE(node.journal.OriginalOf("sysctl.a", ""));
  EXPECT_EQ(node.Changes(ChangeKind::kRestored), Lines{"sysctl.a  1→0 FAILED"});
}

TEST(ReconcilerTest, AnOriginalThatIsAlreadyBackIsForgottenWithoutAWrite) {
  Node node;
  node.Apply(Node::State(1).Enforce("sysctl.a", "", "1"));
  node.machine.Put("/proc/sys/a", "0");
  node.machine.ClearLog();
  node.Apply(Node::State(2).Restore("sysctl.a", ""));
  EXPECT_TRUE(node.machine.Writes().empty());
  EXPECT_TRUE(node.journal.Originals().empty());
}

TEST(ReconcilerTest, DryRunTellsTheStepsInOrderAndWritesNothing) {
  Node node;
  node.Apply(Node::State(1).Enforce("sysctl.a", "", "1"));
  node.machine.ClearLog();
  const auto world = node.machine.World();
  const auto plan = node.agent->DryRun(Node::State(2)
                                           .Enforce("sysctl.b", "", "1")
                                           .Enforce("link.mtu", "rail0", "4200")
                                           .Observe("link.channels", "rail0", "8")
                                           .Enforce("sysctl.c", "", "0")
                                           .Restore("sysctl.a", ""));
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ(plan->node, "gpu-001");
  EXPECT_EQ(plan->generation.value, 2u);
  ASSERT_EQ(plan->steps.size(), 4u) << "an equal value is no step";
  EXPECT_EQ(plan->steps[0].key, "link.mtu");
  EXPECT_EQ(plan->steps[0].from, "1500");
  EXPECT_EQ(plan->steps[0].to, "4200");
  EXPECT_EQ(plan->steps[0].blast, Lines{"rail0"});
  EXPECT_EQ(plan->steps[0].disruption, Disruption::kTrafficBlip);
  EXPECT_EQ(plan->steps[0].refused, "");
  EXPECT_EQ(plan->steps[1].key, "link.channels");
  EXPECT_EQ(plan->steps[1].refused, "ObserveMode");
  EXPECT_EQ(plan->steps[2].key, "sysctl.a");
  EXPECT_EQ(plan->steps[2].to, "0");
  EXPECT_EQ(plan->findings.size(), 5u);
  EXPECT_EQ(node.machine.World(), world);
  EXPECT_TRUE(node.machine.Writes().empty());
  EXPECT_FALSE(node.agent->DryRun(Node::State(2).Enforce("no.such", "", "1")).ok());
}

TEST(ReconcilerTest, WhatADryRunSaysIsWhatHappens) {
  Node node;
  const DesiredState state = Node::State(1)
                                 .Enforce("link.mtu", "rail0", "4200")
                                 .Enforce("link.speed", "rail0", "400")
                                 .Enforce("sysctl.a", "", "1");
  node.Boot();
  const auto plan = node.agent->DryRun(state);
  ASSERT_TRUE(plan.ok());
  Lines planned;
  for (const Step& step : plan->steps)
    if (step.refused.empty())
      planned.push_back(step.key + " " + step.target + " " + step.from + "→" + step.to);
  node.Apply(state);
  EXPECT_EQ(node.Changes(ChangeKind::kIntended), planned);
}

TEST(ReconcilerTest, CheckOnceReportsWithoutWriting) {
  Node node;
  const NodeReport report = CheckOnce(node.machine, node.catalog, node.checks,
                                      Node::State(1)
                                          .Enforce("link.mtu", "rail0", "4200")
                                          .Enforce("sysctl.a", "", "0")
                                          .Enforce("no.such", "", "1"));
  EXPECT_EQ(report.verdict, Verdict::kDrifted);
  ASSERT_EQ(report.findings.size(), 3u);
  EXPECT_EQ(report.findings[0].reason, "Differs");
  EXPECT_EQ(report.findings[1].reason, "UnknownSetting");
  EXPECT_EQ(report.findings[1].verdict, Verdict::kUnknown);
  EXPECT_EQ(report.findings[2].verdict, Verdict::kCompliant);
  EXPECT_TRUE(node.machine.Writes().empty());
}

TEST(ReconcilerTest, ChecksAreReportedBesideTheSettings) {
  Node node;
  node.checks.push_back(std::make_unique<ProbeCheck>());
  node.machine.Put("/proc/check", "good");
  node.Apply(Node::State(1).Enforce("sysctl.a", "", "1"));
  EXPECT_EQ(node.Of("probe.check").verdict, Verdict::kCompliant);
  EXPECT_EQ(node.Of("probe.check").code, "RW-2901");
  EXPECT_EQ(node.Of("probe.check").evidence, Lines{"/proc/check = good"});
  node.Drift("/proc/check", "bad");
  EXPECT_EQ(node.Of("probe.check").verdict, Verdict::kDrifted);
  EXPECT_EQ(node.agent->Report().verdict, Verdict::kDrifted);
  node.Drift("/proc/check", "none");
  EXPECT_EQ(node.Of("probe.check").verdict, Verdict::kUnknown);
  EXPECT_EQ(node.Of("probe.check").reason, "NoChecksRun");
  EXPECT_TRUE(node.Changes(ChangeKind::kDrift).empty()) << "a check is no setting";
}

TEST(ReconcilerTest, StartMakesWhatSettingsNeedAndStopRemovesIt) {
  Node node;
  node.Boot();
  EXPECT_TRUE(node.machine.Exists("/sys/kernel/config/rdma_cm/mlx5_0"));
  EXPECT_EQ(node.journal.Prepared(), Lines{"/sys/kernel/config/rdma_cm/mlx5_0"});
  node.Boot();  // died and came back: it is ours still
  EXPECT_EQ(node.journal.Prepared(), Lines{"/sys/kernel/config/rdma_cm/mlx5_0"});
  EXPECT_TRUE(node.agent->Stop().ok());
  EXPECT_FALSE(node.machine.Exists("/sys/kernel/config/rdma_cm/mlx5_0"));
  EXPECT_TRUE(node.journal.Prepared().empty());
}

TEST(ReconcilerTest, WhatWasThereBeforeStartIsNotRemovedAtStop) {
  Node node;
  node.machine.Put("/sys/kernel/config/rdma_cm/mlx5_0", "directory");
  node.Boot();
  EXPECT_TRUE(node.agent->Stop().ok());
  EXPECT_TRUE(node.machine.Exists("/sys/kernel/config/rdma_cm/mlx5_0"));
}

TEST(ReconcilerTest, AReadThatFailsBecausePrepareFailedSaysSo) {
  Node node;
  node.machine.FailWrites("/sys/kernel/config/rdma_cm/mlx5_0",
                          FromErrno(EPERM, "/sys/kernel/config/rdma_cm/mlx5_0"));
  node.machine.Remove("/proc/configfs");
  node.Apply(Node::State(1).Enforce("node.configfs", "", "1").Enforce("sysctl.a", "", "1"));
  EXPECT_NE(node.Of("node.configfs").message.find("preparing it: PermissionDenied"), std::string::npos);
  EXPECT_EQ(node.Value("/proc/sys/a"), "1") << "one setting's trouble is not another's";
}

TEST(ReconcilerTest, StopLeavesEnforcedValuesAsTheyAre) {
  Node node;
  node.Apply(Node::State(1).Enforce("sysctl.a", "", "1"));
  EXPECT_TRUE(node.agent->Stop().ok());
  EXPECT_EQ(node.Value("/proc/sys/a"), "1");
}

TEST(ReconcilerTest, BytesThatAreNoTextDoNotReachTheReport) {
  Node node;
  node.machine.Put("/file/etc/x", "bin\xff\x01\n");
  node.Apply(Node::State(1).Observe("file.etc/x", "", "text"));
  EXPECT_EQ(node.Of("file.etc/x").observed, "bin\\xff\\x01\n");
  EXPECT_EQ(node.Of("file.etc/x").evidence, Lines{"/file/etc/x = bin\\xff\\x01"});
}

TEST(ReconcilerTest, WatchedPathsAreWhatWasRead) {
  Node node;
  node.checks.push_back(std::make_unique<ProbeCheck>());
  node.Apply(Node::State(1).Enforce("link.mtu", "rail0", "4200").Enforce("sysctl.a", "", "1"));
  const Lines paths = node.agent->WatchedPaths();
  for (const char* path : {"/rtnl/link/rail0/mtu", "/proc/sys/a", "/proc/check", "/rtnl/link/rail0"})
    EXPECT_NE(std::find(paths.begin(), paths.end(), path), paths.end()) << path;
  EXPECT_TRUE(std::is_sorted(paths.begin(), paths.end()));
  EXPECT_EQ(std::adjacent_find(paths.begin(), paths.end()), paths.end());
}

TEST(ReconcilerTest, WhatAWriteOfOursUndoesElsewhereIsPutRightInTheSamePass) {
  Node node;
  node.machine.Put("/rtnl/addr/rail0", "");
  node.machine.on_set = [&](const std::string& path, const std::string&) {
    if (path == "/rtnl/addr/rail0") node.machine.Put("/rtnl/link/rail0/mtu", "1500");
  };
  node.Apply(
      Node::State(1).Enforce("link.mtu", "rail0", "4200").Enforce("rail.address", "rail0", "declared"));
  EXPECT_EQ(node.Value("/rtnl/link/rail0/mtu"), "4200");
  EXPECT_EQ(node.agent->Report().verdict, Verdict::kCompliant);
  EXPECT_TRUE(node.Changes(ChangeKind::kDrift).empty()) << "what we caused is not drift";
}

TEST(ReconcilerTest, TwoSettingsThatUndoEachOtherEndAsContended) {
  Node node;
  node.machine.on_set = [&](const std::string& path, const std::string&) {
    if (path == "/proc/sys/a") node.machine.Put("/proc/sys/b", "0");
    if (path == "/proc/sys/b") node.machine.Put("/proc/sys/a", "0");
  };
  node.Apply(Node::State(1).Enforce("sysctl.a", "", "1").Enforce("sysctl.b", "", "1"));
  node.Pass(10min);
  EXPECT_LT(node.machine.Writes().size(), 20u);
  const bool a = node.Of("sysctl.a").reason == "Contended", b = node.Of("sysctl.b").reason == "Contended";
  EXPECT_TRUE(a || b);
  EXPECT_NE(node.Of(a ? "sysctl.a" : "sysctl.b").message.find("another setting of the desired state"),
            std::string::npos);
  EXPECT_TRUE(node.Changes(ChangeKind::kDrift).empty());
}

}  // namespace
}  // namespace railwright
