#include <gtest/gtest.h>

#include <random>
#include <set>

#include "controller/fleet/resolve.h"

namespace railwright {
namespace {

using Names = std::vector<std::string>;

Names Expanded(std::string_view pattern) {
  const auto names = ExpandNames(pattern);
  return names.ok() ? *names : Names{"error: " + names.status().message()};
}

TEST(ExpandNamesTest, RangesKeepLeadingZeros) {
  EXPECT_EQ(Expanded("gpu-[001-003,7]"), (Names{"gpu-001", "gpu-002", "gpu-003", "gpu-7"}));
  EXPECT_EQ(Expanded("gpu-[8-11]"), (Names{"gpu-8", "gpu-9", "gpu-10", "gpu-11"}));
  EXPECT_EQ(Expanded("gpu-[098-101]"), (Names{"gpu-098", "gpu-099", "gpu-100", "gpu-101"}));
  EXPECT_EQ(Expanded("login"), (Names{"login"}));
}

TEST(ExpandNamesTest, SeveralBracketsAndSeveralPatterns) {
  EXPECT_EQ(Expanded("r[1-2]n[01-02]"), (Names{"r1n01", "r1n02", "r2n01", "r2n02"}));
  EXPECT_EQ(Expanded("gpu-[1-2].lab,login-1"), (Names{"gpu-1.lab", "gpu-2.lab", "login-1"}));
}

TEST(ExpandNamesTest, WhatIsWrongIsSaid) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "\"\": an empty name"},
      {"a,", "\"a,\": an empty name"},
      {"gpu-[1-", "\"gpu-[1-\": a \"[\" is never closed"},
      {"gpu-1]", "\"gpu-1]\": a \"]\" that was never opened"},
      {"gpu-[[1]]", "\"gpu-[[1]]\": a \"[\" within brackets"},
      {"gpu-[]", "\"gpu-[]\": \"\" is no number; write ranges such as [001-128,200]"},
      {"gpu-[a-c]", "\"gpu-[a-c]\": \"a\" is no number; write ranges such as [001-128,200]"},
      {"gpu-[5-3]", "\"gpu-[5-3]\": the range 5-3 runs backwards"},
      {"gpu-[1-2-3]", "\"gpu-[1-2-3]\": \"2-3\" is no number; write ranges such as [001-128,200]"},
      {"gpu-[1,1]", "\"gpu-[1,1]\": names gpu-1 twice"},
      {"gpu-[1-100001]", "\"gpu-[1-100001]\": more than 100,000 names"},
      {"a[1-400]b[1-400]", "\"a[1-400]b[1-400]\": more than 100,000 names"},
      {"gpu-[1-4294967299]", "\"gpu-[1-4294967299]\": a number has more than 9 digits"},
      {"gpu 1", "\"gpu 1\": a name holds letters, digits, \"-\", \"_\" and \".\" only"},
      {"-gpu", "\"-gpu\": a name begins with a letter or a digit"},
      {"../etc", "\"../etc\": a name holds letters, digits, \"-\", \"_\" and \".\" only"},
  };
  for (const auto& [pattern, message] : cases) {
    const auto names = ExpandNames(pattern);
    ASSERT_FALSE(names.ok()) << pattern;
    EXPECT_EQ(names.status().code(), Code::kInvalidArgument);
    EXPECT_EQ(names.status().message(), message);
  }
  EXPECT_EQ(Expanded("a[1-100000]").size(), 100000U);
}

TEST(FoldNamesTest, NeighboursBecomeRanges) {
  EXPECT_EQ(FoldNames({"gpu-005", "gpu-001", "gpu-002"}), "gpu-[001-002,005]");
  EXPECT_EQ(FoldNames({"gpu-001"}), "gpu-001");
  EXPECT_EQ(FoldNames({"gpu-9", "gpu-10", "gpu-11"}), "gpu-[9-11]");
  EXPECT_EQ(FoldNames({"gpu-099", "gpu-100"}), "gpu-[099-100]");
  EXPECT_EQ(FoldNames({"login", "gpu-1", "gpu-2"}), "gpu-[1-2],login");
  EXPECT_EQ(FoldNames({"login", "login1", "login2"}), "login,login[1-2]") << "no digits are no number";
  EXPECT_EQ(FoldNames({"gpu-1", "gpu-1"}), "gpu-1");
  EXPECT_EQ(FoldNames({"gpu-1.lab", "gpu-2.lab", "gpu-1.pod"}), "gpu-[1-2].lab,gpu-1.pod");
  EXPECT_EQ(FoldNames({}), "");
}

TEST(FoldNamesTest, AMixOfWidthsStaysWhatItWas) {
  EXPECT_EQ(FoldNames({"a07", "a7", "a8", "a08"}), "a[07-08,7-8]");
}

// Whatever is folded expands to the same set again.
TEST(FoldNamesTest, FoldingIsUndoneByExpanding) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::set<std::string> names;
    const std::size_t count = 1 + random() % 40;
    for (std::size_t i = 0; i < count; ++i) {
      std::string digits = std::to_string(random() % 120);
      if (random() % 2 == 0) digits.insert(0, random() % 3, '0');
      names.insert((random() % 2 == 0 ? "gpu-" : "r2n") + digits + (random() % 4 == 0 ? "-b" : ""));
    }
    const std::string folded = FoldNames({names.begin(), names.end()});
    const auto again = ExpandNames(folded);
    ASSERT_TRUE(again.ok()) << folded << ": " << again.status().message();
    EXPECT_EQ(std::set<std::string>(again->begin(), again->end()), names) << folded;
    EXPECT_EQ(again->size(), names.size()) << folded;
  }
}

}  // namespace
}  // namespace railwright
