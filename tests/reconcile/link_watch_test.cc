// A step that may take a link down, and the link that comes back or does not.
#include "tests/reconcile/node.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

constexpr const char* kCarrier = "/sys/class/net/rail0/carrier";
constexpr const char* kSpeed = "/ethtool/rail0/speed";

class LinkWatchTest : public testing::Test {
 protected:
  LinkWatchTest() {
    node_.options.max_disruption = Disruption::kLinkFlap;
    node_.machine.Put(kCarrier, "1").Put("/rtnl/addr/rail0", "");
  }
  static BuildState State(std::uint64_t generation, const std::string& speed = "400") {
    return Node::State(generation)
        .Enforce("link.speed", "rail0", speed)
        .Enforce("rail.address", "rail0", "declared");
  }
  /// Writing the speed takes the link down, as a driver does.
  void Boot() {
    faults_.clamp = [this](const std::string& path, const std::string& value) {
      if (path == kSpeed) node_.machine.Put(kCarrier, value == "100" ? "1" : "0");
      return value;
    };
    faulty_ = std::make_unique<FaultyMachine>(node_.machine, faults_);
    node_.Boot(*faulty_);
  }
  void LinkReturns() { node_.machine.Put(kCarrier, "1"); }

  Node node_;
  Faults faults_;
  std::unique_ptr<FaultyMachine> faulty_;
};

TEST_F(LinkWatchTest, WhatFollowsOnThePortWaitsUntilTheLinkIsBack) {
  Boot();
  node_.Apply(State(1));
  EXPECT_EQ(node_.Value(kSpeed), "400");
  EXPECT_EQ(node_.Value("/rtnl/addr/rail0"), "");
  EXPECT_EQ(node_.Of("rail.address", "rail0").reason, "WaitsForLink");
  EXPECT_FALSE(node_.agent->Report().settled);
  node_.Pass(5s);
  EXPECT_EQ(node_.Value("/rtnl/addr/rail0"), "");
  LinkReturns();
  node_.Pass(2s);
  EXPECT_EQ(node_.Value("/rtnl/addr/rail0"), "10.10.0.1/24");
  node_.Pass(3s);
  EXPECT_EQ(node_.agent->Report().verdict, Verdict::kCompliant);
  EXPECT_TRUE(node_.agent->Report().settled);
  EXPECT_TRUE(node_.Changes(ChangeKind::kUndone).empty());
}

TEST_F(LinkWatchTest, AStepWhoseLinkStaysDownIsPutBackAndNotTriedAgain) {
  Boot();
  node_.Apply(State(1));
  node_.Pass(29s);
  EXPECT_EQ(node_.Value(kSpeed), "400");
  node_.Pass(2s);
  EXPECT_EQ(node_.Value(kSpeed), "100") << "with which the link had been up";
  EXPECT_EQ(node_.Of("link.speed", "rail0").reason, "LinkStayedDown");
  EXPECT_NE(node_.Of("link.speed", "rail0").message.find("did not come back within 30 s of writing 400"),
            std::string::npos)
      << node_.Of("link.speed", "rail0").message;
  EXPECT_NE(node_.Of("link.speed", "rail0").message.find("link.speed on rail0 is 100 again"),
            std::string::npos);
  EXPECT_EQ(node_.Changes(ChangeKind::kUndone), Lines{"link.speed rail0 400→100"});
  node_.Pass(2s);
  EXPECT_EQ(node_.Value("/rtnl/addr/rail0"), "10.10.0.1/24") << "the link is up again";
  EXPECT_TRUE(node_.agent->Report().settled);
  node_.machine.ClearLog();
  node_.Hint(kCarrier);
  node_.Pass(1h);
  EXPECT_TRUE(node_.machine.Writes().empty());
  EXPECT_EQ(node_.Of("link.speed", "rail0").verdict, Verdict::kDrifted);
}

TEST_F(LinkWatchTest, APersonOrANewGenerationTriesAgain) {
  Boot();
  node_.Apply(State(1));
  node_.Pass(35s);
  ASSERT_EQ(node_.Of("link.speed", "rail0").reason, "LinkStayedDown");
  node_.agent->SetPauses({Pause{"", "link.speed", "a person", ""}});
  node_.Settle();
  node_.agent->SetPauses({});
  node_.Settle();
  EXPECT_EQ(node_.Value(kSpeed), "400");
  node_.Pass(35s);
  ASSERT_EQ(node_.Value(kSpeed), "100");
  node_.Apply(State(2));
  EXPECT_EQ(node_.Value(kSpeed), "400");
  LinkReturns();
  node_.Pass(5s);
  EXPECT_EQ(node_.agent->Report().verdict, Verdict::kCompliant);
}

