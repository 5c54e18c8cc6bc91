// dcqcn.<register>, cnp.* and ecn.* where only the card's flash has them.
#include <cerrno>

#include "core/decode/dcqcn.h"
#include "core/decode/nvconfig_names.h"
#include "tests/settings/congested_port.h"

namespace railwright {
namespace {

using Writes = std::vector<std::pair<std::string, std::string>>;

TEST(StoredDcqcnTest, EveryRegisterIsThereByItsNameInCapitals) {
  for (const DcqcnRegister& one : DcqcnRegisters()) {
    const std::string key = one.name == "cnp_dscp"        ? "cnp.dscp"
                            : one.name == "cnp_802p_prio" ? "cnp.priority"
                                                          : "dcqcn." + std::string(one.name);
    FlashedPort port(key);
    port.Flash(NvconfigName(one) + "_P1", std::to_string(one.max));
    EXPECT_EQ(port.Seen(), std::to_string(one.max)) << key;
    EXPECT_TRUE(CheckNvParameter(NvconfigName(one) + "_P1").ok()) << key;
  }
  EXPECT_EQ(NvconfigName(*FindDcqcnRegister("clamp_tgt_rate_after_time_inc")),
            "CLAMP_TGT_RATE_AFTER_TIME_INC");
}

TEST(StoredDcqcnTest, WhereTheDriverShowsItTheFlashIsNotAsked) {
  FlashedPort ofed("dcqcn.min_time_between_cnps");
  ofed.Flash("MIN_TIME_BETWEEN_CNPS_P1", "7").machine.Put(ofed.Np("min_time_between_cnps"), "4");
  EXPECT_EQ(ofed.Seen(), "4");
  EXPECT_FALSE(ofed.AskedTheFlash());
  FlashedPort inbox("dcqcn.min_time_between_cnps");
  inbox.Flash("MIN_TIME_BETWEEN_CNPS_P1", "7").machine.Put(inbox.Inbox("np_min_time_between_cnps"), "4");
  EXPECT_EQ(inbox.Seen(), "4");
  EXPECT_EQ(inbox.Observe()->stored_in, "");
  EXPECT_FALSE(inbox.AskedTheFlash());
  FlashedPort bnxt("dcqcn.min_time_between_cnps");
  bnxt.Flash("MIN_TIME_BETWEEN_CNPS_P1", "7").machine.Put(bnxt.Bnxt("min_time_bet_cnp"), "0x4");
  EXPECT_EQ(bnxt.Seen(), "4");
  EXPECT_FALSE(bnxt.AskedTheFlash());
  FlashedPort older("dcqcn.rpg_gd");
  older.Flash("RPG_GD_P1", "11").machine.Put(older.Rp("rpg_ai_rate"), "5");
  EXPECT_EQ(older.Seen(), "[NoSuchRegister]") << "the driver has registers, and not this one";
  EXPECT_FALSE(older.AskedTheFlash());
}

TEST(StoredDcqcnTest, WhatIsWrittenIsPendingUntilTheNextBoot) {
  FlashedPort port("dcqcn.rpg_ai_rate");
  port.Flash("RPG_AI_RATE_P1", "5");
  port.subject.Wish("10");
  EXPECT_EQ(port.Seen(), "5");
  EXPECT_EQ(port.Observe()->stored_in, port.InFlash("RPG_AI_RATE_P1"));
  EXPECT_FALSE(port.Pending());
  ASSERT_TRUE(port.Apply("10").ok());
  EXPECT_EQ(port.machine.Writes(), (Writes{{port.InFlash("RPG_AI_RATE_P1"), "10"}}));
  EXPECT_EQ(port.Seen(), "5 (next boot 10)");
  EXPECT_TRUE(port.Pending());
  EXPECT_FALSE(port.subject.Satisfied(port.machine)) << "the firmware still runs with 5";
  port.Boot();
  EXPECT_EQ(port.Seen(), "10");
  EXPECT_FALSE(port.Pending());
  EXPECT_TRUE(port.subject.Satisfied(port.machine));
}

TEST(StoredDcqcnTest, WhatRunsAsWishedAndWouldNotAfterTheNextBootIsNotFulfilled) {
  FlashedPort port("dcqcn.rpg_ai_rate");
  port.Flash("RPG_AI_RATE_P1", "5", "10");
  port.subject.Wish("5");
  EXPECT_FALSE(port.subject.Satisfied(port.machine));
  EXPECT_FALSE(port.Pending());
  ASSERT_TRUE(port.Apply("5").ok());
  EXPECT_TRUE(port.subject.Satisfied(port.machine));
  ASSERT_TRUE(port.Apply("5 (next boot 10)").ok()) << "the original: what the flash held";
  EXPECT_EQ(port.Seen(), "5 (next boot 10)");
}

TEST(StoredDcqcnTest, AFlagIsANumberAndWhatIsNoneIsAnError) {
  FlashedPort port("dcqcn.clamp_tgt_rate");
  port.Flash("CLAMP_TGT_RATE_P1", "False(0)", "True(1)");
  EXPECT_EQ(port.Seen(), "0 (next boot 1)");
  port.Flash("CLAMP_TGT_RATE_P1", "DEVICE_DEFAULT");
  EXPECT_EQ(port.Observe().status().code(), Code::kInternal);
  port.machine.Put(port.InFlash("CLAMP_TGT_RATE_P1"), "next=True(1)");
  EXPECT_EQ(port.Observe().status().code(), Code::kInternal) << "what runs is not told";
}

TEST(StoredDcqcnTest, OutOfRangeOrAboveTheLineRateIsNotStored) {
  FlashedPort port("dcqcn.rpg_hai_rate");
  port.Flash("RPG_HAI_RATE_P1", "50");
  EXPECT_FALSE(port.Apply("400001").ok());
  EXPECT_FALSE(port.Apply("DEVICE_DEFAULT").ok());
  EXPECT_TRUE(port.machine.Writes().empty());
  EXPECT_TRUE(port.Apply("400000").ok());
}

TEST(StoredDcqcnTest, WithoutMstconfigItIsUnknownAndThePackageIsNamed) {
  for (const char* key : {"dcqcn.rpg_ai_rate", "cnp.dscp", "cnp.priority", "ecn.np", "ecn.rp"}) {
    FlashedPort port(key);
    for (const char* name : {"RPG_AI_RATE_P1", "CNP_DSCP_P1", "CNP_802P_PRIO_P1", "ROCE_CC_PRIO_MASK_P1"})
      port.machine.FailReads(port.InFlash(name),
                             Status(Code::kUnimplemented, "install the package mstflint"));
    const auto seen = port.Observe();
    ASSERT_FALSE(seen.ok()) << key << " is not to be called not applicable";
    EXPECT_EQ(seen.status().code(), Code::kUnimplemented);
    EXPECT_NE(seen.status().message().find("rail0"), std::string::npos) << seen.status().message();
    EXPECT_NE(seen.status().message().find("mstflint"), std::string::npos) << seen.status().message();
  }
}

TEST(StoredDcqcnTest, OtherVendorsCardsAndVirtualFunctionsRunNoProgram) {
  for (const char* key : {"dcqcn.rpg_ai_rate", "cnp.dscp", "cnp.priority", "ecn.np"}) {
    const std::string none = std::string(key) == "ecn.np" ? "[NoEcnSwitch]" : "[NoCongestionParams]";
    FlashedPort other(key);
    other.machine.Put(other.Device("vendor"), "0x14e4");
    EXPECT_EQ(other.Seen(), none) << key;
    EXPECT_FALSE(other.AskedTheFlash());
    other.machine.FailReads(other.Device("vendor"), FromErrno(EIO, "vendor"));
    EXPECT_FALSE(other.Observe().ok()) << "whose card it is was not seen";
    FlashedPort function(key);
    function.machine.Put(function.Device("physfn/uevent"), "DRIVER=mlx5_core");
    EXPECT_EQ(function.Seen(), none) << key;
    EXPECT_FALSE(function.AskedTheFlash());
    FlashedPort soft(key);
    soft.subject.facts.ports.front().bdf.clear();
    EXPECT_EQ(soft.Seen(), std::string(key) == "ecn.np" ? none : "[NoDcqcn]") << "Soft-RoCE";
    EXPECT_FALSE(soft.AskedTheFlash());
  }
}

TEST(StoredDcqcnTest, AFirmwareWithoutTheParameterHasNone) {
  FlashedPort port("dcqcn.rpg_ai_rate");
  EXPECT_EQ(port.Seen(), "[NoCongestionParams]");
  EXPECT_NE(port.Observe()->message.find("RPG_AI_RATE_P1"), std::string::npos);
  EXPECT_EQ(port.Apply("10").code(), Code::kFailedPrecondition);
  EXPECT_EQ(FlashedPort("ecn.rp").Seen(), "[NoEcnSwitch]");
}

TEST(StoredDcqcnTest, UnderAProgramWhatIsStoredMeansNothingEither) {
  FlashedPort port("dcqcn.rpg_ai_rate");
  port.Flash("RPG_AI_RATE_P1", "5").machine.Put(port.kProgrammable, "next=True(1) current=True(1)");
  EXPECT_EQ(port.Seen(), "[ProgrammableCC]");
}

TEST(StoredCnpTest, AValueThatTheFirmwareDoesNotUseFulfilsNoWish) {
  FlashedPort dscp("cnp.dscp");
  dscp.Flash("CNP_DSCP_P1", "48").Flash("CNP_DSCP_MODE_P1", "RX_PACKET(2)");
  dscp.subject.Wish("48");
  EXPECT_EQ(dscp.Seen(), "48 (unused: CNP_DSCP_MODE_P1 RX_PACKET(2))");
  EXPECT_FALSE(dscp.subject.Satisfied(dscp.machine));
  const Status refused = dscp.Apply("26");
  EXPECT_EQ(refused.code(), Code::kFailedPrecondition);
  EXPECT_NE(refused.message().find("nic.nvconfig.CNP_DSCP_MODE_P1"), std::string::npos) << refused.message();
  EXPECT_TRUE(CheckNvParameter("CNP_DSCP_MODE_P1").ok()) << "what the message tells to declare";
  EXPECT_TRUE(dscp.machine.Writes().empty());

  dscp.Flash("CNP_DSCP_MODE_P1", "RX_PACKET(2)", "DEVICE_DEFAULT(0)");
  EXPECT_EQ(dscp.Seen(), "48 (unused: CNP_DSCP_MODE_P1 RX_PACKET(2), next boot DEVICE_DEFAULT(0))");
  EXPECT_TRUE(dscp.Pending()) << "the next boot brings it";
  ASSERT_TRUE(dscp.Apply("26").ok());
  EXPECT_FALSE(dscp.Pending()) << "and not 48 any more";
  ASSERT_TRUE(dscp.Apply("48 (unused: CNP_DSCP_MODE_P1 RX_PACKET(2))").ok()) << "an original";
  dscp.Boot();
  EXPECT_TRUE(dscp.subject.Satisfied(dscp.machine));
  dscp.Flash("CNP_DSCP_MODE_P1", "DEVICE_DEFAULT(0)", "RX_PACKET(2)");
  EXPECT_FALSE(dscp.subject.Satisfied(dscp.machine)) << "not after the next boot";

  FlashedPort priority("cnp.priority");
  priority.Flash("CNP_802P_PRIO_P1", "6").Flash("CNP_RES_PRIO_MODE_P1", "True(1)");
  EXPECT_EQ(priority.Seen(), "6 (unused: CNP_RES_PRIO_MODE_P1 True(1))");
  priority.Flash("CNP_RES_PRIO_MODE_P1", "False(0)");
  EXPECT_EQ(priority.Seen(), "6");
  priority.machine.FailReads(priority.InFlash("CNP_RES_PRIO_MODE_P1"), FromErrno(EIO, "x"));
  EXPECT_FALSE(priority.Observe().ok());
}

TEST(StoredEcnTest, OneMaskIsTheSetOfPriorities) {
  FlashedPort port("ecn.np");
  port.Flash("ROCE_CC_PRIO_MASK_P1", "255");
  EXPECT_EQ(port.Seen(), "all");
  port.Flash("ROCE_CC_PRIO_MASK_P1", "0x28", "0x0");
  EXPECT_EQ(port.Seen(), "3,5 (next boot none)");
  for (const char* bad : {"256", "DEVICE_DEFAULT", "-1"}) {
    port.Flash("ROCE_CC_PRIO_MASK_P1", bad);
    EXPECT_EQ(port.Observe().status().code(), Code::kInternal) << bad;
  }
}

TEST(StoredEcnTest, TheMaskIsStoredForTheNextBoot) {
  FlashedPort port("ecn.rp");
  port.Flash("ROCE_CC_PRIO_MASK_P1", "255");
  port.subject.Wish("3,4");
  ASSERT_TRUE(port.Apply("3,4").ok());
  EXPECT_EQ(port.machine.Writes(), (Writes{{port.InFlash("ROCE_CC_PRIO_MASK_P1"), "24"}}));
  EXPECT_EQ(port.Seen(), "all (next boot 3,4)");
  EXPECT_TRUE(port.Pending());
  EXPECT_FALSE(port.subject.Satisfied(port.machine));
  port.Boot();
  EXPECT_TRUE(port.subject.Satisfied(port.machine));
  ASSERT_TRUE(port.Apply("all (next boot none)").ok());
  EXPECT_EQ(port.Seen(), "3,4 (next boot none)");
}

TEST(StoredEcnTest, BothSidesAndTheParameterItselfAreOnePlace) {
  const auto place = [](const char* key, const char* wish) {
    FlashedPort port(key);
    port.Flash("ROCE_CC_PRIO_MASK_P1", "255");
    const auto told = port.subject.setting->WritesTo(port.subject.target, wish, *port.Observe());
    return told ? told->path + "=" + told->value : "nowhere";
  };
  EXPECT_EQ(place("ecn.np", "3"), "/nvconfig/0000:18:00/ROCE_CC_PRIO_MASK_P1=8");
  EXPECT_EQ(place("ecn.rp", "all (next boot 3)"), "/nvconfig/0000:18:00/ROCE_CC_PRIO_MASK_P1=8");
  EXPECT_EQ(place("nic.nvconfig.ROCE_CC_PRIO_MASK_P1", "8"), "/nvconfig/0000:18:00/ROCE_CC_PRIO_MASK_P1=8");
  FlashedPort ofed("ecn.np");
  for (int i = 0; i < 8; ++i) ofed.machine.Put(ofed.Np("enable/" + std::to_string(i)), "1");
  EXPECT_FALSE(ofed.subject.setting->WritesTo(ofed.subject.target, "3", *ofed.Observe()))
      << "MLNX_OFED has a switch for each side";
}

// Which of CNP_DSCP_P1 (11) and CNP_DSCP_P2 (22) is the port's.
struct NumberedPort : FlashedPort {
  explicit NumberedPort(const std::string& bdf) : FlashedPort("cnp.dscp") {
    subject.facts.ports.front().bdf = bdf;
    machine.Put("/sys/bus/pci/devices/" + bdf + "/vendor", "0x15b3");
    machine.Remove(Net("phys_port_name"));
    machine.Put("/sys/kernel/debug/mlx5/" + bdf + "/pages/fw_pages", "1");
    Flash("CNP_DSCP_P1", "11").Flash("CNP_DSCP_P2", "22");
  }
};

TEST(PortParameterTest, WhatTheDriverTellsCounts) {
  NumberedPort second("0000:18:00.0");
  second.machine.Put(second.Net("phys_port_name"), "p1");
  EXPECT_EQ(second.Seen(), "22") << "function 0 of a virtual machine";
  NumberedPort first("0000:18:00.1");
  first.machine.Put(first.Net("phys_port_name"), "p0");
  EXPECT_EQ(first.Seen(), "11");
  ASSERT_TRUE(second.Apply("26").ok());
  EXPECT_EQ(second.machine.Writes(), (Writes{{second.InFlash("CNP_DSCP_P2"), "26"}}));
}

TEST(PortParameterTest, WithoutANameItIsTheFunction) {
  EXPECT_EQ(NumberedPort("0000:3b:00.1").Seen(), "22");
  NumberedPort first("0000:3b:00.0");
  first.machine.Put("/sys/bus/pci/devices/0000:3b:00.1/vendor", "0x15b3");
  EXPECT_EQ(first.Seen(), "11");
  first.machine.FailReads(first.Net("phys_port_name"), FromErrno(EOPNOTSUPP, "phys_port_name"));
  EXPECT_EQ(first.Seen(), "11") << "a driver that names no ports";
  first.machine.FailReads(first.Net("phys_port_name"), FromErrno(EIO, "phys_port_name"));
  EXPECT_FALSE(first.Observe().ok());
}

TEST(PortParameterTest, OneFunctionWithTwoPortsNumbersThemInDevPort) {
  NumberedPort second("0000:3b:00.0");
  second.machine.Put(second.Net("dev_port"), "1");
  EXPECT_EQ(second.Seen(), "22");
  second.machine.Put(second.Net("phys_port_name"), "p0");
  EXPECT_NE(second.Seen().find("cannot be told"), std::string::npos) << second.Seen();
}

TEST(PortParameterTest, WhatCannotBeToldIsUnknownAndNotGuessed) {
  NumberedPort alone("0000:00:06.0");
  const auto seen = alone.Observe();
  ASSERT_FALSE(seen.ok()) << "a virtual machine may have been given either port";
  EXPECT_NE(seen.status().message().find("it may be either"), std::string::npos) << seen.status().message();
  EXPECT_FALSE(alone.Apply("26").ok());
  EXPECT_TRUE(alone.machine.Writes().empty());
  alone.machine.Remove(alone.InFlash("CNP_DSCP_P2"));
  EXPECT_EQ(alone.Seen(), "11") << "a card with one port";
  NumberedPort unlisted("0000:3b:00.1");
  unlisted.machine.Remove(unlisted.InFlash("CNP_DSCP_P2"));
  EXPECT_NE(unlisted.Seen().find("no CNP_DSCP_P2"), std::string::npos) << unlisted.Seen();
}

}  // namespace
}  // namespace railwright
