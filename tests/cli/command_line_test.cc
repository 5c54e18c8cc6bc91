#include "controller/cli/command_line.h"

#include <gtest/gtest.h>

namespace railwright::cli {
namespace {

Result<Invocation> Parse(std::vector<std::string> words) { return CommandLine().Parse(std::move(words)); }

template <class T>
T Take(std::vector<std::string> words) {
  auto parsed = Parse(std::move(words));
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  if (!parsed.ok()) return {};
  EXPECT_TRUE(std::holds_alternative<T>(parsed->verb));
  return std::holds_alternative<T>(parsed->verb) ? std::get<T>(parsed->verb) : T{};
}

std::string Complaint(std::vector<std::string> words) {
  auto parsed = Parse(std::move(words));
  EXPECT_FALSE(parsed.ok());
  if (parsed.ok()) return "";
  EXPECT_EQ(parsed.status().code(), Code::kInvalidArgument);
  return parsed.status().message();
}

TEST(CommandLineTest, FilesMayFollowOneAnotherOrTheirOption) {
  EXPECT_EQ(Take<PlanOptions>({"plan", "-f", "a.yaml", "b.yaml", "-f", "-", "--prune"}).files,
            (std::vector<std::string>{"a.yaml", "b.yaml", "-"}));
  EXPECT_TRUE(Take<PlanOptions>({"plan", "-f", "a.yaml", "--prune"}).prune);
}

TEST(CommandLineTest, OptionsOfEveryCommandMayStandOnEitherSideOfIt) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"-o", "json", "--controller", "unix:/x", "--timeout", "1m30s", "status",
                                 "gpu-001"},
        std::vector<std::string>{"status", "gpu-001", "-o", "json", "--controller=unix:/x",
                                 "--timeout=90s"}}) {
    auto parsed = Parse(words);
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    EXPECT_EQ(parsed->globals.format, Format::kJson);
    EXPECT_EQ(parsed->globals.controller, "unix:/x");
    EXPECT_EQ(parsed->globals.timeout, std::chrono::seconds(90));
    EXPECT_EQ(std::get<StatusOptions>(parsed->verb).nodes, std::vector<std::string>{"gpu-001"});
  }
}

TEST(CommandLineTest, WaitingIsTheDefaultAndCanBeTurnedOff) {
  EXPECT_TRUE(Take<ApplyOptions>({"apply", "-f", "a"}).wait);
  EXPECT_TRUE(Take<ApplyOptions>({"apply", "-f", "a", "--wait"}).wait);
  EXPECT_FALSE(Take<ApplyOptions>({"apply", "-f", "a", "--no-wait"}).wait);
  EXPECT_FALSE(Take<RollbackOptions>({"rollback", "--no-wait"}).wait);
  EXPECT_NE(Complaint({"apply", "-f", "a", "--wait", "--no-wait"}).find("exclude"), std::string::npos);
}

TEST(CommandLineTest, ATryLasts30SecondsTo15Minutes) {
  EXPECT_EQ(Take<ApplyOptions>({"apply", "-f", "a"}).try_for.count(), 0);
  EXPECT_EQ(Take<ApplyOptions>({"apply", "-f", "a", "--try", "2m"}).try_for, std::chrono::seconds(120));
  EXPECT_EQ(Take<PlanOptions>({"plan", "-f", "a", "--try", "30s"}).try_for, std::chrono::seconds(30));
  EXPECT_EQ(Take<RollbackOptions>({"rollback", "--try=15m"}).try_for, std::chrono::seconds(900));
  EXPECT_NE(Complaint({"apply", "-f", "a", "--try", "29s"}).find("30s to 15m, not 29s"), std::string::npos);
  EXPECT_NE(Complaint({"apply", "-f", "a", "--try", "16m"}).find("30s to 15m"), std::string::npos);
  EXPECT_NE(Complaint({"apply", "-f", "a", "--try", "soon"}).find("--try"), std::string::npos);
}

