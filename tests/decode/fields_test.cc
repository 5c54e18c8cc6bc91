#include "core/decode/fields.h"

#include <gtest/gtest.h>

namespace railwright {
namespace {

TEST(FieldsTest, TextAndFieldsRoundTrip) {
  auto fields = Fields::Parse("rx=1024 rx_max=8192 name=");
  ASSERT_TRUE(fields.ok());
  EXPECT_EQ(fields->Text(), "rx=1024 rx_max=8192 name=");
  EXPECT_EQ(*fields->Find("name"), "");
  EXPECT_EQ(fields->Find("tx"), nullptr);
  EXPECT_EQ(*fields->Number("rx"), 1024u);
}

TEST(FieldsTest, AValueMayHoldAnEqualsSign) { EXPECT_EQ(*Fields::Parse("a=b=c")->Find("a"), "b=c"); }

TEST(FieldsTest, BrokenWordsAreRefusedByName) {
  EXPECT_EQ(Fields::Parse("rx=1 tx").status().message(), "\"tx\" is not of the form name=value");
  EXPECT_EQ(Fields::Parse("=1").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(Fields::Parse("rx=1 rx=2").status().message(), "field \"rx\" is given twice");
}

TEST(FieldsTest, ANumberMustBeAWholeNumber) {
  for (const char* text : {"", "-1", "1.5", "0x10", " 1", "1 ", "18446744073709551616"})
    EXPECT_EQ(ParseNumber(text).status().code(), Code::kInvalidArgument) << text;
  EXPECT_EQ(*ParseNumber("18446744073709551615"), 18446744073709551615u);
}

TEST(FieldsTest, SettingAFieldAgainKeepsItsPlace) {
  Fields fields;
  fields.Set("a", "1");
  fields.Set("b", "2");
  fields.Set("a", std::uint64_t{3});
  EXPECT_EQ(fields.Text(), "a=3 b=2");
}

TEST(SortedLinesTest, LinesAreTrimmedSortedAndUnique) {
  EXPECT_EQ(JoinLines(SortedLines("\n b \na\r\n\n a\n")), "a\nb");
  EXPECT_TRUE(SortedLines(" \n\n").empty());
}

}  // namespace
}  // namespace railwright
