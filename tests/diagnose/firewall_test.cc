// The walk over rulesets, case by case. That it agrees with the kernel is shown in firewall_kernel_test.cc.
#include "core/diagnose/firewall.h"

#include <gtest/gtest.h>

#include "core/decode/iptables_save.h"

namespace railwright {
namespace {

// --- a small language for rulesets: pieces of nft's JSON --------------------------------------------------

int next_handle = 100;

std::string Table(const std::string& name, const std::string& extra = "",
                  const std::string& family = "inet") {
  return R"({"table":{"family":")" + family + R"(","name":")" + name + R"(","handle":1)" + extra + "}}";
}
std::string Base(const std::string& table, const std::string& hook, int priority, const std::string& policy,
                 const std::string& extra = "", const std::string& family = "inet") {
  return R"({"chain":{"family":")" + family + R"(","table":")" + table + R"(","name":")" + hook +
         R"(","handle":2,"type":"filter","hook":")" + hook + R"(","prio":)" + std::to_string(priority) +
         R"(,"policy":")" + policy + "\"" + extra + "}}";
}
std::string Chain(const std::string& table, const std::string& name) {
  return R"({"chain":{"family":"inet","table":")" + table + R"(","name":")" + name + R"(","handle":3}})";
}
std::string Rule(const std::string& table, const std::string& chain,
                 const std::vector<std::string>& statements, const std::string& family = "inet") {
  std::string list;
  for (const auto& one : statements) list += (list.empty() ? "" : ",") + one;
  return R"({"rule":{"family":")" + family + R"(","table":")" + table + R"(","chain":")" + chain +
         R"(","handle":)" + std::to_string(next_handle++) + R"(,"expr":[)" + list + "]}}";
}
std::string Match(const std::string& left, const std::string& right, const std::string& op = "==") {
  return R"({"match":{"op":")" + op + R"(","left":)" + left + R"(,"right":)" + right + "}}";
}
std::string Payload(const std::string& protocol, const std::string& field) {
  return R"({"payload":{"protocol":")" + protocol + R"(","field":")" + field + "\"}}";
}
std::string Meta(const std::string& key) { return R"({"meta":{"key":")" + key + "\"}}"; }
std::string Dport(const std::string& right, const std::string& op = "==") {
  return Match(Payload("udp", "dport"), right, op);
}
std::string TcpDport(const std::string& right) { return Match(Payload("tcp", "dport"), right); }
std::string Saddr(const std::string& right, const std::string& op = "==") {
  return Match(Payload("ip", "saddr"), right, op);
}
std::string Prefix(const std::string& address, int length) {
  return R"({"prefix":{"addr":")" + address + R"(","len":)" + std::to_string(length) + "}}";
}
std::string Iif(const std::string& right, const std::string& op = "==") {
  return Match(Meta("iifname"), right, op);
}
std::string CtState(const std::string& right, const std::string& op = "in") {
  return Match(R"({"ct":{"key":"state"}})", right, op);
}
std::string Xt(const std::string& type, const std::string& name) {
  return R"({"xt":{"type":")" + type + R"(","name":")" + name + "\"}}";
}
const std::string kAccept = R"({"accept":null})";
const std::string kDrop = R"({"drop":null})";
const std::string kReturn = R"({"return":null})";
const std::string kLimit = R"({"limit":{"rate":10,"burst":5,"per":"second"}})";
const std::string kLimitOver = R"({"limit":{"rate":10,"burst":5,"per":"second","inv":true}})";
std::string Jump(const std::string& target) { return R"({"jump":{"target":")" + target + "\"}}"; }
std::string Goto(const std::string& target) { return R"({"goto":{"target":")" + target + "\"}}"; }

nft::Ruleset Rules(const std::vector<std::string>& objects) {
  std::string json;
  for (const auto& one : objects) json += (json.empty() ? "" : ",") + one;
  auto ruleset = nft::DecodeRuleset(R"({"nftables":[)" + json + "]}");
  EXPECT_TRUE(ruleset.ok()) << ruleset.status().ToString();
  return ruleset.ok() ? *ruleset : nft::Ruleset();
}

// One table "t" with one base chain "input" of that policy and the rules given.
nft::Ruleset Input(const std::string& policy, const std::vector<std::vector<std::string>>& rules,
                   const std::vector<std::string>& more = {}) {
  std::vector<std::string> objects{Table("t"), Base("t", "input", 0, policy)};
  objects.insert(objects.end(), more.begin(), more.end());
  for (const auto& rule : rules) objects.push_back(Rule("t", "input", rule));
  return Rules(objects);
}