TEST(CommandLineTest, EveryListHasItsOwnChoices) {
  const auto changes =
      Take<GetOptions>({"get", "changes", "gpu-001", "--key", "link.mtu", "--since", "1h", "--limit", "5"});
  EXPECT_EQ(changes.kind, "changes");
  EXPECT_EQ(changes.names, std::vector<std::string>{"gpu-001"});
  EXPECT_EQ(changes.since, std::chrono::hours(1));
  EXPECT_EQ(changes.limit, 5u);
  EXPECT_EQ(Take<GetOptions>({"get", "desired", "gpu-001", "--generation", "7"}).generation, 7u);
  EXPECT_NE(Complaint({"get", "nodes", "--since", "1h"}).find("unknown option \"--since\""),
            std::string::npos);
}

TEST(CommandLineTest, OrdersOfARolloutNameTheirGenerationOrMeanThePresent) {
  using What = RolloutOptions::What;
  for (const auto& [word, what] :
       {std::pair("status", What::kStatus), std::pair("approve", What::kApprove),
        std::pair("pause", What::kPause), std::pair("resume", What::kResume),
        std::pair("abort", What::kAbort), std::pair("reset-breaker", What::kResetBreaker)}) {
    const auto plain = Take<RolloutOptions>({"rollout", word});
    EXPECT_EQ(plain.what, what) << word;
    EXPECT_EQ(plain.generation, 0u) << word;
    EXPECT_FALSE(plain.watch || plain.yes || plain.rollback) << word;
  }
  const auto approve =
      Take<RolloutOptions>({"rollout", "approve", "42", "--reason", "looked at the plan", "--yes"});
  EXPECT_EQ(approve.generation, 42u);
  EXPECT_EQ(approve.reason, "looked at the plan");
  EXPECT_TRUE(approve.yes);
  EXPECT_TRUE(Take<RolloutOptions>({"rollout", "abort", "--rollback", "-y", "42"}).rollback);
  EXPECT_TRUE(Take<RolloutOptions>({"rollout", "status", "--watch"}).watch);
  EXPECT_EQ(Take<GetOptions>({"get", "rollouts", "--limit", "5"}).limit, 5u);
  EXPECT_NE(Complaint({"rollout"}).find("status, approve, pause, resume, abort, reset-breaker"),
            std::string::npos);
  EXPECT_NE(Complaint({"rollout", "resum"}).find("did you mean \"resume\"?"), std::string::npos);
  EXPECT_NE(Complaint({"rollout", "pause", "x"}).find("generation"), std::string::npos);
  EXPECT_NE(Complaint({"rollout", "pause", "--rollback"}).find("unknown option"), std::string::npos);
  EXPECT_NE(Complaint({"rollout", "reset-breaker", "42"}).find("unexpected \"42\""), std::string::npos);
}

TEST(CommandLineTest, ASlipIsAnsweredWithTheNearestWord) {
  EXPECT_NE(Complaint({"plam"}).find("unknown command \"plam\"; did you mean \"plan\"?"), std::string::npos);
  EXPECT_NE(Complaint({"status", "--otput", "json"}).find("did you mean \"--output\"?"), std::string::npos);
  EXPECT_NE(Complaint({"status", "--otput=json"}).find("unknown option \"--otput\"; did you mean"),
            std::string::npos);
  EXPECT_NE(Complaint({"get", "nods"}).find("did you mean \"nodes\"?"), std::string::npos);
  EXPECT_NE(Complaint({"status", "-o", "jsn"}).find("did you mean \"json\"?"), std::string::npos);
  EXPECT_NE(Complaint({"node", "forgt", "x"}).find("did you mean \"forget\"?"), std::string::npos);
}

TEST(CommandLineTest, WhatIsMissingIsNamed) {
  EXPECT_NE(Complaint({}).find("a command is missing"), std::string::npos);
  EXPECT_NE(Complaint({"get"}).find("nodes, settings, findings"), std::string::npos);
  EXPECT_NE(Complaint({"node"}).find("forget"), std::string::npos);
  EXPECT_NE(Complaint({"status", "--timeout"}).find("--timeout"), std::string::npos);
  EXPECT_NE(Complaint({"why", "a", "b", "c", "d"}).find("unexpected \"d\""), std::string::npos);
  EXPECT_NE(Complaint({"rollback", "--to", "x"}).find("--to"), std::string::npos);
}

