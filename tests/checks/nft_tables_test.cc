#include "core/decode/nft_tables.h"

#include <gtest/gtest.h>

#include "core/decode/nft_ruleset.h"

namespace railwright {
namespace {

using Names = std::vector<std::pair<std::string, std::string>>;

TEST(NftTableNamesTest, TablesAndNothingElseThatIsCalledTable) {
  const std::string text = R"({"nftables": [{"metainfo": {"version": "1.0.6"}},
 {"table": {"family": "inet", "name": "railwright", "handle": 1}},
 {"chain": {"family": "inet", "table": "railwright", "name": "input"}},
 {"rule": {"family": "inet", "table": "railwright", "chain": "input", "comment": "\"table\": {\"family\": \"ip\"}", "expr": []}},
 {"table":{"name":"filter","handle":2,"family":"ip"}}]})";
  const auto names = nft::TableNames(text);
  ASSERT_TRUE(names);
  EXPECT_EQ(*names, (Names{{"inet", "railwright"}, {"ip", "filter"}}));
  Names decoded;
  const auto ruleset = nft::DecodeRuleset(text);
  ASSERT_TRUE(ruleset.ok());
  for (const auto& table : ruleset->tables) decoded.emplace_back(table.family, table.name);
  EXPECT_EQ(*names, decoded);
}

TEST(NftTableNamesTest, AnotherShapeMustBeDecoded) {
  EXPECT_FALSE(nft::TableNames(""));
  EXPECT_FALSE(nft::TableNames("[]"));
  EXPECT_FALSE(nft::TableNames(R"({"nftables":[{"table":{"family":"inet"}}]})"));
  EXPECT_FALSE(nft::TableNames(R"({"nftables":[{"table":{"family":"inet","name":"a\"b"}}]})"));
  EXPECT_FALSE(nft::TableNames(R"({"nftables":[{"table":{"family":"inet","name":"cut)"));
  EXPECT_FALSE(nft::TableNames(R"({"nftables": [)"));
  EXPECT_FALSE(nft::TableNames(R"({"nftables":[]} {})"));
  EXPECT_FALSE(nft::TableNames(R"({"other":[]})"));
  EXPECT_EQ(nft::TableNames("{\"nftables\":[]}\n")->size(), 0U);
}

TEST(NftTableNamesTest, ACutListingIsNeverTakenForAShortOne) {
  const std::string text =
      R"({"nftables": [{"table": {"family": "inet", "name": "railwright"}}, {"rule": {"comment": "a \\ \" ]}", "expr": [{"accept": null}]}}]})";
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(nft::TableNames(text.substr(0, size))) << size;
  EXPECT_TRUE(nft::TableNames(text));
}

}  // namespace
}  // namespace railwright
