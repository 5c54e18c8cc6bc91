#include "agent/machine/route.h"

#include <gtest/gtest.h>
#include <linux/rtnetlink.h>

#include <random>

namespace railwright::machine {
namespace {

struct Spelling {
  const char* given;
  const char* canonical;
};

TEST(RouteTest, EveryLineHasOneSpelling) {
  constexpr Spelling kLines[] = {
      {"10.10.0.0/24 dev rail0 scope link src 10.10.0.1", "10.10.0.0/24 dev rail0 scope link src 10.10.0.1"},
      {"  10.10.0.0/24   dev rail0 src 10.10.0.1 ", "10.10.0.0/24 dev rail0 scope link src 10.10.0.1"},
      {"unicast 10.10.0.0/24 dev rail0", "10.10.0.0/24 dev rail0 scope link"},
      {"10.10.0.5 dev rail0", "10.10.0.5/32 dev rail0 scope link"},
      {"default via 10.10.0.254 dev rail0", "default via 10.10.0.254 dev rail0"},
      {"0.0.0.0/0 via 10.10.0.254 dev rail0", "default via 10.10.0.254 dev rail0"},
      {"default dev rail0", "default dev rail0 scope link"},
      {"::/0 via fd00::fe dev rail0", "default via fd00::fe dev rail0"},
      {"::/0 dev rail0", "::/0 dev rail0"},
      {"default dev rail0 src fd00::1", "default dev rail0 src fd00::1"},
      {"FD00:10:0::/64 dev rail0 metric 1024 pref medium", "fd00:10::/64 dev rail0"},
      {"fd00:10::/64 dev rail0 scope link metric 0", "fd00:10::/64 dev rail0"},
      {"fd00:10::/64 dev rail0 metric 5", "fd00:10::/64 dev rail0 metric 5"},
      {"10.0.0.0/8 via 10.10.0.254 dev rail0 metric 0 scope global", "10.0.0.0/8 via 10.10.0.254 dev rail0"},
      {"10.0.0.0/8 via 192.0.2.1 dev rail0 onlink", "10.0.0.0/8 via 192.0.2.1 dev rail0 onlink"},
      {"10.0.0.0/8 via inet6 fe80::1 dev rail0", "10.0.0.0/8 via inet6 fe80::1 dev rail0"},
      {"10.0.0.0/8 tos 16 via 10.1.0.1 dev rail0 mtu 9000",
       "10.0.0.0/8 tos 16 via 10.1.0.1 dev rail0 mtu 9000"},
      {"blackhole default", "blackhole default"},
      {"unreachable ::/0", "unreachable ::/0"},
      {"10.0.0.0/8 nexthop via 10.2.0.1 dev b weight 3 nexthop via 10.1.0.1 dev a",
       "10.0.0.0/8 nexthop via 10.1.0.1 dev a nexthop via 10.2.0.1 dev b weight 3"},
      {"10.0.0.0/8 nexthop via 10.2.0.1 dev b weight 3", "10.0.0.0/8 via 10.2.0.1 dev b"},
  };
  for (const Spelling& line : kLines) {
    auto route = Route::Parse(line.given);
    ASSERT_TRUE(route.ok()) << line.given << ": " << route.status().ToString();
    EXPECT_EQ(route->Text(), line.canonical) << line.given;
    auto again = Route::Parse(route->Text());
    ASSERT_TRUE(again.ok()) << route->Text();
    EXPECT_EQ(*again, *route) << "reading its own text changes nothing: " << route->Text();
  }
}

TEST(RouteTest, WrongLinesNameTheWord) {
  constexpr Spelling kLines[] = {
      {"", "no destination"},
      {"10.0.0.1/8 dev a", "bits beyond its prefix length"},
      {"10.0.0.0/8", "\"dev\" is missing"},
      {"10.0.0.0/8 dev a b", "\"b\" is not understood"},
      {"10.0.0.0/8 dev ..", "no name of an interface"},
      {"10.0.0.0/8 dev a metric -1", "\"metric\" wants a number"},
      {"10.0.0.0/8 dev a metric", "\"metric\" wants a number"},
      {"10.0.0.0/8 dev a scope planet", "scope \"planet\""},
      {"10.0.0.0/8 via dev a", "no IPv4 or IPv6 address"},
      {"fd00::/64 via 10.0.0.1 dev a", "IPv4 gateway"},
      {"10.0.0.0/8 dev a src fd00::1", "other family"},
      {"prohibit 10.0.0.0/8 dev a", "neither gateway nor interface"},
      {"10.0.0.0/8 nexthop via 10.1.0.1 dev a weight 0", "1…256"},
      {"10.0.0.0/8 nexthop via 10.1.0.1", "\"dev\" is missing"},
  };
  for (const Spelling& line : kLines) {
    auto route = Route::Parse(line.given);
    ASSERT_FALSE(route.ok()) << line.given;
    EXPECT_EQ(route.status().code(), Code::kInvalidArgument);
    EXPECT_NE(route.status().message().find(line.canonical), std::string::npos) << route.status().message();
  }
}

TEST(RouteTest, AnyWordsAreParsedOrRefusedAndNeverCrash) {
  const char* words[] = {"default", "via",       "dev",   "10.0.0.0/8", "fd00::/64", "nexthop",
                         "weight",  "1",         "src",   "scope",      "link",      "onlink",
                         "metric",  "blackhole", "::1",   "inet6",      "a",         "",
                         "mtu",     "tos",       "proto", "300",        "10.0.0.1",  "0.0.0.0/0"};
  std::mt19937 random(3);
  int parsed = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::string line;
    for (std::size_t n = random() % 10; n > 0; --n)
      line += std::string(words[random() % std::size(words)]) + " ";
    auto route = Route::Parse(line);
    if (!route.ok()) continue;
    ++parsed;
    auto again = Route::Parse(route->Text());
    ASSERT_TRUE(again.ok()) << line << " → " << route->Text() << ": " << again.status().message();
    EXPECT_EQ(again->Text(), route->Text()) << line;
  }
  EXPECT_GT(parsed, 100);
}

}  // namespace
}  // namespace railwright::machine
