// What are the nodes' settings now? Asked as a dry run is, answered node by node.
#include "controller/rpc/intake.h"
#include "tests/rpc/fleet_model_fixture.h"

namespace railwright {
namespace {

class ObserveTest : public FleetModelTest {
 protected:
  void Ask(std::vector<std::string> nodes, milliseconds timeout = seconds(30)) {
    ObserveQuestion question;
    question.nodes = std::move(nodes);
    question.timeout = timeout;
    question.progress = [&](const v1::PlanProgress& progress) {
      progress_.push_back(progress);
      return true;
    };
    question.node = [&](v1::ObservedNode node) { nodes_.push_back(std::move(node)); };
    question.done = [&](std::vector<v1::NotAnswered> missing) {
      ++done_;
      missing_ = std::move(missing);
    };
    model_->Ask(std::move(question));
    model_->EndBatch();
  }
  static v1::AgentMessage AnswerTo(const v1::Command& command, const std::string& node) {
    v1::AgentMessage message;
    message.mutable_result()->set_id(command.id());
    message.mutable_result()->mutable_observed()->set_node(node);
    message.mutable_result()->mutable_observed()->add_values()->set_key("link.mtu");
    return message;
  }
  std::vector<v1::PlanProgress> progress_;
  std::vector<v1::ObservedNode> nodes_;
  std::vector<v1::NotAnswered> missing_;
  int done_ = 0;
};

TEST_F(ObserveTest, EachAnswerIsTowardsTheAskerAtOnceAndTheSilentAreNamedLast) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto one = Connect(HelloOf("gpu-001")), two = Connect(HelloOf("gpu-002"));
  auto old = HelloOf("gpu-003");
  old.mutable_hello()->clear_features();
  old.mutable_hello()->add_features("plan");
  Connect(old);
  Ask({"gpu-001", "gpu-002", "gpu-003", "gpu-004"});
  const v1::Command asked = one->Last(Body::kCommand).command();
  EXPECT_TRUE(asked.has_observe());
  EXPECT_EQ(asked.deadline_ms(), 30'000);
  ASSERT_EQ(progress_.size(), 1U);
  EXPECT_EQ(progress_[0].asked(), 2U);
  // Whatever it calls itself, the answer is that of the node whose stream it came over.
  Say(one, AnswerTo(asked, "gpu-007"));
  ASSERT_EQ(nodes_.size(), 1U);
  EXPECT_EQ(nodes_[0].node(), "gpu-001");
  EXPECT_EQ(done_, 0);
  clock_.Advance(seconds(31));
  model_->EndBatch();
  ASSERT_EQ(done_, 1);
  ASSERT_EQ(missing_.size(), 3U);
  EXPECT_EQ(missing_[0].reason(), "no answer within 30000 ms");
  EXPECT_NE(missing_[1].reason().find("lacks the feature \"observe\""), std::string::npos);
  EXPECT_EQ(missing_[2].reason(), "never connected");
}

TEST_F(ObserveTest, APlanIsNoAnswerToIt) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto one = Connect(HelloOf("gpu-001"));
  Ask({"gpu-001"});
  v1::AgentMessage wrong;
  wrong.mutable_result()->set_id(one->Last(Body::kCommand).command().id());
  wrong.mutable_result()->mutable_plan();
  Say(one, wrong);
  ASSERT_EQ(done_, 1);
  EXPECT_TRUE(nodes_.empty());
  EXPECT_EQ(missing_.at(0).reason(), "answered without what was asked for (observe)");
}

TEST_F(ObserveTest, AnAnswerThatComesTooLateGoesNowhere) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto one = Connect(HelloOf("gpu-001"));
  Ask({"gpu-001"}, seconds(1));
  clock_.Advance(seconds(2));
  model_->EndBatch();
  ASSERT_EQ(done_, 1);
  Say(one, AnswerTo(one->Last(Body::kCommand).command(), "gpu-001"));
  EXPECT_TRUE(nodes_.empty());
  EXPECT_EQ(done_, 1);
}

TEST(IntakeTest, AnAnswerWithoutEndIsCutAndAPartOfAValueIsNoneToAskFor) {
  v1::AgentMessage message;
  v1::ObservedNode& node = *message.mutable_result()->mutable_observed();
  for (int i = 0; i < kObservedValuesMost + 5; ++i) node.add_values()->set_key("a");
  for (int i = 0; i < kObservedPortsMost + 5; ++i) node.add_ports();
  node.mutable_values(0)->set_value(std::string(5000, 'v'));
  node.mutable_values(0)->set_wish(std::string(5000, 'v'));
  Bound(message);
  EXPECT_EQ(node.values_size(), kObservedValuesMost);
  EXPECT_EQ(node.ports_size(), kObservedPortsMost);
  EXPECT_EQ(node.values(0).cut_from(), 5000U);
  EXPECT_NE(node.values(0).no_wish(), "");
}

}  // namespace
}  // namespace railwright
