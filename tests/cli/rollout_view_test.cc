#include "controller/cli/rollout_view.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/text/yaml.h"
#include "tests/cli/canned.h"
#include "tests/cli/golden.h"

namespace railwright::cli {
namespace {

const Terminal kPlain;
const auto kNow = SimClock().WallNow();

v1::RolloutsResponse In(v1::RolloutState state, const std::string& reason = "") {
  v1::RolloutsResponse answer = RunningRollout();
  answer.mutable_rollouts(0)->set_state(state);
  answer.mutable_rollouts(0)->set_reason(reason);
  return answer;
}

void AddBrake(v1::RolloutsResponse& answer, const std::string& rack, const std::string& reason) {
  v1::Brake& brake = *answer.add_brakes();
  brake.set_rack(rack);
  brake.set_reason(reason);
  brake.set_since_unix_us(Before(std::chrono::minutes(2)));
}

std::string Text(const v1::RolloutsResponse& answer) { return RolloutText(answer, kPlain, kNow); }

std::string LastLine(std::string text) {
  text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

TEST(RolloutTextTest, ARunningOneShowsWavesApprovalsAndWhomItWaitsFor) {
  ExpectGolden("rollout.txt", Text(RunningRollout()));
  ExpectGolden("rollout.json", ToJsonText(RolloutsJson(RunningRollout())));
}

TEST(RolloutTextTest, BrakesComeFirstAndLoud) {
  v1::RolloutsResponse answer = In(v1::ROLLOUT_STATE_HALTED, "5 of 32 nodes failed within 10 minutes");
  answer.mutable_rollouts(0)->set_next("railctl rollout resume");
  AddBrake(answer, "", "5 of 32 nodes failed within 10 minutes (gpu-[001-005])");
  AddBrake(answer, "r12", "3 of 8 nodes went silent within a minute");
  ExpectGolden("rollout_braked.txt", Text(answer));
  EXPECT_TRUE(RolloutLine(answer).starts_with("THE MASS-FAILURE BREAKER IS OPEN: 5 of 32"))
      << RolloutLine(answer);
}

TEST(RolloutTextTest, TheLastLineSaysWhatTheStateMeansAndWhatToType) {
  EXPECT_EQ(LastLine(Text(DoneRollout())), "✓ done: all 32 nodes have it");
  EXPECT_EQ(LastLine(Text(DoneRollout(2))),
            "✓ done: 30 of 32 nodes have it; 2 nodes away, changed when they come");
  v1::RolloutsResponse failed = DoneRollout();
  failed.mutable_rollouts(0)->set_done(31);
  failed.mutable_rollouts(0)->set_failed(1);
  EXPECT_EQ(LastLine(Text(failed)), "✗ done: 31 of 32 nodes have it, 1 failed");
  v1::RolloutsResponse paused = In(v1::ROLLOUT_STATE_PAUSED, "a job must finish first");
  paused.mutable_rollouts(0)->set_by("bob");
  paused.mutable_rollouts(0)->set_next("railctl rollout resume");
  EXPECT_EQ(
      LastLine(Text(paused)),
      "! paused by bob: a job must finish first; wave 2 of 3, 5 of 32 nodes done, 3 changing, 1 failed, "
      "23 waiting (2 away) · next: railctl rollout resume");
  v1::RolloutsResponse fresh = In(v1::ROLLOUT_STATE_WAITING);
  fresh.mutable_rollouts(0)->set_wave(0);
  EXPECT_TRUE(LastLine(Text(fresh)).starts_with("! waiting: before wave 1 of 3, ")) << Text(fresh);
  v1::RolloutsResponse nobody = DoneRollout();
  nobody.mutable_rollouts(0)->set_nodes(0);
  EXPECT_EQ(LastLine(Text(nobody)), "✓ done: it changes no node");
}

TEST(RolloutTextTest, WithoutARolloutThereIsStillASentence) {
  EXPECT_EQ(Text({}), "nothing was applied yet, so nothing spreads · next: railctl apply -f FILE\n");
  v1::RolloutsResponse none;
  none.set_generation(42);
  EXPECT_NE(Text(none).find("no rollout of generation 42"), std::string::npos);
  EXPECT_TRUE(RolloutsJson({})["rollouts"].is_array());
  EXPECT_TRUE(RolloutsJson({})["brakes"].is_array());
  EXPECT_NE(RolloutsTable({}, kPlain, kNow), "");
}

TEST(RolloutTextTest, AThousandNodesWithOneReasonAreOneLine) {
  v1::RolloutsResponse answer = RunningRollout();
  answer.mutable_rollouts(0)->clear_members();
  for (int i = 1000; i < 2000; ++i) {
    v1::RolloutNode& one = *answer.mutable_rollouts(0)->add_members();
    one.set_node("gpu-" + std::to_string(i));
    one.set_state(v1::ROLLOUT_NODE_STATE_CHANGING);
    one.set_why("has not settled yet");
  }
  EXPECT_NE(Text(answer).find("1000 nodes gpu-[1000-1999]"), std::string::npos);
  for (v1::RolloutNode& one : *answer.mutable_rollouts(0)->mutable_members()) one.set_why(one.node());
  const std::string text = Text(answer);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 64);
  EXPECT_NE(text.find("and 968 lines more: railctl rollout status -o json"), std::string::npos);
}

TEST(RolloutTextTest, WhatANodeSaysCannotMoveTheCursor) {
  v1::RolloutsResponse answer = In(v1::ROLLOUT_STATE_HALTED, "\x1b[2Jreason");
  answer.mutable_rollouts(0)->add_waits_for("\x1b]0;title");
  answer.mutable_rollouts(0)->mutable_members(0)->set_why("\x1b[H");
  AddBrake(answer, "\x1b[1m", "\x1b[2m");
  EXPECT_EQ(Text(answer).find('\x1b'), std::string::npos);
  EXPECT_EQ(RolloutLine(answer).find('\x1b'), std::string::npos);
  EXPECT_EQ(RolloutsTable(answer, kPlain, kNow).find('\x1b'), std::string::npos);
}

TEST(RolloutExitTest, EveryStateHasItsCode) {
  EXPECT_EQ(RolloutExit({}), ExitCode::kDone);
  EXPECT_EQ(RolloutExit(RunningRollout()), ExitCode::kDone);
  EXPECT_EQ(RolloutExit(DoneRollout()), ExitCode::kDone);
  EXPECT_EQ(RolloutExit(DoneRollout(2)), ExitCode::kDone) << "away nodes get it when they come";
  for (const auto state : {v1::ROLLOUT_STATE_PAUSED, v1::ROLLOUT_STATE_HALTED, v1::ROLLOUT_STATE_ABORTED,
                           v1::ROLLOUT_STATE_WAITING})
    EXPECT_EQ(RolloutExit(In(state)), ExitCode::kStopped) << state;
  EXPECT_EQ(RolloutExit(In(v1::ROLLOUT_STATE_SUPERSEDED)), ExitCode::kDone);
  v1::RolloutsResponse failed = DoneRollout();
  failed.mutable_rollouts(0)->set_failed(1);
  EXPECT_EQ(RolloutExit(failed), ExitCode::kFailed);
}

TEST(RolloutExitTest, AStateOfANewerControllerIsNeverGreen) {
  v1::RolloutsResponse answer = In(static_cast<v1::RolloutState>(99));
  EXPECT_EQ(RolloutExit(answer), ExitCode::kIncomplete);
  EXPECT_EQ(RolloutJson(answer.rollouts(0))["state"], "Unknown");
}

TEST(RolloutExitTest, TheBreakerIsSixWhateverTheStateAndAFrozenRackIsNot) {
  v1::RolloutsResponse frozen = RunningRollout(), open = DoneRollout();
  AddBrake(frozen, "r12", "3 of 8 nodes went silent");
  AddBrake(open, "", "5 of 32 nodes failed");
  EXPECT_EQ(RolloutExit(frozen), ExitCode::kDone);
  EXPECT_EQ(RolloutExit(open), ExitCode::kStopped);
}

TEST(RolloutLineTest, ItNamesTheNodesAndWhyInOneLine) {
  EXPECT_EQ(
      RolloutLine(RunningRollout()),
      "generation 42: wave 2 of 3, 5 of 32 nodes done, 3 changing, 1 failed, 23 waiting (2 away); waits "
      "for gpu-[006-008]: has not settled yet; gpu-009: bad signature; gpu-[031-032]: not connected, "
      "changed when connected again");
}

TEST(RolloutLineTest, ASentenceThatSaysThatItWaitsIsNotIntroducedTwice) {
  v1::RolloutsResponse answer = In(v1::ROLLOUT_STATE_WAITING);
  answer.mutable_rollouts(0)->clear_waits_for();
  answer.mutable_rollouts(0)->add_waits_for("waits for approval: it changes 32 nodes of 32");
  EXPECT_TRUE(RolloutLine(answer).ends_with("away); waits for approval: it changes 32 nodes of 32"))
      << RolloutLine(answer);
}

TEST(RolloutLiveTest, EveryReasonHasItsLineAndTooManyAreCounted) {
  EXPECT_EQ(RolloutLive(RunningRollout(), 10),
            "generation 42: wave 2 of 3, 5 of 32 nodes done, 3 changing, 1 failed, 23 waiting (2 away)\n"
            "  gpu-[006-008]: has not settled yet\n"
            "  gpu-009: bad signature\n"
            "  gpu-[031-032]: not connected, changed when connected again");
  const std::string three = RolloutLive(RunningRollout(), 3);
  EXPECT_TRUE(three.ends_with("\n  gpu-[006-008]: has not settled yet\n  and 2 reasons more")) << three;
}

TEST(RolloutLineTest, AHaltIsNotSaidTwice) {
  v1::RolloutsResponse answer = In(v1::ROLLOUT_STATE_HALTED, "gpu-005 failed in the first wave");
  answer.mutable_rollouts(0)->clear_waits_for();
  answer.mutable_rollouts(0)->add_waits_for("halted: gpu-005 failed in the first wave");
  const std::string line = RolloutLine(answer);
  EXPECT_EQ(line.find("gpu-005 failed"), line.rfind("gpu-005 failed")) << line;
}

TEST(RolloutLineTest, SecondsThatPassAreNoNews) {
  EXPECT_EQ(WithoutCountdown("wave 1 has settled and must hold for 59 s more"),
            WithoutCountdown("wave 1 has settled and must hold for 9 s more"));
  EXPECT_NE(WithoutCountdown("wave 1 has settled and must hold for 9 s more"),
            WithoutCountdown("wave 2 has settled and must hold for 9 s more"));
  EXPECT_EQ(WithoutCountdown(" s more 1 s more"), " s more  s more");
  EXPECT_EQ(WithoutCountdown(""), "");
}

TEST(RolloutsTableTest, TheListShowsWhatBecameOfEach) {
  v1::RolloutsResponse answer = RunningRollout();
  v1::RolloutInfo& old = *answer.add_rollouts();
  old.set_generation(41);
  old.set_base(40);
  old.set_author("root@head");
  old.set_created_unix_us(Before(std::chrono::hours(3)));
  old.set_state(v1::ROLLOUT_STATE_ABORTED);
  old.set_reason("wrong MTU");
  old.set_by("bob");
  old.set_wave(1);
  old.set_nodes(12);
  old.set_failed(2);
  ExpectGolden("rollouts.txt", RolloutsTable(answer, kPlain, kNow));
}

TEST(RolloutJsonTest, CountsThatAreNotKeptAreNull) {
  v1::RolloutInfo old;
  old.set_nodes(12);
  old.set_failed(2);
  const nlohmann::ordered_json json = RolloutJson(old);
  EXPECT_TRUE(json["summary"]["done"].is_null());
  EXPECT_EQ(json["summary"]["nodes"], 12);
  EXPECT_EQ(json["summary"]["failed"], 2);
  EXPECT_EQ(json["created_at"], nullptr);
  EXPECT_EQ(RolloutJson(DoneRollout().rollouts(0))["summary"]["waiting"], 0);
}

}  // namespace
}  // namespace railwright::cli