PacketClass Roce() {
  PacketClass packets;
  packets.ports = IntervalSet::Of(4791);
  packets.peers = ParseNetwork("10.9.0.0/16")->addresses;
  packets.interfaces = {"rail0", "rail1"};
  return packets;
}

PacketClass Tcp() {
  PacketClass packets = Roce();
  packets.protocol = PortProtocol::kTcp;
  packets.ports = IntervalSet({{18515, 18530}, {32768, 60999}});
  return packets;
}

std::string Show(const FirewallAnswer& answer) {
  std::string text(Name(answer.passage));
  for (const Obstacle& one : answer.obstacles)
    text += "\n  " + std::string(Name(one.passage)) + (one.behind ? " behind " : " ") + one.Where() + " " +
            one.why;
  return text;
}

void Expect(Passage passage, const nft::Ruleset& ruleset, const PacketClass& packets = Roce(),
            const FirewallOptions& options = {}) {
  const FirewallAnswer answer = JudgeFirewall(ruleset, packets, options);
  EXPECT_EQ(Name(answer.passage), Name(passage)) << Show(answer);
  EXPECT_EQ(answer.obstacles.empty(), answer.passage == Passage::kPasses) << Show(answer);
}

// --- chains and verdicts -----------------------------------------------------------------------------------

TEST(JudgeFirewallTest, NothingIsInTheWayOfAnEmptyRuleset) { Expect(Passage::kPasses, {}); }

TEST(JudgeFirewallTest, AnAcceptEndsOnlyItsOwnBaseChain) {
  Expect(Passage::kDropped,
         Rules({Table("a"), Base("a", "input", -10, "accept"), Rule("a", "input", {kAccept}), Table("b"),
                Base("b", "input", 10, "drop")}));
}

TEST(JudgeFirewallTest, PriorityDecidesTheOrderNotTheListing) {
  const auto answer = JudgeFirewall(Rules({Table("late"), Base("late", "input", 10, "drop"), Table("early"),
                                           Base("early", "input", -10, "drop")}),
                                    Roce());
  ASSERT_EQ(answer.obstacles.size(), 2U);
  EXPECT_EQ(answer.obstacles[0].table, "early");
  EXPECT_FALSE(answer.obstacles[0].behind);
  EXPECT_EQ(answer.obstacles[1].table, "late");
  EXPECT_TRUE(answer.obstacles[1].behind);
}

TEST(JudgeFirewallTest, OfEqualPriorityTheLastMadeIsSeenFirst) {
  const std::string marked = Match(Meta("mark"), "0", "!=");
  const std::string mark = R"({"mangle":{"key":)" + Meta("mark") + R"(,"value":1}})";
  Expect(Passage::kDropped,
         Rules({Table("a"), Base("a", "input", 0, "accept"), Rule("a", "input", {marked, kDrop}), Table("b"),
                Base("b", "input", 0, "accept"), Rule("b", "input", {mark})}));
  Expect(Passage::kPasses,
         Rules({Table("b"), Base("b", "input", 0, "accept"), Rule("b", "input", {mark}), Table("a"),
                Base("a", "input", 0, "accept"), Rule("a", "input", {marked, kDrop})}));
}

TEST(JudgeFirewallTest, OtherHooksFamiliesAndDormantTablesAreNotOnTheWay) {
  Expect(Passage::kPasses,
         Rules({Table("t"), Base("t", "forward", 0, "drop"), Base("t", "output", 0, "drop")}));
  Expect(Passage::kPasses, Rules({Table("t", "", "ip6"), Base("t", "input", 0, "drop", "", "ip6")}));
  Expect(Passage::kPasses, Rules({Table("t", R"(,"flags":"dormant")"), Base("t", "input", 0, "drop")}));
  FirewallOptions options;
  options.without_tables = {{"inet", "t"}};
  Expect(Passage::kPasses, Rules({Table("t"), Base("t", "input", 0, "drop")}), Roce(), options);
  PacketClass sent = Roce();
  sent.direction = PacketClass::Direction::kSend;
  Expect(Passage::kDropped, Rules({Table("t"), Base("t", "output", 0, "drop")}), sent);
  Expect(Passage::kDropped, Rules({Table("t"), Base("t", "postrouting", 0, "drop")}), sent);
  Expect(Passage::kPasses, Rules({Table("t"), Base("t", "input", 0, "drop")}), sent);
}