TEST(CommandLineTest, LearnTakesNodesANameAndAFolder) {
  const auto plain = Take<LearnOptions>({"learn", "gpu-[001-004]", "gpu-007"});
  EXPECT_EQ(plain.nodes, (std::vector<std::string>{"gpu-[001-004]", "gpu-007"}));
  EXPECT_EQ(plain.name, "learned");
  EXPECT_EQ(plain.output_dir, ".");
  EXPECT_FALSE(plain.majority || plain.force);
  const auto all =
      Take<LearnOptions>({"learn", "a", "--name", "pod", "--output-dir", "site", "--majority", "--force"});
  EXPECT_EQ(all.name, "pod");
  EXPECT_EQ(all.output_dir, "site");
  EXPECT_TRUE(all.majority && all.force);
}

TEST(CommandLineTest, ANodeMayBeCalledLikeACommand) {
  EXPECT_EQ(Take<StatusOptions>({"status", "drift"}).nodes, std::vector<std::string>{"drift"});
}

TEST(CommandLineTest, HelpIsAskedForInThreeWays) {
  EXPECT_EQ(Take<HelpOptions>({"plan", "--help"}).topic, "plan");
  EXPECT_EQ(Take<HelpOptions>({"get", "changes", "-h"}).topic, "get changes");
  EXPECT_EQ(Take<HelpOptions>({"help", "get", "changes"}).topic, "get changes");
  EXPECT_EQ(Take<HelpOptions>({"--help"}).topic, "");
}

TEST(CommandLineTest, EveryPageShowsExamplesBeforeOptions) {
  for (const char* topic : {"",
                            "plan",
                            "apply",
                            "learn",
                            "status",
                            "drift",
                            "get",
                            "get nodes",
                            "get settings",
                            "get findings",
                            "get changes",
                            "get generations",
                            "get desired",
                            "get audit",
                            "explain",
                            "why",
                            "watch",
                            "get rollouts",
                            "rollback",
                            "rollout",
                            "rollout status",
                            "rollout approve",
                            "rollout pause",
                            "rollout resume",
                            "rollout abort",
                            "rollout reset-breaker",
                            "pause",
                            "node",
                            "node forget",
                            "audit-log",
                            "audit-log verify",
                            "sign",
                            "key",
                            "key generate",
                            "key show",
                            "version",
                            "completion",
                            "help"}) {
    auto page = CommandLine().Help(topic);
    ASSERT_TRUE(page.ok()) << topic;
    const auto examples = page->find("\nExamples\n  "), usage = page->find("\nUsage\n"),
               options = page->find("\nOptions");
    EXPECT_NE(examples, std::string::npos) << topic;
    EXPECT_LT(examples, usage) << topic;
    EXPECT_LT(usage, options) << topic;
  }
}

TEST(CommandLineTest, ExitCodesHaveAPageAndUnknownTopicsANeighbour) {
  auto page = CommandLine().Help("exit-codes");
  ASSERT_TRUE(page.ok());
  for (const char* number :
       {"   0 ", "   1 ", "   2 ", "   3 ", "   4 ", "   5 ", "   6 ", "   7 ", "   8 ", "  64 ", " 130 "})
    EXPECT_NE(page->find(number), std::string::npos) << number;
  auto slip = CommandLine().Help("exit-code");
  ASSERT_FALSE(slip.ok());
  EXPECT_NE(slip.status().message().find("exit-codes"), std::string::npos);
}

TEST(ParseDurationTest, ReadsWhatPeopleWrite) {
  using std::chrono::milliseconds;
  const std::pair<const char*, milliseconds> table[]{
      {"500ms", milliseconds(500)},    {"10s", milliseconds(10'000)},   {"10", milliseconds(10'000)},
      {"1m30s", milliseconds(90'000)}, {"2h", milliseconds(7'200'000)}, {"7d", milliseconds(604'800'000)}};
  for (const auto& [text, wanted] : table) {
    auto got = ParseDuration(text);
    ASSERT_TRUE(got.ok()) << text;
    EXPECT_EQ(*got, wanted) << text;
  }
}

TEST(ParseDurationTest, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "s", "-1s", "1x", "1.5s", "10 s", "99999999999999999999s", "400d", "9223372036854775807h"})
    EXPECT_FALSE(ParseDuration(text).ok()) << text;
}

}  // namespace
}  // namespace railwright::cli
