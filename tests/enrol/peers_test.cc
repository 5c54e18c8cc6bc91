#include "controller/enrol/peers.h"

#include <gtest/gtest.h>

namespace railwright {
namespace {

using namespace std::chrono_literals;

const Peers::Time kStart{1h};

TEST(Peers, ABurstIsLetInAndThenARate) {
  Peers peers({.accepts_a_second = 20, .accepts_at_once = 100});
  int admitted = 0;
  for (int i = 0; i < 1000; ++i) admitted += peers.Admit("10.0.0.1", kStart) ? 1 : 0;
  EXPECT_EQ(admitted, 100);
  EXPECT_TRUE(peers.Admit("10.0.0.2", kStart)) << "others do not pay for it";
  admitted = 0;
  for (int i = 0; i < 1000; ++i) admitted += peers.Admit("10.0.0.1", kStart + 1s) ? 1 : 0;
  EXPECT_EQ(admitted, 20);
}

TEST(Peers, TheSixthRequestAfterFiveFailuresInAMinuteWaits) {
  Peers peers({});
  for (int i = 0; i < 4; ++i) peers.Failed("10.0.0.1", kStart + i * 1s);
  EXPECT_EQ(peers.DelayOf("10.0.0.1", kStart + 5s), 0ms);
  peers.Failed("10.0.0.1", kStart + 5s);
  EXPECT_EQ(peers.DelayOf("10.0.0.1", kStart + 6s), 5000ms);
  EXPECT_EQ(peers.DelayOf("10.0.0.2", kStart + 6s), 0ms);
  EXPECT_EQ(peers.DelayOf("10.0.0.1", kStart + 61s), 0ms) << "the first is forgotten";
}

TEST(Peers, AnIpv6AddressCountsByItsNetwork) {
  EXPECT_EQ(Peers::Of("2001:db8::1"), Peers::Of("2001:db8::ffff:1"));
  EXPECT_NE(Peers::Of("2001:db8::1"), Peers::Of("2001:db8:0:1::1"));
  EXPECT_NE(Peers::Of("10.0.0.1"), Peers::Of("10.0.0.2"));
}

TEST(Peers, MemoryIsBoundedAndTheOldAreForgotten) {
  Peers peers({});
  for (int i = 0; i < 100'000; ++i) peers.Admit("10.0." + std::to_string(i), kStart);
  EXPECT_LE(peers.size(), Peers::kMost + 1);
  EXPECT_FALSE(peers.Admit("10.1.0.1", kStart)) << "new ones share one account, which is used up";
  EXPECT_TRUE(peers.Admit("10.1.0.1", kStart + 2min));
  EXPECT_LE(peers.size(), 2u);
}

}  // namespace
}  // namespace railwright
