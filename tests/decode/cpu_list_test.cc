#include "core/decode/cpu_list.h"

#include <gtest/gtest.h>

namespace railwright {
namespace {

CpuList Cpus(std::string_view text) {
  const auto list = CpuList::Parse(text);
  EXPECT_TRUE(list.ok()) << list.status().ToString();
  return list.value_or(CpuList());
}

TEST(CpuList, IsReadAndPrintedAsTheKernelDoes) {
  for (const char* text : {"", "0", "0-1", "0-31,64-95", "1,3,5,7", "65535"})
    EXPECT_EQ(Cpus(text).Text(), text);
  EXPECT_EQ(Cpus("0-31,64-95\n").Count(), 64U);
  EXPECT_EQ(Cpus("").Count(), 0U);
  EXPECT_TRUE(Cpus("\n").empty());
}

TEST(CpuList, OneSetHasOneSpelling) {
  EXPECT_EQ(Cpus("3,1,2").Text(), "1-3");
  EXPECT_EQ(Cpus("8-9,0-4,2-6,7").Text(), "0-9");
  EXPECT_EQ(Cpus("0-9,2-3").Text(), "0-9") << "a range within another ends nothing";
}

TEST(CpuList, WhatIsNoListIsRefused) {
  for (const char* text : {"a", "-", "0-", "-1", "3-1", ",", "0,", ",0", "0,,1", "0 1", "all", "0-31:2/4",
                           "65536", "0-65536", "4294967296", "99999999999999999999", "0x3", "ffffffff"})
    EXPECT_FALSE(CpuList::Parse(text).ok()) << text;
  EXPECT_EQ(CpuList::Parse("0-").status().message(), "\"0-\" is no list of CPUs (0-31,64-95)");
}

TEST(CpuList, SetsAreCompared) {
  const CpuList near = Cpus("0-31,64-95");
  EXPECT_TRUE(near.Covers(Cpus("0,31,64-70,95")));
  EXPECT_FALSE(near.Covers(Cpus("31-32")));
  EXPECT_FALSE(near.Covers(Cpus("0,96")));
  EXPECT_TRUE(near.Covers(Cpus("")));
  EXPECT_FALSE(Cpus("").Covers(Cpus("0")));
  EXPECT_EQ(near.Both(Cpus("16-79")).Text(), "16-31,64-79");
  EXPECT_EQ(near.Both(Cpus("0-127")), near);
  EXPECT_TRUE(near.Both(Cpus("32-63,96-127")).empty());
}

}  // namespace
}  // namespace railwright
