// One key that drifts on many nodes within minutes is fixed nowhere until a person says so.
#include "controller/rpc/drift_breaker.h"

#include "tests/rpc/fleet_model_fixture.h"

namespace railwright {
namespace {

using Time = DriftBreaker::Time;
using std::chrono::minutes;

const Time kNow = Time{} + std::chrono::hours(1000);

TEST(DriftBreakerTest, MoreThanFivePercentOfTheNodesTripItOnce) {
  DriftBreaker breaker;
  for (int i = 0; i < 5; ++i) breaker.Note("qos.pfc", "n" + std::to_string(i), kNow, kNow);
  EXPECT_TRUE(breaker.TakeTrips(100, kNow).empty()) << "five of a hundred are not more than 5 %";
  breaker.Note("qos.pfc", "n5", kNow, kNow);
  const auto trips = breaker.TakeTrips(100, kNow);
  ASSERT_EQ(trips.size(), 1u);
  EXPECT_EQ(trips[0].key, "qos.pfc");
  EXPECT_EQ(trips[0].nodes.size(), 6u);
  EXPECT_TRUE(breaker.TakeTrips(100, kNow).empty());
}

TEST(DriftBreakerTest, OneNodeThatDriftsAgainAndAgainIsOneNode) {
  DriftBreaker breaker;
  for (int i = 0; i < 50; ++i) breaker.Note("qos.pfc", "n1", kNow, kNow);
  EXPECT_TRUE(breaker.TakeTrips(20, kNow).empty());
}

TEST(DriftBreakerTest, TwoOfFourAreNoMassDriftAndThreeAre) {
  DriftBreaker breaker;
  breaker.Note("qos.pfc", "n1", kNow, kNow);
  breaker.Note("qos.pfc", "n2", kNow, kNow);
  EXPECT_TRUE(breaker.TakeTrips(4, kNow).empty());
  breaker.Note("qos.pfc", "n3", kNow, kNow);
  EXPECT_EQ(breaker.TakeTrips(4, kNow).size(), 1u);
}

TEST(DriftBreakerTest, WhatIsOlderThanTheWindowDoesNotCount) {
  DriftBreaker breaker;
  breaker.Note("qos.pfc", "n1", kNow, kNow);
  breaker.Note("qos.pfc", "n2", kNow, kNow);
  breaker.Note("qos.pfc", "n3", kNow - minutes(11), kNow);  // told late, after a night without a controller
  EXPECT_TRUE(breaker.TakeTrips(4, kNow).empty());
  const Time later = kNow + minutes(11);
  breaker.Note("qos.pfc", "n3", later, later);
  EXPECT_TRUE(breaker.TakeTrips(4, later).empty());
}

TEST(DriftBreakerTest, AClockThatIsAheadCountsAsNow) {
  DriftBreaker breaker;
  for (const char* node : {"n1", "n2", "n3"}) breaker.Note("k", node, kNow + std::chrono::hours(9), kNow);
  EXPECT_TRUE(breaker.TakeTrips(4, kNow + minutes(11)).empty()) << "they do not count for nine hours";
}

TEST(DriftBreakerTest, AnAgentThatInventsKeysFillsNoMemoryAndOldOnesMakeRoom) {
  DriftBreaker breaker;
  for (std::size_t i = 0; i < DriftBreaker::kKeysMost; ++i)
    breaker.Note("k" + std::to_string(i), "liar", kNow, kNow);
  for (const char* node : {"n1", "n2", "n3"}) breaker.Note("qos.pfc", node, kNow, kNow);
  EXPECT_TRUE(breaker.TakeTrips(4, kNow).empty());
  const Time later = kNow + minutes(11);
  EXPECT_TRUE(breaker.TakeTrips(4, later).empty());
  for (const char* node : {"n1", "n2", "n3"}) breaker.Note("qos.pfc", node, later, later);
  EXPECT_EQ(breaker.TakeTrips(4, later).size(), 1u);
}

/// A report whose history holds one drift of link.mtu, at the model's present.
v1::AgentMessage DriftOf(const SimClock& clock, const std::string& state_hash, std::uint64_t change) {
  v1::AgentMessage message = ReportOf(change, 1, state_hash, Verdict::kDrifted, change);
  v1::ChangeRecord& record = *message.mutable_report()->mutable_changes(0);
  record.set_kind(v1::CHANGE_KIND_DRIFT);
  record.set_at_unix_us(
      std::chrono::duration_cast<std::chrono::microseconds>(clock.WallNow().time_since_epoch()).count());
  return message;
}

TEST_F(FleetModelTest, AKeyThatDriftsOnThreeOfFourNodesIsPausedEverywhereAndSaysWhy) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  std::map<std::string, std::shared_ptr<FakeLink>> links;
  for (const char* node : {"gpu-001", "gpu-002", "gpu-003", "gpu-004"}) links[node] = Connect(HelloOf(node));
  Say(links["gpu-001"], DriftOf(clock_, HashOf("gpu-001"), 1));
  Say(links["gpu-002"], DriftOf(clock_, HashOf("gpu-002"), 1));
  EXPECT_EQ(links["gpu-004"]->Last(Body::kPauses).pauses().pauses_size(), 0);
  Say(links["gpu-003"], DriftOf(clock_, HashOf("gpu-003"), 1));
  for (const auto& [node, link] : links) {
    const auto pauses = link->Last(Body::kPauses).pauses();
    ASSERT_EQ(pauses.pauses_size(), 1) << node;
    EXPECT_EQ(pauses.pauses(0).key(), "link.mtu");
    EXPECT_EQ(pauses.pauses(0).by(), "railwright-controller");
    EXPECT_NE(pauses.pauses(0).reason().find("3 of 4 nodes"), std::string::npos) << pauses.pauses(0).reason();
    EXPECT_NE(pauses.pauses(0).reason().find("railctl pause --resume link.mtu"), std::string::npos);
  }
}

TEST_F(FleetModelTest, WhatGoesWithTheLinksOfALeafIsNoMassDrift) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  std::shared_ptr<FakeLink> last;
  for (const char* node : {"gpu-001", "gpu-002", "gpu-003", "gpu-004"}) {
    v1::AgentMessage drift = DriftOf(clock_, HashOf(node), 1);
    drift.mutable_report()->mutable_changes(0)->set_with_link(true);
    last = Connect(HelloOf(node));
    Say(last, drift);
  }
  EXPECT_EQ(last->Last(Body::kPauses).pauses().pauses_size(), 0);
}

