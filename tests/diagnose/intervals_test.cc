#include "core/diagnose/intervals.h"

#include <gtest/gtest.h>

#include <bitset>
#include <random>

namespace railwright {
namespace {

using Bits = std::bitset<64>;

Bits BitsOf(const IntervalSet& set) {
  Bits bits;
  for (unsigned i = 0; i < 64; ++i) bits[i] = set.Contains(i);
  return bits;
}

TEST(IntervalSetTest, AgreesWithSetsOfBits) {
  std::mt19937 random(7);
  const auto make = [&] {
    std::vector<IntervalSet::Interval> intervals;
    for (auto i = random() % 6; i > 0; --i) {
      const Number128 first = random() % 64;
      intervals.push_back({first, std::min<Number128>(63, first + random() % 12)});
    }
    return IntervalSet(std::move(intervals));
  };
  for (int round = 0; round < 5'000; ++round) {
    const IntervalSet a = make(), b = make();
    EXPECT_EQ(BitsOf(a.And(b)), BitsOf(a) & BitsOf(b));
    EXPECT_EQ(BitsOf(a.Or(b)), BitsOf(a) | BitsOf(b));
    EXPECT_EQ(BitsOf(a.Without(b)), BitsOf(a) & ~BitsOf(b));
    EXPECT_EQ(a.Without(b).Or(a.And(b)), a);
  }
}

TEST(IntervalSetTest, TheWholeNumberRangeHasNoOverflow) {
  const IntervalSet all = IntervalSet::Range(0, ~Number128{0});
  EXPECT_TRUE(all.Without(all).empty());
  EXPECT_EQ(all.Without(IntervalSet::Of(0)).Or(IntervalSet::Of(0)), all);
  EXPECT_EQ(all.Without(IntervalSet::Of(~Number128{0})).Or(IntervalSet::Of(~Number128{0})), all);
  EXPECT_EQ(all.Or(all), all);
}

TEST(AddressTest, BothFamiliesAndNothingElse) {
  for (const char* text : {"0.0.0.0", "10.9.0.1", "255.255.255.255", "::", "::1", "fd00:10::1",
                           "1:2:3:4:5:6:7:8", "fe80::", "::ffff:10.0.0.1", "2001:db8:0:0:1::"})
    EXPECT_TRUE(ParseNumberedAddress(text)) << text;
  for (const char* text :
       {"", "10.9.0", "10.9.0.1.2", "10.9.0.256", "10.9.0.-1", "10.09.0.1x", ":", ":::", "1::2::3", ":1",
        "1:", "1:2:3:4:5:6:7:8:9", "12345::", "fd00::g", "1:2:3:4:5:6:7::8:9", "::1%eth0", "localhost"})
    EXPECT_FALSE(ParseNumberedAddress(text)) << text;
  EXPECT_EQ(ParseNumberedAddress("::ffff:10.0.0.1")->number, Number128{0xffff} << 32 | 0x0a000001);
}

TEST(NetworkTest, PrefixesAndMasks) {
  EXPECT_EQ(ParseNetwork("10.9.0.7/24")->addresses, ParseNetwork("10.9.0.0/255.255.255.0")->addresses);
  EXPECT_EQ(ParseNetwork("0.0.0.0/0")->addresses, IntervalSet::Range(0, 0xffffffff));
  EXPECT_EQ(ParseNetwork("::/0")->addresses, IntervalSet::Range(0, ~Number128{0}));
  for (const char* text :
       {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/255.0.255.0", "fd00::/129", "/24", "10.0.0.0/ffff::"})
    EXPECT_FALSE(ParseNetwork(text)) << text;
}

TEST(NetworkTest, TextIsWhatAnOperatorWrites) {
  const auto text = [](const char* network) {
    const auto parsed = ParseNetwork(network);
    return AddressesText(parsed->addresses, parsed->ipv6);
  };
  EXPECT_EQ(text("10.9.0.0/24"), "10.9.0.0/24");
  EXPECT_EQ(text("10.9.0.1"), "10.9.0.1");
  EXPECT_EQ(text("0.0.0.0/0"), "0.0.0.0/0");
  EXPECT_EQ(text("::/0"), "::/0");
  EXPECT_EQ(text("fd00:10::/64"), "fd00:10::/64");
  EXPECT_EQ(text("1:0:0:2::5"), "1:0:0:2::5");
  EXPECT_EQ(AddressesText(IntervalSet::Range(0x0a000001, 0x0a000003), false), "10.0.0.1-10.0.0.3");
  EXPECT_EQ(PortsText(IntervalSet({{4791, 4791}, {18515, 18530}})), "4791,18515-18530");
}

}  // namespace
}  // namespace railwright
