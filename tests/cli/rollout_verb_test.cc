// railctl rollout and get rollouts: consent, what is sent, how a watch ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/cli/canned.h"
#include "tests/cli/fake_admin.h"
#include "tests/cli/run_railctl.h"

namespace railwright::cli {
namespace {

using Json = nlohmann::json;

class RolloutVerbTest : public testing::Test {
 protected:
  RolloutVerbTest() {
    script().rollouts = {RunningRollout()};
    *script().ordered.mutable_rollout() = RunningRollout().rollouts(0);
    v1::ApplyEvent event;
    event.set_generation(43);
    event.set_nodes(1);
    event.set_finished(true);
    v1::NodeOutcome& one = *event.add_done();
    one.set_node("gpu-001");
    one.set_verdict(v1::VERDICT_COMPLIANT);
    script().apply.push_back(event);
  }
  Script& script() { return admin_.script(); }
  Ran Run(std::vector<std::string> words, const std::string& input = "", bool terminal = false) {
    return RunRailctl(std::move(words),
                      {.controller = admin_.address(), .input = input, .terminal = terminal});
  }
  template <class T>
  std::vector<T> Copy(const std::vector<T>& list) {
    std::lock_guard lock(script().mutex);
    return list;
  }
  static std::vector<Json> Lines(const std::string& text) {
    std::vector<Json> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
    return lines;
  }
  static v1::RolloutsResponse With(v1::RolloutsResponse answer, v1::RolloutState state) {
    answer.mutable_rollouts(0)->set_state(state);
    return answer;
  }
  static void OpenBreaker(v1::RolloutsResponse& answer) {
    answer.add_brakes()->set_reason("5 of 32 nodes failed within 10 minutes");
  }

