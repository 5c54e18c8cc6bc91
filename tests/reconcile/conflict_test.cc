// Two wishes of one place.
#include <algorithm>

#include "agent/machine/linux_machine.h"
#include "railwright/explain.h"
#include "tests/reconcile/node.h"

namespace railwright {
namespace {

// twin.a and twin.b are two names of /proc/twin; card.np and card.rp of what the card of a rail stores.
Catalog Twins() {
  auto list = TestSettings();
  const auto add = [&](Knob::Make make) { list.push_back(std::make_unique<Knob>(std::move(make))); };
  add({.key = "twin.a", .code = "RW-1901", .path = "/proc/twin", .order = 70, .shared = true});
  add({.key = "twin.b", .code = "RW-1902", .path = "/proc/twin", .order = 71, .shared = true});
  for (const char* key : {"card.np", "card.rp"})
    add({.key = key,
         .code = key == std::string("card.np") ? "RW-1903" : "RW-1904",
         .path = "/card/current",
         .targets = TargetKind::kPort,
         .order = 80,
         .disruption = Disruption::kLinkFlap,
         .next = "/card/next",
         .shared = true,
         .stored = true});
  return Catalog(std::move(list));
}

struct TwinNode : Node {
  TwinNode() {
    catalog = Twins();
    machine.Put("/proc/twin", "0").Put("/card/current", "0").Put("/card/next", "0");
  }
  static BuildState Both(std::uint64_t generation, const std::string& a, const std::string& b) {
    return std::move(State(generation).Enforce("twin.a", "", a).Enforce("twin.b", "", b));
  }
};

TEST(ConflictTest, TwoWishesOfOnePlaceThatDifferAreBothRefused) {
  TwinNode node;
  node.Apply(TwinNode::Both(1, "1", "2"));
  EXPECT_EQ(node.Value("/proc/twin"), "0");
  EXPECT_TRUE(node.machine.Writes().empty());
  for (const char* key : {"twin.a", "twin.b"}) {
    const Finding& finding = node.Of(key);
    EXPECT_EQ(finding.verdict, Verdict::kDrifted) << key;
    EXPECT_EQ(finding.reason, "ConflictingValues") << key;
    for (const char* part : {"twin.a = 1", "twin.b = 2", "/proc/twin", "neither is written"})
      EXPECT_NE(finding.message.find(part), std::string::npos) << finding.message;
    EXPECT_EQ(finding.fix, "declare the same value for both, or take one of them out, or buy a second knob");
  }
  const auto pages = ReasonPages();
  EXPECT_TRUE(std::any_of(pages.begin(), pages.end(),
                          [](const ReasonPage& page) { return page.word == "ConflictingValues"; }));
  node.Pass(std::chrono::hours(1));
  EXPECT_TRUE(node.machine.Writes().empty()) << "nor later";
}

TEST(ConflictTest, APlanAndACheckTellItToo) {
  TwinNode node;
  const DesiredState state = TwinNode::Both(1, "1", "2");
  node.Boot();
  const auto plan = node.agent->DryRun(state);
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->steps.size(), 2U);
  for (const Step& step : plan->steps) EXPECT_EQ(step.refused, "ConflictingValues");
  const NodeReport report = CheckOnce(node.machine, node.catalog, node.checks, state);
  for (const Finding& finding : report.findings) EXPECT_EQ(finding.reason, "ConflictingValues");
}

TEST(ConflictTest, TheOneThatIsAsDeclaredSaysSoToo) {
  TwinNode node;
  node.machine.Put("/proc/twin", "1");
  node.Apply(TwinNode::Both(1, "1", "2"));
  EXPECT_EQ(node.Of("twin.a").verdict, Verdict::kCompliant);
  EXPECT_NE(node.Of("twin.a").message.find("twin.b = 2"), std::string::npos) << node.Of("twin.a").message;
  EXPECT_EQ(node.Of("twin.b").reason, "ConflictingValues");
  EXPECT_EQ(node.Value("/proc/twin"), "1");
}

TEST(ConflictTest, TwoThatAgreeAreWrittenOnceAndInTheNextGenerationToo) {
  TwinNode node;
  node.Apply(TwinNode::Both(1, "1", "2"));
  node.Apply(TwinNode::Both(2, "2", "02"));
  EXPECT_EQ(node.machine.Writes().size(), 1U);
  EXPECT_EQ(node.Of("twin.a").verdict, Verdict::kCompliant);
  EXPECT_EQ(node.Of("twin.b").verdict, Verdict::kCompliant);
  EXPECT_EQ(node.Of("twin.a").message.find("neither"), std::string::npos) << node.Of("twin.a").message;
}

TEST(ConflictTest, WhatCannotBeReadNamesNoPlaceAndIsNotWrittenEither) {
  TwinNode node;
  node.machine.FailReads("/proc/twin", Status(Code::kInternal, "no answer"));
  node.Apply(TwinNode::Both(1, "1", "2"));
  EXPECT_EQ(node.Of("twin.a").reason, "ReadFailed");
  node.machine.FailReads("/proc/twin", Ok());
  node.Pass(std::chrono::minutes(5));
  EXPECT_EQ(node.Of("twin.a").reason, "ConflictingValues");
  EXPECT_TRUE(node.machine.Writes().empty());
}

TEST(ConflictTest, WhatIsDeclaredGoesBeforeARestore) {
  TwinNode node;
  node.Apply(TwinNode::State(1).Enforce("twin.a", "", "1"));
  node.Apply(TwinNode::State(2).Enforce("twin.b", "", "1").Restore("twin.a", ""));
  EXPECT_EQ(node.Value("/proc/twin"), "1") << "the original of twin.a was 0";
  EXPECT_EQ(node.Of("twin.b").verdict, Verdict::kCompliant);
  EXPECT_EQ(node.Of("twin.b").message.find("twin.a"), std::string::npos) << "nothing stands in its way";
  EXPECT_EQ(node.Of("twin.a").reason, "ConflictingValues");
  EXPECT_NE(node.Of("twin.a").message.find("what is declared stays"), std::string::npos);
  node.Apply(TwinNode::State(3).Restore("twin.a", ""));
  EXPECT_EQ(node.Value("/proc/twin"), "0");
}

TEST(ConflictTest, ADifferentWishThatIsStoredAlreadyIsToldBesideThePending) {
  TwinNode node;
  const auto state = [](std::uint64_t generation) {
    return std::move(BuildState(generation).Fabric("rail0", "rail0").Enforce("card.np", "rail0", "3"));
  };
  node.Apply(state(1));
  EXPECT_EQ(node.Of("card.np", "rail0").verdict, Verdict::kPending);
  node.Apply(state(2).Enforce("card.rp", "rail0", "4"));
  EXPECT_EQ(node.Of("card.np", "rail0").verdict, Verdict::kPending);
  EXPECT_NE(node.Of("card.np", "rail0").message.find("card.rp on rail0 = 4"), std::string::npos);
  EXPECT_EQ(node.Of("card.rp", "rail0").reason, "ConflictingValues");
  EXPECT_EQ(node.Value("/card/next"), "3");
}

// The real catalogue: what two keys mean is decided on the node.
TEST(ConflictTest, TheRealKeysOfOnePlaceAreFoundOnARecordedMachine) {
  auto opened = OpenSnapshotMachine(RAILWRIGHT_SOURCE_DIR "/tests/snapshots/written-8x-cx7");
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  const Catalog catalog = MakeCatalog();
  const auto reason = [&](const std::string& key, const std::string& target, const DesiredState& state) {
    for (const Finding& finding : CheckOnce(**opened, catalog, {}, state).findings)
      if (finding.key == key && finding.target == target) return finding.reason + ": " + finding.message;
    return std::string("no finding");
  };
  const auto state = [] { return BuildState(1).Fabric("rail0", "enp24s0np0"); };
  const DesiredState sides = state().Enforce("ecn.np", "rail0", "3").Enforce("ecn.rp", "rail0", "3,4");
  for (const char* key : {"ecn.np", "ecn.rp"})
    EXPECT_TRUE(reason(key, "rail0", sides).starts_with("ConflictingValues")) << reason(key, "rail0", sides);
  const DesiredState same = state()
                                .Enforce("ecn.np", "rail0", "3")
                                .Enforce("ecn.rp", "rail0", "3")
                                .Enforce("nic.nvconfig.ROCE_CC_PRIO_MASK_P1", "rail0", "8");
  EXPECT_TRUE(reason("ecn.np", "rail0", same).starts_with("Differs")) << reason("ecn.np", "rail0", same);
  const std::string named = "sysctl.net.ipv4.conf.enp24s0np0.arp_ignore";
  const std::string each = "sysctl.net.ipv4.conf.{netdev}.arp_ignore";
  const DesiredState sysctls = state().Enforce(named, "", "1").Enforce(each, "rail0", "2");
  EXPECT_TRUE(reason(named, "", sysctls).starts_with("ConflictingValues")) << reason(named, "", sysctls);
  EXPECT_TRUE(reason(each, "rail0", sysctls).starts_with("ConflictingValues"));
}

}  // namespace
}  // namespace railwright
