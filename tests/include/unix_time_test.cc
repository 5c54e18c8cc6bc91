#include "railwright/unix_time.h"

#include <gtest/gtest.h>

#include <limits>

namespace railwright {
namespace {

constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

TEST(UnixTimeTest, ATimeComesBackToTheMicrosecond) {
  for (const std::int64_t us : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1'796'052'528'050'707}}) {
    ASSERT_TRUE(FromUnixMicros(us));
    EXPECT_EQ(ToUnixMicros(*FromUnixMicros(us)), us);
    EXPECT_EQ(ToUnixMicros(NearestToUnixMicros(us)), us);
  }
}

TEST(UnixTimeTest, ANumberBeyondTheClockIsNoTime) {
  for (const std::int64_t us : {kFirst, kLast, kFirst / 1000 - 1, kLast / 1000 + 1})
    EXPECT_FALSE(FromUnixMicros(us)) << us;
  EXPECT_TRUE(FromUnixMicros(kLast / 1000));
  EXPECT_TRUE(FromUnixMicros(kFirst / 1000));
}

TEST(UnixTimeTest, WhatSomebodySaysBecomesATimeWhoseDistanceFromNowFits) {
  const auto now = *FromUnixMicros(1'796'052'528'050'707);
  EXPECT_EQ(NearestToUnixMicros(kFirst), std::chrono::system_clock::time_point());
  EXPECT_EQ(NearestToUnixMicros(-1), std::chrono::system_clock::time_point());
  EXPECT_GT(now - NearestToUnixMicros(kFirst), std::chrono::hours(24 * 365 * 50));
  EXPECT_LT(now - NearestToUnixMicros(kLast), -std::chrono::hours(24 * 365 * 200));
}

}  // namespace
}  // namespace railwright