TEST_F(LinkWatchTest, ACorrectionOfDriftIsPutBackToo) {
  Boot();
  node_.Apply(State(1));
  LinkReturns();
  node_.Pass(5s);
  ASSERT_EQ(node_.agent->Report().verdict, Verdict::kCompliant);
  node_.Drift(kSpeed, "100");
  EXPECT_EQ(node_.Value(kSpeed), "400");
  node_.Pass(35s);
  EXPECT_EQ(node_.Value(kSpeed), "100") << "the drift, and a link that is up with it";
  EXPECT_EQ(node_.Of("link.speed", "rail0").reason, "LinkStayedDown");
}

TEST_F(LinkWatchTest, ALinkThatWasDownBeforeIsNotAwaited) {
  node_.machine.Put(kCarrier, "0");
  Boot();
  node_.Apply(State(1));
  EXPECT_EQ(node_.Value("/rtnl/addr/rail0"), "10.10.0.1/24");
  node_.Pass(1min);
  EXPECT_EQ(node_.Value(kSpeed), "400");
  EXPECT_EQ(node_.agent->Report().verdict, Verdict::kCompliant);
}

TEST_F(LinkWatchTest, TheRdmaPortMustBeActiveAgain) {
  constexpr const char* kState = "/sys/class/infiniband/mlx5_0/ports/1/state";
  node_.machine.Put("/sys/class/net/rail0/device/infiniband/mlx5_0", "").Put(kState, "4: ACTIVE");
  Boot();
  node_.machine.Put("/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "rail0");
  node_.Apply(State(1));
  LinkReturns();
  node_.machine.Put(kState, "1: DOWN");
  node_.Pass(25s);
  EXPECT_EQ(node_.Value("/rtnl/addr/rail0"), "");
  node_.machine.Put(kState, "4: ACTIVE");
  node_.Pass(5s);
  EXPECT_EQ(node_.Value("/rtnl/addr/rail0"), "10.10.0.1/24");
}

TEST_F(LinkWatchTest, ANewGenerationThatAsksForTheSameDoesNotEndTheWait) {
  Boot();
  node_.Apply(State(1));
  node_.Pass(20s);
  node_.Apply(State(2));
  EXPECT_EQ(node_.Value(kSpeed), "400");
  node_.Pass(12s);
  EXPECT_EQ(node_.Value(kSpeed), "100") << "30 s after the write, whatever came meanwhile";
  EXPECT_EQ(node_.Of("link.speed", "rail0").reason, "LinkStayedDown");
}

TEST_F(LinkWatchTest, ANewGenerationThatMendsItIsWrittenAtOnceAndGoesBackToWhatTheLinkWasUpWith) {
  Boot();
  node_.Apply(State(1));
  node_.Pass(5s);
  node_.Apply(State(2, "200"));
  EXPECT_EQ(node_.Value(kSpeed), "200");
  node_.Pass(28s);
  EXPECT_EQ(node_.Value(kSpeed), "200") << "30 s of its own";
  node_.Pass(4s);
  EXPECT_EQ(node_.Value(kSpeed), "100") << "not 400, with which it was down";
  EXPECT_NE(node_.Of("link.speed", "rail0").message.find("of writing 200"), std::string::npos);
}

TEST_F(LinkWatchTest, ARestoreThatTakesTheLinkDownIsPutBackAndTold) {
  node_.machine.Put(kSpeed, "25");
  Boot();
  node_.Apply(State(1));
  LinkReturns();
  node_.Pass(5s);
  ASSERT_EQ(node_.Value(kSpeed), "400");
  node_.Apply(Node::State(2).Enforce("rail.address", "rail0", "declared").Restore("link.speed", "rail0"));
  EXPECT_EQ(node_.Value(kSpeed), "25");
  EXPECT_EQ(node_.Value(kCarrier), "0");
  node_.Pass(32s);
  EXPECT_EQ(node_.Value(kSpeed), "400");
  EXPECT_EQ(node_.Of("link.speed", "rail0").reason, "LinkStayedDown");
}

TEST_F(LinkWatchTest, ALinkThatFallsLateIsSeenToo) {
  node_.Boot();
  node_.Apply(State(1));
  EXPECT_EQ(node_.Value(kSpeed), "400");
  EXPECT_FALSE(node_.agent->Report().settled) << "the driver may still take it down";
  node_.clock.Advance(500ms);
  node_.machine.Put(kCarrier, "0");
  node_.Pass(35s);
  EXPECT_EQ(node_.Value(kSpeed), "100");
  EXPECT_EQ(node_.Of("link.speed", "rail0").reason, "LinkStayedDown");
}

}  // namespace
}  // namespace railwright
