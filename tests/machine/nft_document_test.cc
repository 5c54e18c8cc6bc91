#include "agent/machine/nft_document.h"

#include <gtest/gtest.h>

namespace railwright::machine {
namespace {

const NftTableName kOurs{"inet", "ours"};

TEST(SplitByTableTest, WhatMovesByItselfIsLeftOut) {
  auto tables = SplitByTable(R"({"nftables":[{"metainfo":{"version":"1.0.6"}},
    {"table":{"family":"inet","name":"ours","handle":7}},{"table":{"family":"ip","name":"ours","handle":8}},
    {"counter":{"family":"inet","table":"ours","name":"hits","handle":1,"packets":5,"bytes":600}},
    {"set":{"family":"inet","table":"ours","name":"s","handle":2,"type":"ipv4_addr",
      "elem":[{"elem":{"val":"10.0.0.1","timeout":60,"expires":41,"counter":{"packets":1,"bytes":2}}}]}},
    {"rule":{"family":"inet","table":"ours","chain":"c","handle":3,"expr":[{"counter":{"packets":9,"bytes":9}},
      {"quota":{"val":5,"used":3}},{"accept":null}]}}]})");
  ASSERT_TRUE(tables.ok()) << tables.status().ToString();
  ASSERT_EQ(tables->size(), 2u);
  EXPECT_EQ(
      tables->at(kOurs),
      R"([{"table":{"family":"inet","name":"ours"}},{"counter":{"family":"inet","name":"hits","table":"ours"}},)"
      R"({"set":{"elem":[{"elem":{"counter":null,"timeout":60,"val":"10.0.0.1"}}],"family":"inet","name":"s",)"
      R"("table":"ours","type":"ipv4_addr"}},{"rule":{"chain":"c","expr":[{"counter":null},{"quota":{"val":5}},)"
      R"({"accept":null}],"family":"inet","table":"ours"}}])");
}

TEST(SplitByTableTest, TextThatIsNoListingIsAnError) {
  for (const char* text : {"", "[]", "{}", "{\"nftables\":5}", "nonsense"})
    EXPECT_FALSE(SplitByTable(text).ok()) << text;
  EXPECT_TRUE(SplitByTable(R"({"nftables":[5,null,{"a":1,"b":2},{"rule":3}]})")->empty());
}

TEST(TransactionTest, CommandsGoThroughAsTheyAre) {
  const std::string text =
      R"({"nftables":[{"metainfo":{"json_schema_version":1}},{"add":{"table":{"family":"inet","name":"ours"}}}]})";
  EXPECT_EQ(Transaction(text, kOurs).value(), text);
}

TEST(TransactionTest, ObjectsBecomeOneReplacement) {
  EXPECT_EQ(
      Transaction(R"([{"table":{"family":"inet","name":"ours"}},
      {"rule":{"family":"inet","table":"ours","chain":"c","expr":[]}},{"chain":{"family":"inet","table":"ours","name":"c"}}])",
                  kOurs)
          .value(),
      R"({"nftables":[{"add":{"table":{"family":"inet","name":"ours"}}},)"
      R"({"delete":{"table":{"family":"inet","name":"ours"}}},{"add":{"table":{"family":"inet","name":"ours"}}},)"
      R"({"add":{"chain":{"family":"inet","name":"c","table":"ours"}}},)"
      R"({"add":{"rule":{"chain":"c","expr":[],"family":"inet","table":"ours"}}}]})");
}

TEST(TransactionTest, NothingOutsideTheTableGoesThrough) {
  for (
      const char* text :
      {R"({"nftables":[{"flush":{"ruleset":null}}]})",
       R"({"nftables":[{"flush":{"ruleset":{"family":"inet"}}}]})",
       R"({"nftables":[{"add":{"table":{"family":"ip","name":"ours"}}}]})",
       R"({"nftables":[{"add":{"chain":{"family":"inet","table":"theirs","name":"ours"}}}]})",
       R"({"nftables":[{"add":{"table":{"family":"inet","name":"ours"}},"flush":{"ruleset":null}}]})",
       R"({"nftables":[{"delete":{"table":{"family":"inet","handle":3}}}]})",
       R"({"nftables":[{"add":{"element":{"table":"ours","name":"x"}}}]})",
       R"({"nftables":[{"list":{"tables":{"family":"inet"}}}]})", R"({"nftables":["flush"]})",
       // A command whose body looks like one of our objects: nft reads the rule, and nothing beside it.
       R"({"nftables":[{"replace":{"family":"inet","table":"ours","rule":{"family":"ip","table":"filter","chain":"input","handle":4,"expr":[{"accept":null}]}}}]})",
       R"({"nftables":[{"rename":{"family":"inet","table":"ours","chain":{"family":"ip","table":"filter","name":"input","newname":"x"}}}]})",
       R"({"nftables":[{"describe":{"chain":{"family":"inet","table":"ours","name":"c"}}}]})",
       R"([{"chain":{"family":"ip","table":"ours","name":"c"}}])", R"([5])"}) {
    auto document = Transaction(text, kOurs);
    EXPECT_EQ(document.status().code(), Code::kInvalidArgument) << text;
    EXPECT_NE(document.status().message().find("table inet ours"), std::string::npos);
  }
}

}  // namespace
}  // namespace railwright::machine
