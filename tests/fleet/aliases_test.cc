// dcqcn.alpha and dcqcn.beta: expanded before any agent hears of them, and never silently.
#include "tests/fleet/documents_of_tests.h"

namespace railwright {
namespace {

const std::string kCluster = R"(kind: Cluster
name: pod-a
nodes:
  - {name: "gpu-[1-4]", role: gpu}
ports:
  - {name: rail0, select: {netdev: e0}, role: fabric}
  - {name: rail1, select: {netdev: e1}, role: fabric}
)";

using Texts = std::vector<std::string>;
using Files = std::vector<std::pair<std::string, std::string>>;

Files With(const Texts& profiles) {
  Files files{{"c.yaml", kCluster}};
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const std::string name = "p" + std::to_string(i);
    files.emplace_back(name + ".yaml", "kind: Profile\nname: " + name + "\n" + profiles[i]);
  }
  return files;
}

const std::string kBoth = R"(mode: enforce
settings:
  dcqcn.alias_profile: initial_alpha+ai_rate
  dcqcn.alpha: {fabric: 200}
  dcqcn.beta: {fabric: 10}
)";

TEST(AliasTest, AgentsGetTheRegistersOnly) {
  const Resolved resolved = Good(With({kBoth}));
  EXPECT_EQ(Values(resolved, "gpu-1", "dcqcn.initial_alpha_value"), "rail0=200 rail1=200");
  EXPECT_EQ(Values(resolved, "gpu-1", "dcqcn.rpg_ai_rate"), "rail0=10 rail1=10");
  EXPECT_EQ(resolved.nodes.at("gpu-1").settings.size(), 4U) << "neither the aliases nor their profile";
  for (const auto& [at, layers] : *resolved.nodes.at("gpu-1").layers)
    EXPECT_FALSE(at.key.starts_with("dcqcn.al") || at.key == "dcqcn.beta") << at.key;
}

TEST(AliasTest, TheOriginIsWhereTheAliasStands) {
  const Resolved resolved = Good(With({kBoth}));
  const SettingSpec& alpha = resolved.nodes.at("gpu-1").settings[0];
  EXPECT_EQ(alpha.key, "dcqcn.initial_alpha_value");
  EXPECT_EQ(alpha.origin.place, "p0.yaml:6:25");
}

TEST(AliasTest, EveryPlanIsToldWhatTheyDo) {
  EXPECT_EQ(
      Good(With({kBoth})).warnings,
      (Texts{"dcqcn.initial_alpha_value 200 on rail0, rail1 of gpu-[1-4], from the alias dcqcn.alpha of "
             "Profile/p0 at p0.yaml:6:25: the first cut of a flow becomes 9.8 % of its rate (the card's "
             "default: 50.0 %)",
             "dcqcn.rpg_ai_rate 10 on rail0, rail1 of gpu-[1-4], from the alias dcqcn.beta of Profile/p0 "
             "at p0.yaml:7:24: each step of additive increase becomes 10 Mbit/s (the card's default: 5)"}));
}

TEST(AliasTest, WithoutTheProfileOfAliasesTheyAreRefused) {
  EXPECT_EQ(
      Problems(With({"settings:\n  dcqcn.alpha: 200\n"})),
      Texts{
          "p0.yaml:4:16: dcqcn.alpha on rail0, rail1 of gpu-[1-4] is no register of any card but an alias; "
          "it counts only beside `dcqcn.alias_profile: initial_alpha+ai_rate` for the same ports. Add that, "
          "or write what it stands for: dcqcn.initial_alpha_value: 200"});
}

TEST(AliasTest, TheProfileOfAliasesCountsForItsOwnPorts) {
  EXPECT_EQ(
      Problems(With({"settings:\n  dcqcn.alias_profile: {rail0: initial_alpha+ai_rate}\n"
                     "  dcqcn.beta: {rail0: 10, rail1: 20}\n"})),
      Texts{
          "p0.yaml:5:34: dcqcn.beta on rail1 of gpu-[1-4] is no register of any card but an alias; "
          "it counts only beside `dcqcn.alias_profile: initial_alpha+ai_rate` for the same ports. Add that, "
          "or write what it stands for: dcqcn.rpg_ai_rate: 20"});
  const Resolved one =
      Good(With({"settings:\n  dcqcn.alias_profile: {rail0: initial_alpha+ai_rate}\n"
                 "  dcqcn.beta: {rail0: 10}\n"}));
  EXPECT_EQ(Values(one, "gpu-1", "dcqcn.rpg_ai_rate"), "rail0=(10)");
}

