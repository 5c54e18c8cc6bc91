// Values that wait for a boot, and boots that do not bring them.
#include "agent/reconcile/reboot_guard.h"

#include "tests/reconcile/node.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

constexpr const char* kBootA = "aaaa1111-0000-4000-8000-000000000001";
constexpr const char* kBootB = "bbbb2222-0000-4000-8000-000000000002";
constexpr const char* kBootC = "cccc3333-0000-4000-8000-000000000003";

DesiredState Wants(std::uint64_t generation, const std::string& value) {
  return Node::State(generation).Enforce("nic.nvconfig", "", value);
}

/// A node with a flash whose firmware may refuse what is stored there.
class RebootGuardTest : public testing::Test {
 protected:
  RebootGuardTest() { node.options.boot_id = kBootA; }

  /// The node boots: another boot id, and an agent that starts over the same journal.
  void NodeBoots(const char* boot_id, const DesiredState& state) {
    node.options.boot_id = boot_id;
    node.clock.Advance(5min);
    node.Boot();
    node.Apply(state);
  }
  const Finding& Flash() const { return node.Of("nic.nvconfig"); }
  void ExpectInVain(const std::string& where) const {
    EXPECT_EQ(Flash().verdict, Verdict::kDrifted) << where;
    EXPECT_EQ(Flash().reason, "RebootDidNotHelp") << where << ": " << Flash().message;
  }
  void ExpectNeedsReboot(const std::string& where) const {
    EXPECT_EQ(Flash().verdict, Verdict::kPending) << where;
    EXPECT_EQ(Flash().reason, "NeedsReboot") << where << ": " << Flash().message;
  }

  Node node;
};

TEST_F(RebootGuardTest, AValueThatTheBootDidNotBringAsksForNoOtherBootAndIsNotWrittenAgain) {
  node.Apply(Wants(1, "1"));
  ExpectNeedsReboot("stored");
  ASSERT_EQ(node.machine.Writes().size(), 1u);
  NodeBoots(kBootB, Wants(1, "1"));
  ExpectInVain("after the boot");
  EXPECT_TRUE(node.agent->Report().settled);
  node.Pass(30min);
  ExpectInVain("half an hour later");
  NodeBoots(kBootC, Wants(1, "1"));
  ExpectInVain("after one more boot");
  node.Pass(30min);
  EXPECT_TRUE(node.machine.Writes().empty());
  EXPECT_TRUE(node.Changes(ChangeKind::kDrift).empty()) << "it was never as declared";
}

TEST_F(RebootGuardTest, SaysWhatIsStoredSinceWhenWhatRunsAndWhatIsLeft) {
  node.Apply(Wants(1, "1"));
  NodeBoots(kBootB, Wants(1, "1"));
  for (const char* part :
       {"nic.nvconfig: 1 is stored since 2026-11-30 00:00 UTC (boot aaaa1111)", "(boot bbbb2222)", "reads 0"})
    EXPECT_NE(Flash().message.find(part), std::string::npos) << Flash().message;
  for (const char* part : {"power-cycle", "release notes", "take nic.nvconfig out of Profile/test"})
    EXPECT_NE(Flash().fix.find(part), std::string::npos) << Flash().fix;
}

TEST_F(RebootGuardTest, AnAgentThatStartsAnewWithinOneBootStillAsksForIt) {
  node.Apply(Wants(1, "1"));
  NodeBoots(kBootA, Wants(1, "1"));
  ExpectNeedsReboot("the agent started anew");
  EXPECT_TRUE(node.machine.Writes().empty());
}

TEST_F(RebootGuardTest, WhatTheBootBroughtIsForgotten) {
  node.Apply(Wants(1, "1"));
  ASSERT_EQ(node.journal.Awaited().size(), 1u);
  node.machine.Put("/nvconfig/current", "1");
  NodeBoots(kBootB, Wants(1, "1"));
  EXPECT_EQ(Flash().verdict, Verdict::kCompliant);
  EXPECT_TRUE(node.journal.Awaited().empty());
  node.machine.Put("/nvconfig/current", "0").Put("/nvconfig/next", "0");  // set back by hand, and reset
  node.Pass(2min);
  ExpectNeedsReboot("stored again, for a boot that has not come");
}

