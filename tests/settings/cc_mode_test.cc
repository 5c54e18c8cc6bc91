// cc.mode: DCQCN, or a program of the user.
#include "tests/settings/congested_port.h"

namespace railwright {
namespace {

TEST(CcModeTest, ExactlyOneModeIsNamed) {
  const Subject mode("cc.mode");
  EXPECT_EQ(mode.Said("dcqcn"), "dcqcn");
  EXPECT_EQ(mode.Said("programmable"), "programmable");
  EXPECT_EQ(mode.Said("dcqcn,programmable"),
            "\"dcqcn,programmable\"; allowed: exactly one of dcqcn, programmable");
}

TEST(CcModeTest, WhatTheCardRunsWithNowCounts) {
  CongestedPort port("cc.mode");
  port.machine.Put(port.kProgrammable, "next=False(0) current=False(0)");
  EXPECT_EQ(port.Seen(), "dcqcn");
  port.machine.Put(port.kProgrammable, "next=True(1) current=True(1)");
  EXPECT_EQ(port.Seen(), "programmable");
  port.machine.Put(port.kProgrammable, "next=1 current=0");
  EXPECT_EQ(port.Seen(), "dcqcn");
}

TEST(CcModeTest, AModeOfTheNextResetIsPending) {
  CongestedPort port("cc.mode");
  port.machine.Put(port.kProgrammable, "next=True(1) current=False(0)");
  port.subject.Wish("programmable");
  EXPECT_TRUE(port.Observe()->pending_reboot);
  port.subject.Wish("dcqcn");
  EXPECT_FALSE(port.Observe()->pending_reboot);
  EXPECT_NE(port.Observe()->message.find("for the next reset of the card: programmable"), std::string::npos);
}

TEST(CcModeTest, AFirmwareThatDoesNotKnowTheKeyHasDcqcnOnly) {
  const CongestedPort port("cc.mode");
  EXPECT_EQ(port.Seen(), "dcqcn");
}

TEST(CcModeTest, WithoutTheToolItIsUnknown) {
  CongestedPort port("cc.mode");
  port.machine.FailReads(port.kProgrammable, Status(Code::kUnimplemented, "no mstconfig here"));
  EXPECT_EQ(port.Observe().status().code(), Code::kUnimplemented);
  EXPECT_NE(port.Seen().find("mstflint"), std::string::npos);
  port.machine.FailReads(port.kProgrammable, Ok());
  for (const char* text : {"", "next=True(1)", "current=Perhaps(2)", "True"}) {
    port.machine.Put(port.kProgrammable, text);
    EXPECT_FALSE(port.Observe().ok()) << text;
  }
}

TEST(CcModeTest, BothModesOfBroadcomAreDcqcn) {
  CongestedPort port("cc.mode");
  port.machine.Put(port.Bnxt("cc_mode"), "0x1");
  EXPECT_EQ(port.Seen(), "dcqcn");
  EXPECT_NE(port.Observe()->message.find("DCQCN-P"), std::string::npos);
  port.machine.Put(port.Bnxt("cc_mode"), "0x2");
  EXPECT_FALSE(port.Observe().ok());
}

TEST(CcModeTest, ItIsReadAndNeverWritten) {
  CongestedPort port("cc.mode");
  port.machine.Put(port.kProgrammable, "next=False(0) current=False(0)");
  EXPECT_EQ(port.Apply("programmable").code(), Code::kUnimplemented);
  EXPECT_TRUE(port.machine.Writes().empty());
}

}  // namespace
}  // namespace railwright
