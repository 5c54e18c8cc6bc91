#include "core/decode/mstreg.h"

#include <gtest/gtest.h>

namespace railwright {
namespace {

constexpr std::string_view kListing =
    "Sending access register...\n\n"
    "Field Name                         | Data    \n"
    "=================================================\n"
    "roce_adp_retrans_field_select      | 0x00000001\n"
    "roce_adp_retrans_en                | 0x00000000\n"
    "adp_retx_base_timeout_min          | 0x00000fa0\n"
    "=================================================\n\n";

std::string Decoded(std::string_view text) {
  const auto fields = DecodeMstreg(text);
  return fields.ok() ? fields->Text() : fields.status().ToString();
}

TEST(MstregTest, FieldsAreDecimalInTheOrderPrinted) {
  EXPECT_EQ(Decoded(kListing),
            "roce_adp_retrans_field_select=1 roce_adp_retrans_en=0 adp_retx_base_timeout_min=4000");
}

TEST(MstregTest, ANameThatStandsTwiceNamesNoField) {
  EXPECT_EQ(Decoded("Field Name | Data\n========\nrange | 0x1\nlone | 0xffffffff\nrange | 0x2\n========\n"),
            "lone=4294967295");
}

TEST(MstregTest, AnElementOfAnArrayHasItsIndex) {
  EXPECT_EQ(Decoded("Field Name | Data\n========\nrange[0] | 0x1\nrange[12] | 0x2\n========\n"),
            "range[0]=1 range[12]=2");
}

TEST(MstregTest, WhatIsNoWholeTableIsDataLoss) {
  for (std::string_view text :
       {"", "-E- Failed to send access register\n", "Field Name | Data\n", "Field Name | Data\nx | 0x1\n",
        "Field Name | Data\n========\nx | 0x1\n", "Field Name | Data\n========\nx 0x1\n========\n",
        "Field Name | Data\n========\nx | 1\n========\n", "Field Name | Data\n========\nx | 0x\n========\n",
        "Field Name | Data\n========\nx | 0x100000000\n========\n",
        "Field Name | Data\n========\nx y | 0x1\n========\n",
        "Field Name | Data\n========\nx[0] y=1 | 0x1\n========\n",
        "Field Name | Data\n========\nx[] | 0x1\n========\n",
        "Field Name | Data\n========\n| 0x1\n========\n"}) {
    const auto fields = DecodeMstreg(text);
    ASSERT_FALSE(fields.ok()) << text;
    EXPECT_EQ(fields.status().code(), Code::kDataLoss) << text;
  }
}

TEST(MstregTest, NamesAreCheckedBeforeAProgramSeesThem) {
  EXPECT_TRUE(IsRegisterName("ROCE_ACCL"));
  for (std::string_view name : {"", "roce", "-A", "A=B", "A B", "9A"})
    EXPECT_FALSE(IsRegisterName(name)) << name;
  EXPECT_TRUE(IsRegisterField("Ifa2_turn_around_en"));
  for (std::string_view name : {"", "a=1", "a,b", "-a", "a b", "1a"})
    EXPECT_FALSE(IsRegisterField(name)) << name;
}

}  // namespace
}  // namespace railwright
