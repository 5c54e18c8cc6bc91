// apply and rollback: consent, saved plans, staleness, the end of the wait, Ctrl-C.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/cli/canned.h"
#include "tests/cli/fake_admin.h"
#include "tests/cli/run_railctl.h"

namespace railwright::cli {
namespace {

class ApplyVerbTest : public testing::Test {
 protected:
  ApplyVerbTest() {
    v1::PlanEvent result;
    *result.mutable_result() = MixedPlan();
    script().plan.push_back(result);
    v1::ApplyEvent event;
    event.set_generation(42);
    event.set_nodes(1);
    event.set_finished(true);
    v1::NodeOutcome& one = *event.add_done();
    one.set_node("gpu-001");
    one.set_verdict(v1::VERDICT_COMPLIANT);
    script().apply.push_back(event);
    for (const std::uint64_t number : {42, 41, 40}) {
      v1::GenerationInfo& info = *script().generations.add_generations();
      info.set_generation(number);
      info.set_author("root@head");
    }
    std::ofstream(file_) << "kind: Cluster\nname: pod-a\nnodes:\n  - {name: gpu-001, role: gpu}\n";
  }
  ~ApplyVerbTest() override {
    std::filesystem::remove(file_);
    std::filesystem::remove(plan_);
  }
  Script& script() { return admin_.script(); }
  Ran Run(std::vector<std::string> words, const std::string& input = "", bool terminal = false) {
    return RunRailctl(std::move(words),
                      {.controller = admin_.address(), .input = input, .terminal = terminal});
  }
  std::vector<v1::ApplyRequest> Applies() {
    std::lock_guard lock(script().mutex);
    return script().applies;
  }