TEST_F(RebootGuardTest, WhatSomebodyElseStoredIsRememberedAtFirstSight) {
  node.machine.Put("/nvconfig/next", "1");
  node.Apply(Node::State(1).Observe("nic.nvconfig", "", "1"));
  ExpectNeedsReboot("first sight");
  EXPECT_TRUE(node.machine.Writes().empty());
  NodeBoots(kBootB, Node::State(1).Observe("nic.nvconfig", "", "1"));
  ExpectInVain("after the boot");
}

TEST_F(RebootGuardTest, AnotherWishMayAskForABootAgain) {
  node.Apply(Wants(1, "1"));
  NodeBoots(kBootB, Wants(1, "1"));
  ExpectInVain("the first wish");
  node.Apply(Wants(2, "2"));
  ExpectNeedsReboot("the second");
  EXPECT_EQ(node.Value("/nvconfig/next"), "2");
  EXPECT_EQ(node.journal.AwaitedOf("nic.nvconfig", "")->value, "2");
  NodeBoots(kBootC, Wants(2, "2"));
  ExpectInVain("the second, after its boot");
}

TEST_F(RebootGuardTest, APersonWhoPausesAndResumesMayTryABootAgain) {
  node.Apply(Wants(1, "1"));
  NodeBoots(kBootB, Wants(1, "1"));
  node.agent->SetPauses({{"", "nic.nvconfig", "ada", "power-cycled it"}});
  node.Settle();
  ExpectInVain("paused");
  node.agent->SetPauses({});
  node.Settle();
  ExpectNeedsReboot("resumed");
  NodeBoots(kBootC, Wants(1, "1"));
  ExpectInVain("after that boot");
}

TEST_F(RebootGuardTest, AKeyThatIsNoLongerDeclaredIsForgotten) {
  node.Apply(Wants(1, "1"));
  node.Apply(Node::State(2).Enforce("sysctl.a", "", "1"));
  EXPECT_TRUE(node.journal.Awaited().empty());
  NodeBoots(kBootB, Wants(3, "1"));
  ExpectNeedsReboot("declared anew, stored still: at first sight");
}

TEST_F(RebootGuardTest, WhatABootDroppedFromTheStoreIsStoredOnceMoreAndAsksForNoOtherBoot) {
  node.Apply(Wants(1, "1"));
  node.machine.Put("/nvconfig/next", "0");
  NodeBoots(kBootB, Wants(1, "1"));
  EXPECT_EQ(node.Value("/nvconfig/next"), "1");
  ExpectInVain("stored again");
  node.Pass(30min);
  EXPECT_EQ(node.machine.Writes().size(), 1u);
}

TEST_F(RebootGuardTest, WhatWasTakenOutBeforeAnyBootWaitsForOneWhenItIsStoredAgain) {
  node.Apply(Wants(1, "1"));
  node.agent->SetPauses({{"", "", "ada", ""}});
  node.Drift("/nvconfig/next", "0");  // no boot can bring it now
  EXPECT_TRUE(node.journal.Awaited().empty());
  node.agent.reset();
  NodeBoots(kBootB, Wants(1, "1"));
  EXPECT_EQ(node.Value("/nvconfig/next"), "1");
  ExpectNeedsReboot("stored in this boot");
}

TEST_F(RebootGuardTest, ADryRunDoesNotAskForAnotherBootEither) {
  node.Apply(Wants(1, "1"));
  NodeBoots(kBootB, Wants(1, "1"));
  const auto log = node.journal.log;
  const auto plan = node.agent->DryRun(Wants(2, "1"));
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(plan->steps.empty());
  EXPECT_EQ(plan->findings.at(0).reason, "RebootDidNotHelp");
  EXPECT_EQ(node.journal.log, log) << "which it only reads";
}

