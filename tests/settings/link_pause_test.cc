#include <cerrno>

#include "tests/settings/subject.h"
#include "tests/support/fake_machine.h"

namespace railwright {
namespace {

constexpr const char* kPause = "/ethtool/rail0/pause";

TEST(LinkPauseTest, OffAndOnAreShortForBothDirections) {
  const Subject pause("link.pause");
  EXPECT_EQ(pause.Said("off"), "rx=off tx=off");
  EXPECT_EQ(pause.Said("on"), "rx=on tx=on");
  EXPECT_EQ(pause.Said("tx=off autoneg=off rx=on"), "autoneg=off rx=on tx=off");
  EXPECT_EQ(pause.Said("tx=off,rx=off"), "rx=off tx=off");
  EXPECT_EQ(pause.Said("rx=off"), "rx=off");
  for (const char* bad : {"", "no", "0", "rx=0", "off on", "rx=off rx=on", "pfc=on", "rx"})
    EXPECT_FALSE(pause.Canonical(bad).ok()) << bad;
  EXPECT_NE(pause.Said("no").find("allowed: off, on, or autoneg=on|off"), std::string::npos);
}

TEST(LinkPauseTest, WhatTheWishDoesNotNameMayBeAnything) {
  Subject pause("link.pause");
  FakeMachine machine;
  machine.Put(kPause, "autoneg=1 rx=0 tx=0");
  EXPECT_EQ(pause.See(machine).value, "autoneg=on rx=off tx=off");
  pause.Wish("off");
  EXPECT_TRUE(pause.Satisfied(machine));
  pause.Wish("autoneg=off rx=off tx=off");
  EXPECT_FALSE(pause.Satisfied(machine));
  pause.Wish("rx=on");
  EXPECT_FALSE(pause.Satisfied(machine));
}

TEST(LinkPauseTest, ItWritesTheNamedFieldsAndPutsAllBack) {
  Subject pause("link.pause");
  FakeMachine machine;
  machine.Put(kPause, "autoneg=0 rx=1 tx=1");
  const std::string original = pause.See(machine).value;
  ASSERT_TRUE(pause.Apply(machine, "rx=off tx=off").ok());
  EXPECT_EQ(machine.Value(kPause), "rx=0 tx=0");
  ASSERT_TRUE(pause.Apply(machine, original).ok());
  EXPECT_EQ(machine.Value(kPause), "autoneg=0 rx=1 tx=1");
}

TEST(LinkPauseTest, ADriverWithoutPauseIsNotApplicableAndNonsenseIsAnError) {
  const Subject pause("link.pause");
  FakeMachine machine;
  machine.FailReads(kPause, FromErrno(EOPNOTSUPP, kPause));
  EXPECT_EQ(pause.See(machine).reason, "NoPause");
  machine.FailReads(kPause, Ok());
  for (const char* bad : {"", "rx=maybe tx=0", "rx"}) {
    machine.Put(kPause, bad);
    EXPECT_FALSE(pause.setting->Observe(machine, pause.target).ok()) << bad;
  }
}

}  // namespace
}  // namespace railwright