TEST_F(FleetModelTest, APersonResumesAMassDriftAndCountingBeginsAnew) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  std::map<std::string, std::shared_ptr<FakeLink>> links;
  for (const char* node : {"gpu-001", "gpu-002", "gpu-003"}) {
    links[node] = Connect(HelloOf(node));
    Say(links[node], DriftOf(clock_, HashOf(node), 1));
  }
  ASSERT_EQ(links["gpu-001"]->Last(Body::kPauses).pauses().pauses_size(), 1);
  PauseOrder order;
  order.pause.key = "link.mtu";
  order.resume = true;
  order.done = [](const Status& status, const v1::SetPauseResponse&) { EXPECT_TRUE(status.ok()); };
  model_->SetPause(std::move(order));
  model_->EndBatch();
  Say(links["gpu-001"], DriftOf(clock_, HashOf("gpu-001"), 2));
  EXPECT_EQ(links["gpu-001"]->Last(Body::kPauses).pauses().pauses_size(), 0);
}

TEST_F(FleetModelTest, TheMassDriftPauseOutlivesARestart) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  for (const char* node : {"gpu-001", "gpu-002", "gpu-003"})
    Say(Connect(HelloOf(node)), DriftOf(clock_, HashOf(node), 1));
  Restart();
  EXPECT_EQ(Connect(HelloOf("gpu-004"))->Last(Body::kPauses).pauses().pauses_size(), 1);
}

}  // namespace
}  // namespace railwright
