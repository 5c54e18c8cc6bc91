#include <cerrno>

#include "tests/settings/subject.h"
#include "tests/support/fake_machine.h"

namespace railwright {
namespace {

constexpr const char* kFec = "/ethtool/rail0/fec";
constexpr const char* kModule = "/ethtool/rail0/module";

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

TEST(LinkFecTest, TheModuleIsNotReadWhereTheLinkUsesWhatIsWished) {
  Subject fec("link.fec");
  FakeMachine machine;
  machine.Put(kFec, "modes=rs auto=0 active=rs").Put(kModule, "id=0x19 form=OSFP state=fault");
  fec.Wish("rs");
  EXPECT_EQ(fec.See(machine).message, "");
  EXPECT_EQ(machine.Reads(), std::vector<std::string>{kFec});
}

// The loop repeats a look's reads in their order until one differs, so a link that is well again costs none.
TEST(LinkFecTest, WithoutCarrierOrWithAnotherCodeTheMessageTellsTheModuleReadLast) {
  struct {
    const char* kernel;
    const char* module;
    const char* said;
  } cases[] = {
      {"modes=rs auto=0", "id=0x19 form=OSFP interface=CMIS revision=5.2 flat=0 state=fault",
       "the link has no carrier, so no code is in use; what is configured is compared; module: OSFP, CMIS "
       "5.2, "
       "state Fault"},
      {"modes=baser auto=0 active=baser",
       "id=0x11 form=QSFP28 interface=SFF-8636 revision=2.8 flat=0 data_not_ready=1",
       "module: QSFP28, SFF-8636 2.8, data not ready"},
  };
  for (const auto& one : cases) {
    Subject fec("link.fec");
    FakeMachine machine;
    machine.Put(kFec, one.kernel).Put(kModule, one.module);
    fec.Wish("rs");
    EXPECT_EQ(fec.See(machine).message, one.said);
    EXPECT_EQ(machine.Reads(), (std::vector<std::string>{kFec, kModule}));
  }
}

TEST(LinkFecTest, AModuleThatCannotBeReadIsSaidAndTurnsNoVerdict) {
  Subject fec("link.fec");
  fec.Wish("rs");
  for (const char* kernel : {"modes=rs auto=0", "modes=baser auto=0 active=baser"}) {
    FakeMachine machine;
    machine.Put(kFec, kernel)
        .Put(kModule, "id=0x19 form=OSFP interface=CMIS revision=5.2 flat=0 state=ready");
    const Observation read = fec.See(machine);
    const bool satisfied = fec.Satisfied(machine);
    for (const Status& error :
         {FromErrno(EIO, kModule), FromErrno(EOPNOTSUPP, kModule), FromErrno(EPERM, kModule),
          FromErrno(ENODEV, kModule), Status(Code::kDataLoss, std::string(kModule) + ": cut")}) {
      machine.FailReads(kModule, error);
      const Observation unread = fec.See(machine);
      EXPECT_EQ(unread.kind, Observation::Kind::kValue);
      EXPECT_EQ(unread.value, read.value);
      EXPECT_EQ(fec.Satisfied(machine), satisfied);
      const std::string why = error.message().substr(std::string(kModule).size() + 2);
      EXPECT_TRUE(unread.message.ends_with("module: not readable (" + why + ")")) << unread.message;
    }
    machine.FailReads(kModule, Ok());
    machine.Put(kModule, "nonsense");
    EXPECT_EQ(fec.See(machine).value, read.value);
    EXPECT_NE(fec.See(machine).message.find("module: not readable ("), std::string::npos);
  }
}

TEST(LinkFecTest, ARecordingWhichHasNoWishHoldsTheModule) {
  const Subject fec("link.fec");
  FakeMachine machine;
  machine.Put(kFec, "modes=rs auto=0 active=rs").Put(kModule, "id=0x03 form=SFP interface=SFF-8472");
  EXPECT_EQ(fec.See(machine).message, "module: SFP, SFF-8472");
}

TEST(LinkFecTest, AProfileOfANodeAsksForWhatItsLinkUses) {
  const Subject fec("link.fec");
  EXPECT_EQ(fec.setting->AsWish(fec.target, Observation::Value("active=rs configured=auto")).value(), "rs");
  EXPECT_EQ(fec.setting->AsWish(fec.target, Observation::Value("configured=off")).value(), "off");
  EXPECT_FALSE(fec.setting->AsWish(fec.target, Observation::Value("configured=rs,baser")).ok());
}

}  // namespace
}  // namespace railwright
