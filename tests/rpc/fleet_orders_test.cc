// Pauses, and nodes that are forgotten.
#include "tests/rpc/fleet_model_fixture.h"

namespace railwright {
namespace {

TEST_F(FleetModelTest, ANodeThatLeavesTheInventoryStopsEnforcingAndIsKnownUntilForgotten) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-004"));
  const auto never_reported = Connect(HelloOf("gpu-003"));
  Say(link, ReportOf(1, 1, HashOf("gpu-004"), Verdict::kCompliant));
  ASSERT_TRUE(Install(SiteYaml(4200, "gpu-[001-002]")).ok());
  const auto state = FromWire(link->Last(Body::kDesired).desired());
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(state->generation.value, 2u);
  EXPECT_TRUE(state->settings.empty());
  EXPECT_TRUE(StatusOf("gpu-004").retired());
  ASSERT_TRUE(never_reported->refused);
  EXPECT_EQ(never_reported->refused->reason(), v1::Refusal::REASON_UNKNOWN_NODE);
  EXPECT_EQ(model_->view()->Select({})->size(), 2u);

  Status result;
  const auto answered = [&](const Status& status, const std::vector<Pause>&) { result = status; };
  model_->Forget("gpu-001", {.who = "ann"}, answered);
  model_->EndBatch();
  EXPECT_EQ(result.code(), Code::kFailedPrecondition) << "still in the inventory";
  model_->Forget("gpu-004", {.who = "ann"}, answered);
  model_->EndBatch();
  EXPECT_TRUE(result.ok());
  ASSERT_TRUE(link->refused);
  EXPECT_EQ(link->refused->reason(), v1::Refusal::REASON_FORGOTTEN);
  EXPECT_TRUE(store_.Reports()->empty());
  EXPECT_EQ(model_->view()->Find("gpu-004"), nullptr);
  model_->OnGone(link);  // its end comes later and finds nothing
  EXPECT_EQ((*store_.Audit(1))[0].action, "forget");
}

TEST_F(FleetModelTest, APauseIsStoredAndPushedToThoseItConcerns) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto one = Connect(HelloOf("gpu-001")), two = Connect(HelloOf("gpu-002"));
  v1::SetPauseResponse response;
  const auto order = [&](Pause pause, bool resume) {
    Status result;
    model_->SetPause({std::move(pause), resume, [&](const Status& status, v1::SetPauseResponse answer) {
                        result = status;
                        response = std::move(answer);
                      }});
    model_->EndBatch();
    return result;
  };
  ASSERT_TRUE(order({"gpu-001", "link.mtu", "ann", "cable work"}, false).ok());
  EXPECT_EQ(response.told_size(), 1);
  EXPECT_EQ(one->Last(Body::kPauses).pauses().pauses_size(), 1);
  EXPECT_EQ(two->Last(Body::kPauses).pauses().pauses_size(), 0);
  ASSERT_TRUE(order({"", "", "bob", "everything"}, false).ok());
  EXPECT_EQ(response.told_size(), 2);
  EXPECT_EQ(response.not_reached_size(), 2);
  EXPECT_EQ(one->Last(Body::kPauses).pauses().pauses_size(), 2);
  EXPECT_EQ(store_.Pauses()->size(), 2u);
  // A node that comes later learns of it before its state.
  const auto three = Connect(HelloOf("gpu-003"));
  EXPECT_EQ(three->Last(Body::kPauses).pauses().pauses_size(), 1);
  ASSERT_TRUE(order({"gpu-001", "link.mtu", "ann", ""}, true).ok());
  EXPECT_EQ(one->Last(Body::kPauses).pauses().pauses_size(), 1);
  EXPECT_EQ(order({"gpu-001", "link.mtu", "ann", ""}, true).code(), Code::kNotFound);
  EXPECT_EQ(order({"gpu-999", "", "ann", ""}, false).code(), Code::kNotFound);
}

TEST_F(FleetModelTest, APauseOfANodeThatIsGoneCanBeEnded) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto order = [&](Pause pause, bool resume) {
    Status result;
    model_->SetPause({std::move(pause), resume,
                      [&](const Status& status, const v1::SetPauseResponse&) { result = status; }});
    model_->EndBatch();
    return result;
  };
  ASSERT_TRUE(order({"gpu-004", "link.mtu", "ann", ""}, false).ok());
  ASSERT_TRUE(Install(SiteYaml(4200, "gpu-[001-003]")).ok());
  ASSERT_EQ(model_->view()->Find("gpu-004"), nullptr) << "it never reported";
  const Status slip = order({"gpu-04", "link.mtu", "ann", ""}, true);
  EXPECT_EQ(slip.code(), Code::kNotFound);
  EXPECT_NE(slip.message().find("did you mean \"gpu-004\"?"), std::string::npos) << slip.message();
  const Status anew = order({"gpu-004", "", "ann", ""}, false);
  EXPECT_EQ(anew.code(), Code::kNotFound);
  EXPECT_NE(anew.message().find("railctl pause --resume --node gpu-004"), std::string::npos)
      << anew.message();
  const Status other = order({"gpu-004", "", "ann", ""}, true);
  EXPECT_NE(other.message().find("there is one of node gpu-004, key link.mtu"), std::string::npos)
      << other.message();
  EXPECT_TRUE(order({"gpu-004", "link.mtu", "ann", ""}, true).ok());
  EXPECT_TRUE(model_->view()->pauses.empty());
  EXPECT_TRUE(store_.Pauses()->empty());
  EXPECT_EQ(order({"gpu-004", "link.mtu", "ann", ""}, true).code(), Code::kNotFound);
}

TEST_F(FleetModelTest, ForgettingANodeDropsItsPausesAndNamesThem) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  Say(Connect(HelloOf("gpu-004")), ReportOf(1, 1, HashOf("gpu-004"), Verdict::kCompliant));
  for (const char* node : {"gpu-004", "gpu-001"})
    model_->SetPause(
        {{node, "link.mtu", "ann", ""}, false, [](const Status&, const v1::SetPauseResponse&) {}});
  ASSERT_TRUE(Install(SiteYaml(4200, "gpu-[001-003]")).ok());
  Status result;
  std::vector<Pause> dropped;
  model_->Forget("gpu-004", {.who = "ann"}, [&](const Status& status, std::vector<Pause> pauses) {
    result = status;
    dropped = std::move(pauses);
  });
  model_->EndBatch();
  EXPECT_TRUE(result.ok()) << result.ToString();
  ASSERT_EQ(dropped.size(), 1u);
  EXPECT_EQ(dropped[0].node, "gpu-004");
  ASSERT_EQ(store_.Pauses()->size(), 1u);
  EXPECT_EQ((*store_.Pauses())[0].node, "gpu-001");
  EXPECT_EQ(model_->view()->pauses.size(), 1u);
  EXPECT_NE((*store_.Audit(1))[0].detail.find("link.mtu"), std::string::npos);
}

TEST_F(FleetModelTest, APauseIsPulledAlsoWithAFullDisk) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  store_.SetFailure(Status(Code::kResourceExhausted, "full"));
  Status result;
  model_->SetPause({{"gpu-001", "", "ann", ""}, false, [&](const Status& status, v1::SetPauseResponse) {
                      result = status;
                    }});
  model_->EndBatch();
  EXPECT_EQ(result.code(), Code::kResourceExhausted);
  EXPECT_NE(result.message().find("were told to pause"), std::string::npos);
  EXPECT_EQ(link->Last(Body::kPauses).pauses().pauses_size(), 1);
}

}  // namespace
}  // namespace railwright