TEST(AliasTest, AnotherProfileOfTheNodeMayNameIt) {
  const Resolved resolved =
      Good(With({"settings: {dcqcn.alias_profile: initial_alpha+ai_rate}\n",
                 "for: {nodes: [gpu-2]}\nmode: enforce\nsettings: {dcqcn.alpha: 200}\n"}));
  EXPECT_EQ(Values(resolved, "gpu-2", "dcqcn.initial_alpha_value"), "rail0=200 rail1=200");
  EXPECT_EQ(Values(resolved, "gpu-1", "dcqcn.initial_alpha_value"), "");
  ASSERT_EQ(resolved.warnings.size(), 1U) << "used somewhere";
  EXPECT_NE(resolved.warnings[0].find(" of gpu-2, from"), std::string::npos);
}

TEST(AliasTest, TheRegisterBesideItsAliasIsRefused) {
  EXPECT_EQ(Problems(With({kBoth,
                           "precedence: 5\nfor: {nodes: [gpu-1]}\nsettings:\n"
                           "  dcqcn.initial_alpha_value: {rail1: 200}\n"})),
            Texts{"p0.yaml:6:25: dcqcn.alpha on rail1 of gpu-1 stands for dcqcn.initial_alpha_value, which "
                  "Profile/p1 at p1.yaml:6:38 sets too; keep one of them"});
}

TEST(AliasTest, ValuesAreCheckedAsTheRegistersAre) {
  EXPECT_EQ(
      Problems(With({"settings:\n  dcqcn.alias_profile: initial_alpha+gd\n  dcqcn.alpha: 2000\n"
                     "  dcqcn.beta: {rail0: 0, rial1: 5}\n  dcqcn.gamma: 1\n"})),
      (Texts{"p0.yaml:4:24: dcqcn.alias_profile: \"initial_alpha+gd\"; allowed: initial_alpha+ai_rate "
             "(dcqcn.alpha is dcqcn.initial_alpha_value, dcqcn.beta is dcqcn.rpg_ai_rate)",
             "p0.yaml:5:16: dcqcn.alpha stands for dcqcn.initial_alpha_value: found \"2000\"; allowed: "
             "1…1023",
             "p0.yaml:6:23: dcqcn.beta stands for dcqcn.rpg_ai_rate: found \"0\"; allowed: 1…100000",
             "p0.yaml:6:26: dcqcn.beta: \"rial1\" is neither a port role nor a declared port; did you mean "
             "\"rail1\"?",
             "p0.yaml:7:3: unknown setting \"dcqcn.gamma\""}));
}

TEST(AliasTest, LayersOfAnAliasAreLayersOfItsRegister) {
  const Resolved resolved = Good(
      With({kBoth, "precedence: 5\nfor: {nodes: [gpu-1]}\nmode: enforce\nsettings: {dcqcn.alpha: 300}\n"}));
  EXPECT_EQ(Values(resolved, "gpu-1", "dcqcn.initial_alpha_value"), "rail0=300 rail1=300");
  EXPECT_EQ(Values(resolved, "gpu-2", "dcqcn.initial_alpha_value"), "rail0=200 rail1=200");
  EXPECT_EQ(resolved.nodes.at("gpu-1").layers.at(KeyTarget{"dcqcn.initial_alpha_value", "rail0"}).size(), 2U);
  const Texts problems = Problems(With({kBoth, "mode: enforce\nsettings: {dcqcn.alpha: 300}\n"}));
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].find("conflict: dcqcn.initial_alpha_value on rail0, rail1"), std::string::npos);
}

TEST(AliasTest, AProfileOfAliasesAloneIsAWarning) {
  EXPECT_EQ(Good(With({"settings: {dcqcn.alias_profile: initial_alpha+ai_rate}\n"})).warnings,
            Texts{"Profile/p0 sets dcqcn.alias_profile, but no alias is set for the same ports"});
}

}  // namespace
}  // namespace railwright
