// What putting an original back may disturb.
#include "tests/reconcile/node.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

constexpr const char* kSpeed = "/ethtool/rail0/speed";

DesiredState Fast(std::uint64_t generation, Disruption most) {
  return Node::State(generation).Enforce("link.speed", "rail0", "400").Allow(most);
}
DesiredState Back(std::uint64_t generation) { return Node::State(generation).Restore("link.speed", "rail0"); }

TEST(RestoreTest, MayDisturbWhatTheProfileAllowedThatIsGone) {
  Node node;
  node.Apply(Fast(1, Disruption::kLinkFlap));
  ASSERT_EQ(node.Value(kSpeed), "400");
  const auto plan = node.agent->DryRun(Back(2));
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->steps.at(0).refused, "") << plan->steps.at(0).refused_message;
  node.Apply(Back(2));
  EXPECT_EQ(node.Value(kSpeed), "100");
  EXPECT_TRUE(node.journal.Originals().empty());
}

TEST(RestoreTest, TheLastProfileCountsNotTheOneOfTheFirstWrite) {
  Node raised, lowered;
  raised.options.max_disruption = Disruption::kLinkFlap;  // by which it was written at first
  raised.Apply(Fast(1, Disruption::kTrafficBlip));
  raised.options.max_disruption = Disruption::kTrafficBlip;
  raised.Boot();
  raised.Apply(Fast(2, Disruption::kLinkFlap));
  raised.Apply(Back(3));
  EXPECT_EQ(raised.Value(kSpeed), "100");

  lowered.Apply(Fast(1, Disruption::kLinkFlap));
  lowered.Apply(Fast(2, Disruption::kTrafficBlip));
  lowered.Apply(Back(3));
  EXPECT_EQ(lowered.Value(kSpeed), "400");
  EXPECT_EQ(lowered.Of("link.speed", "rail0").verdict, Verdict::kPending);
  EXPECT_EQ(lowered.Of("link.speed", "rail0").reason, "ApprovalNeeded");
  EXPECT_NE(
      lowered.Of("link.speed", "rail0").fix.find("declare it once more with `max_disruption: LinkFlap`"),
      std::string::npos)
      << lowered.Of("link.speed", "rail0").fix;
}

TEST(RestoreTest, TheAllowanceOutlivesTheAgentAndAGenerationThatSaysNothingOfTheKey) {
  Node node;
  node.Apply(Fast(1, Disruption::kLinkFlap));
  node.Apply(Node::State(2).Enforce("sysctl.a", "", "1"));
  node.Boot();
  node.Apply(Back(3));
  EXPECT_EQ(node.Value(kSpeed), "100");
}

TEST(RestoreTest, AnOriginalOfAnOlderVersionEndsAtTrafficBlipUntilItsProfileIsAcceptedAgain) {
  Node node;
  node.machine.Put(kSpeed, "400");
  ASSERT_TRUE(node.journal.RecordOriginal({"link.speed", "rail0", Original::Kind::kValue, "100"}).ok());
  node.Apply(Back(1));
  EXPECT_EQ(node.Of("link.speed", "rail0").reason, "ApprovalNeeded");
  EXPECT_EQ(node.Value(kSpeed), "400");
  node.Apply(Fast(2, Disruption::kLinkFlap));
  node.Apply(Back(3));
  EXPECT_EQ(node.Value(kSpeed), "100");
}

TEST(RestoreTest, AnAllowanceThatTheJournalRefusesIsTakenWithTheNextState) {
  Node node;
  node.Apply(Fast(1, Disruption::kLinkFlap));
  node.journal.fail_at = node.journal.calls + 1;
  node.Apply(Fast(2, Disruption::kTrafficBlip));
  EXPECT_EQ(node.journal.OriginalOf("link.speed", "rail0")->max_disruption, Disruption::kLinkFlap);
  node.Apply(Fast(3, Disruption::kTrafficBlip));
  EXPECT_EQ(node.journal.OriginalOf("link.speed", "rail0")->max_disruption, Disruption::kTrafficBlip);
  EXPECT_EQ(node.journal.OriginalOf("link.speed", "rail0")->value, "100");
}

TEST(RestoreTest, AJobAndTheWayToTheControllerAreSparedAsByAnyStep) {
  Node busy;
  busy.Apply(Fast(1, Disruption::kLinkFlap));
  busy.machine.Put("/sys/class/infiniband/mlx5_0/parent", "rail0");
  busy.machine.Put("/rdma/dev/mlx5_0/qps", "qpn=17 port=1 type=RC state=RTS pid=4711 comm=train");
  busy.Apply(Back(2));
  EXPECT_EQ(busy.Of("link.speed", "rail0").reason, "Busy") << busy.Of("link.speed", "rail0").message;
  EXPECT_EQ(busy.Value(kSpeed), "400");
  busy.machine.Put("/rdma/dev/mlx5_0/qps", "");
  busy.Pass(1min);
  EXPECT_EQ(busy.Value(kSpeed), "100");

  Node managed;
  managed.Apply(Fast(1, Disruption::kLinkFlap));
  managed.agent->SetManagement({{"rail0"}, ""});
  managed.Apply(Back(2));
  EXPECT_EQ(managed.Of("link.speed", "rail0").reason, "ManagementPath");
  EXPECT_EQ(managed.Value(kSpeed), "400");
}

}  // namespace
}  // namespace railwright