  FakeAdmin admin_;
};

TEST_F(RolloutVerbTest, StatusShowsThePresentOneAndJudgesIt) {
  const Ran running = Run({"rollout", "status"});
  EXPECT_EQ(running.code, 0) << running.err;
  EXPECT_NE(running.out.find("gpu-[006-008]: has not settled yet"), std::string::npos) << running.out;
  script().rollouts = {With(RunningRollout(), v1::ROLLOUT_STATE_HALTED)};
  EXPECT_EQ(Run({"rollout", "status"}).code, 6);
  const Ran json = Run({"rollout", "status", "-o", "json"});
  EXPECT_EQ(json.code, 6);
  EXPECT_EQ(Json::parse(json.out)["rollouts"][0]["state"], "Halted");
  EXPECT_FALSE(Copy(script().rollout_questions)[0].list());
}

TEST_F(RolloutVerbTest, TheListIsAskedForWithItsLimit) {
  EXPECT_EQ(Run({"get", "rollouts", "--limit", "5"}).code, 0);
  const Ran json = Run({"get", "rollouts", "-o", "json"});
  EXPECT_EQ(Json::parse(json.out)["rollouts"][0]["generation"], 42);
  const auto questions = Copy(script().rollout_questions);
  ASSERT_EQ(questions.size(), 2u);
  EXPECT_TRUE(questions[0].list());
  EXPECT_EQ(questions[0].limit(), 5u);
  EXPECT_EQ(questions[1].limit(), 20u);
}

TEST_F(RolloutVerbTest, ApprovingShowsWhatItApprovesAndApprovesOnlyThat) {
  EXPECT_EQ(Run({"rollout", "approve"}).code, 64);
  const Ran no = Run({"rollout", "approve"}, "n\n", true);
  EXPECT_EQ(no.code, 130);
  EXPECT_TRUE(Copy(script().approvals).empty());
  const Ran yes = Run({"rollout", "approve", "--reason", "looked"}, "y\n", true);
  EXPECT_EQ(yes.code, 0) << yes.err;
  EXPECT_NE(yes.err.find("Waves"), std::string::npos) << yes.err;
  EXPECT_NE(yes.err.find("Approve generation 42 (41 → 42, by alice), which changes 32 nodes?"),
            std::string::npos)
      << yes.err;
  EXPECT_NE(yes.out.find("the rollout of generation 42 has 1 of 1 approval: wave 2 of 3"), std::string::npos)
      << yes.out;
  ASSERT_EQ(Copy(script().approvals).size(), 1u);
  EXPECT_EQ(Copy(script().approvals)[0].generation(), 42u) << "what was shown, though none was named";
  EXPECT_EQ(Copy(script().approvals)[0].reason(), "looked");
}

TEST_F(RolloutVerbTest, WhatIsNotInForceAnyMoreIsNotAskedAbout) {
  const Ran old = Run({"rollout", "approve", "41"}, "y\n", true);
  EXPECT_EQ(old.code, 6);
  EXPECT_NE(old.err.find("generation 41 is not in force any more, generation 42 is"), std::string::npos)
      << old.err;
  EXPECT_TRUE(Copy(script().approvals).empty());
  EXPECT_EQ(Run({"rollout", "approve", "41", "--yes"}).code, 0);
  ASSERT_EQ(Copy(script().approvals).size(), 1u);
  EXPECT_EQ(Copy(script().approvals)[0].generation(), 41u) << "the controller judges";
}

TEST_F(RolloutVerbTest, OrdersCarryTheirReasonAndAnswerWithTheNextStep) {
  script().ordered.mutable_rollout()->set_next("railctl rollout resume");
  const Ran pause = Run({"rollout", "pause", "42", "--reason", "bench test"});
  EXPECT_EQ(pause.code, 0) << pause.err;
  EXPECT_EQ(
      pause.out,
      "the rollout of generation 42 is paused: wave 2 of 3, 5 of 32 nodes done, 3 changing, 1 failed, 23 "
      "waiting (2 away) · next: railctl rollout resume\n");
  EXPECT_EQ(Run({"rollout", "resume"}).code, 0);
  const Ran abort = Run({"rollout", "abort", "-o", "json"});
  EXPECT_EQ(abort.code, 0);
  EXPECT_EQ(Json::parse(abort.out)["action"], "abort");
  EXPECT_EQ(Json::parse(abort.out)["rollout"]["generation"], 42);
  const auto orders = Copy(script().rollout_orders);
  ASSERT_EQ(orders.size(), 3u);
  EXPECT_EQ(orders[0].order(), v1::ROLLOUT_ORDER_PAUSE);
  EXPECT_EQ(orders[0].generation(), 42u);
  EXPECT_EQ(orders[0].reason(), "bench test");
  EXPECT_EQ(orders[1].order(), v1::ROLLOUT_ORDER_RESUME);
  EXPECT_EQ(orders[2].order(), v1::ROLLOUT_ORDER_ABORT);
  EXPECT_TRUE(Copy(script().rollbacks).empty());
}

TEST_F(RolloutVerbTest, ARefusedOrderSaysWhyAndHasItsCode) {
  script().failure = Status(Code::kPermissionDenied, "alice made generation 42 and cannot approve it");
  const Ran own = Run({"rollout", "approve", "--yes"});
  EXPECT_EQ(own.code, 4);
  EXPECT_NE(own.err.find("alice made generation 42"), std::string::npos);
  script().failure = Status(Code::kFailedPrecondition, "the rollout of generation 42 does not run");
  EXPECT_EQ(Run({"rollout", "pause"}).code, 6);
  EXPECT_EQ(Run({"rollout", "reset-breaker", "--yes"}).code, 6);
}

TEST_F(RolloutVerbTest, AbortWithRollbackStopsFirstAndThenGoesBackToItsBase) {
  EXPECT_EQ(Run({"rollout", "abort", "--rollback"}).code, 64);
  const Ran no = Run({"rollout", "abort", "--rollback"}, "n\n", true);
  EXPECT_EQ(no.code, 130);
  EXPECT_NE(no.err.find("Abort the rollout of generation 42 and go back to the content of 41?"),
            std::string::npos)
      << no.err;
  EXPECT_TRUE(Copy(script().rollout_orders).empty());
  const Ran yes = Run({"rollout", "abort", "--rollback", "--yes", "--reason", "wrong MTU"});
  EXPECT_EQ(yes.code, 0) << yes.err;
  EXPECT_NE(yes.err.find("the rollout of generation 42 is aborted"), std::string::npos) << yes.err;
  EXPECT_NE(yes.out.find("generation 43"), std::string::npos) << yes.out;
  ASSERT_EQ(Copy(script().rollout_orders).size(), 1u);
  EXPECT_EQ(Copy(script().rollout_orders)[0].order(), v1::ROLLOUT_ORDER_ABORT);
  EXPECT_EQ(Copy(script().rollout_orders)[0].generation(), 42u);
  ASSERT_EQ(Copy(script().rollbacks).size(), 1u);
  EXPECT_EQ(Copy(script().rollbacks)[0].to_generation(), 41u);
  EXPECT_TRUE(Copy(script().rollbacks)[0].wait());
}

TEST_F(RolloutVerbTest, WhatIsAbortedAlreadyOrBegunEverywhereOnlyGoesBack) {
  for (const auto& answer : {With(RunningRollout(), v1::ROLLOUT_STATE_ABORTED), DoneRollout()}) {
    script().rollouts = {answer};
    EXPECT_EQ(Run({"rollout", "abort", "--rollback", "--yes"}).code, 0);
  }
  EXPECT_TRUE(Copy(script().rollout_orders).empty());
  EXPECT_EQ(Copy(script().rollbacks).size(), 2u);
}

TEST_F(RolloutVerbTest, TheFirstGenerationHasNothingToGoBackTo) {
  script().rollouts[0].mutable_rollouts(0)->set_base(0);
  const Ran ran = Run({"rollout", "abort", "--rollback", "--yes"});
  EXPECT_EQ(ran.code, 6);
  EXPECT_NE(ran.err.find("there is none before it"), std::string::npos) << ran.err;
  EXPECT_TRUE(Copy(script().rollout_orders).empty());
}

TEST_F(RolloutVerbTest, TheBreakerIsResetByWhoHasSeenWhyItOpened) {
  EXPECT_EQ(Run({"rollout", "reset-breaker"}).code, 64);
  EXPECT_EQ(Run({"rollout", "reset-breaker"}, "y\n", true).code, 6) << "there is nothing to reset";
  script().rollouts = {RunningRollout()};
  OpenBreaker(script().rollouts[0]);
  *script().reset.add_reset() = script().rollouts[0].brakes(0);
  const Ran no = Run({"rollout", "reset-breaker"}, "\n", true);
  EXPECT_EQ(no.code, 130);
  EXPECT_NE(no.err.find("THE MASS-FAILURE BREAKER IS OPEN"), std::string::npos) << no.err;
  EXPECT_TRUE(Copy(script().resets).empty());
  const Ran yes = Run({"rollout", "reset-breaker", "--reason", "the switch is back"}, "y\n", true);
  EXPECT_EQ(yes.code, 0) << yes.err;
  EXPECT_NE(yes.out.find("the mass-failure breaker is closed; it was: 5 of 32 nodes failed"),
            std::string::npos)
      << yes.out;
  const Ran json = Run({"rollout", "reset-breaker", "--yes", "-o", "json"});
  EXPECT_EQ(Json::parse(json.out)["reset"][0]["rack"], "");
  ASSERT_EQ(Copy(script().resets).size(), 2u);
  EXPECT_EQ(Copy(script().resets)[0].reason(), "the switch is back");
}

TEST_F(RolloutVerbTest, AWatchEndsWhenItIsDoneAndWritesALineOnlyOnChange) {
  script().rollouts = {RunningRollout(), RunningRollout(), DoneRollout(2)};
  const Ran ran = Run({"rollout", "status", "--watch"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 2) << ran.out;
  EXPECT_NE(ran.out.find("waits for gpu-[006-008]: has not settled yet"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("2 nodes away, changed when they come"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.err, "");
}

TEST_F(RolloutVerbTest, AsJsonAWatchIsOneObjectALineFromVersionToResult) {
  script().rollouts = {RunningRollout(), With(RunningRollout(), v1::ROLLOUT_STATE_HALTED)};
  const Ran ran = Run({"rollout", "status", "--watch", "-o", "json"});
  EXPECT_EQ(ran.code, 6) << ran.err;
  const auto lines = Lines(ran.out);
  ASSERT_EQ(lines.size(), 4u) << ran.out;
  EXPECT_EQ(lines[0]["type"], "version");
  EXPECT_EQ(lines[1]["type"], "rollout");
  EXPECT_EQ(lines[1]["rollouts"][0]["state"], "Running");
  EXPECT_EQ(lines[2]["rollouts"][0]["state"], "Halted");
  EXPECT_EQ(lines[3]["type"], "result");
  EXPECT_EQ(lines[3]["exit"], 6);
}

TEST_F(RolloutVerbTest, OnATerminalTheWholeIsShownWhenItEnds) {
  script().rollouts = {RunningRollout(), DoneRollout()};
  const Ran ran = Run({"rollout", "status", "--watch"}, "", true);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("✓ done: all 32 nodes have it\n"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("waits for"), std::string::npos) << ran.out;
}

TEST_F(RolloutVerbTest, EveryEndOfAWatchHasItsCode) {
  for (const auto state : {v1::ROLLOUT_STATE_HALTED, v1::ROLLOUT_STATE_ABORTED}) {
    script().rollouts = {With(RunningRollout(), state)};
    EXPECT_EQ(Run({"rollout", "status", "--watch"}).code, 6);
  }
  v1::RolloutsResponse open = RunningRollout();
  OpenBreaker(open);
  script().rollouts = {open};
  EXPECT_EQ(Run({"rollout", "status", "--watch"}).code, 6);
  script().rollouts = {};
  EXPECT_EQ(Run({"rollout", "status", "--watch"}).code, 0) << "nothing spreads";
}

TEST_F(RolloutVerbTest, APauseIsWaitedForUntilTheTimeIsOver) {
  script().rollouts = {With(RunningRollout(), v1::ROLLOUT_STATE_PAUSED)};
  const Ran ran = Run({"rollout", "status", "--watch", "--timeout", "200ms"});
  EXPECT_EQ(ran.code, 7);
  EXPECT_NE(ran.err.find("the rollout goes on"), std::string::npos) << ran.err;
}

TEST_F(RolloutVerbTest, ANewerGenerationEndsAWatchWithAWord) {
  v1::RolloutsResponse newer = RunningRollout();
  newer.mutable_rollouts(0)->set_generation(43);
  script().rollouts = {RunningRollout(), newer};
  const Ran ran = Run({"rollout", "status", "--watch"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("generation 43 took the place of 42; follow: railctl rollout status --watch"),
            std::string::npos)
      << ran.out;
}

TEST_F(RolloutVerbTest, CtrlCEndsAWatchAndSaysThatTheRolloutGoesOn) {
  std::atomic<bool> interrupted{false};
  std::thread finger([&] {
    while (script().events_sent.load() == 0) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    interrupted = true;
  });
  const Ran ran = RunRailctl(
      {"rollout", "status", "--watch", "-o", "json"},
      {.controller = admin_.address(), .input = "", .terminal = false, .interrupted = &interrupted});
  finger.join();
  EXPECT_EQ(ran.code, 130);
  EXPECT_NE(ran.err.find("interrupted; the rollout goes on"), std::string::npos) << ran.err;
  EXPECT_EQ(Lines(ran.out).back()["exit"], 130);
}

}  // namespace
}  // namespace railwright::cli