TEST_F(RebootGuardTest, WithoutABootIdNothingIsConcluded) {
  node.options.boot_id.clear();
  node.Apply(Wants(1, "1"));
  EXPECT_TRUE(node.journal.Awaited().empty());
  NodeBoots("", Wants(1, "1"));
  ExpectNeedsReboot("who knows");
}

TEST_F(RebootGuardTest, AnUnreadableValueKeepsWhatIsRemembered) {
  node.Apply(Wants(1, "1"));
  node.machine.FailReads("/nvconfig/current", FromErrno(EIO, "/nvconfig/current"));
  NodeBoots(kBootB, Wants(1, "1"));
  EXPECT_EQ(Flash().verdict, Verdict::kUnknown);
  node.machine.FailReads("/nvconfig/current", Ok());
  node.Pass(2min);
  ExpectInVain("readable again");
}

TEST_F(RebootGuardTest, AJournalThatRefusesIsAskedAgainWithTheNextScan) {
  node.Boot();
  node.journal.error = FromErrno(ENOSPC, "journal");
  node.machine.Put("/nvconfig/next", "1");  // so that the memory is the only thing to be journalled
  node.journal.fail_from = node.journal.calls + 1;
  node.Apply(Wants(1, "1"));
  ExpectNeedsReboot("not remembered");
  EXPECT_TRUE(node.journal.Awaited().empty());
  node.journal.fail_from = 0;
  node.Pass(2min);
  EXPECT_EQ(node.journal.Awaited().size(), 1u);
  const int calls = node.journal.calls;
  node.Pass(1h);
  EXPECT_EQ(node.journal.calls, calls) << "remembered once is enough";
}

TEST_F(RebootGuardTest, AnAgentThatDiesBetweenTheWriteAndItsMemoryKnowsTheBootOfItsNextLife) {
  for (int call = 1; call <= 4; ++call) {  // original, begin, end, awaited
    Node fresh;
    fresh.options.boot_id = kBootA;
    fresh.Boot();
    fresh.journal.die_at = fresh.journal.calls + call;
    ASSERT_TRUE(fresh.agent->Accept(Wants(1, "1")).ok());
    EXPECT_THROW(fresh.Settle(), Died) << call;
    fresh.Boot();
    fresh.Apply(Wants(1, "1"));
    EXPECT_EQ(fresh.Of("nic.nvconfig").reason, "NeedsReboot") << call;
    ASSERT_EQ(fresh.journal.Awaited().size(), 1u) << call;
    EXPECT_EQ(fresh.journal.Awaited()[0].boot_id, kBootA) << call;
    fresh.options.boot_id = kBootB;
    fresh.Boot();
    fresh.Apply(Wants(1, "1"));
    EXPECT_EQ(fresh.Of("nic.nvconfig").reason, "RebootDidNotHelp") << call;
  }
}

// A port with a card that tells its firmware, and settings whose values wait for a boot.
class CardFlashTest : public testing::Test {
 protected:
  CardFlashTest() {
    std::vector<std::unique_ptr<const Setting>> list;
    list.push_back(std::make_unique<Knob>(Knob::Make{.key = "card.flash",
                                                     .code = "RW-1901",
                                                     .path = "/nvconfig/current",
                                                     .targets = TargetKind::kPort,
                                                     .effect = Effect::kNextBoot,
                                                     .next = "/nvconfig/next"}));
    list.push_back(std::make_unique<Knob>(Knob::Make{.key = "boot.loader",
                                                     .code = "RW-1902",
                                                     .path = "/nvconfig/current",
                                                     .effect = Effect::kNeedsReboot,
                                                     .next = "/nvconfig/next"}));
    node.catalog = Catalog(std::move(list));
    node.options.boot_id = kBootA;
    node.machine.Put("/sys/class/net/rail0/device/uevent", "PCI_SLOT_NAME=0000:18:00.0\n");
    node.machine.Put("/sys/bus/pci/devices/0000:18:00.0/infiniband/mlx5_0/node_guid", "x");
    node.machine.Put("/sys/class/infiniband/mlx5_0/node_guid", "x");
    Firmware("28.39.1002\n");
  }
  void Firmware(const std::string& version) {
    node.machine.Put("/sys/class/infiniband/mlx5_0/fw_ver", version);
  }
  void NodeBoots(const char* boot_id, const DesiredState& state) {
    node.options.boot_id = boot_id;
    node.Boot();
    node.Apply(state);
  }
  static DesiredState Flash() { return Node::State(1).Enforce("card.flash", "rail0", "1"); }
  std::string Reason() { return node.Of("card.flash", "rail0").reason; }

