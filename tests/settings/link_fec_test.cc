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
  EXPECT_EQ(fec.Said("on"), "\"on\"; allowed: rs, baser, off, auto");
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

TEST(LinkFecTest, ItIsNotWrittenAndSaysWhy) {
  const Subject fec("link.fec");
  FakeMachine machine;
  machine.Put(kFec, "modes=rs auto=1 active=rs");
  const Status refused = fec.Apply(machine, "off");
  EXPECT_EQ(refused.code(), Code::kUnimplemented);
  EXPECT_NE(refused.message().find("whose two ends differ stays down"), std::string::npos);
  EXPECT_TRUE(machine.Writes().empty());
  EXPECT_EQ(fec.setting->info().effect, Effect::kObserveOnly);
}

}  // namespace
}  // namespace railwright
