#include "controller/cli/plan_view.h"

#include <gtest/gtest.h>

#include "core/text/yaml.h"
#include "tests/cli/canned.h"
#include "tests/cli/golden.h"

namespace railwright::cli {
namespace {

const Terminal kPlain;
const auto kNow = SimClock().WallNow();
constexpr const char* kNext = "railctl apply --plan site.plan";

TEST(PlanViewTest, AMixedPlan) {
  const PlanView plan = MakePlanView(MixedPlan());
  ExpectGolden("plan.txt", PlanText(plan, {.why = false, .next = kNext}, kPlain, kNow));
  ExpectGolden("plan_why.txt", PlanText(plan, {.why = true, .next = kNext}, kPlain, kNow));
  ExpectGolden("plan.json", ToJsonText(PlanJson(plan, kNext)));
}

TEST(PlanViewTest, NothingToDo) {
  const PlanView plan = MakePlanView(EmptyPlan());
  EXPECT_EQ(plan.exit(), ExitCode::kDone);
  ExpectGolden("plan_empty.txt", PlanText(plan, {}, kPlain, kNow));
}

TEST(PlanViewTest, TheVerdictAndTheNextCommandAreTheLastLine) {
  const std::string text = PlanText(MakePlanView(MixedPlan()), {.why = false, .next = kNext}, kPlain, kNow);
  const std::string last = text.substr(text.rfind('\n', text.size() - 2) + 1);
  EXPECT_NE(last.find("14 changes on 6 of 7 nodes, TrafficBlip at worst"), std::string::npos) << last;
  EXPECT_NE(last.find(kNext), std::string::npos) << last;
}

TEST(PlanViewTest, EachThingThatWouldHappenCounts) {
  const std::pair<const char*, void (*)(v1::PlanResult&)> changes[]{
      {"document", [](v1::PlanResult& p) { p.add_documents_changed("Profile/x"); }},
      {"removal", [](v1::PlanResult& p) { p.add_documents_removed("Profile/x"); }},
      {"release", [](v1::PlanResult& p) { p.add_released()->set_node("gpu-001"); }},
      {"step", [](v1::PlanResult& p) { p.mutable_nodes(0)->add_steps()->set_key("link.mtu"); }},
      {"refused step",
       [](v1::PlanResult& p) { p.mutable_nodes(0)->add_steps()->set_refused("ObserveMode"); }},
  };
  for (const auto& [what, change] : changes) {
    v1::PlanResult result = EmptyPlan();
    change(result);
    EXPECT_EQ(MakePlanView(result).exit(), ExitCode::kDifferences) << what;
  }
}

TEST(PlanViewTest, SilenceAndBlindnessAreNeverNoChanges) {
  v1::PlanResult silent = EmptyPlan();
  silent.add_not_answered()->set_node("gpu-009");
  EXPECT_EQ(MakePlanView(silent).exit(), ExitCode::kIncomplete);
  v1::PlanResult blind = EmptyPlan();
  blind.mutable_nodes(0)->add_findings()->set_verdict(v1::VERDICT_UNKNOWN);
  EXPECT_EQ(MakePlanView(blind).exit(), ExitCode::kIncomplete);
  EXPECT_EQ(PlanJson(MakePlanView(blind), "")["complete"], false);
}

TEST(PlanViewTest, WhatNobodyAnsweredIsNotKnown) {
  v1::PlanResult silent;
  silent.add_documents_added("Cluster/lab");
  silent.add_not_answered()->set_node("gpu-001");
  EXPECT_EQ(MakePlanView(silent).Sentence(),
            "the documents change, what the nodes would do is not known; 1 node did not answer");
}

TEST(PlanViewTest, NodesThatDifferInWhatIsThereNowAreListedWhileTheyAreFew) {
  v1::PlanResult result;
  for (int i = 0; i < 12; ++i) {
    v1::Plan& node = *result.add_nodes();
    node.set_node("gpu-" + std::to_string(10 + i));
    v1::Step& step = *node.add_steps();
    step.set_key("link.mtu");
    step.set_from(std::to_string(1500 + i));
    step.set_to("4200");
    const bool folded =
        PlanText(MakePlanView(result), {}, kPlain, kNow).find("each node its own") != std::string::npos;
    EXPECT_EQ(folded, i >= 8) << i;
  }
  EXPECT_NE(PlanText(MakePlanView(result), {}, kPlain, kNow).find("1500 → 4200 on gpu-10, each node its own"),
            std::string::npos);
}

TEST(PlanViewTest, WhatEachNodeLosesOfItsOwnIsOneRow) {
  v1::PlanResult result;
  for (int i = 1; i <= 3; ++i) {
    v1::Plan& node = *result.add_nodes();
    node.set_node("gpu-00" + std::to_string(i));
    v1::Step& step = *node.add_steps();
    step.set_key("rail.address");
    step.set_from("10.10.0." + std::to_string(i) + "/24");
  }
  const std::string text = PlanText(MakePlanView(result), {}, kPlain, kNow);
  EXPECT_NE(text.find("3 nodes gpu-[001-003]"), std::string::npos) << text;
  EXPECT_NE(text.find("10.10.0.1/24 → nothing on gpu-001, each node its own"), std::string::npos) << text;
}

TEST(PlanViewTest, WhatIsOnlyStoredSaysWhenItTakesEffect) {
  v1::PlanResult result;
  for (const bool next_boot : {true, false}) {
    v1::Plan& node = *result.add_nodes();
    node.set_node(next_boot ? "gpu-001" : "gpu-002");
    v1::Step& step = *node.add_steps();
    step.set_key("ecn.np");
    step.set_target("rail0");
    step.set_from("all");
    step.set_to("3");
    step.set_disruption(v1::DISRUPTION_NONE);
    step.set_next_boot(next_boot);
  }
  const std::string text = PlanText(MakePlanView(result), {}, kPlain, kNow);
  const auto said = text.find("None; in force at next boot");
  EXPECT_NE(said, std::string::npos) << text;
  EXPECT_EQ(text.find("next boot", said + 20), std::string::npos) << "on the other node it counts at once";
}

TEST(GroupStepsTest, OnlyStepsThatAgreeInEverythingStandTogether) {
  Step step{.key = "link.mtu",
            .target = "rail0",
            .from = "1500",
            .to = "4200",
            .blast = {},
            .why = "",
            .origin = {},
            .refused = "",
            .refused_message = ""};
  Step other = step;
  other.disruption = Disruption::kLinkFlap;
  const std::vector<Plan> plans{{.node = "b", .generation = {}, .steps = {step}, .findings = {}},
                                {.node = "a", .generation = {}, .steps = {step}, .findings = {}},
                                {.node = "c", .generation = {}, .steps = {other, step}, .findings = {}}};
  const std::vector<StepGroup> groups = GroupSteps(plans);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].nodes, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(groups[1].nodes, (std::vector<std::string>{"c"}));
}

TEST(GroupStepsTest, TenThousandNodesAreGroupedInOneGo) {
  std::vector<Plan> plans(10'000);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    plans[i].node = "gpu-" + std::to_string(i);
    for (int k = 0; k < 10; ++k) {
      Step step;
      step.key = "key." + std::to_string(k);
      step.to = "1";
      plans[i].steps.push_back(step);
    }
  }
  const std::vector<StepGroup> groups = GroupSteps(plans);
  ASSERT_EQ(groups.size(), 10u);
  EXPECT_EQ(groups[9].nodes.size(), 10'000u);
}

TEST(ShellWordTest, WhatAShellWouldBreakIsQuoted) {
  EXPECT_EQ(ShellWord("site.yaml"), "site.yaml");
  EXPECT_EQ(ShellWord("my site.yaml"), "'my site.yaml'");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellWord("gpu-[001-004]"), "'gpu-[001-004]'");
  EXPECT_EQ(ShellWord(""), "''");
}

TEST(PlanTextTest, WhatOnlyTheModeKeepsBackIsSummedUp) {
  v1::PlanResult result;
  for (const char* node : {"gpu-001", "gpu-002"}) {
    v1::Plan& plan = *result.add_nodes();
    plan.set_node(node);
    for (const char* key : {"link.mtu", "link.pause"}) {
      v1::Step& step = *plan.add_steps();
      step.set_key(key);
      step.set_target("rail0");
      step.set_from("a");
      step.set_to("b");
      step.set_refused("ObserveMode");
    }
  }
  result.mutable_nodes(0)->add_steps()->set_refused("ManagementPath");
  const PlanView view = MakePlanView(result);
  EXPECT_EQ(view.would_change.values, 4U);
  const std::string text = PlanText(view, {}, Terminal{}, {});
  EXPECT_NE(
      text.find("in mode observe: 4 values on 2 nodes gpu-[001-002] would be changed; switch on with mode: "
                "enforce for link.mtu, link.pause\n"),
      std::string::npos)
      << text;
  EXPECT_EQ(PlanJson(view, "")["would_change"]["keys"].size(), 2U);
  EXPECT_EQ(PlanText(MakePlanView(EmptyPlan()), {}, Terminal{}, {}).find("mode observe"), std::string::npos);
}

TEST(PlanTextTest, HowItWouldSpreadIsSaidBeforeTheVerdict) {
  v1::PlanResult result = MixedPlan();
  result.add_rollout("1 node, then the rest; each must hold for 60 s");
  result.add_rollout("it changes 6 of 7 nodes, which 1 other person must approve first");
  const PlanView plan = MakePlanView(result);
  const std::string text = PlanText(plan, {}, kPlain, kNow);
  EXPECT_NE(text.find("It would spread\n  1 node, then the rest; each must hold for 60 s\n"
                      "  it changes 6 of 7 nodes, which 1 other person must approve first\n\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(PlanJson(plan, "")["rollout"].size(), 2u);
  EXPECT_TRUE(PlanJson(MakePlanView(EmptyPlan()), "")["rollout"].is_array());
}

}  // namespace
}  // namespace railwright::cli
