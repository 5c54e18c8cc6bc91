// link.channels and link.rings: counts by kind.
#include <cerrno>

#include "tests/settings/subject.h"
#include "tests/support/fake_machine.h"

namespace railwright {
namespace {

constexpr const char* kChannels = "/ethtool/rail0/channels";
constexpr const char* kRings = "/ethtool/rail0/rings";

// A card with combined channels, a veth with rx and tx, a card with all three.
constexpr const char* kCard = "combined=16 combined_max=63";
constexpr const char* kVeth = "rx=1 rx_max=4 tx=1 tx_max=8";
constexpr const char* kMixed = "rx=4 rx_max=8 tx=4 tx_max=8 other=1 other_max=1 combined=0 combined_max=8";

TEST(LinkChannelsTest, CountsHaveOneSpelling) {
  const Subject channels("link.channels");
  EXPECT_EQ(channels.Said("8"), "8");
  EXPECT_EQ(channels.Said("max"), "max");
  EXPECT_EQ(channels.Said("tx=4 rx=4"), "rx=4 tx=4");
  EXPECT_EQ(channels.Said("tx=4,rx=4"), "rx=4 tx=4") << "a list in a document";
  EXPECT_EQ(channels.Said("rx=0 tx=0 combined=8"), "combined=8 rx=0 tx=0");
  for (const char* bad : {"", "0", "combined=0", "rx=0 tx=0", "-1", "65536", "8 8", "rx=4 rx=4", "queues=4",
                          "rx=", "rx", "max 8", "rx=04", "other=1", "=4"})
    EXPECT_FALSE(channels.Canonical(bad).ok()) << bad;
  EXPECT_EQ(channels.Said("queues=4"),
            "\"queues=4\" names no kind \"queues\"; allowed: max, 1…65535, or combined=N rx=N tx=N");
}

TEST(LinkChannelsTest, ANumberMeansTheKindThatTheDeviceHas) {
  struct {
    const char* device;
    const char* wish;
    const char* written;
  } cases[] = {
      {kCard, "8", "combined=8"},
      {kCard, "max", "combined=63"},
      {kCard, "combined=8 rx=0 tx=0", "combined=8"},
      {kVeth, "2", "rx=2 tx=2"},
      {kVeth, "max", "rx=4 tx=8"},
      {kVeth, "rx=2 tx=1", "rx=2 tx=1"},
      {kMixed, "8", "combined=8 rx=0 tx=0"},
      {kMixed, "max", "combined=8 rx=0 tx=0"},
      {kMixed, "rx=2 tx=2", "rx=2 tx=2"},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(std::string(one.device) + " <- " + one.wish);
    Subject channels("link.channels");
    FakeMachine machine;
    machine.Put(kChannels, one.device);
    channels.Wish(one.wish);
    EXPECT_FALSE(channels.Satisfied(machine));
    const Status applied = channels.Apply(machine, channels.target.wish);
    ASSERT_TRUE(applied.ok()) << applied.ToString();
    EXPECT_EQ(machine.Writes().back().second, one.written);
  }
}

TEST(LinkChannelsTest, FulfilledMeansEveryKindThatTheWishNames) {
  struct {
    const char* device;
    const char* wish;
    bool fulfilled;
  } cases[] = {
      {"combined=8 combined_max=63", "8", true},
      {"combined=8 combined_max=63", "combined=8", true},
      {"combined=8 combined_max=63", "combined=8 rx=0 tx=0", true},
      {"combined=8 combined_max=63", "max", false},
      {"combined=63 combined_max=63", "max", true},
      {"combined=8", "max", false},  // no greatest known: never fulfilled
      {"rx=2 rx_max=4 tx=2 tx_max=4", "2", true},
      {"rx=2 rx_max=4 tx=1 tx_max=4", "2", false},
      {"rx=2 rx_max=4 tx=2 tx_max=4", "combined=2", false},
      {"rx=4 rx_max=4 tx=8 tx_max=8", "max", true},
      {"rx=4 rx_max=8 tx=4 tx_max=8 combined=8 combined_max=8", "8", false},  // rx and tx are still there
      {"rx=0 rx_max=8 tx=0 tx_max=8 combined=8 combined_max=8", "8", true},
  };
  for (const auto& one : cases) {
    Subject channels("link.channels");
    FakeMachine machine;
    machine.Put(kChannels, one.device);
    channels.Wish(one.wish);
    EXPECT_EQ(channels.Satisfied(machine), one.fulfilled) << one.device << " for " << one.wish;
  }
}

TEST(LinkChannelsTest, ARefusalNamesWhatTheDeviceHas) {
  const Subject channels("link.channels");
  FakeMachine machine;
  machine.Put(kChannels, kVeth);
  EXPECT_EQ(channels.Apply(machine, "16").message(), "rail0: channels: rx=16 is more than the device's 4");
  EXPECT_EQ(channels.Apply(machine, "combined=2").message(),
            "rail0: channels: the device has no combined; it has rx (at most 4), tx (at most 8)");
  EXPECT_TRUE(machine.Writes().empty());
}

TEST(LinkChannelsTest, AnObservedValueCanBePutBack) {
  const Subject channels("link.channels");
  FakeMachine machine;
  machine.Put(kChannels, kMixed);
  const std::string original = channels.See(machine).value;
  EXPECT_EQ(original, "combined=0 rx=4 tx=4");
  ASSERT_TRUE(channels.Apply(machine, original).ok());
  EXPECT_EQ(machine.Writes().back().second, "combined=0 rx=4 tx=4");
}

TEST(LinkChannelsTest, ADriverWithoutChannelsIsNotApplicableAndOtherErrorsAreNot) {
  const Subject channels("link.channels");
  FakeMachine machine;
  machine.FailReads(kChannels, FromErrno(EOPNOTSUPP, kChannels));
  EXPECT_EQ(channels.See(machine).reason, "NoChannels");
  machine.FailReads(kChannels, Ok());
  machine.Put(kChannels, "");
  EXPECT_EQ(channels.See(machine).reason, "NoChannels");
  // A path that no backend serves is no statement about the driver.
  machine.FailReads(kChannels, Status(Code::kUnimplemented, "no backend"));
  EXPECT_FALSE(channels.setting->Observe(machine, channels.target).ok());
  machine.FailReads(kChannels, FromErrno(ENODEV, kChannels));
  EXPECT_FALSE(channels.setting->Observe(machine, channels.target).ok());
  machine.FailReads(kChannels, Ok());
  for (const char* bad : {"combined", "combined=x", "combined=1 combined=1"}) {
    machine.Put(kChannels, bad);
    EXPECT_FALSE(channels.setting->Observe(machine, channels.target).ok()) << bad;
  }
}

TEST(LinkRingsTest, OneNumberIsForBoth) {
  Subject rings("link.rings");
  FakeMachine machine;
  machine.Put(kRings, "rx=1024 rx_max=8192 tx=1024 tx_max=8192");
  EXPECT_EQ(rings.See(machine).value, "rx=1024 tx=1024");
  rings.Wish("8192");
  EXPECT_FALSE(rings.Satisfied(machine));
  ASSERT_TRUE(rings.Apply(machine, "8192").ok());
  EXPECT_EQ(machine.Writes().back().second, "rx=8192 tx=8192");
  rings.Wish("max");
  EXPECT_FALSE(rings.Satisfied(machine)) << "the fake knows no greatest any more";
  EXPECT_EQ(rings.Apply(machine, "rx=9000").code(), Code::kOk);
  EXPECT_FALSE(rings.Canonical("combined=8").ok()) << "rings have no combined";
}

TEST(LinkRingsTest, ADriverWithoutRingsIsNotApplicable) {
  const Subject rings("link.rings");
  FakeMachine machine;
  machine.FailReads(kRings, FromErrno(EOPNOTSUPP, kRings));
  EXPECT_EQ(rings.See(machine).reason, "NoRings");
}

}  // namespace
}  // namespace railwright