TEST(JudgeFirewallTest, JumpComesBackGotoDoesNot) {
  const std::vector<std::string> empty{Chain("t", "sub"), Rule("t", "sub", {Dport("53"), kAccept})};
  Expect(Passage::kPasses, Input("drop", {{Jump("sub")}, {kAccept}}, empty));
  Expect(Passage::kDropped, Input("drop", {{Goto("sub")}, {kAccept}}, empty));
  const std::vector<std::string> returns{Chain("t", "sub"), Rule("t", "sub", {Dport("4791"), kReturn}),
                                         Rule("t", "sub", {kDrop})};
  Expect(Passage::kPasses, Input("accept", {{Jump("sub")}}, returns));
  // A return from the base chain is its policy.
  Expect(Passage::kDropped, Input("drop", {{kReturn}, {kAccept}}));
}

TEST(JudgeFirewallTest, AChainThatJumpsToItselfOrNowhereEndsTheWalk) {
  Expect(Passage::kCannotTell,
         Input("accept", {{Jump("sub")}}, {Chain("t", "sub"), Rule("t", "sub", {Jump("sub")})}));
  Expect(Passage::kCannotTell, Input("accept", {{Jump("nowhere")}}));
}

nft::Ruleset TreeOfJumps(const std::vector<std::string>& leaf) {
  std::vector<std::string> objects{Table("t"), Base("t", "input", 0, "accept"),
                                   Rule("t", "input", {Jump("c0")})};
  for (int i = 0; i < 15; ++i) {
    const std::string name = "c" + std::to_string(i), next = "c" + std::to_string(i + 1);
    objects.push_back(Chain("t", name));
    for (int j = 0; j < 8; ++j) objects.push_back(Rule("t", name, {Jump(next)}));
  }
  objects.push_back(Chain("t", "c15"));
  objects.push_back(Rule("t", "c15", leaf));
  return Rules(objects);
}

TEST(JudgeFirewallTest, ATreeOfJumpsThatDoesNothingIsWalkedOnce) {
  Expect(Passage::kPasses, TreeOfJumps({Dport("53"), kDrop}));
}

TEST(JudgeFirewallTest, ATreeOfJumpsTooLargeToFollowIsCannotTell) {
  Expect(Passage::kCannotTell, TreeOfJumps({Xt("match", "multiport"), kDrop}));
}

TEST(JudgeFirewallTest, ARejectAndAQueueAndATranslation) {
  Expect(Passage::kDropped, Input("accept", {{R"({"reject":{"type":"icmpx","expr":"admin-prohibited"}})"}}));
  Expect(Passage::kCannotTell, Input("accept", {{R"({"queue":{"num":1}})"}}));
  Expect(Passage::kCannotTell, Input("accept", {{R"({"dnat":{"addr":"10.0.0.1"}})"}}));
  Expect(Passage::kPasses, Input("drop", {{R"({"masquerade":null})"}}));
  Expect(Passage::kCannotTell, Input("accept", {{R"({"synproxy":{"mss":1460}})"}}));
}

// --- which packets -----------------------------------------------------------------------------------------

TEST(JudgeFirewallTest, ADropOfAPartNamesThatPart) {
  const auto answer = JudgeFirewall(Input("accept", {{Iif("\"rail1\""), Saddr(Prefix("10.9.128.0", 17)),
                                                      TcpDport(R"({"range":[40000,40009]})"), kDrop}}),
                                    Tcp());
  ASSERT_EQ(answer.obstacles.size(), 1U) << Show(answer);
  const Obstacle& one = answer.obstacles[0];
  EXPECT_EQ(one.passage, Passage::kDropped);
  EXPECT_EQ(one.interfaces, std::vector<std::string>{"rail1"});
  EXPECT_EQ(AddressesText(one.peers, false), "10.9.128.0/17");
  EXPECT_EQ(PortsText(one.ports), "40000-40009");
  EXPECT_EQ(one.chain, "input");
  EXPECT_EQ(one.base_chain, "input (hook input, priority 0)");
}