  FakeAdmin admin_;
  std::string file_ = admin_.address().substr(5) + ".yaml", plan_ = admin_.address().substr(5) + ".plan";
};

TEST_F(ApplyVerbTest, WithYesItIsDoneAndTheUndoIsNamed) {
  const Ran ran = Run({"apply", "-f", file_, "--yes", "--comment", "ticket 4711"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("undo: railctl rollback"), std::string::npos);
  ASSERT_EQ(Applies().size(), 1u);
  EXPECT_EQ(Applies()[0].comment(), "ticket 4711");
  EXPECT_EQ(Applies()[0].author(), "tester@here");
  EXPECT_TRUE(Applies()[0].wait());
  EXPECT_EQ(Applies()[0].timeout_ms(), 600'000);
  EXPECT_EQ(Applies()[0].expect_plan_hash(), "");
}

TEST_F(ApplyVerbTest, TheWordForATryGoesToThePlanAndToTheApply) {
  ASSERT_EQ(Run({"apply", "-f", file_, "--yes", "--try", "90s"}).code, 0);
  ASSERT_EQ(Run({"plan", "-f", file_, "--try", "90s", "--out", plan_}).code, 2);
  ASSERT_EQ(Run({"apply", "--plan", plan_, "--yes"}).code, 0);
  ASSERT_EQ(Applies().size(), 2u);
  EXPECT_EQ(Applies()[0].try_ms(), 90'000u);
  EXPECT_EQ(Applies()[1].try_ms(), 90'000u) << "as it was planned";
  EXPECT_EQ(Run({"apply", "--plan", plan_, "--yes", "--try", "30s"}).code, 64);
}

TEST_F(ApplyVerbTest, WithoutATerminalYesIsDemandedByName) {
  const Ran ran = Run({"apply", "-f", file_});
  EXPECT_EQ(ran.code, 64);
  EXPECT_NE(ran.err.find("--yes"), std::string::npos);
  EXPECT_TRUE(Applies().empty());
}

TEST_F(ApplyVerbTest, OnATerminalThePlanIsShownAndOnlyThatPlanIsApplied) {
  const Ran no = Run({"apply", "-f", file_}, "n\n", true);
  EXPECT_EQ(no.code, 130);
  EXPECT_NE(no.err.find("nothing was changed"), std::string::npos);
  EXPECT_TRUE(Applies().empty());
  const Ran yes = Run({"apply", "-f", file_}, "y\n", true);
  EXPECT_EQ(yes.code, 0) << yes.err;
  EXPECT_NE(yes.err.find("link.mtu"), std::string::npos);  // the plan, where the question is
  EXPECT_EQ(yes.out.find("Why"), std::string::npos);       // stdout holds the outcome only
  ASSERT_EQ(Applies().size(), 1u);
  EXPECT_EQ(Applies()[0].expect_plan_hash(), MixedPlan().plan_hash());
  EXPECT_EQ(Applies()[0].expect_base_generation(), 41u);
}

TEST_F(ApplyVerbTest, NothingToApplyIsNotAsked) {
  *script().plan[0].mutable_result() = EmptyPlan();
  const Ran ran = Run({"apply", "-f", file_}, "", true);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(Applies().empty());
}

TEST_F(ApplyVerbTest, ASavedPlanIsAppliedExactly) {
  const Ran planned = Run({"plan", "-f", file_, "--prune", "--out", plan_});
  ASSERT_EQ(planned.code, 2) << planned.err;
  EXPECT_NE(planned.out.find("next: railctl apply --plan " + plan_), std::string::npos);
  std::ofstream(file_) << "kind: Cluster\nname: changed-meanwhile\n";
  EXPECT_EQ(Run({"apply", "--plan", plan_}).code, 64);
  const Ran ran = Run({"apply", "--plan", plan_, "--yes"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  ASSERT_EQ(Applies().size(), 1u);
  EXPECT_EQ(Applies()[0].expect_plan_hash(), MixedPlan().plan_hash());
  EXPECT_NE(Applies()[0].files(0).text().find("name: pod-a"), std::string::npos);
  EXPECT_TRUE(Applies()[0].prune());
  EXPECT_EQ(Run({"apply", "--plan", plan_, "-f", file_, "--yes"}).code, 64);
  EXPECT_EQ(Run({"apply", "--plan", plan_, "--prune", "--yes"}).code, 64);
}

TEST_F(ApplyVerbTest, AStalePlanIsFiveAndSaysSo) {
  ASSERT_EQ(Run({"plan", "-f", file_, "--out", plan_}).code, 2);
  script().apply.clear();
  for (const Code code : {Code::kFailedPrecondition, Code::kAborted}) {
    script().failure = Status(code, "generation 42 came in between");
    const Ran ran = Run({"apply", "--plan", plan_, "--yes"});
    EXPECT_EQ(ran.code, 5);
    EXPECT_NE(ran.err.find("stale plan: generation 42 came in between; nothing was changed"),
              std::string::npos);
  }
  // Without a plan a precondition is a safety rule, and a race is still a race.
  script().failure = Status(Code::kFailedPrecondition, "an inventory without nodes");
  EXPECT_EQ(Run({"apply", "-f", file_, "--yes"}).code, 6);
  script().failure = Status(Code::kAborted, "another apply came first");
  EXPECT_EQ(Run({"apply", "-f", file_, "--yes"}).code, 5);
}

TEST_F(ApplyVerbTest, TheWaitEndsWithSevenAndNamesTheNodes) {
  script().apply[0].clear_done();
  script().apply[0].add_waiting("gpu-001");
  script().apply[0].set_timed_out(true);
  const Ran ran = Run({"apply", "-f", file_, "--yes", "--timeout", "5s"});
  EXPECT_EQ(ran.code, 7);
  EXPECT_NE(ran.out.find("gpu-001"), std::string::npos);
  EXPECT_NE(ran.out.find("follow: railctl watch"), std::string::npos);
  EXPECT_EQ(Applies()[0].timeout_ms(), 5000);
}

TEST_F(ApplyVerbTest, WithoutWaitingItReturnsWhenStored) {
  script().apply[0].clear_done();
  script().apply[0].add_waiting("gpu-001");
  const Ran ran = Run({"apply", "-f", file_, "--yes", "--no-wait", "-o", "json"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_FALSE(Applies()[0].wait());
  EXPECT_EQ(nlohmann::json::parse(ran.out)["generation"], 42);
}

TEST_F(ApplyVerbTest, InterruptedItSaysWhatGoesOn) {
  script().apply[0].set_finished(false);
  script().hold = true;
  std::atomic<bool> interrupted{false};
  std::thread finger([&] {
    while (script().events_sent.load() == 0) std::this_thread::yield();
    interrupted = true;
  });
  const Ran ran = RunRailctl(
      {"apply", "-f", file_, "--yes"},
      {.controller = admin_.address(), .input = "", .terminal = false, .interrupted = &interrupted});
  finger.join();
  EXPECT_EQ(ran.code, 130);
  EXPECT_NE(ran.err.find("interrupted"), std::string::npos) << ran.err;
}

TEST_F(ApplyVerbTest, AControllerThatDiesMidwayLeavesTheTruth) {
  script().apply[0].set_finished(false);
  const Ran early = Run({"apply", "-f", file_, "--yes"});
  EXPECT_EQ(early.code, 8);
  EXPECT_NE(early.err.find("generation 42 is stored, and the agents go on with it"), std::string::npos)
      << early.err;
  script().failure = Status(Code::kInternal, "the store is damaged");
  const Ran failed = Run({"apply", "-f", file_, "--yes"});
  EXPECT_EQ(failed.code, 1);
  EXPECT_NE(failed.err.find("generation 42 is stored"), std::string::npos) << failed.err;
}

TEST_F(ApplyVerbTest, DocumentsOnStandardInputCannotBeAskedAbout) {
  EXPECT_EQ(Run({"apply", "-f", "-"}, "kind: Profile\nname: a\n", true).code, 64);
  EXPECT_EQ(Run({"apply", "-f", "-", "--yes"}, "kind: Profile\nname: a\n", true).code, 0);
}

TEST_F(ApplyVerbTest, RollbackAsksForTheGenerationThatItNames) {
  EXPECT_EQ(Run({"rollback"}).code, 64);
  const Ran no = Run({"rollback"}, "\n", true);
  EXPECT_EQ(no.code, 130);
  EXPECT_NE(no.err.find("Go from generation 42 back to the content of 41 (by root@head"), std::string::npos)
      << no.err;
  EXPECT_EQ(Run({"rollback"}, "y\n", true).code, 0);
  EXPECT_EQ(Run({"rollback", "--to", "40", "--yes", "--restore"}).code, 0);
  {
    std::lock_guard lock(script().mutex);
    ASSERT_EQ(script().rollbacks.size(), 2u);
    EXPECT_EQ(script().rollbacks[0].to_generation(), 41u);
    EXPECT_EQ(script().rollbacks[1].to_generation(), 40u);
    EXPECT_TRUE(script().rollbacks[1].restore());
  }
  script().generations.clear_generations();
  EXPECT_EQ(Run({"rollback"}, "y\n", true).code, 64);
}

}  // namespace
}  // namespace railwright::cli