  Node node;
};

TEST_F(CardFlashTest, AnotherFirmwareMayAskForABootAgain) {
  node.Apply(Flash());
  EXPECT_EQ(node.journal.AwaitedOf("card.flash", "rail0")->firmware, "28.39.1002");
  NodeBoots(kBootB, Flash());
  EXPECT_EQ(Reason(), "RebootDidNotHelp");
  EXPECT_NE(node.Of("card.flash", "rail0").fix.find("`mstfwreset -d 0000:18:00.0 -y r`"), std::string::npos)
      << node.Of("card.flash", "rail0").fix;
  EXPECT_NE(node.Of("card.flash", "rail0").message.find("firmware 28.39.1002"), std::string::npos);
  Firmware("28.43.2026\n");  // which nothing that the setting reads tells
  node.Pass(2min);
  EXPECT_EQ(Reason(), "NeedsReboot");
  NodeBoots(kBootC, Flash());
  EXPECT_EQ(Reason(), "RebootDidNotHelp");
}

TEST_F(CardFlashTest, AFirmwareThatIsNotToldIsNoOtherFirmware) {
  node.Apply(Flash());
  node.machine.Remove("/sys/class/infiniband/mlx5_0/fw_ver");
  NodeBoots(kBootB, Flash());
  EXPECT_EQ(Reason(), "RebootDidNotHelp");
  Firmware("28.39.1002");
  node.Pass(2min);
  EXPECT_EQ(Reason(), "RebootDidNotHelp");
}

TEST_F(CardFlashTest, AFirmwareThatIsToldLaterInTheSameBootIsRemembered) {
  node.machine.Remove("/sys/class/infiniband/mlx5_0/fw_ver");
  node.Apply(Flash());
  EXPECT_EQ(node.journal.AwaitedOf("card.flash", "rail0")->firmware, "");
  Firmware("28.39.1002");
  node.Pass(2min);
  EXPECT_EQ(node.journal.AwaitedOf("card.flash", "rail0")->firmware, "28.39.1002");
}

TEST_F(CardFlashTest, ABootLoaderWhoseFileIsNotInForceAfterABootIsLookedAt) {
  const DesiredState state = Node::State(1).Enforce("boot.loader", "", "1");
  node.machine.Put("/nvconfig/next", "1");
  node.Apply(state);
  EXPECT_EQ(node.Of("boot.loader").reason, "NeedsReboot");
  NodeBoots(kBootB, state);
  EXPECT_EQ(node.Of("boot.loader").reason, "RebootDidNotHelp");
  EXPECT_NE(node.Of("boot.loader").fix.find("boot loader"), std::string::npos) << node.Of("boot.loader").fix;
  // Taken out by hand and put there again: somebody knows what they do.
  node.Drift("/nvconfig/next", "0");
  EXPECT_TRUE(node.journal.Awaited().empty());
  node.Drift("/nvconfig/next", "1");
  EXPECT_EQ(node.Of("boot.loader").reason, "NeedsReboot");
}

}  // namespace
}  // namespace railwright