TEST(JudgeFirewallTest, WhatIsAcceptedInPartsPassesAsAWhole) {
  Expect(Passage::kPasses,
         Input("drop", {{TcpDport(R"({"range":[18000,40000]})"), kAccept},
                        {TcpDport(R"({"range":[40001,65535]})"), kAccept}}),
         Tcp());
  Expect(Passage::kPasses, Input("drop", {{Iif("\"rail0\""), kAccept}, {Iif("\"rail*\""), kAccept}}));
  Expect(Passage::kPasses, Input("drop", {{Saddr(Prefix("10.9.0.0", 17)), kAccept},
                                          {Saddr(Prefix("10.9.128.0", 17)), kAccept}}));
  Expect(Passage::kDropped, Input("drop", {{Saddr(Prefix("10.9.0.0", 17)), kAccept},
                                           {Saddr(Prefix("10.9.128.0", 18)), kAccept}}));
  // Each condition alone divides; together they must not be taken for the whole.
  Expect(Passage::kDropped, Input("drop", {{Iif("\"rail0\""), Saddr(Prefix("10.9.0.0", 17)), kAccept},
                                           {Iif("\"rail1\""), Saddr(Prefix("10.9.128.0", 17)), kAccept}}));
  Expect(Passage::kPasses, Input("drop", {{Iif("\"rail0\""), Saddr(Prefix("10.9.0.0", 17)), kAccept},
                                          {Iif("\"rail1\""), kAccept},
                                          {Saddr(Prefix("10.9.128.0", 17)), kAccept}}));
}

TEST(JudgeFirewallTest, SetsRangesMasksAndOrder) {
  Expect(Passage::kDropped, Input("accept", {{Dport(R"({"set":[53,{"range":[4790,4799]}]})"), kDrop}}));
  Expect(Passage::kPasses, Input("accept", {{Dport(R"({"set":[53,{"range":[4792,4799]}]})"), kDrop}}));
  Expect(Passage::kPasses, Input("accept", {{Dport(R"({"set":[53,4791]})", "!="), kDrop}}));
  Expect(Passage::kDropped, Input("accept", {{Dport("4791", "<="), Dport("4791", ">="), kDrop}}));
  Expect(Passage::kPasses, Input("accept", {{Dport("4791", ">"), kDrop}, {Dport("4791", "<"), kDrop}}));
  const std::string masked = R"({"&":[)" + Payload("ip", "saddr") + R"(,"255.255.0.0"]})";
  Expect(Passage::kDropped, Input("accept", {{Match(masked, "\"10.9.0.0\""), kDrop}}));
  Expect(Passage::kPasses, Input("accept", {{Match(masked, "\"10.8.0.0\""), kDrop}}));
  Expect(Passage::kDropped,
         Input("accept", {{Match(R"({"payload":{"base":"th","offset":16,"len":16}})", "4791"), kDrop}}));
  const std::string named =
      R"({"set":{"family":"inet","table":"t","name":"s","handle":9,"type":"ipv4_addr","flags":["interval"],"elem":[)" +
      Prefix("10.0.0.0", 8) + "]}}";
  Expect(Passage::kDropped, Input("accept", {{Saddr("\"@s\""), kDrop}}, {named}));
  Expect(Passage::kPasses, Input("accept", {{Saddr("\"@s\"", "!="), kDrop}}, {named}));
  Expect(Passage::kCannotTell, Input("accept", {{Saddr("\"@absent\""), kDrop}}));
}

TEST(JudgeFirewallTest, TheSourcePortOfRoceIsNever4791) {
  Expect(Passage::kDropped, Input("drop", {{Match(Payload("udp", "sport"), "4791"), kAccept}}));
  Expect(Passage::kPasses,
         Input("drop", {{Match(Payload("udp", "sport"), R"({"range":[1024,65535]})"), kAccept}}));
}

TEST(JudgeFirewallTest, AnotherProtocolEndsTheRuleWhateverItsOperator) {
  Expect(Passage::kPasses, Input("accept", {{Match(Payload("tcp", "dport"), "4791", "!="), kDrop}}));
  Expect(Passage::kPasses, Input("accept", {{Match(Payload("ip6", "saddr"), "\"fd00::1\"", "!="), kDrop}}));
  Expect(Passage::kDropped, Input("accept", {{Match(Meta("l4proto"), R"({"set":["tcp","udp"]})"),
                                              Match(Payload("th", "dport"), "4791"), kDrop}}));
  Expect(Passage::kPasses, Input("accept", {{Match(Meta("nfproto"), "\"ipv6\""), kDrop}}));
}

