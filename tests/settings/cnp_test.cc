// cnp.dscp and cnp.priority: how notifications are marked.
#include <cerrno>

#include "tests/settings/congested_port.h"

namespace railwright {
namespace {

using Writes = std::vector<std::pair<std::string, std::string>>;

// OFED keeps six bits and says nothing: 112 becomes 48.
TEST(CnpDscpTest, WhatOfedWouldMaskIsRefusedBefore) {
  CongestedPort port("cnp.dscp");
  port.machine.Put(port.Np("cnp_dscp"), "48");
  EXPECT_EQ(port.subject.Said("112"), "\"112\" is too large; allowed: 0…63");
  EXPECT_EQ(port.subject.Said("63"), "63");
  EXPECT_EQ(port.Apply("112").code(), Code::kInvalidArgument);
  EXPECT_TRUE(port.machine.Writes().empty());
  EXPECT_EQ(port.Seen(), "48");
  ASSERT_TRUE(port.Apply("26").ok());
  EXPECT_EQ(port.machine.Writes(), (Writes{{port.Np("cnp_dscp"), "26"}}));
}

TEST(CnpDscpTest, BroadcomsIsHexadecimal) {
  CongestedPort port("cnp.dscp");
  port.machine.Put(port.Bnxt("cnp_dscp"), "0x31").Put(port.Bnxt("apply"), "");
  EXPECT_EQ(port.Seen(), "49");
  ASSERT_TRUE(port.Apply("26").ok());
  EXPECT_EQ(port.machine.Writes(), (Writes{{port.Bnxt("cnp_dscp"), "0x1a"}, {port.Bnxt("apply"), "1"}}));
}

TEST(CnpDscpTest, TheInboxDriversIsInDebugfs) {
  CongestedPort port("cnp.dscp");
  port.machine.Put(port.Inbox("np_cnp_dscp"), "48");
  EXPECT_EQ(port.Seen(), "48");
  ASSERT_TRUE(port.Apply("26").ok());
  EXPECT_EQ(port.machine.Value(port.Inbox("np_cnp_dscp")), "26");
}

TEST(CnpPriorityTest, APriorityThatTheFirmwareDoesNotUseFulfilsNoWish) {
  CongestedPort port("cnp.priority");
  EXPECT_EQ(port.subject.Said("8"), "\"8\" is too large; allowed: 0…7");
  port.subject.Wish("6");
  port.machine.Put(port.Inbox("np_cnp_prio"), "6").Put(port.Inbox("np_cnp_prio_mode"), "1");
  // As the driver does.
  port.machine.on_set = [&](const std::string& path, const std::string&) {
    if (path == port.Inbox("np_cnp_prio")) port.machine.Put(port.Inbox("np_cnp_prio_mode"), "0");
  };
  EXPECT_EQ(port.Seen(), "6 (prio_mode 1)");
  EXPECT_FALSE(port.subject.Satisfied(port.machine));
  ASSERT_TRUE(port.Apply("6").ok());
  EXPECT_EQ(port.Seen(), "6");
  EXPECT_TRUE(port.subject.Satisfied(port.machine));
  ASSERT_TRUE(port.Apply("6 (prio_mode 1)").ok()) << "the original comes back whole";
  EXPECT_EQ(port.Seen(), "6 (prio_mode 1)");
}

TEST(CnpPriorityTest, AModeThatCannotBeReadIsAnError) {
  CongestedPort port("cnp.priority");
  port.machine.Put(port.Inbox("np_cnp_prio"), "6");
  EXPECT_EQ(port.Seen(), "6") << "an older kernel has no mode";
  port.machine.FailReads(port.Inbox("np_cnp_prio_mode"), FromErrno(EIO, "x"));
  EXPECT_FALSE(port.Observe().ok());
}

TEST(CnpPriorityTest, OfedAndBroadcomHaveNoMode) {
  CongestedPort ofed("cnp.priority");
  ofed.machine.Put(ofed.Np("cnp_802p_prio"), "6");
  EXPECT_EQ(ofed.Seen(), "6");
  EXPECT_FALSE(ofed.Apply("6 (prio_mode 1)").ok());
  CongestedPort bnxt("cnp.priority");
  bnxt.machine.Put(bnxt.Bnxt("cnp_prio"), "0x7").Put(bnxt.Bnxt("apply"), "");
  EXPECT_EQ(bnxt.Seen(), "7");
  // The driver's answer where the card's NVM owns the service type of CNPs.
  bnxt.machine.FailWrites(bnxt.Bnxt("cnp_prio"), FromErrno(EINVAL, bnxt.Bnxt("cnp_prio")));
  EXPECT_EQ(bnxt.Apply("6").code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace railwright
