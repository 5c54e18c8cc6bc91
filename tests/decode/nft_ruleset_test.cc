#include "core/decode/nft_ruleset.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace railwright::nft {
namespace {

constexpr std::string_view kListing = R"({"nftables":[
{"metainfo":{"version":"1.0.6","release_name":"Lester Gooch #5","json_schema_version":1}},
{"table":{"family":"inet","name":"site","handle":3}},
{"map":{"family":"inet","name":"verd","table":"site","type":"inet_service","handle":4,"map":"verdict",
  "elem":[[22,{"accept":null}],[4791,{"jump":{"target":"roce"}}]]}},
{"set":{"family":"inet","name":"nets","table":"site","type":["ipv4_addr","inet_service"],"handle":5,"flags":["interval"],
  "elem":[{"concat":[{"prefix":{"addr":"10.0.0.0","len":8}},4791]},{"elem":{"val":"10.1.1.1","timeout":30}}]}},
{"chain":{"family":"inet","table":"site","name":"input","handle":1,"type":"filter","hook":"input","prio":-10,"policy":"drop"}},
{"chain":{"family":"inet","table":"site","name":"roce","handle":2}},
{"rule":{"family":"inet","table":"site","chain":"input","handle":7,"comment":"hello","expr":[
  {"match":{"op":"==","left":{"meta":{"key":"iifname"}},"right":"rail0"}},
  {"match":{"op":"!=","left":{"payload":{"protocol":"udp","field":"dport"}},"right":{"set":[4791,{"range":[18515,18530]}]}}},
  {"counter":{"packets":3,"bytes":400}},{"drop":null}]}},
{"rule":{"family":"inet","table":"site","chain":"input","handle":8,"expr":[
  {"vmap":{"key":{"payload":{"protocol":"udp","field":"dport"}},"data":"@verd"}}]}},
{"rule":{"family":"inet","table":"site","chain":"input","handle":9,"expr":[
  {"vmap":{"key":{"meta":{"key":"l4proto"}},"data":{"set":[["tcp",{"goto":{"target":"roce"}}],["*",{"drop":null}]]}}}]}},
{"rule":{"family":"inet","table":"site","chain":"roce","handle":10,"expr":[
  {"match":{"op":"in","left":{"ct":{"key":"state"}},"right":["related","established"]}},
  {"limit":{"rate":5,"burst":5,"per":"minute","inv":true}},
  {"xt":{"type":"match","name":"multiport"}},null,{"weird":{"a":1}},{"log":null},{"queue":{"num":1}},
  {"reject":{"type":"icmpx","expr":"admin-prohibited"}}]}},
{"rule":{"family":"inet","table":"site","chain":"roce","handle":11,"expr":[
  {"match":{"op":"==","left":{"&":[{"payload":{"base":"th","offset":16,"len":16}},255]},"right":{"prefix":{"addr":"fd00::","len":8}}}},
  {"match":{"op":"==","left":{"fib":{"result":"oif","flags":["saddr"]}},"right":false}},{"return":null}]}},
{"flowtable":{"family":"inet","name":"f","table":"site","handle":20}}]})";

class NftRulesetTest : public testing::Test {
 protected:
  void SetUp() override {
    auto decoded = DecodeRuleset(kListing);
    ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
    ruleset_ = std::move(*decoded);
    table_ = ruleset_.FindTable("inet", "site");
    ASSERT_NE(table_, nullptr);
  }
  Ruleset ruleset_;
  const Table* table_ = nullptr;
};

TEST_F(NftRulesetTest, ChainsKeepHookPriorityAndPolicy) {
  const Chain* input = table_->FindChain("input");
  ASSERT_NE(input, nullptr);
  EXPECT_EQ(input->hook, "input");
  EXPECT_EQ(input->priority, -10);
  EXPECT_EQ(input->policy, "drop");
  EXPECT_FALSE(table_->FindChain("roce")->is_base());
  EXPECT_EQ(ruleset_.version, "1.0.6");
}

TEST_F(NftRulesetTest, RulesKeepTheirOrderHandleAndComment) {
  const auto& rules = table_->FindChain("input")->rules;
  ASSERT_EQ(rules.size(), 3u);
  EXPECT_EQ(rules[0].handle, 7);
  EXPECT_EQ(rules[0].comment, "hello");
  EXPECT_EQ(rules[0].statements[2].packets, 3u);
  EXPECT_EQ(
      Describe(*table_, *table_->FindChain("input"), rules[0]),
      "table inet site chain input handle 7: iifname \"rail0\" udp dport != { 18515-18530, 4791 } drop");
}