TEST(JudgeFirewallTest, AnInterfaceThatIsNotThereIsAnotherOne) {
  Expect(Passage::kPasses, Input("accept", {{Match(Meta("oifname"), "\"rail*\""), kDrop}}));
  Expect(Passage::kDropped, Input("accept", {{Match(Meta("oifname"), "\"rail0\"", "!="), kDrop}}));
}

TEST(JudgeFirewallTest, ConcatenationsAndMapsDivideTheClass) {
  const std::string key = R"({"concat":[)" + Meta("iifname") + "," + Payload("udp", "dport") + "]}";
  Expect(
      Passage::kPasses,
      Input("drop",
            {{Match(key, R"({"set":[{"concat":["rail0",4791]},{"concat":["rail1",{"range":[4000,5000]}]}]})"),
              kAccept}}));
  Expect(Passage::kDropped, Input("drop", {{Match(key, R"({"set":[{"concat":["rail0",4791]}]})"), kAccept}}));
  const std::string vmap = R"({"vmap":{"key":)" + Meta("iifname") +
                           R"(,"data":{"set":[["rail0",{"accept":null}],["*",{"drop":null}]]}}})";
  const auto answer = JudgeFirewall(Input("accept", {{vmap}}), Roce());
  ASSERT_EQ(answer.obstacles.size(), 1U) << Show(answer);
  EXPECT_EQ(answer.obstacles[0].interfaces, std::vector<std::string>{"rail1"});
  const std::string by_port = R"({"vmap":{"key":)" + Payload("udp", "dport") +
                              R"(,"data":{"set":[[22,{"accept":null}],[4791,{"jump":{"target":"sub"}}]]}}})";
  Expect(Passage::kPasses,
         Input("drop", {{by_port}},
               {Chain("t", "sub"), Rule("t", "sub", {Saddr(Prefix("10.9.0.0", 16)), kAccept})}));
}

TEST(JudgeFirewallTest, Ipv6HasItsOwnRules) {
  PacketClass packets = Roce();
  packets.ipv6 = true;
  packets.peers = ParseNetwork("fd00:9::/64")->addresses;
  const auto ruleset = Input("drop", {{Match(Payload("ip6", "saddr"), Prefix("fd00:9::", 32)), kAccept}});
  Expect(Passage::kPasses, ruleset, packets);
  Expect(Passage::kDropped, ruleset, Roce());
}

TEST(JudgeFirewallTest, ATcpClassIsASyn) {
  const std::string flags = Payload("tcp", "flags");
  Expect(
      Passage::kDropped,
      Input("accept", {{Match(R"({"&":[)" + flags + R"(,["fin","syn","rst","ack"]]})", "\"syn\""), kDrop}}),
      Tcp());
  Expect(Passage::kPasses, Input("accept", {{Match(flags, "\"ack\"", "in"), kDrop}}), Tcp());
  Expect(Passage::kDropped, Input("accept", {{Match(flags, R"(["syn","ack"])", "in"), kDrop}}), Tcp());
}

TEST(JudgeFirewallTest, DevicesOfIngressChains) {
  const auto on = [&](const std::string& device) {
    return Rules({Table("n", "", "netdev"), Base("n", "ingress", 0, "drop", device, "netdev")});
  };
  const auto answer = JudgeFirewall(on(R"(,"dev":"rail1")"), Roce());
  ASSERT_EQ(answer.obstacles.size(), 1U);
  EXPECT_EQ(answer.obstacles[0].interfaces, std::vector<std::string>{"rail1"});
  Expect(Passage::kPasses, on(R"(,"dev":"eno1")"));
  // nft 1.0.6 prints no device when there is one.
  Expect(Passage::kCannotTell, on(""));
}

// --- what the kernel remembers -----------------------------------------------------------------------------

