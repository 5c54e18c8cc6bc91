// Writes that are only stored for the next boot, because of the place and not of the setting.
#include "tests/reconcile/node.h"

namespace railwright {
namespace {

// card.np is what the card of a rail runs with; a write goes to its flash.
struct FlashNode : Node {
  FlashNode() {
    auto list = TestSettings();
    list.push_back(std::make_unique<Knob>(Knob::Make{.key = "card.np",
                                                     .code = "RW-1903",
                                                     .path = "/card/current",
                                                     .targets = TargetKind::kPort,
                                                     .order = 80,
                                                     .disruption = Disruption::kLinkFlap,
                                                     .next = "/card/next",
                                                     .stored = true}));
    catalog = Catalog(std::move(list));
    machine.Put("/card/current", "0").Put("/card/next", "0");
    machine.PutList("/sys/bus/pci/devices/0000:18:00.0/net", {"rail0"});
  }
};

TEST(StoredWriteTest, APlanSaysNextBootDisturbsNothingAndConcernsTheCard) {
  FlashNode node;
  node.Boot();
  Port port;
  port.name = "rail0";
  port.role = PortRole::kFabric;
  port.pci = "0000:18:00.0";
  const DesiredState desired = BuildState(1).AddPort(port).Enforce("card.np", "rail0", "3");
  const auto plan = node.agent->DryRun(desired);
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  ASSERT_EQ(plan->steps.size(), 1U);
  const Step& step = plan->steps.front();
  EXPECT_TRUE(step.next_boot);
  EXPECT_EQ(step.disruption, Disruption::kNone) << "the setting's own class is LinkFlap";
  EXPECT_EQ(step.blast, (Lines{"rail0", "card:0000:18:00.0"}));
  EXPECT_EQ(step.refused, "") << "nothing waits for a window";
  EXPECT_NE(plan->findings.front().fix.find("at the next boot"), std::string::npos);
}

TEST(StoredWriteTest, ItIsPendingNotAFailureAndCompliantAfterTheBoot) {
  FlashNode node;
  node.Apply(BuildState(1).Fabric("rail0", "rail0").Enforce("card.np", "rail0", "3"));
  EXPECT_EQ(node.machine.Writes(), (std::vector<std::pair<std::string, std::string>>{{"/card/next", "3"}}));
  EXPECT_EQ(node.Of("card.np", "rail0").verdict, Verdict::kPending);
  EXPECT_EQ(node.Of("card.np", "rail0").reason, "NeedsReboot");
  EXPECT_TRUE(node.agent->Report().settled);
  node.Pass(std::chrono::hours(1));
  EXPECT_EQ(node.machine.Writes().size(), 1U) << "stored once";
  EXPECT_EQ(node.agent->counters().failed, 0U);
  node.machine.Put("/card/current", "3");
  node.Pass(std::chrono::minutes(2));
  EXPECT_EQ(node.Of("card.np", "rail0").verdict, Verdict::kCompliant);
}

TEST(StoredWriteTest, OneThatShowsASecondLaterIsNoFailureEither) {
  FlashNode node;
  node.machine.on_set = [&](const std::string& path, const std::string&) { node.machine.Put(path, "0"); };
  node.Apply(BuildState(1).Fabric("rail0", "rail0").Enforce("card.np", "rail0", "3"));
  EXPECT_EQ(node.Of("card.np", "rail0").reason, "ApplyFailed") << "written, and not seen yet";
  node.machine.on_set = {};
  node.machine.Put("/card/next", "3");
  node.Pass(std::chrono::seconds(2));
  EXPECT_EQ(node.Of("card.np", "rail0").verdict, Verdict::kPending);
  EXPECT_EQ(node.agent->counters().failed, 0U);
  EXPECT_EQ(node.machine.Writes().size(), 1U);
}

}  // namespace
}  // namespace railwright
