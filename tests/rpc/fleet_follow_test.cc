// Dry runs, following an apply, and watching.
#include "tests/rpc/fleet_model_fixture.h"

namespace railwright {
namespace {

class PlanTest : public FleetModelTest {
 protected:
  void Ask(milliseconds timeout = milliseconds(10'000)) {
    PlanQuestion question;
    question.generation = 2;
    question.states = model_->view()->state->desired;
    question.timeout = timeout;
    question.progress = [&](const v1::PlanProgress& progress) {
      progress_.push_back(progress);
      return true;
    };
    question.done = [&](std::vector<v1::Plan> plans, std::vector<v1::NotAnswered> missing) {
      done_ = true;
      plans_ = std::move(plans);
      missing_ = std::move(missing);
    };
    model_->Ask(std::move(question));
    model_->EndBatch();
  }
  void Answer(const std::shared_ptr<FakeLink>& link, const std::string& error = "") {
    v1::AgentMessage message;
    message.mutable_result()->set_id(link->Last(Body::kCommand).command().id());
    message.mutable_result()->set_error(error);
    if (error.empty()) message.mutable_result()->mutable_plan()->add_steps()->set_key("link.mtu");
    Say(link, message);
  }
  std::vector<v1::PlanProgress> progress_;
  bool done_ = false;
  std::vector<v1::Plan> plans_;
  std::vector<v1::NotAnswered> missing_;
};

TEST_F(PlanTest, SilentUnknownAndUnableNodesAreNamedWithTheirReasons) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto one = Connect(HelloOf("gpu-001")), two = Connect(HelloOf("gpu-002"));
  auto old = HelloOf("gpu-003");
  old.mutable_hello()->clear_features();
  Connect(old);
  Ask();
  ASSERT_FALSE(done_);
  ASSERT_EQ(progress_.size(), 1u);
  EXPECT_EQ(progress_[0].asked(), 2u);
  EXPECT_EQ(progress_[0].waiting_size(), 2);
  const auto asked = FromWire(one->Last(Body::kCommand).command().plan());
  ASSERT_TRUE(asked.ok()) << asked.status().ToString();
  EXPECT_EQ(asked->generation.value, 2u);
  Answer(one);
  clock_.Advance(milliseconds(200));
  model_->EndBatch();
  EXPECT_EQ(progress_.back().waiting(0), "gpu-002");
  clock_.Advance(seconds(10));
  model_->EndBatch();
  ASSERT_TRUE(done_);
  ASSERT_EQ(plans_.size(), 1u);
  EXPECT_EQ(plans_[0].node(), "gpu-001");
  ASSERT_EQ(missing_.size(), 3u);
  EXPECT_EQ(missing_[0].reason(), "no answer within 10000 ms");
  EXPECT_NE(missing_[1].reason().find("lacks the feature \"plan\""), std::string::npos);
  EXPECT_EQ(missing_[2].reason(), "never connected");
}

TEST_F(PlanTest, ANodeThatIsLostMeanwhileIsNotWaitedFor) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto one = Connect(HelloOf("gpu-001")), two = Connect(HelloOf("gpu-002"));
  Ask();
  Answer(one, "the kernel said no");
  model_->OnGone(two);
  model_->EndBatch();
  ASSERT_TRUE(done_);
  EXPECT_EQ(missing_[0].reason(), "the kernel said no");
  EXPECT_EQ(missing_[1].reason(), "connection lost while it was asked");
}

TEST_F(PlanTest, AnAnswerOfAnotherNodeOrTwiceCountsForNothing) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto one = Connect(HelloOf("gpu-001")), two = Connect(HelloOf("gpu-002"));
  Ask();
  v1::AgentMessage forged;
  forged.mutable_result()->set_id(two->Last(Body::kCommand).command().id());
  forged.mutable_result()->mutable_plan();
  Say(one, forged);
  Answer(one);
  Answer(one);
  ASSERT_FALSE(done_);
  Answer(two);
  ASSERT_TRUE(done_);
  EXPECT_EQ(plans_.size(), 2u);
}

class FollowTest : public FleetModelTest {
 protected:
  void Follow(std::uint64_t generation, seconds within = seconds(600)) {
    model_->Follow(generation, clock_.Now() + within, [&](v1::ApplyEvent event) {
      events_.push_back(std::move(event));
      return true;
    });
    model_->EndBatch();
  }
  std::vector<v1::ApplyEvent> events_;
};