TEST_F(NftRulesetTest, VerdictMapsNamedAndAnonymous) {
  const auto& rules = table_->FindChain("input")->rules;
  EXPECT_EQ(rules[1].statements[0].kind, Statement::Kind::kVmap);
  EXPECT_EQ(rules[1].statements[0].right.kind, Expression::Kind::kSetReference);
  const Set* map = table_->FindSet("verd");
  ASSERT_NE(map, nullptr);
  ASSERT_TRUE(map->is_map());
  ASSERT_EQ(map->elements.size(), 2u);
  EXPECT_EQ(map->elements[1].parts[1].verdict, VerdictKind::kJump);
  EXPECT_EQ(map->elements[1].parts[1].name, "roce");
  EXPECT_EQ(Text(rules[2]), "meta l4proto vmap { * : drop, tcp : goto roce }");
}

TEST_F(NftRulesetTest, ConcatenatedSetsAndWrappedElements) {
  const Set* set = table_->FindSet("nets");
  ASSERT_NE(set, nullptr);
  EXPECT_EQ(set->key_types, (std::vector<std::string>{"ipv4_addr", "inet_service"}));
  EXPECT_EQ(Text(set->elements[0]), "10.0.0.0/8 . 4791");
  EXPECT_EQ(Text(set->elements[1]), "10.1.1.1");
}

TEST_F(NftRulesetTest, WhatIsNotUnderstoodStaysVisible) {
  const auto& statements = table_->FindChain("roce")->rules[0].statements;
  ASSERT_EQ(statements.size(), 8u);
  EXPECT_EQ(Text(statements[0]), "ct state established,related");
  EXPECT_EQ(statements[1].kind, Statement::Kind::kLimit);
  EXPECT_TRUE(statements[1].over);
  EXPECT_EQ(statements[1].unit, "packets/minute");
  EXPECT_EQ(statements[2].kind, Statement::Kind::kXt);
  EXPECT_EQ(statements[2].detail, "match multiport");
  EXPECT_EQ(statements[3].kind, Statement::Kind::kXt) << "null is what older versions print for xt";
  EXPECT_EQ(statements[4].kind, Statement::Kind::kOther);
  EXPECT_EQ(statements[5].kind, Statement::Kind::kNoEffect);
  EXPECT_EQ(statements[6].kind, Statement::Kind::kQueue);
  EXPECT_EQ(statements[7].verdict, VerdictKind::kReject);
  EXPECT_EQ(statements[7].detail, "icmpx admin-prohibited");
  EXPECT_EQ(ruleset_.skipped, std::vector<std::string>{"flowtable"});
}

TEST_F(NftRulesetTest, RawPayloadBinaryAndOtherExpressions) {
  const auto& rule = table_->FindChain("roce")->rules[1];
  EXPECT_EQ(Text(rule), "@th,16,16 & 255 fd00::/8 fib saddr oif false return");
}

TEST(DecodeRulesetTest, ATransactionReadsLikeItsListing) {
  auto transaction = DecodeRuleset(R"({"nftables":[{"metainfo":{"json_schema_version":1}},
    {"add":{"table":{"family":"inet","name":"t"}}},{"flush":{"table":{"family":"inet","name":"t"}}},
    {"add":{"chain":{"family":"inet","table":"t","name":"c","type":"filter","hook":"input","prio":"filter - 10"}}},
    {"add":{"set":{"family":"inet","table":"t","name":"s","type":"ipv4_addr"}}},
    {"add":{"element":{"family":"inet","table":"t","name":"s","elem":["10.0.0.1"]}}},
    {"add":{"rule":{"family":"inet","table":"t","chain":"c","expr":[{"counter":null},{"accept":null}]}}},
    {"insert":{"rule":{"family":"inet","table":"t","chain":"c","expr":[{"drop":null}]}}}]})");
  auto listing = DecodeRuleset(R"([{"table":{"family":"inet","name":"t","handle":1}},
    {"chain":{"family":"inet","table":"t","name":"c","handle":1,"type":"filter","hook":"input","prio":-10,"policy":"accept"}},
    {"set":{"family":"inet","table":"t","name":"s","type":"ipv4_addr","handle":2,"elem":["10.0.0.1"]}},
    {"rule":{"family":"inet","table":"t","chain":"c","handle":4,"expr":[{"drop":null}]}},
    {"rule":{"family":"inet","table":"t","chain":"c","handle":3,"expr":[{"counter":{"packets":9,"bytes":9}},{"accept":null}]}}])");
  ASSERT_TRUE(transaction.ok() && listing.ok());
  const Chain* a = transaction->FindTable("inet", "t")->FindChain("c");
  const Chain* b = listing->FindTable("inet", "t")->FindChain("c");
  EXPECT_EQ(a->priority, b->priority);
  EXPECT_EQ(a->policy, b->policy);
  ASSERT_EQ(a->rules.size(), b->rules.size());
  for (std::size_t i = 0; i < a->rules.size(); ++i) EXPECT_EQ(Text(a->rules[i]), Text(b->rules[i]));
  EXPECT_EQ(transaction->FindTable("inet", "t")->FindSet("s")->elements,
            listing->FindTable("inet", "t")->FindSet("s")->elements);
}

