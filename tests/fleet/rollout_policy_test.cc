// RolloutPolicy documents: what they mean, and what is said of those that mean nothing.
#include "controller/fleet/rollout_policy.h"

#include <random>

#include "tests/fleet/documents_of_tests.h"

namespace railwright {
namespace {

using Texts = std::vector<std::string>;

// Ten nodes in two racks, of which the first four have a label.
const std::string kCluster = R"(kind: Cluster
name: pod-a
nodes:
  - {name: "gpu-[1-4]", rack: r1, labels: {pair: a}}
  - {name: "gpu-[5-10]", rack: r2}
)";

std::string P(const std::string& rest) { return "kind: RolloutPolicy\nname: careful\n" + rest; }

RolloutPolicy Policy(const std::string& rest) {
  const Resolved resolved = Good({{"c.yaml", kCluster}, {"p.yaml", P(rest)}});
  if (!resolved.rollout) ADD_FAILURE() << "no policy: " << rest;
  return resolved.rollout.value_or(RolloutPolicy{});
}

Texts Wrong(const std::string& rest) { return Problems({{"c.yaml", kCluster}, {"p.yaml", P(rest)}}); }

// Those of the policy; of the tiny cluster others come.
Texts Warnings(const std::string& cluster, const std::string& rest) {
  Texts out;
  for (const std::string& warning : Good({{"c.yaml", cluster}, {"p.yaml", P(rest)}}).warnings)
    if (warning.starts_with("RolloutPolicy/")) out.push_back(warning);
  return out;
}

TEST(AmountTest, ANumberOrAShareIsRead) {
  EXPECT_EQ(*Amount::Parse("3"), (Amount{3, false}));
  EXPECT_EQ(*Amount::Parse("10%"), (Amount{10, true}));
  EXPECT_EQ(*Amount::Parse("0"), (Amount{0, false}));
  EXPECT_EQ(*Amount::Parse("0%"), (Amount{0, true}));
  EXPECT_EQ(*Amount::Parse("100%"), (Amount{100, true}));
  EXPECT_EQ(*Amount::Parse("100000"), (Amount{100'000, false}));
}

TEST(AmountTest, ItsTextIsReadAsTheSame) {
  for (const char* text : {"0", "1", "3", "100000", "0%", "7%", "100%"}) {
    const auto amount = Amount::Parse(text);
    ASSERT_TRUE(amount.ok()) << text;
    EXPECT_EQ(amount->Text(), text);
  }
}

TEST(AmountTest, WhatIsNoneIsRefused) {
  for (const char* text : {"", "%", "101%", "100001", "-1", "+1", "1.5%", "1 %", " 1", "03", "00%", "1%%",
                           "ten", "4294967297", "99999999999999999999", "1k"}) {
    const auto amount = Amount::Parse(text);
    ASSERT_FALSE(amount.ok()) << text;
    EXPECT_EQ(amount.status(), Status(Code::kInvalidArgument,
                                      "\"" + std::string(text) +
                                          "\" is no amount; allowed: a number of nodes up to 100,000, as in "
                                          "\"3\", or a share up to 100%, as in \"10%\""));
  }
}

TEST(AmountTest, AShareIsRoundedDown) {
  EXPECT_EQ((Amount{10, true}.Of(19)), 1U);
  EXPECT_EQ((Amount{10, true}.Of(9)), 0U);
  EXPECT_EQ((Amount{100, true}.Of(100'000)), 100'000U);
  EXPECT_EQ((Amount{3, false}.Of(1)), 3U);
}

TEST(WaveTest, EveryKindIsReadAndTold) {
  const std::vector<std::tuple<const char*, Wave, const char*>> all{
      {"1", {Wave::Kind::kMore, {1, false}}, "1 node"},
      {"5", {Wave::Kind::kMore, {5, false}}, "5 nodes"},
      {"10%", {Wave::Kind::kUntil, {10, true}}, "until 10% of the nodes"},
      {"100%", {Wave::Kind::kUntil, {100, true}}, "until 100% of the nodes"},
      {"rack", {Wave::Kind::kRack, {}}, "one rack"},
      {"racks", {Wave::Kind::kRacks, {}}, "rack by rack"},
      {"all", {Wave::Kind::kAll, {}}, "the rest"}};
  for (const auto& [text, wave, told] : all) {
    const auto read = Wave::Parse(text);
    ASSERT_TRUE(read.ok()) << text;
    EXPECT_EQ(*read, wave) << text;
    EXPECT_EQ(read->Text(), told);
  }
}

TEST(WaveTest, WhatIsNoneIsRefused) {
  const std::string allowed =
      "\" is no wave; allowed are: a number of nodes from 1 to 100,000, a share from 1% to 100%, rack, "
      "racks, all";
  for (const char* text : {"", "0", "0%", "101%", "100001", "1.5", "everything", "-1", "al1!"})
    EXPECT_EQ(Wave::Parse(text).status().message(), "\"" + std::string(text) + allowed);
  EXPECT_EQ(Wave::Parse("Rack").status().message(), "\"Rack\" is no wave; did you mean \"rack\"?");
  EXPECT_EQ(Wave::Parse("alll").status().message(), "\"alll\" is no wave; did you mean \"all\"?");
}

TEST(RolloutPolicyTest, WithoutADocumentThereIsNone) {
  EXPECT_EQ(Good({{"c.yaml", kCluster}}).rollout, std::nullopt);
}

TEST(RolloutPolicyTest, ADocumentWithOnlyANameIsTheDefault) {
  RolloutPolicy expected;
  expected.name = "RolloutPolicy/careful";
  EXPECT_EQ(Policy(""), expected);
  EXPECT_EQ(
      Policy("waves: [1, 10%, all]\nsoak: 5s\nsettle_within: 15m\nmax_unavailable: 25%\nmax_failed: 2%\n"
             "breaker: 5%\n"),
      expected);
}

TEST(RolloutPolicyTest, EveryFieldIsRead) {
  const RolloutPolicy policy = Policy(R"(waves: ["2", rack, 25%, 1, 50%, racks]
soak: 1h30m
settle_within: 90s
max_unavailable: 3
max_failed: 10%
apart: [rack, pair]
windows: ["Mon-Fri 22:00-06:00", Sat 00:00-24:00]
approve_above: 10%
approve_twice_above: 50%
breaker: 8
)");
  using enum Wave::Kind;
  EXPECT_EQ(policy.waves, (std::vector<Wave>{{kMore, {2, false}},
                                             {kRack, {}},
                                             {kUntil, {25, true}},
                                             {kMore, {1, false}},
                                             {kUntil, {50, true}},
                                             {kRacks, {}}}));
  EXPECT_EQ(policy.soak, std::chrono::minutes(90));
  EXPECT_EQ(policy.settle_within, std::chrono::seconds(90));
  EXPECT_EQ(policy.max_unavailable, (Amount{3, false}));
  EXPECT_EQ(policy.max_failed, (Amount{10, true}));
  EXPECT_EQ(policy.apart, (Texts{"rack", "pair"}));
  ASSERT_EQ(policy.windows.size(), 2U);
  EXPECT_EQ(policy.windows[1].text, "Sat 00:00-24:00");
  EXPECT_EQ(policy.approve_above, (Amount{10, true}));
  EXPECT_EQ(policy.approve_twice_above, (Amount{50, true}));
  EXPECT_EQ(policy.breaker, (Amount{8, false}));
}

TEST(RolloutPolicyTest, TheMessageAloneIsReadAsTheDocument) {
  const std::string rest = "waves: [rack, all]\nsoak: 0s\napart: [pair]\nwindows: [daily 02:00-04:00]\n";
  const auto documents = Documents({{"p.yaml", P(rest)}});
  v1::RolloutPolicy stored;
  ASSERT_TRUE(stored.ParseFromString(std::get<v1::RolloutPolicy>(documents.at(0).body).SerializeAsString()));
  const auto read = ReadRolloutPolicy(stored);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, Policy(rest));
  stored.set_soak("soon");
  stored.set_breaker("many");
  const auto wrong = ReadRolloutPolicy(stored);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.status().message(),
            "soak: \"soon\" is no time; allowed: 0s to 7d, written as 90s, 5m, 1h30m");
}

TEST(RolloutPolicyTest, TimesHaveUnitsEachOnceTheLargestFirst) {
  using namespace std::chrono;
  const std::vector<std::pair<std::string, seconds>> good{
      {"0s", seconds(0)},     {"90s", seconds(90)},         {"5m", minutes(5)},    {"1h", hours(1)},
      {"1h30m", minutes(90)}, {"1d2h3m4s", seconds(93784)}, {"7d", hours(7 * 24)}, {"1h05m", minutes(65)}};
  for (const auto& [text, value] : good) EXPECT_EQ(Policy("soak: " + text + "\n").soak, value) << text;
  for (const char* text :
       {"5", "m", "5x", "5M", "-5s", "1.5h", "30m1h", "1h1h", "5 m", "500ms", "99999999999s", "forever"})
    EXPECT_EQ(Wrong("soak: " + std::string(text) + "\n"),
              Texts{"p.yaml:3:7: soak: \"" + std::string(text) +
                    "\" is no time; allowed: 0s to 7d, written as 90s, 5m, 1h30m"});
  EXPECT_EQ(
      Wrong("soak: 7d1s\nsettle_within: 9s\n"),
      (Texts{"p.yaml:3:7: soak: \"7d1s\" is too long; allowed: 0s to 7d, written as 90s, 5m, 1h30m",
             "p.yaml:4:16: settle_within: \"9s\" is too short; allowed: 10s to 24h, written as 90s, 5m, "
             "1h30m"}));
  EXPECT_EQ(Policy("settle_within: 10s\n").settle_within, seconds(10));
  EXPECT_EQ(Policy("settle_within: 1d\n").settle_within, hours(24));
  EXPECT_EQ(Wrong("settle_within: 24h1s\n").size(), 1U);
}

TEST(RolloutPolicyTest, TheWavesReachEveryNode) {
  EXPECT_EQ(
      Wrong("waves: [1, 50%]\n"),
      Texts{"p.yaml:3:12: waves[1]: the last wave must be \"all\" or \"racks\", or some nodes would never be "
            "changed; add one after \"50%\""});
  EXPECT_EQ(Wrong("waves:\n  - 100%\n").size(), 1U);  // of the members of the moment; others come
  EXPECT_EQ(Wrong("waves: [rack]\n").size(), 1U);
  EXPECT_EQ(Policy("waves: [all]\n").waves.size(), 1U);
  EXPECT_EQ(Policy("waves: [racks]\n").waves.size(), 1U);
}

TEST(RolloutPolicyTest, NothingComesAfterTheLastNode) {
  EXPECT_EQ(
      Wrong("waves: [racks, 1, all]\n"),
      (Texts{"p.yaml:3:16: waves[1]: nothing is left after \"racks\"; end with it, or put this before",
             "p.yaml:3:19: waves[2]: nothing is left after \"racks\"; end with it, or put this before"}));
}

TEST(RolloutPolicyTest, SharesGrow) {
  EXPECT_EQ(
      Wrong("waves: [10%, rack, 10%, 50%, 20%, all]\n"),
      (Texts{
          "p.yaml:3:20: waves[2]: \"10%\" were chosen with \"10%\" before; shares count from the start and "
          "must grow",
          "p.yaml:3:30: waves[4]: \"20%\" were chosen with \"50%\" before; shares count from the start and "
          "must grow"}));
}

TEST(RolloutPolicyTest, EveryBadItemIsToldAtItsPlace) {
  EXPECT_EQ(Wrong("waves:\n  - 1\n  - Racks\n  - 200%\nwindows: [daily 02:00-04:00, Mo 02:00-04:00]\napart: "
                  "[rack, rack]\n"),
            (Texts{"p.yaml:5:5: waves[1]: \"Racks\" is no wave; did you mean \"racks\"?",
                   "p.yaml:6:5: waves[2]: \"200%\" is no wave; allowed are: a number of nodes from 1 to "
                   "100,000, a share "
                   "from 1% to 100%, rack, racks, all",
                   "p.yaml:7:30: windows[1]: \"Mo\" is no day; did you mean \"Mon\"?",
                   "p.yaml:8:15: apart[1]: \"rack\" is given twice"}));
}

TEST(RolloutPolicyTest, AmountsThatMeanNothingAreRefused) {
  EXPECT_EQ(
      Wrong("max_unavailable: 0\nmax_failed: 0%\nbreaker: x\napprove_above: 5 nodes\n"),
      (Texts{
          "p.yaml:3:18: max_unavailable: \"0\" is too little; the least is 1 node",
          "p.yaml:4:13: max_failed: \"0%\" is too little; the least is 1%",
          "p.yaml:5:10: breaker: \"x\" is no amount; allowed: a number of nodes up to 100,000, as in \"3\", "
          "or a share up to 100%, as in \"10%\"",
          "p.yaml:6:16: approve_above: \"5 nodes\" is no amount; allowed: a number of nodes up to 100,000, "
          "as in \"3\", or a share up to 100%, as in \"10%\""}));
  EXPECT_EQ(Policy("approve_above: 0\n").approve_above, (Amount{0, false}));  // everything needs one
}

TEST(RolloutPolicyTest, TheSecondApprovalIsNotNeededBeforeTheFirst) {
  EXPECT_EQ(
      Wrong("approve_above: 20%\napprove_twice_above: 10%\n"),
      Texts{
          "p.yaml:4:22: approve_twice_above: \"10%\" is below approve_above (\"20%\"); two persons cannot be "
          "needed before one is"});
  EXPECT_EQ(Policy("approve_above: 20%\napprove_twice_above: 20%\n").approve_twice_above, (Amount{20, true}));
  // Of ten nodes; of a thousand it would be in order.
  EXPECT_EQ(Warnings(kCluster, "approve_above: 5\napprove_twice_above: 10%\n"),
            Texts{"RolloutPolicy/careful: of 10 nodes approve_twice_above (10%) is below approve_above (5)"});
}

TEST(RolloutPolicyTest, ListsAreBounded) {
  const auto list = [](const std::string& item, int count) {
    std::string text = item;
    for (int i = 1; i < count; ++i) text += "," + item;
    return "[" + text + "]\n";
  };
  EXPECT_EQ(Wrong("waves: " + list("1", 101)), Texts{"p.yaml:3:209: waves[100]: at most 100 are accepted"});
  EXPECT_EQ(Wrong("windows: " + list("daily 02:00-04:00", 101)).size(), 1U);
  EXPECT_EQ(Policy("windows: " + list("daily 02:00-04:00", 100)).windows.size(), 100U);
  std::string apart;
  for (int i = 0; i < 17; ++i) apart += (i > 0 ? ", l" : "l") + std::to_string(i);
  EXPECT_EQ(Wrong("apart: [" + apart + "]\n"), Texts{"p.yaml:3:79: apart[16]: at most 16 are accepted"});
}

TEST(RolloutPolicyTest, AtMostOneIsInForce) {
  EXPECT_EQ(
      Problems({{"c.yaml", kCluster},
                {"p.yaml", P("")},
                {"q.yaml", "# another\nkind: RolloutPolicy\nname: fast\nsoak: soon\n"}}),
      (Texts{
          "q.yaml:2:1: at most one RolloutPolicy can be in force; the other is at p.yaml:1:1; give this one "
          "its name, \"careful\", to replace it, or leave one out",
          "q.yaml:4:7: soak: \"soon\" is no time; allowed: 0s to 7d, written as 90s, 5m, 1h30m"}));
  EXPECT_EQ(
      Problems({{"c.yaml", kCluster}, {"p.yaml", P("")}, {"q.yaml", P("soak: 1m\n")}}),
      Texts{"q.yaml:1:1: RolloutPolicy \"careful\" is declared twice (first at p.yaml:1:1); rename one"});
}

TEST(RolloutPolicyTest, WhatNoNodeHasIsAWarning) {
  EXPECT_EQ(Warnings(kCluster, "apart: [rack, pair]\nwaves: [rack, racks]\n"), Texts{});
  EXPECT_EQ(
      Warnings(kCluster, "apart: [pairs, pool-of-spares]\n"),
      (Texts{"RolloutPolicy/careful keeps nodes of the same \"pairs\" apart, but no node has that label; did "
             "you "
             "mean \"pair\"?",
             "RolloutPolicy/careful keeps nodes of the same \"pool-of-spares\" apart, but no node has that "
             "label; labels in use: pair"}));
  const std::string bare = "kind: Cluster\nname: pod-a\nnodes: [{name: a}]\n";
  EXPECT_EQ(
      Warnings(bare, "apart: [rack]\nwaves: [rack, all]\n"),
      (Texts{"RolloutPolicy/careful keeps nodes of the same \"rack\" apart, but no node has a rack",
             "RolloutPolicy/careful has waves of a rack, but no node has one: all nodes are one rack"}));
  EXPECT_EQ(Warnings("kind: Cluster\nname: a\nnodes: [{name: a, labels: {rack: r1}}]\n", "apart: [rack]\n"),
            Texts{});
}

TEST(RolloutPolicyTest, OneNodeMayAlwaysBeUnavailable) {
  RolloutPolicy policy;
  EXPECT_EQ(policy.UnavailableMost(0), 1U);
  EXPECT_EQ(policy.UnavailableMost(3), 1U);
  EXPECT_EQ(policy.UnavailableMost(10), 2U);
  EXPECT_EQ(policy.UnavailableMost(1000), 250U);
  policy.max_unavailable = {7, false};
  EXPECT_EQ(policy.UnavailableMost(1000), 7U);
}

TEST(RolloutPolicyTest, ApprovalsFollowHowManyNodesChange) {
  RolloutPolicy policy;
  EXPECT_EQ(policy.ApprovalsFor(1000, 1000), 0U);  // nobody asked for any
  policy.approve_above = {10, true};
  EXPECT_EQ(policy.ApprovalsFor(10, 100), 0U);
  EXPECT_EQ(policy.ApprovalsFor(11, 100), 1U);
  policy.approve_twice_above = {50, false};
  EXPECT_EQ(policy.ApprovalsFor(50, 100), 1U);
  EXPECT_EQ(policy.ApprovalsFor(51, 100), 2U);
  EXPECT_EQ(policy.ApprovalsFor(51, 1000), 2U);  // though it is below a tenth
  policy.approve_above = std::nullopt;
  EXPECT_EQ(policy.ApprovalsFor(50, 100), 0U);
  EXPECT_EQ(policy.ApprovalsFor(51, 100), 2U);
  policy.approve_above = {0, true};
  EXPECT_EQ(policy.ApprovalsFor(0, 100), 0U);
  EXPECT_EQ(policy.ApprovalsFor(1, 100), 1U);
}

TEST(RolloutPolicyTest, ItIsOpenInAnyOfItsWindowsAndAlwaysWithout) {
  const std::chrono::sys_days monday{std::chrono::year{2026} / 11 / 30};
  RolloutPolicy policy;
  EXPECT_TRUE(policy.Open(monday));
  policy = Policy("windows: [Mon 02:00-04:00, Tue 02:00-04:00]\n");
  EXPECT_FALSE(policy.Open(monday));
  EXPECT_TRUE(policy.Open(monday + std::chrono::hours(3)));
  EXPECT_TRUE(policy.Open(monday + std::chrono::hours(27)));
  EXPECT_FALSE(policy.Open(monday + std::chrono::hours(51)));
}

// The seed is fixed; the long search is in tests/fuzz.
TEST(RolloutPolicyTest, EveryMutationIsReadOrExplained) {
  const std::string seed = P(R"(waves: ["1", rack, 25%, all]
soak: 1h30m
settle_within: 90s
max_unavailable: 3
apart: [rack, pair]
windows: ["Mon-Fri 22:00-06:00", "Sat, Sun 00:00-24:00"]
approve_above: 10%
approve_twice_above: 50%
)");
  constexpr std::string_view kPieces[] = {"%",     "0",     "9999999999", "-", ",", ":",
                                          "24:00", "racks", "all",        " ", "d", "\xC3\xA4"};
  std::mt19937 random(20261201);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random()) % limit; };
  std::size_t read = 0, refused = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string text = seed;
    for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
      const std::size_t at = 35 + below(text.size() - 35);  // kind and name stay
      if (below(2) == 0)
        text.insert(at, kPieces[below(std::size(kPieces))]);
      else
        text.erase(at, 1 + below(3));
    }
    Loaded loaded = LoadDocuments("p.yaml", text);
    if (!loaded.problems.empty()) continue;
    loaded.documents.push_back(Documents({{"c.yaml", kCluster}}).at(0));
    const auto result = Resolve(loaded.documents, Declarations());
    const auto* problems = std::get_if<std::vector<Problem>>(&result);
    (problems == nullptr ? read : refused)++;
    const auto* message = std::get_if<v1::RolloutPolicy>(&loaded.documents[0].body);
    ASSERT_NE(message, nullptr) << text;
    EXPECT_EQ(ReadRolloutPolicy(*message).ok(), problems == nullptr) << text;
    if (problems == nullptr) continue;
    for (const Problem& problem : *problems)
      EXPECT_TRUE(problem.line >= 3 && !problem.excerpt.empty()) << problem.ToString() << "\n" << text;
  }
  EXPECT_GT(read, 50U);
  EXPECT_GT(refused, 200U);
}

}  // namespace
}  // namespace railwright