TEST_F(FollowTest, ItEndsWhenEveryConnectedNodeHasSettledOnThatState) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto one = Connect(HelloOf("gpu-001")), two = Connect(HelloOf("gpu-002"));
  Say(one, ReportOf(1, 1, HashOf("gpu-001"), Verdict::kCompliant));
  ASSERT_TRUE(Install(SiteYaml(9000)).ok());
  Follow(2);
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_EQ(events_[0].nodes(), 4u);
  EXPECT_EQ(events_[0].waiting_size(), 2) << "a report against the old state settles nothing";
  EXPECT_EQ(events_[0].unreachable_size(), 2);
  Say(one, ReportOf(2, 2, HashOf("gpu-001"), Verdict::kCompliant));
  EXPECT_EQ(events_.back().done(0).node(), "gpu-001");
  EXPECT_FALSE(events_.back().finished());
  Say(two, ReportOf(1, 2, HashOf("gpu-002"), Verdict::kDrifted));
  const auto& last = events_.back();
  EXPECT_TRUE(last.finished());
  EXPECT_FALSE(last.timed_out());
  EXPECT_EQ(last.done(0).failed(0).key(), "link.mtu");
  EXPECT_EQ(last.unreachable_size(), 2);
}

TEST_F(FollowTest, ARefusingNodeIsDoneWithItsReason) {
  ASSERT_TRUE(Install(SiteYaml(4200, "gpu-001")).ok());
  const auto one = Connect(HelloOf("gpu-001"));
  Follow(1);
  v1::AgentMessage nack;
  nack.mutable_nack()->set_hash(HashOf("gpu-001"));
  nack.mutable_nack()->set_message("no port rail0");
  Say(one, nack);
  EXPECT_TRUE(events_.back().finished());
  EXPECT_EQ(events_.back().done(0).nack(), "no port rail0");
}

TEST_F(FollowTest, ANodeThatDropsOffIsWaitedForAWhileAndThenNamed) {
  ASSERT_TRUE(Install(SiteYaml(4200, "gpu-001")).ok());
  const auto one = Connect(HelloOf("gpu-001"));
  Follow(1);
  model_->OnGone(one);
  model_->EndBatch();
  EXPECT_FALSE(events_.back().finished());
  clock_.Advance(seconds(16));
  model_->EndBatch();
  EXPECT_TRUE(events_.back().finished());
  EXPECT_EQ(events_.back().unreachable(0), "gpu-001");
}

TEST_F(FollowTest, TheDeadlineEndsItAndSaysSo) {
  ASSERT_TRUE(Install(SiteYaml(4200, "gpu-001")).ok());
  Connect(HelloOf("gpu-001"));
  Follow(1, seconds(5));
  clock_.Advance(seconds(6));
  model_->EndBatch();
  EXPECT_TRUE(events_.back().finished());
  EXPECT_TRUE(events_.back().timed_out());
  EXPECT_EQ(events_.back().waiting(0), "gpu-001");
}

TEST_F(FollowTest, ANewerGenerationTakesItsPlace) {
  ASSERT_TRUE(Install(SiteYaml(4200, "gpu-001")).ok());
  Connect(HelloOf("gpu-001"));
  Follow(1);
  ASSERT_TRUE(Install(SiteYaml(9000, "gpu-001")).ok());
  EXPECT_TRUE(events_.back().finished());
  EXPECT_EQ(events_.back().superseded_by(), 2u);
}

TEST_F(FleetModelTest, WatchersSeeThePresentThenEveryChange) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  std::vector<FleetNews> news;
  bool open = true;
  model_->Watch([&](const FleetNews& one) {
    news.push_back(one);
    return open;
  });
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0].nodes.size(), 4u);
  const auto link = Connect(HelloOf("gpu-001"));
  EXPECT_EQ(news.back().nodes, std::vector<std::string>{"gpu-001"});
  Say(link, ReportOf(1, 1, HashOf("gpu-001"), Verdict::kCompliant, 1));
  EXPECT_EQ(news.back().changes.size(), 1u);
  ASSERT_TRUE(Install(SiteYaml(9000)).ok());
  EXPECT_EQ(news.back().generation, 2u);
  open = false;
  ASSERT_TRUE(Install(SiteYaml(4096)).ok());
  const std::size_t count = news.size();
  ASSERT_TRUE(Install(SiteYaml(4095)).ok());
  EXPECT_EQ(news.size(), count);
}

}  // namespace
}  // namespace railwright
