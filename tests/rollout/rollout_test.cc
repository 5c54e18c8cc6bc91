#include "controller/rollout/rollout.h"

#include "tests/rollout/fleet_of_tests.h"

namespace railwright {
namespace {

using Names = std::vector<std::string>;

TEST_F(RolloutTest, TheFirstWaveIsOneNodeAndTheOthersKeepWhatTheyHave) {
  Start(20);
  EXPECT_EQ(Look().begun, Names{"gpu-01"});
  EXPECT_TRUE(rollout_->MaySend("gpu-01"));
  EXPECT_FALSE(rollout_->MaySend("gpu-02"));
  EXPECT_TRUE(rollout_->MaySend("login-1")) << "the generation does not change it";
  EXPECT_EQ(Look(hours(1) / 60).begun, Names{}) << "as long as it has not settled";
}

TEST_F(RolloutTest, TheNextWaveOpensWhenTheOneBeforeHasHeldForTheSoak) {
  RolloutPolicy policy;
  policy.soak = seconds(60);
  Start(30, policy);
  Look();
  Settle("gpu-01");
  Look();
  EXPECT_EQ(PhaseOf("gpu-01"), MemberPhase::kDone);
  EXPECT_EQ(Look(seconds(58)).begun, Names{});
  EXPECT_EQ(Look(seconds(2)).begun, (Names{"gpu-02", "gpu-03"})) << "until a tenth of 30";
  SettleAll();
  Look();
  EXPECT_EQ(Look(seconds(60)).begun.size(), 7u) << "the rest, but a quarter of the fleet at a time";
  EXPECT_EQ(rollout_->WaveText(), "wave 3 of 3");
}

TEST_F(RolloutTest, EveryNodeGetsItAndThenItIsFinished) {
  Start(50);
  Run();
  EXPECT_TRUE(rollout_->record().finished);
  EXPECT_EQ(Of(MemberPhase::kDone).size(), 50u);
  for (const auto& [name, node] : nodes_) EXPECT_EQ(node.begun, 1) << name;
}

TEST_F(RolloutTest, WithoutANodeToChangeItIsFinishedAtOnce) {
  Start(0);
  Look();
  EXPECT_TRUE(rollout_->record().finished);
}

TEST_F(RolloutTest, AnyFailureInTheFirstWaveHaltsItAndNamesTheNodeAndWhy) {
  Start(20);
  Look();
  nodes_["gpu-01"].sight.refused = "unknown key link.mtuu";
  const RolloutMove move = Look();
  EXPECT_EQ(rollout_->record().phase, RolloutPhase::kHalted);
  EXPECT_EQ(move.failed, Names{"gpu-01"});
  EXPECT_NE(move.halted.find("gpu-01 refused it: unknown key link.mtuu"), std::string::npos) << move.halted;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Look(seconds(30)).begun, Names{});
}

TEST_F(RolloutTest, InALaterWaveItGoesOnWithOneFailureAndHaltsAtMoreThanTheShare) {
  RolloutPolicy policy;
  policy.soak = seconds(0);
  policy.max_failed = {10, true};
  policy.max_unavailable = {50, true};
  policy.waves = {{Wave::Kind::kMore, {1, false}}, {}};
  Start(21, policy);
  Look();
  SettleAll();
  Look();
  Look();
  const Names changing = Of(MemberPhase::kChanging);
  ASSERT_EQ(changing.size(), 10u);
  nodes_[changing[0]].sight.refused = nodes_[changing[1]].sight.refused = "no";
  Look();
  EXPECT_EQ(rollout_->record().phase, RolloutPhase::kRunning) << "2 of 20 are a tenth";
  nodes_[changing[2]].sight.refused = "no";
  Look();
  EXPECT_EQ(rollout_->record().phase, RolloutPhase::kHalted);
}

TEST_F(RolloutTest, AsManyFailedAsMayBeUnavailableHaltIt) {
  RolloutPolicy policy;
  policy.soak = seconds(0);
  policy.max_failed = {100, true};
  policy.max_unavailable = {2, false};
  policy.waves = {{Wave::Kind::kMore, {1, false}}, {}};
  Start(21, policy);
  Look();
  SettleAll();
  Look();
  const Names changing = Of(MemberPhase::kChanging);
  ASSERT_EQ(changing.size(), 2u);
  for (const std::string& name : changing) nodes_[name].sight.refused = "no";
  Look();
  EXPECT_EQ(rollout_->record().phase, RolloutPhase::kHalted);
}

TEST_F(RolloutTest, ANodeThatIsWorseThanBeforeHasFailedAndOneThatWasIllBeforeHasNot) {
  Start(20);
  nodes_["gpu-01"].sight.settings = {{"link.mtu", "rail0"}};
  nodes_["gpu-01"].sight.checks = {{"check.gids", "rail3"}};
  Look();
  EXPECT_EQ(Of(MemberPhase::kChanging), Names{"gpu-02"}) << "one that is well comes first";
  Settle("gpu-02");
  nodes_["gpu-02"].sight.checks = {{"check.pcie", "rail1"}};
  Look();
  EXPECT_EQ(PhaseOf("gpu-02"), MemberPhase::kChanging) << "it may be passing";
  const RolloutMove move = Look(Rollout::kAilingFor);
  EXPECT_EQ(PhaseOf("gpu-02"), MemberPhase::kFailed);
  EXPECT_NE(move.halted.find("check.pcie rail1"), std::string::npos) << move.halted;
}

TEST_F(RolloutTest, AnIllnessFromBeforeIsNotBlamedOnTheChange) {
  Start(1);
  nodes_["gpu-01"].sight.settings = {{"link.mtu", "rail0"}};
  Look();
  Settle("gpu-01");
  Look();
  EXPECT_EQ(PhaseOf("gpu-01"), MemberPhase::kDone);
}

TEST_F(RolloutTest, ACheckThatFailsOnANodeThatNeverReportedIsNotBlamedOnTheChangeButASettingIs) {
  Start(2, AtOnce());
  for (auto& [name, node] : nodes_) node.sight.known = false;
  Look();
  SettleAll();
  nodes_["gpu-01"].sight.checks = {{"check.optics", "rail0"}};
  nodes_["gpu-02"].sight.settings = {{"link.mtu", "rail0"}};
  Look();
  Look(Rollout::kAilingFor);
  EXPECT_EQ(PhaseOf("gpu-01"), MemberPhase::kDone);
  EXPECT_EQ(PhaseOf("gpu-02"), MemberPhase::kFailed);
}

TEST_F(RolloutTest, ANodeThatDoesNotSettleInTimeHasFailed) {
  RolloutPolicy policy;
  policy.settle_within = minutes(2);
  Start(5, policy);
  Look();
  Look(seconds(119));
  EXPECT_EQ(PhaseOf("gpu-01"), MemberPhase::kChanging);
  Look(seconds(1));
  EXPECT_EQ(PhaseOf("gpu-01"), MemberPhase::kFailed);
}

TEST_F(RolloutTest, ANodeThatIsNotHeardOfAfterItWasBegunHasFailedAndHasNotWhenItComesBackInTime) {
  Start(5);
  Look();
  Leave("gpu-01");
  Look(Rollout::kLostFor - seconds(1));
  EXPECT_EQ(PhaseOf("gpu-01"), MemberPhase::kChanging);
  Come("gpu-01");
  Look(seconds(10));
  EXPECT_EQ(PhaseOf("gpu-01"), MemberPhase::kChanging);
  Leave("gpu-01");
  Look(Rollout::kLostFor);
  EXPECT_EQ(PhaseOf("gpu-01"), MemberPhase::kFailed);
}

TEST_F(RolloutTest, WhatGoesWrongWhileAWaveSoaksHaltsIt) {
  RolloutPolicy policy;
  policy.soak = minutes(10);
  Start(20, policy);
  Look();
  Settle("gpu-01");
  Look();
  nodes_["gpu-01"].sight.settings = {{"qos.pfc", "rail0"}};
  Look();
  Look(Rollout::kAilingForWhenDone - seconds(2));
  EXPECT_EQ(rollout_->record().phase, RolloutPhase::kRunning) << "drift that is about to be corrected";
  Look(seconds(2));
  EXPECT_EQ(rollout_->record().phase, RolloutPhase::kHalted);
}

TEST_F(RolloutTest, ANodeThatRecoversIsDone) {
  Start(5);
  Look();
  nodes_["gpu-01"].sight.refused = "no";
  Look();
  ASSERT_EQ(PhaseOf("gpu-01"), MemberPhase::kFailed);
  nodes_["gpu-01"].sight.refused.clear();
  Settle("gpu-01");
  Look();
  EXPECT_EQ(PhaseOf("gpu-01"), MemberPhase::kDone);
  EXPECT_EQ(rollout_->record().phase, RolloutPhase::kHalted) << "a person is to look at it all the same";
}

TEST_F(RolloutTest, ANodeThatWasAwayIsChangedWhenItComes) {
  Start(10);
  Leave("gpu-07");
  Run();
  EXPECT_TRUE(rollout_->record().finished);
  EXPECT_EQ(Of(MemberPhase::kWaiting), Names{"gpu-07"});
  Come("gpu-07");
  EXPECT_EQ(Look().begun, Names{"gpu-07"});
}

TEST_F(RolloutTest, AFirstNodeThatGoesAwayBeforeItWasBegunIsReplaced) {
  Start(10);
  held_ = "the breaker is open";
  Look();
  held_.clear();
  Leave("gpu-01");
  EXPECT_EQ(Look().begun, Names{"gpu-02"});
}

TEST_F(RolloutTest, ThatEverybodyIsAwayProvesNothing) {
  Start(10);
  for (auto& [name, node] : nodes_) Leave(name);
  for (int i = 0; i < 10; ++i) Look(minutes(1));
  EXPECT_FALSE(rollout_->record().finished);
  for (auto& [name, node] : nodes_) Come(name);
  EXPECT_EQ(Look().begun.size(), 1u) << "it begins with one, as ever";
}

TEST_F(RolloutTest, OfTwoNodesThatAreKeptApartOnlyOneChanges) {
  RolloutPolicy policy = AtOnce();
  policy.apart = {"pair"};
  Start(6, policy);
  for (int n = 1; n <= 6; ++n) traits_[Name(n)].apart = {"pair=" + std::to_string((n + 1) / 2)};
  Restart();
  EXPECT_EQ(Look().begun, (Names{"gpu-01", "gpu-03", "gpu-05"}));
  Settle("gpu-03");
  EXPECT_EQ(Look().begun, Names{"gpu-04"});
  nodes_["gpu-01"].sight.refused = "no";
  EXPECT_EQ(Look().begun, Names{}) << "a failed one counts, too";
}

TEST_F(RolloutTest, AWaveOfOneRackStaysInTheRackOfTheFirst) {
  RolloutPolicy policy;
  policy.soak = seconds(0);
  policy.max_unavailable = {100, true};
  policy.waves = {{Wave::Kind::kMore, {1, false}}, {Wave::Kind::kRack, {}}, {}};
  Start(12, policy);
  nodes_["gpu-01"].sight.settings = nodes_["gpu-02"].sight.settings = nodes_["gpu-03"].sight.settings =
      nodes_["gpu-04"].sight.settings = {{"link.mtu", "rail0"}};
  EXPECT_EQ(Look().begun, Names{"gpu-05"});
  SettleAll();
  EXPECT_EQ(Look().begun, (Names{"gpu-06", "gpu-07", "gpu-08"}));
  SettleAll();
  EXPECT_EQ(Look().begun.size(), 8u);
}

TEST_F(RolloutTest, RackByRackBeginsOneRackAfterTheOther) {
  RolloutPolicy policy;
  policy.soak = seconds(0);
  policy.max_unavailable = {100, true};
  policy.waves = {{Wave::Kind::kRacks, {}}};
  Start(12, policy);
  for (int rack = 0; rack < 3; ++rack) {
    EXPECT_EQ(Look().begun,
              (Names{Name(4 * rack + 1), Name(4 * rack + 2), Name(4 * rack + 3), Name(4 * rack + 4)}));
    EXPECT_EQ(Look().begun, Names{});
    SettleAll();
  }
  Run();
  EXPECT_TRUE(rollout_->record().finished);
}

TEST_F(RolloutTest, NothingIsBegunOutsideOfAWindowAndItSaysWhenTheNextBegins) {
  RolloutPolicy policy = AtOnce();
  policy.windows = {*Window::Parse("Fri 02:00-04:00")};
  Start(3, policy);
  EXPECT_EQ(Look().begun, Names{});
  EXPECT_NE(rollout_->Stopped(Present()).find("02:00 UTC"), std::string::npos)
      << rollout_->Stopped(Present());
  EXPECT_EQ(Look(hours(2)).begun.size(), 3u);
}

TEST_F(RolloutTest, AFrozenRackIsNotBegunAndTheOthersAre) {
  Start(8, AtOnce());
  frozen_ = {"r1"};
  EXPECT_EQ(Look().begun, (Names{"gpu-05", "gpu-06", "gpu-07", "gpu-08"}));
  frozen_.clear();
  EXPECT_EQ(Look().begun.size(), 4u);
}

TEST_F(RolloutTest, ANodeThatIsNotReadyTakesNobodysPlaceAndIsAskedAgain) {
  RolloutPolicy policy = AtOnce();
  policy.max_unavailable = {2, false};
  Start(5, policy);
  nodes_["gpu-01"].not_ready = nodes_["gpu-03"].not_ready = "no signature yet";
  EXPECT_EQ(Look().begun, (Names{"gpu-02", "gpu-04"}));
  const Names waits = rollout_->WaitsFor(Present());
  EXPECT_NE(std::find(waits.begin(), waits.end(), "gpu-[01,03]: no signature yet"), waits.end());
  nodes_["gpu-01"].not_ready = nodes_["gpu-03"].not_ready = "";
  SettleAll();
  EXPECT_EQ(Look(Rollout::kAskAgain).begun, (Names{"gpu-01", "gpu-03"}));
}

TEST_F(RolloutTest, ANodeThatHasTheStateAlreadyIsDoneWithoutBeingSentIt) {
  Start(3);
  Settle("gpu-02");
  Look();
  EXPECT_EQ(PhaseOf("gpu-02"), MemberPhase::kDone);
  EXPECT_EQ(nodes_["gpu-02"].begun, 0);
  Run();
  EXPECT_TRUE(rollout_->record().finished);
}

TEST_F(RolloutTest, AfterARestartItGoesOnInTheSameWaveAndSendsNobodyTwice) {
  Start(40);
  for (int i = 0; i < 12; ++i) {
    Look();
    SettleAll();
  }
  const std::uint32_t wave = rollout_->record().wave;
  ASSERT_GT(wave, 1u);
  Restart();
  Look();
  EXPECT_EQ(rollout_->record().wave, wave);
  Run();
  for (const auto& [name, node] : nodes_) EXPECT_EQ(node.begun, 1) << name;
}

TEST_F(RolloutTest, AfterARestartNodesThatHaveNotDialledYetAreNotCalledLost) {
  Start(10, AtOnce());
  Look();
  for (auto& [name, node] : nodes_) {
    Leave(name);
    node.sight.lost_for = hours(5);
  }
  Restart();
  Look();
  Look(Rollout::kLostFor - seconds(2));
  EXPECT_EQ(Of(MemberPhase::kFailed), Names{});
}

TEST_F(RolloutTest, ThoseInTheMiddleOfAnEarlierChangeCountAndComeFirst) {
  RolloutPolicy policy;
  policy.max_unavailable = {2, false};
  policy.soak = seconds(0);
  Start(10, policy);
  StoredRollout stored{rollout_->record(), rollout_->members()};
  stored.members[6].on_the_way = stored.members[8].on_the_way = true;
  nodes_["gpu-07"].sight.at_rest = nodes_["gpu-09"].sight.at_rest = false;
  Make(std::move(stored));
  EXPECT_EQ(Look().begun, Names{"gpu-07"}) << "it is harmed already, so the new state is tried on it";
  EXPECT_EQ(rollout_->Count(Present()).unavailable, 2u);
  Settle("gpu-07");
  nodes_["gpu-09"].sight.at_rest = true;
  Look();
  EXPECT_FALSE(rollout_->Find("gpu-09")->on_the_way) << "it came to rest with what it had been sent before";
  Run();
  EXPECT_TRUE(rollout_->record().finished);
}

TEST_F(RolloutTest, WhatItWaitsForIsAlwaysNamed) {
  Start(10);
  Look();
  EXPECT_EQ(rollout_->WaitsFor(Present()), Names{"gpu-01: has not settled yet"});
  Settle("gpu-01");
  Look();
  EXPECT_EQ(rollout_->WaitsFor(Present()), Names{"wave 1 has settled and must hold for 5 s more"});
  for (auto& [name, node] : nodes_) Leave(name);
  const Names waits = rollout_->WaitsFor(Present());
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0], "gpu-[02-10]: not connected, changed when connected again");
}

}  // namespace
}  // namespace railwright
