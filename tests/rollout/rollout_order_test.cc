// What people order of a rollout.
#include "tests/rollout/fleet_of_tests.h"

namespace railwright {
namespace {

using Names = std::vector<std::string>;

TEST_F(RolloutTest, APausedOneBeginsNoNodeUntilItIsResumed) {
  Start(10);
  Look();
  Do(rollout_->Pause("bob", "a training run"));
  Settle("gpu-01");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Look(seconds(30)).begun, Names{});
  EXPECT_EQ(PhaseOf("gpu-01"), MemberPhase::kDone) << "it is still watched";
  EXPECT_EQ(rollout_->Stopped(Present()), "paused by bob: a training run");
  EXPECT_EQ(rollout_->Pause("bob", "").status().code(), Code::kFailedPrecondition);
  Do(rollout_->Resume(Present(), "bob", ""));
  Run();
  EXPECT_TRUE(rollout_->record().finished);
}

TEST_F(RolloutTest, ResumingAHaltedOneAcceptsWhatFailedAndGoesOn) {
  Start(10);
  Look();
  nodes_["gpu-01"].sight.refused = "no";
  Look();
  ASSERT_EQ(rollout_->record().phase, RolloutPhase::kHalted);
  Do(rollout_->Resume(Present(), "bob", "gpu-01 is being replaced"));
  EXPECT_EQ(PhaseOf("gpu-01"), MemberPhase::kAccepted);
  EXPECT_EQ(rollout_->Find("gpu-01")->why, "refused it: no");
  Run();
  EXPECT_TRUE(rollout_->record().finished);
  EXPECT_EQ(rollout_->record().failed, 1u);
}

TEST_F(RolloutTest, AnAbortedOneIsForGood) {
  Start(10);
  Look();
  Do(rollout_->Abort("bob", ""));
  SettleAll();
  EXPECT_EQ(Look(minutes(5)).begun, Names{});
  EXPECT_EQ(rollout_->Resume(Present(), "bob", "").status().code(), Code::kFailedPrecondition);
  EXPECT_EQ(rollout_->Abort("bob", "").status().code(), Code::kFailedPrecondition);
}

TEST_F(RolloutTest, WithNobodyLeftToBeginThereIsNothingToAbort) {
  Start(3, AtOnce());
  Look();
  EXPECT_EQ(rollout_->Abort("bob", "").status().code(), Code::kFailedPrecondition);
}

TEST_F(RolloutTest, ANodeThatWentAwayInTheMiddleOfAnEarlierChangeIsLetGoByResume) {
  RolloutPolicy policy;
  policy.max_unavailable = {1, false};
  Start(5, policy);
  StoredRollout stored{rollout_->record(), rollout_->members()};
  stored.members[4].on_the_way = true;
  Make(std::move(stored));
  Leave("gpu-05");
  EXPECT_EQ(Look().begun, Names{}) << "it takes the one place there is";
  const Names waits = rollout_->WaitsFor(Present());
  EXPECT_NE(std::find(waits.begin(), waits.end(), "gpu-05: went away in the middle of an earlier change"),
            waits.end());
  Do(rollout_->Resume(Present(), "bob", "it burnt down"));
  EXPECT_EQ(Look().begun.size(), 1u);
  EXPECT_EQ(rollout_->Resume(Present(), "bob", "").status().code(), Code::kFailedPrecondition)
      << "nothing is left to resume";
}

class ApprovalTest : public RolloutTest {
 protected:
  static RolloutPolicy Careful() {
    RolloutPolicy policy = AtOnce();
    policy.approve_above = Amount{2, false};
    policy.approve_twice_above = Amount{5, false};
    return policy;
  }
  RolloutApproval By(const std::string& who) { return {who, "10.0.0.9", "looked at it", wall_}; }
};

TEST_F(ApprovalTest, AFewNodesNeedNone) {
  Start(2, Careful());
  EXPECT_EQ(Look().begun.size(), 2u);
  EXPECT_EQ(rollout_->Approve(By("bob")).status().code(), Code::kFailedPrecondition);
}

TEST_F(ApprovalTest, AboveThePolicyNothingIsBegunBeforeAnotherPersonApproves) {
  Start(3, Careful());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Look(minutes(10)).begun, Names{});
  EXPECT_EQ(rollout_->Stopped(Present()),
            "waits for approval: it changes 3 nodes of 3, which 1 other person must approve; so far 0");
  EXPECT_EQ(rollout_->Approve(By("alice")).status().code(), Code::kPermissionDenied) << "its author";
  Do(rollout_->Approve(By("bob")));
  EXPECT_EQ(Look().begun.size(), 3u);
  EXPECT_EQ(rollout_->Approve(By("carol")).status().code(), Code::kFailedPrecondition);
}

TEST_F(ApprovalTest, AboveABlastRadiusTwoPersonsMustAndOneTwiceIsOne) {
  Start(6, Careful());
  Do(rollout_->Approve(By("bob")));
  Do(rollout_->Approve(By("bob")));
  EXPECT_EQ(Look().begun, Names{});
  Do(rollout_->Approve(By("carol")));
  EXPECT_EQ(Look().begun.size(), 6u);
}

TEST_F(ApprovalTest, AnApprovalCountsForAnHour) {
  Start(6, Careful());
  Do(rollout_->Approve(By("bob")));
  Look(Rollout::kApprovalFor);
  Do(rollout_->Approve(By("carol")));
  EXPECT_EQ(Look().begun, Names{});
  Do(rollout_->Approve(By("bob")));
  EXPECT_EQ(Look().begun.size(), 6u);
  Restart();
  Look(hours(5));
  EXPECT_TRUE(rollout_->record().approved) << "once it has begun they need not be given again";
}

}  // namespace
}  // namespace railwright
