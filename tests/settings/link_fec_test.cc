#include <cerrno>

#include "tests/settings/subject.h"
#include "tests/support/fake_machine.h"

namespace railwright {
namespace {

constexpr const char* kFec = "/ethtool/rail0/fec";

TEST(LinkFecTest, OneOfFourWords) {
  const Subject fec("link.fec");
  for (const char* word : {"rs", "baser", "off", "auto"}) EXPECT_EQ(fec.Said(word), word);
  for (const char* bad : {"", "RS", "llrs", "on", "rs,baser", "0"})
    EXPECT_FALSE(fec.Canonical(bad).ok()) << bad;
  EXPECT_EQ(fec.Said("on"),
            "\"on\"; allowed: rs, baser, off, auto, and behind it far_end=… when it is to be written");
}

TEST(LinkFecTest, WhatTheLinkUsesCountsAndWithoutCarrierWhatIsAskedFor) {
  struct {
    const char* kernel;
    const char* seen;
    const char* fulfilled;  // the wishes that it fulfils
  } cases[] = {
      {"modes=rs auto=1 active=rs", "active=rs configured=auto", "rs auto"},
      {"modes=baser auto=0 active=baser", "active=baser configured=baser", "baser"},
      {"modes=rs auto=0 active=baser", "active=baser configured=rs", "baser"},
      {"modes=off auto=0", "configured=off", "off"},
      {"modes=rs,baser auto=0", "configured=rs,baser", ""},
      {"modes=none auto=1", "configured=auto", "auto"},
  };
  for (const auto& one : cases) {
    Subject fec("link.fec");
    FakeMachine machine;
    machine.Put(kFec, one.kernel);
    EXPECT_EQ(fec.See(machine).value, one.seen);
    for (const std::string wish : {"rs", "baser", "off", "auto"}) {
      fec.Wish(wish);
      const bool expected =
          (" " + std::string(one.fulfilled) + " ").find(" " + wish + " ") != std::string::npos;
      EXPECT_EQ(fec.Satisfied(machine), expected) << wish << " by " << one.kernel;
    }
  }
}

TEST(LinkFecTest, ADriverWithoutFecIsNotApplicableAndNonsenseIsAnError) {
  const Subject fec("link.fec");
  FakeMachine machine;
  machine.FailReads(kFec, FromErrno(EOPNOTSUPP, kFec));
  EXPECT_EQ(fec.See(machine).reason, "NoFec");
  machine.FailReads(kFec, Ok());
  for (const char* bad : {"", "modes=rs", "auto=1", "rs"}) {
    machine.Put(kFec, bad);
    EXPECT_FALSE(fec.setting->Observe(machine, fec.target).ok()) << bad;
  }
}

TEST(LinkFecTest, ItIsOnlyLookedAtUnlessTheFarEndIsDeclaredEqual) {
  const Subject fec("link.fec");
  EXPECT_NE(fec.setting->OnlyLookedAt(fec.target, "rs").find("declare `rs far_end=rs`"), std::string::npos);
  EXPECT_EQ(fec.setting->OnlyLookedAt(fec.target, "rs far_end=rs"), "");
  EXPECT_EQ(fec.Said(" rs   far_end=rs "), "rs far_end=rs");
  EXPECT_NE(fec.Said("rs far_end=baser").find("set the far end to rs first"), std::string::npos);
  for (const char* bad : {"rs far_end=", "rs far_end", "rs rs", "far_end=rs", "rs far_end=rs rs"})
    EXPECT_FALSE(fec.Canonical(bad).ok()) << bad;
}

TEST(LinkFecTest, OneModeIsWrittenAndWhatWasThereIsPutBack) {
  Subject fec("link.fec");
  FakeMachine machine;
  machine.Put(kFec, "modes=baser auto=0 active=baser");
  fec.Wish("rs far_end=rs");
  EXPECT_FALSE(fec.Satisfied(machine));
  const std::string before = fec.See(machine).value;
  ASSERT_TRUE(fec.Apply(machine, "rs far_end=rs").ok());
  EXPECT_EQ(machine.Value(kFec), "modes=rs auto=0");
  EXPECT_TRUE(fec.Satisfied(machine));
  ASSERT_TRUE(fec.Apply(machine, before).ok());
  EXPECT_EQ(machine.Value(kFec), "modes=baser auto=0");
  EXPECT_TRUE(fec.setting->Satisfied(fec.target, before, fec.See(machine)))
      << "asked for again, though the link is not up yet";
  ASSERT_TRUE(fec.Apply(machine, "auto far_end=auto").ok());
  EXPECT_FALSE(fec.setting->Satisfied(fec.target, before, fec.See(machine)));
  EXPECT_EQ(machine.Value(kFec), "modes=none auto=1");
  EXPECT_EQ(fec.Apply(machine, "none").code(), Code::kInvalidArgument);
}

TEST(LinkFecTest, OffIsWrittenOnlyWhereLanesCannotBePam4) {
  Subject fec("link.fec");
  FakeMachine machine;
  machine.Put(kFec, "modes=rs auto=0 active=rs");
  EXPECT_EQ(fec.Apply(machine, "off far_end=off").code(), Code::kFailedPrecondition) << "no speed is told";
  for (const char* speed : {"-1", "50000", "100000", "400000"}) {
    machine.Put("/sys/class/net/rail0/speed", speed);
    EXPECT_EQ(fec.Apply(machine, "off far_end=off").code(), Code::kFailedPrecondition) << speed;
  }
  EXPECT_EQ(machine.Value(kFec), "modes=rs auto=0 active=rs");
  machine.Put("/sys/class/net/rail0/speed", "25000");
  ASSERT_TRUE(fec.Apply(machine, "off far_end=off").ok());
  EXPECT_EQ(machine.Value(kFec), "modes=off auto=0");
}

TEST(LinkFecTest, AProfileOfANodeAsksForWhatItsLinkUses) {
  const Subject fec("link.fec");
  EXPECT_EQ(fec.setting->AsWish(fec.target, Observation::Value("active=rs configured=auto")).value(), "rs");
  EXPECT_EQ(fec.setting->AsWish(fec.target, Observation::Value("configured=off")).value(), "off");
  EXPECT_FALSE(fec.setting->AsWish(fec.target, Observation::Value("configured=rs,baser")).ok());
}

}  // namespace
}  // namespace railwright
