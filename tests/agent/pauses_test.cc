#include "agent/loop/pauses.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/files/whole_file.h"
#include "tests/agent/temporary_directory.h"

namespace railwright {
namespace {

TEST(Pauses, SurviveTheirFile) {
  const std::vector<Pause> pauses{{"gpu-001", "link.mtu", "root", "\"quoted\"\nreason"}, {"", "", "ops", ""}};
  const auto back = ParsePauses(FormatPauses(pauses));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(*back, pauses);
}

TEST(Pauses, AFileThatIsNoneSaysSo) {
  for (const char* text : {"", "{", "[]", "{\"pauses\":[1]}", "{\"pauses\":[{\"key\":7}]}"})
    EXPECT_EQ(ParsePauses(text).status().code(), Code::kDataLoss) << text;
}

TEST(Stops, ByKeyByFamilyAndAltogether) {
  const std::string family = "sysctl.<name>";
  EXPECT_TRUE(Stops({{"", "", "", ""}}, "link.mtu", "link.mtu"));
  EXPECT_TRUE(Stops({{"", "link.mtu", "", ""}}, "link.mtu", "link.mtu"));
  EXPECT_FALSE(Stops({{"", "link.mtu", "", ""}}, "link.rings", "link.rings"));
  EXPECT_TRUE(Stops({{"", family, "", ""}}, "sysctl.net.a", family));
  EXPECT_FALSE(Stops({}, "link.mtu", "link.mtu"));
}

class PauseFileTest : public testing::Test {
 protected:
  TemporaryDirectory temporary_;
  const std::string path_ = temporary_.path() + "/paused.json";
};

TEST_F(PauseFileTest, SeesItComeChangeAndGo) {
  PauseFile file(path_);
  EXPECT_FALSE(file.Look());
  ASSERT_TRUE(WriteWholeFile(path_, FormatPauses({{"", "", "root", "x"}}), {.sync = Sync::kNone}).ok());
  EXPECT_TRUE(file.Look());
  EXPECT_EQ(file.pauses().size(), 1U);
  EXPECT_FALSE(file.Look());
  ASSERT_TRUE(
      WriteWholeFile(path_, FormatPauses({{"", "link.mtu", "root", "x"}}), {.sync = Sync::kNone}).ok());
  EXPECT_TRUE(file.Look());
  EXPECT_EQ(file.pauses()[0].key, "link.mtu");
  unlink(path_.c_str());
  EXPECT_TRUE(file.Look());
  EXPECT_TRUE(file.pauses().empty());
}

TEST_F(PauseFileTest, WhatCannotBeUnderstoodStopsEverything) {
  ASSERT_TRUE(WriteWholeFile(path_, "pause everything please", {.sync = Sync::kNone}).ok());
  PauseFile file(path_);
  EXPECT_TRUE(file.Look());
  ASSERT_EQ(file.pauses().size(), 1U);
  EXPECT_TRUE(Stops(file.pauses(), "link.mtu", "link.mtu"));
  EXPECT_NE(file.pauses()[0].reason.find(path_), std::string::npos);
}

TEST_F(PauseFileTest, AFolderInItsPlaceStopsEverything) {
  std::filesystem::create_directory(path_);
  PauseFile file(path_);
  EXPECT_TRUE(file.Look());
  EXPECT_TRUE(Stops(file.pauses(), "link.mtu", "link.mtu"));
}

}  // namespace
}  // namespace railwright
