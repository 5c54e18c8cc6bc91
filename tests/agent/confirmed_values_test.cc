#include "agent/loop/confirmed_values.h"

#include <gtest/gtest.h>

#include "core/files/whole_file.h"
#include "tests/agent/temporary_directory.h"

namespace railwright {
namespace {

TEST(ConfirmedValuesTest, WhatWasConfirmedIsKnownInTheNextLifeAndNothingElse) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/confirmed.json";
  ConfirmedValues one(path);
  ASSERT_TRUE(one.Load().ok()) << "none yet";
  EXPECT_FALSE(one.Was({"link.mtu", "rail0"}, "4200"));
  ASSERT_TRUE(one.Note({{{"link.mtu", "rail0"}, "4200"}, {{"rail.address", "rail0"}, "a\nb\"c"}}).ok());
  ConfirmedValues other(path);
  ASSERT_TRUE(other.Load().ok());
  EXPECT_TRUE(other.Was({"link.mtu", "rail0"}, "4200"));
  EXPECT_TRUE(other.Was({"rail.address", "rail0"}, "a\nb\"c"));
  EXPECT_FALSE(other.Was({"link.mtu", "rail0"}, "9000"));
  EXPECT_FALSE(other.Was({"link.mtu", "rail1"}, "4200"));
  ASSERT_TRUE(other.Note({{{"link.mtu", "rail0"}, "9000"}}).ok());
  EXPECT_FALSE(other.Was({"link.mtu", "rail0"}, "4200")) << "the last one counts";
}

TEST(ConfirmedValuesTest, ADamagedFileIsNamedAndNothingIsKnown) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/confirmed.json";
  for (const char* text : {"", "{", "[]", "{\"confirmed\":[1]}", "{\"confirmed\":[{\"key\":7}]}",
                           "{\"confirmed\":[{\"key\":\"link.mtu\",\"target\":\"rail0\"}]}"}) {
    ASSERT_TRUE(WriteWholeFile(path, text).ok());
    ConfirmedValues values(path);
    const Status status = values.Load();
    EXPECT_EQ(status.code(), Code::kDataLoss) << text;
    EXPECT_NE(status.message().find(path), std::string::npos);
    EXPECT_FALSE(values.Was({"link.mtu", "rail0"}, "4200"));
    EXPECT_TRUE(values.Note({{{"link.mtu", "rail0"}, "4200"}}).ok()) << "it is made anew";
  }
}

}  // namespace
}  // namespace railwright
