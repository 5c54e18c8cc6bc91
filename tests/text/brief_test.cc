#include <gtest/gtest.h>

#include "railwright/utf8.h"

namespace railwright {
namespace {

TEST(BriefTest, AShortPlainTextStaysAsItIs) {
  EXPECT_EQ(Brief(""), "");
  EXPECT_EQ(Brief("link.mtu für rail0"), "link.mtu für rail0");
  EXPECT_EQ(Brief(std::string(200, 'x')), std::string(200, 'x'));
}

TEST(BriefTest, ControlCharactersAndForeignBytesAreShownNotSent) {
  EXPECT_EQ(Brief("a\n\tb\x1b[2J\x7f"), "a\\n\\tb\\x1b[2J\\x7f");
  EXPECT_EQ(Brief("a\xff\xc3"), "a\\xff\\xc3");
  EXPECT_EQ(Brief("a\xc2\x9bJ"), "a\\x9bJ") << "C1's CSI";
  EXPECT_EQ(Brief(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(BriefTest, WhatIsCutShowsWithItsLength) {
  EXPECT_EQ(Brief("a" + std::string(70'000, 'x') + "z", 48),
            "a" + std::string(17, 'x') + "… [70002 bytes] …" + std::string(8, 'x') + "z");
}

TEST(BriefTest, NeverLongerThanTheLimitAndNeverHalfACharacter) {
  for (const std::string& piece :
       {std::string("é"), std::string("\n"), std::string("\xff"), std::string("x€")}) {
    std::string text;
    while (text.size() < 1000) text += piece;
    for (std::size_t limit = 48; limit < 80; ++limit) {
      const std::string brief = Brief(text, limit);
      EXPECT_LE(brief.size(), limit);
      EXPECT_GT(brief.size(), limit - 9) << "as much as there is room for";
      EXPECT_EQ(ValidUtf8(brief), brief);
    }
  }
}

}  // namespace
}  // namespace railwright