TEST(JudgeFirewallTest, AFlowIsNewUnlessItIsExemptFromTracking) {
  Expect(Passage::kDropped, Input("drop", {{CtState(R"(["established","related"])"), kAccept}}));
  Expect(Passage::kPasses, Input("drop", {{CtState("\"new\""), kAccept}}));
  Expect(Passage::kPasses, Input("drop", {{CtState(R"({"set":["new","untracked"]})", "=="), kAccept}}));
  Expect(Passage::kPasses, Input("accept", {{CtState("\"invalid\""), kDrop}}));
  Expect(Passage::kDropped, Input("accept", {{CtState(R"(["established","related"])", "!"), kDrop}}));
  const std::vector<std::string> raw{Base("t", "prerouting", -300, "accept"),
                                     Rule("t", "prerouting", {Dport("4791"), R"({"notrack":null})"})};
  Expect(Passage::kDropped, Input("drop", {{CtState("\"new\""), kAccept}}, raw));
  Expect(Passage::kPasses, Input("drop", {{CtState("\"untracked\""), kAccept}}, raw));
}

TEST(JudgeFirewallTest, WhereRulesAreHiddenAFlowMayBeUntracked) {
  FirewallOptions options;
  options.hidden_rules = true;
  const auto by_new = Input("drop", {{CtState("\"new\""), kAccept}});
  Expect(Passage::kCannotTell, by_new, Roce(), options);
  Expect(Passage::kPasses, Input("drop", {{CtState(R"({"set":["new","untracked"]})", "=="), kAccept}}),
         Roce(), options);
  Expect(Passage::kDropped, Input("drop", {{CtState("\"established\""), kAccept}}), Roce(), options);
}

TEST(JudgeFirewallTest, BeforeConntrackEveryPacketIsInvalid) {
  Expect(Passage::kDropped, Rules({Table("t"), Base("t", "prerouting", -300, "accept"),
                                   Rule("t", "prerouting", {CtState("\"invalid\""), kDrop})}));
  Expect(Passage::kPasses, Rules({Table("t"), Base("t", "prerouting", -150, "accept"),
                                  Rule("t", "prerouting", {CtState("\"invalid\""), kDrop})}));
}

TEST(JudgeFirewallTest, AMarkIsZeroUntilARuleSetsIt) {
  const std::string kube = Match(R"({"&":[)" + Meta("mark") + ",32768]}", "32768");
  Expect(Passage::kPasses, Input("accept", {{kube, kDrop}}));
  Expect(Passage::kDropped,
         Input("accept", {{R"({"mangle":{"key":)" + Meta("mark") + R"(,"value":32768}})"}, {kube, kDrop}}));
  Expect(Passage::kCannotTell, Input("accept", {{Xt("target", "MARK")}, {kube, kDrop}}));
  Expect(Passage::kPasses, Input("accept", {{Dport("53"), Xt("target", "MARK")}, {kube, kDrop}}));
}

// --- what cannot be told -----------------------------------------------------------------------------------

TEST(JudgeFirewallTest, AnExtensionThatIsNotShownMattersOnlyWhereItDecides) {
  const std::string xt = Xt("match", "multiport");
  Expect(Passage::kCannotTell, Input("drop", {{xt, kAccept}}));
  Expect(Passage::kCannotTell, Input("accept", {{xt, kDrop}}));
  Expect(Passage::kPasses, Input("accept", {{xt, kAccept}}));
  Expect(Passage::kDropped, Input("drop", {{xt, kDrop}}));
  Expect(Passage::kPasses, Input("drop", {{Dport("4791"), kAccept}, {xt, kDrop}}));
  Expect(Passage::kDropped, Input("accept", {{Dport("4791"), kDrop}, {xt, kAccept}}));
  Expect(Passage::kPasses, Input("accept", {{Dport("53"), xt, kDrop}}));
  Expect(Passage::kPasses,
         Input("accept", {{xt, Jump("sub")}}, {Chain("t", "sub"), Rule("t", "sub", {kReturn})}));
}

TEST(JudgeFirewallTest, CannotTellNamesWhatCouldNotBeTold) {
  const auto answer = JudgeFirewall(Input("drop", {{Xt("match", "conntrack"), kAccept}}), Roce());
  ASSERT_EQ(answer.obstacles.size(), 1U);
  EXPECT_EQ(answer.obstacles[0].rule, "policy drop");
  EXPECT_EQ(answer.obstacles[0].why.find("xt match conntrack in table inet t chain input handle "), 0U)
      << answer.obstacles[0].why;
}