TEST(DecodeRulesetTest, SetElementsHaveNoOrder) {
  auto rule = [](const char* elements) {
    auto decoded = DecodeRuleset(
        std::string(R"([{"rule":{"family":"ip","table":"t","chain":"c","expr":[{"match":{"op":"==","left":
        {"payload":{"protocol":"tcp","field":"dport"}},"right":{"set":)") +
        elements + "}}}]}}]");
    return Text(decoded->tables[0].chains[0].rules[0]);
  };
  EXPECT_EQ(rule("[22,{\"range\":[5,9]},1]"), rule("[{\"range\":[5,9]},1,22]"));
  EXPECT_NE(rule("[22]"), rule("[23]"));
}

TEST(DecodeRulesetTest, WrongShapesAreRefusedWithAReason) {
  for (const char* text : {"", "{", "42", "\"x\"", "{\"other\":[]}", "{\"nftables\":{}}", "[1,2"})
    EXPECT_EQ(DecodeRuleset(text).status().code(), Code::kInvalidArgument) << text;
  EXPECT_TRUE(DecodeRuleset("[]").ok());
  auto odd =
      DecodeRuleset(R"([1,null,{"rule":5},{"rule":{"family":"ip"}},{"table":{}},{"chain":{"family":"ip"}}])");
  ASSERT_TRUE(odd.ok());
  EXPECT_TRUE(odd->tables.empty());
  EXPECT_FALSE(odd->skipped.empty());
}

TEST(DecodeRulesetTest, ForeignBytesInACommentDoNotHideTheRuleset) {
  auto decoded = DecodeRuleset(
      "[{\"rule\":{\"family\":\"ip\",\"table\":\"t\",\"chain\":\"c\",\"comment\":\"caf\xe9\",\"expr\":[{"
      "\"drop\":null}]}}]");
  ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
  EXPECT_EQ(decoded->tables[0].chains[0].rules[0].comment, "caf?");
}

TEST(DecodeRulesetTest, HostileNestingIsRefused) {
  std::string deep = R"([{"rule":{"family":"ip","table":"t","chain":"c","expr":[{"match":{"op":"==","left":)";
  for (int i = 0; i < 5000; ++i) deep += "{\"concat\":[";
  deep += "1";
  for (int i = 0; i < 5000; ++i) deep += "]}";
  deep += ",\"right\":1}}]}}]";
  auto decoded = DecodeRuleset(deep);
  ASSERT_FALSE(decoded.ok());
  EXPECT_NE(decoded.status().message().find("deeper than 64"), std::string::npos);
}

TEST(DecodeRulesetTest, DamagedTextNeverCrashes) {
  std::mt19937 random(11);
  const std::string_view pieces[] = {"{}",    "[]",    "null",           "-1",  "\"*\"",
                                     "\"@\"", "1e400", "{\"set\":null}", "true"};
  for (int round = 0; round < 3000; ++round) {
    std::string text(kListing);
    for (int i = 0; i < 3; ++i) {
      std::size_t at = random() % text.size();
      if (round % 2 == 0) {
        text[at] = static_cast<char>(random());
        continue;
      }
      // Replaces a whole value, so that the text stays JSON more often and the shape breaks instead.
      std::size_t colon = text.find_first_of(":[,", at);
      if (colon == std::string::npos) continue;
      std::size_t end = text.find_first_of(",]}", colon + 1);
      if (end == std::string::npos) continue;
      text.replace(colon + 1, end - colon - 1, pieces[random() % std::size(pieces)]);
    }
    auto decoded = DecodeRuleset(text);
    if (!decoded.ok()) continue;
    for (const Table& table : decoded->tables)
      for (const Chain& chain : table.chains)
        for (const Rule& rule : chain.rules) EXPECT_FALSE(Describe(table, chain, rule).empty());
  }
}

// Real listings from public reports; the folder is beside the tree on machines that have it.
TEST(DecodeRulesetTest, ListingsOfPublicReportsDecode) {
  const char* given = std::getenv("RAILWRIGHT_CASES");
  std::filesystem::path folder = given != nullptr
                                     ? std::filesystem::path(given)
                                     : std::filesystem::path(RAILWRIGHT_SOURCE_DIR) / "../shared/cases";
  folder /= "G_firewall";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no cases at " << folder << "; set RAILWRIGHT_CASES";
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    auto decoded = DecodeRuleset(text.str());
    EXPECT_TRUE(decoded.ok()) << entry.path() << ": " << decoded.status().ToString();
    if (!decoded.ok()) continue;
    for (const Table& table : decoded->tables)
      for (const Chain& chain : table.chains)
        for (const Rule& rule : chain.rules)
          for (const Statement& statement : rule.statements)
            EXPECT_NE(statement.kind, Statement::Kind::kOther) << entry.path() << " " << statement.name;
    ++seen;
  }
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace railwright::nft
