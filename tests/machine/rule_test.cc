#include "agent/machine/rule.h"

#include <gtest/gtest.h>

#include <random>

namespace railwright::machine {
namespace {

TEST(RuleTest, EveryLineHasOneSpelling) {
  struct Spelling {
    const char* given;
    const char* canonical;
  };
  constexpr Spelling kLines[] = {
      {"from 10.10.0.1 lookup 101", "from 10.10.0.1 lookup 101"},
      {"from 10.10.0.1/32 table 101 proto static", "from 10.10.0.1 lookup 101"},
      {"from FD00::1/128 lookup 101", "from fd00::1 lookup 101"},
      {"lookup main", "from all lookup 254"},
      {"from 0.0.0.0/0 lookup 101", "from all lookup 101"},
      {"from ::/0 lookup default", "from ::/0 lookup 253"},
      {"from all to fd00::/8 lookup 5", "from ::/0 to fd00::/8 lookup 5"},
      {"not from 10.0.0.0/8 lookup 5", "not from 10.0.0.0/8 lookup 5"},
      {"fwmark 16 lookup 5", "from all fwmark 0x10 lookup 5"},
      {"fwmark 0x10/0xFF lookup 5", "from all fwmark 0x10/0xff lookup 5"},
      {"iif lo oif rail0 ipproto 17 sport 5 dport 4791-4791 lookup 5",
       "from all iif lo oif rail0 ipproto 17 sport 5 dport 4791 lookup 5"},
      {"tos 16 prohibit", "from all tos 16 prohibit"},
  };
  for (const Spelling& line : kLines) {
    auto rule = Rule::Parse(line.given);
    ASSERT_TRUE(rule.ok()) << line.given << ": " << rule.status().ToString();
    EXPECT_EQ(rule->Text(), line.canonical);
    auto again = Rule::Parse(rule->Text());
    ASSERT_TRUE(again.ok()) << rule->Text();
    EXPECT_EQ(*again, *rule) << rule->Text();
  }
}

TEST(RuleTest, AnyWordsAreParsedOrRefusedAndNeverCrash) {
  const char* words[] = {"from",   "to",      "all",       "10.0.0.0/8", "fd00::1", "lookup", "101",
                         "fwmark", "0x1/0xf", "iif",       "rail0",      "dport",   "1-2",    "not",
                         "table",  "-",       "blackhole", "tos",        "0x",      "/",      "ipproto"};
  std::mt19937 random(4);
  int parsed = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::string line;
    for (std::size_t n = random() % 8; n > 0; --n)
      line += std::string(words[random() % std::size(words)]) + " ";
    auto rule = Rule::Parse(line);
    if (!rule.ok()) continue;
    ++parsed;
    auto again = Rule::Parse(rule->Text());
    ASSERT_TRUE(again.ok()) << line << " → " << rule->Text();
    EXPECT_EQ(again->Text(), rule->Text()) << line;
  }
  EXPECT_GT(parsed, 100);
}

}  // namespace
}  // namespace railwright::machine