TEST(JudgeFirewallTest, ExtensionsThatAreKnownByName) {
  Expect(Passage::kDropped, Input("accept", {{Dport("4791"), Xt("match", "comment"), kDrop}}));
  Expect(Passage::kPasses, Input("accept", {{Xt("match", "tcp"), kDrop}}));
  Expect(Passage::kDropped, Input("accept", {{Dport("4791"), Xt("target", "REJECT")}}));
  Expect(Passage::kPasses, Input("accept", {{Xt("target", "LOG")}}));
  Expect(Passage::kCannotTell, Input("accept", {{Xt("target", "DNAT")}}));
  Expect(Passage::kCannotTell, Input("accept", {{Xt("target", "SOMETHING")}}));
  Expect(Passage::kCannotTell, Input("accept", {{"null"}}));
  Expect(Passage::kCannotTell, Input("accept", {{"null", kDrop}}));
  Expect(Passage::kPasses, Input("accept", {{"null", kAccept}}));
}

TEST(JudgeFirewallTest, ALimitIsThrottledWhicheverWayItIsWritten) {
  Expect(Passage::kThrottled, Input("accept", {{Dport("4791"), kLimitOver, kDrop}}));
  Expect(Passage::kThrottled, Input("drop", {{Dport("4791"), kLimit, kAccept}}));
  Expect(Passage::kPasses, Input("accept", {{kLimit, R"({"log":{"prefix":"x"}})"}}));
  Expect(Passage::kPasses, Input("accept", {{kLimit, kAccept}}));
  Expect(Passage::kDropped, Input("drop", {{kLimitOver, kDrop}}));
  Expect(Passage::kPasses, Input("accept", {{Dport("53"), kLimitOver, kDrop}}));
  const auto answer = JudgeFirewall(Input("accept", {{Dport("4791"), kLimitOver, kDrop}}), Roce());
  EXPECT_NE(answer.obstacles.at(0).why.find("limit rate over 10 packets/second"), std::string::npos);
}

TEST(JudgeFirewallTest, FirewalldAndUfwAsTheyAreGenerated) {
  // firewalld 1.3, its own input path in short.
  const auto firewalld = [&](const std::vector<std::string>& open) {
    std::vector<std::string> objects{
        Table("firewalld"),
        Base("firewalld", "input", 10, "accept"),
        Chain("firewalld", "zones"),
        Chain("firewalld", "public"),
        Chain("firewalld", "public_allow"),
        Rule("firewalld", "input", {CtState(R"({"set":["established","related"]})", "=="), kAccept}),
        Rule("firewalld", "input", {Match(R"({"ct":{"key":"status"}})", "\"dnat\"", "in"), kAccept}),
        Rule("firewalld", "input", {Iif("\"lo\""), kAccept}),
        Rule("firewalld", "input", {Jump("zones")}),
        Rule("firewalld", "input", {CtState(R"({"set":["invalid"]})", "=="), kDrop}),
        Rule("firewalld", "input", {R"({"reject":{"type":"icmpx","expr":"admin-prohibited"}})"}),
        Rule("firewalld", "zones", {Goto("public")}),
        Rule("firewalld", "public", {Jump("public_allow")})};
    if (!open.empty()) objects.push_back(Rule("firewalld", "public_allow", open));
    return Rules(objects);
  };
  Expect(Passage::kDropped, firewalld({}));
  Expect(Passage::kPasses, firewalld({Dport("4791"), kAccept}));
  const auto save = DecodeIptablesSave(
      "*filter\n:INPUT DROP [0:0]\n:ufw-before-input - [0:0]\n:ufw-not-local - [0:0]\n:ufw-user-input - "
      "[0:0]\n"
      "-A INPUT -j ufw-before-input\n-A INPUT -j ufw-user-input\n"
      "-A ufw-before-input -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n"
      "-A ufw-before-input -j ufw-not-local\n"
      "-A ufw-not-local -m addrtype --dst-type LOCAL -j RETURN\n-A ufw-not-local -j DROP\n"
      "-A ufw-user-input -i rail0 -p udp -m udp --dport 4791 -j ACCEPT\nCOMMIT\n",
      "ip");
  ASSERT_TRUE(save.ok());
  const auto answer = JudgeFirewall(save->ruleset, Roce());
  EXPECT_EQ(answer.passage, Passage::kDropped);
  ASSERT_EQ(answer.obstacles.size(), 1U) << Show(answer);
  EXPECT_EQ(answer.obstacles[0].interfaces, std::vector<std::string>{"rail1"});
}

}  // namespace
}  // namespace railwright
