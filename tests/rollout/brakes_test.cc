#include "controller/rollout/brakes.h"

#include <gtest/gtest.h>

namespace railwright {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr Clock::Steady kNow{std::chrono::hours(1)};
constexpr std::chrono::system_clock::time_point kWall{};

TEST(FailureCountTest, ItTripsAboveTheShareAndNotBelowThreeNodes) {
  FailureCount count;
  count.Note("a", kNow);
  count.Note("b", kNow);
  EXPECT_TRUE(count.TooMany(4, {5, true}, kNow).empty()) << "half of four, but only two";
  count.Note("c", kNow);
  EXPECT_EQ(count.TooMany(4, {5, true}, kNow).size(), 3u);
  EXPECT_TRUE(count.TooMany(100, {5, true}, kNow).empty()) << "three of a hundred";
}

TEST(FailureCountTest, OneNodeThatFailsAgainAndAgainIsOne) {
  FailureCount count;
  for (int i = 0; i < 50; ++i) count.Note("a", kNow + seconds(i));
  EXPECT_TRUE(count.TooMany(4, {5, true}, kNow).empty());
}

TEST(FailureCountTest, WhatIsOlderThanTheWindowDoesNotCount) {
  FailureCount count;
  count.Note("a", kNow);
  count.Note("b", kNow + minutes(5));
  count.Note("c", kNow + minutes(11));
  EXPECT_TRUE(count.TooMany(10, {5, true}, kNow + minutes(11)).empty());
  count.Note("d", kNow + minutes(12));
  EXPECT_EQ(count.TooMany(10, {5, true}, kNow + minutes(12)).size(), 3u);
}

class SilentRacksTest : public testing::Test {
 protected:
  void SetUp() override {
    for (int n = 1; n <= 6; ++n) racks.Note("a" + std::to_string(n), "ra", false, kNow);
    for (int n = 1; n <= 4; ++n) racks.Note("b" + std::to_string(n), "rb", false, kNow);
  }
  SilentRacks racks;
};

TEST_F(SilentRacksTest, AThirdOfARackThatGoesSilentAtOnceFreezesThatRackAlone) {
  racks.Note("a1", "ra", true, kNow);
  EXPECT_FALSE(racks.Look(kNow, kWall)) << "one of six";
  racks.Note("a2", "ra", true, kNow + seconds(30));
  EXPECT_TRUE(racks.Look(kNow + seconds(30), kWall));
  ASSERT_EQ(racks.frozen().size(), 1u);
  EXPECT_EQ(racks.frozen().at("ra").reason, "2 of the 6 nodes of rack ra went silent within 60 s (a[1-2])");
}

TEST_F(SilentRacksTest, OneAfterTheOtherOverHoursDoesNot) {
  for (int n = 1; n <= 6; ++n) {
    racks.Note("a" + std::to_string(n), "ra", true, kNow + minutes(20 * n));
    EXPECT_FALSE(racks.Look(kNow + minutes(20 * n), kWall)) << n;
  }
}

TEST_F(SilentRacksTest, ItEndsAMinuteAfterTheyAreBack) {
  racks.Note("b1", "rb", true, kNow);
  racks.Note("b2", "rb", true, kNow);
  racks.Look(kNow, kWall);
  ASSERT_FALSE(racks.frozen().empty());
  racks.Look(kNow + minutes(30), kWall);
  EXPECT_FALSE(racks.frozen().empty()) << "they are still silent";
  racks.Note("b1", "rb", false, kNow + minutes(31));
  racks.Note("b2", "rb", false, kNow + minutes(31));
  racks.Look(kNow + minutes(31), kWall);
  racks.Look(kNow + minutes(31) + seconds(59), kWall);
  EXPECT_FALSE(racks.frozen().empty());
  EXPECT_TRUE(racks.Look(kNow + minutes(32), kWall));
  EXPECT_TRUE(racks.frozen().empty());
}

TEST_F(SilentRacksTest, APersonEndsItAndTheSilentOnesCountAgainWhenTheyWereHeardOf) {
  racks.Note("b1", "rb", true, kNow);
  racks.Note("b2", "rb", true, kNow);
  racks.Look(kNow, kWall);
  racks.Reset();
  EXPECT_FALSE(racks.Look(kNow + seconds(1), kWall));
  EXPECT_TRUE(racks.frozen().empty());
  racks.Note("b1", "rb", false, kNow + minutes(1));
  racks.Note("b1", "rb", true, kNow + minutes(2));
  racks.Note("b3", "rb", true, kNow + minutes(2));
  EXPECT_TRUE(racks.Look(kNow + minutes(2), kWall));
}

TEST_F(SilentRacksTest, WhoWasNeverHeardOfOrHasNoRackDoesNotCount) {
  for (int n = 1; n <= 9; ++n) racks.Note("c" + std::to_string(n), "rc", true, kNow);
  for (int n = 1; n <= 9; ++n) {
    racks.Note("d" + std::to_string(n), "", false, kNow);
    racks.Note("d" + std::to_string(n), "", true, kNow);
  }
  EXPECT_FALSE(racks.Look(kNow, kWall));
}

TEST_F(SilentRacksTest, ANodeThatLeavesTheInventoryOrItsRackIsNotCountedThereAnyMore) {
  racks.Note("b1", "rb", true, kNow);
  racks.Drop("b1");
  racks.Note("b2", "rb", true, kNow);
  racks.Note("b3", "ra", false, kNow);
  EXPECT_FALSE(racks.Look(kNow, kWall)) << "one of two";
}

}  // namespace
}  // namespace railwright
