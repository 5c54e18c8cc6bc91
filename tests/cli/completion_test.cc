#include <gtest/gtest.h>

#include <algorithm>

#include "controller/cli/command_line.h"

namespace railwright::cli {
namespace {

using Live = Completions::Live;

Completions At(std::vector<std::string> words) { return Complete(CommandLine(), words); }

bool Offers(const Completions& found, const std::string& word) {
  return std::find(found.words.begin(), found.words.end(), word) != found.words.end();
}

TEST(CompleteTest, CommandsComeFirstAndHiddenOnesNever) {
  const Completions found = At({""});
  for (const char* verb : {"plan", "apply", "status", "explain", "get"})
    EXPECT_TRUE(Offers(found, verb)) << verb;
  EXPECT_FALSE(Offers(At({"get", ""}), "links"));
  EXPECT_TRUE(Offers(At({"get", ""}), "generations"));
}

TEST(CompleteTest, OrdersOfARolloutAreOfferedWithTheirOptions) {
  for (const char* word : {"status", "approve", "pause", "resume", "abort", "reset-breaker"})
    EXPECT_TRUE(Offers(At({"rollout", ""}), word)) << word;
  EXPECT_TRUE(Offers(At({"rollout", "status", "--"}), "--watch"));
  EXPECT_TRUE(Offers(At({"rollout", "abort", "--"}), "--rollback"));
  EXPECT_FALSE(Offers(At({"rollout", "pause", "--"}), "--rollback"));
  EXPECT_TRUE(Offers(At({"get", ""}), "rollouts"));
}

TEST(CompleteTest, AWordThatIsGivenIsNotOfferedAgain) {
  EXPECT_FALSE(Offers(At({"status", ""}), "plan"));
  EXPECT_EQ(At({"explain", "link.mtu", ""}).live, Live::kNone);
}

TEST(CompleteTest, NodesAreLiveWhereNodesAreWanted) {
  EXPECT_EQ(At({"status", ""}).live, Live::kNodes);
  EXPECT_EQ(At({"status", "gpu-001", "g"}).live, Live::kNodes);
  EXPECT_EQ(At({"learn", ""}).live, Live::kNodes);
  EXPECT_EQ(At({"why", ""}).live, Live::kNodes);
  EXPECT_EQ(At({"why", "gpu-001", ""}).live, Live::kKeys);
  EXPECT_EQ(At({"pause", ""}).live, Live::kNodesAndKeys);
  EXPECT_EQ(At({"node", "forget", ""}).live, Live::kNodes);
  EXPECT_EQ(At({"get", "changes", "--key", ""}).live, Live::kKeys);
  EXPECT_EQ(At({"explain", ""}).live, Live::kTopics);
}

TEST(CompleteTest, ValuesFollowTheirOption) {
  EXPECT_TRUE(Offers(At({"status", "-o", ""}), "json"));
  EXPECT_TRUE(Offers(At({"status", "--output=j"}), "--output=json"));
  EXPECT_TRUE(At({"plan", "-f", ""}).files);
  EXPECT_TRUE(At({"plan", "-f", "a.yaml", ""}).files);
  EXPECT_TRUE(At({"apply", "--plan", ""}).files);
  EXPECT_TRUE(At({"learn", "--output-dir", ""}).files);
  EXPECT_FALSE(At({"status", "-o", "json", ""}).files);
  EXPECT_EQ(At({"status", "-o", "json", ""}).live, Live::kNodes);
  EXPECT_TRUE(Offers(At({"completion", ""}), "fish"));
  EXPECT_TRUE(Offers(At({"help", ""}), "exit-codes"));
}

TEST(CompleteTest, OptionsAreThoseOfTheCommand) {
  EXPECT_TRUE(Offers(At({"plan", "--"}), "--prune"));
  EXPECT_TRUE(Offers(At({"plan", "--"}), "--controller"));
  EXPECT_FALSE(Offers(At({"status", "--"}), "--prune"));
}

TEST(CompleteTest, NoWordsAtAllAreNoCrash) {
  EXPECT_TRUE(Offers(At({}), "plan"));
  EXPECT_FALSE(At({"nonsense", "--nonsense", ""}).files);
}

TEST(CompletionScriptTest, ThreeShellsAreServedAndOthersNamed) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    auto script = CompletionScript(shell);
    ASSERT_TRUE(script.ok());
    EXPECT_NE(script->find("__complete --"), std::string::npos) << shell;
  }
  EXPECT_FALSE(CompletionScript("tcsh").ok());
}

}  // namespace
}  // namespace railwright::cli
