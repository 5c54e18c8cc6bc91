// dcqcn.<register>: one register, three drivers, and what each of them does not check.
#include <cerrno>

#include "tests/settings/congested_port.h"

namespace railwright {
namespace {

using Writes = std::vector<std::pair<std::string, std::string>>;

TEST(DcqcnTest, ValuesAreCheckedAgainstTheRegistersRange) {
  const Subject alpha("dcqcn.initial_alpha_value");
  EXPECT_EQ(alpha.Said("200"), "200");
  EXPECT_EQ(alpha.Said("1024"), "dcqcn.initial_alpha_value: \"1024\" is too large; allowed: 1…1023");
  EXPECT_EQ(alpha.Said("0"), "dcqcn.initial_alpha_value: \"0\" is too small; allowed: 1…1023");
  const Subject time("dcqcn.rpg_time_reset");
  EXPECT_EQ(time.Said("131072"), "dcqcn.rpg_time_reset: \"131072\" is too large; allowed: 1…131071 µs");
  const Subject clamp("dcqcn.clamp_tgt_rate");
  EXPECT_EQ(clamp.Said("3"), "dcqcn.clamp_tgt_rate: \"3\" is too large; allowed: 0…1")
      << "OFED would keep the lowest bit, which is 1";
  for (const char* garbage : {"", "abc", "0x10", "10 ", " 10", "1e3", "-1", "007", "4294967296"}) {
    const auto canonical = Subject("dcqcn.rpg_ai_rate").Canonical(garbage);
    EXPECT_TRUE(!canonical.ok() || *canonical == "10") << garbage;
  }
}

TEST(DcqcnTest, AnUnknownRegisterNamesTheNearestOne) {
  const auto said = [](const std::string& key) { return Subject(key).Said("1"); };
  EXPECT_EQ(said("dcqcn.rpg_ai_rat"), "unknown register \"rpg_ai_rat\"; did you mean \"rpg_ai_rate\"?");
  EXPECT_EQ(said("dcqcn.rp_ai_rate"), "\"rp_ai_rate\" is the inbox driver's name of dcqcn.rpg_ai_rate");
  EXPECT_EQ(said("dcqcn.np_cnp_prio"), "\"np_cnp_prio\" is the inbox driver's name of cnp.priority");
  EXPECT_EQ(said("dcqcn.cnp_dscp"), "\"cnp_dscp\" has a setting of its own: cnp.dscp");
  EXPECT_NE(said("dcqcn.alpha").find("no register but an alias"), std::string::npos);
  EXPECT_NE(said("dcqcn.zzzzzzzzzzzzzzzzzzzzz").find("known are clamp_tgt_rate, "), std::string::npos);
}

TEST(DcqcnTest, OfedsSysfsIsReadAndWrittenInDecimal) {
  CongestedPort port("dcqcn.rpg_ai_rate");
  port.machine.Put(port.Rp("rpg_ai_rate"), "5").Put(port.Inbox("rp_ai_rate"), "7");
  EXPECT_EQ(port.Seen(), "5") << "cc_params of OFED may be another port's";
  ASSERT_TRUE(port.Apply("10").ok());
  EXPECT_EQ(port.machine.Writes(), (Writes{{port.Rp("rpg_ai_rate"), "10"}}));
  EXPECT_EQ(port.Seen(), "10");
}

TEST(DcqcnTest, ARegisterOfTheReceiverIsInTheOtherFolder) {
  CongestedPort port("dcqcn.min_time_between_cnps");
  port.machine.Put(port.Np("min_time_between_cnps"), "4");
  EXPECT_EQ(port.Seen(), "4");
}

// OFED ignores a failed parse and writes what happens to be on its stack.
TEST(DcqcnTest, NothingButANumberIsEverWritten) {
  CongestedPort port("dcqcn.clamp_tgt_rate");
  port.machine.Put(port.Rp("clamp_tgt_rate"), "0");
  for (const char* garbage : {"", "on", "1 ", "0x1", "-1", "2", "4294967296"})
    EXPECT_EQ(port.Apply(garbage).code(), Code::kInvalidArgument) << garbage;
  EXPECT_TRUE(port.machine.Writes().empty());
}

TEST(DcqcnTest, WhatIsNoNumberIsAnErrorNotAValue) {
  CongestedPort port("dcqcn.rpg_ai_rate");
  for (const char* text : {"", "five", "5 6", "-5", "0x"}) {
    port.machine.Put(port.Rp("rpg_ai_rate"), text);
    const auto seen = port.Observe();
    ASSERT_FALSE(seen.ok()) << text;
    EXPECT_EQ(seen.status().code(), Code::kInternal);
    EXPECT_NE(seen.status().message().find(port.Rp("rpg_ai_rate")), std::string::npos);
  }
}

TEST(DcqcnTest, AVirtualFunctionIsReadAndNotWritten) {
  CongestedPort port("dcqcn.rpg_ai_rate");
  port.machine.Put(port.Rp("rpg_ai_rate"), "5");
  port.machine.FailWrites(port.Rp("rpg_ai_rate"), FromErrno(EACCES, port.Rp("rpg_ai_rate")));
  EXPECT_EQ(port.Seen(), "5");
  const Status refused = port.Apply("10");
  EXPECT_EQ(refused.code(), Code::kPermissionDenied);
  EXPECT_EQ(refused.error_number(), EACCES);
  EXPECT_NE(refused.message().find("virtual function"), std::string::npos) << refused.message();
}

TEST(DcqcnTest, OfedWithoutTheRegisterIsAnOlderDriver) {
  CongestedPort port("dcqcn.rpg_gd");
  port.machine.Put(port.Rp("rpg_ai_rate"), "5").Put(port.Inbox("rp_gd"), "11");
  EXPECT_EQ(port.Seen(), "[NoSuchRegister]");
  EXPECT_EQ(port.Apply("10").code(), Code::kFailedPrecondition);
}

TEST(DcqcnTest, TheInboxDriverIsReadInDebugfsByItsOwnNames) {
  CongestedPort port("dcqcn.clamp_tgt_rate_after_time_inc");
  port.machine.Put(port.Inbox("rp_clamp_tgt_rate_ati"), "1");
  EXPECT_EQ(port.Seen(), "1");
  ASSERT_TRUE(port.Apply("0").ok());
  EXPECT_EQ(port.machine.Writes(), (Writes{{port.Inbox("rp_clamp_tgt_rate_ati"), "0"}}));
}

TEST(DcqcnTest, ALockedDownKernelIsNamed) {
  CongestedPort port("dcqcn.rpg_ai_rate");
  const std::string path = port.Inbox("rp_ai_rate");
  port.machine.Put(path, "5").Put("/sys/kernel/security/lockdown", "none [integrity] confidentiality");
  port.machine.FailReads(path, FromErrno(EPERM, path));
  const auto seen = port.Observe();
  ASSERT_FALSE(seen.ok());
  EXPECT_EQ(seen.status().error_number(), EPERM);
  EXPECT_NE(seen.status().message().find("locked down (/sys/kernel/security/lockdown says integrity)"),
            std::string::npos)
      << seen.status().message();
  port.machine.FailReads(path, Ok());
  port.machine.FailWrites(path, FromErrno(EPERM, path));
  EXPECT_NE(port.Apply("10").message().find("locked down"), std::string::npos);
  port.machine.Put("/sys/kernel/security/lockdown", "[none] integrity confidentiality");
  EXPECT_EQ(port.Apply("10").message().find("locked down"), std::string::npos) << "EPERM for another cause";
  port.machine.Remove("/sys/kernel/security");
  EXPECT_EQ(port.Apply("10").code(), Code::kPermissionDenied);
}

TEST(DcqcnTest, DebugfsThatIsNotMountedIsNoMissingCapability) {
  CongestedPort port("dcqcn.rpg_ai_rate");
  EXPECT_NE(port.Seen().find("mount -t debugfs none /sys/kernel/debug"), std::string::npos) << port.Seen();
  port.machine.PutList("/sys/kernel/debug", {});
  const auto unmounted = port.Observe();
  ASSERT_FALSE(unmounted.ok()) << "an empty mount point says nothing of the card";
  EXPECT_NE(unmounted.status().message().find("not mounted"), std::string::npos);
  port.machine.Put("/sys/kernel/debug/mlx5/0000:18:00.0/pages/fw_pages", "1");
  EXPECT_EQ(port.Seen(), "[NoCongestionParams]");
  port.machine.Put(port.Inbox("rp_hai_rate"), "50");
  EXPECT_EQ(port.Seen(), "[NoSuchRegister]");
  port.machine.Remove("/sys/kernel/debug/mlx5");
  port.machine.Put("/sys/kernel/debug/clk/clk_summary", "");
  EXPECT_EQ(port.Seen(), "[NoDcqcn]");
  port.machine.FailReads("/sys/kernel/debug", FromErrno(EACCES, "/sys/kernel/debug"));
  EXPECT_FALSE(port.Observe().ok()) << "nobody could look";
}

TEST(DcqcnTest, BroadcomTakesHexadecimalAndIsTold) {
  CongestedPort port("dcqcn.min_time_between_cnps");
  port.machine.Put(port.Bnxt("min_time_bet_cnp"), "0x32").Put(port.Bnxt("apply"), "");
  EXPECT_EQ(port.Seen(), "50");
  ASSERT_TRUE(port.Apply("26").ok());
  EXPECT_EQ(port.machine.Writes(),
            (Writes{{port.Bnxt("min_time_bet_cnp"), "0x1a"}, {port.Bnxt("apply"), "1"}}));
  EXPECT_EQ(port.Seen(), "26");
  port.machine.Put(port.Bnxt("min_time_bet_cnp"), "0");
  EXPECT_EQ(port.Seen(), "0") << "the driver prints zero without 0x";
  EXPECT_NE(port.Apply("65536").message().find("bnxt_re takes 0…65535"), std::string::npos);
}

TEST(DcqcnTest, WhatBroadcomsFirmwareRefusesDoesNotStayStaged) {
  CongestedPort port("dcqcn.min_time_between_cnps");
  port.machine.Put(port.Bnxt("min_time_bet_cnp"), "0x32").Put(port.Bnxt("apply"), "");
  port.machine.FailWrites(port.Bnxt("apply"), FromErrno(EINVAL, port.Bnxt("apply")));
  EXPECT_EQ(port.Apply("26").code(), Code::kInvalidArgument);
  EXPECT_EQ(port.Seen(), "50") << "a staged value reads as if it held";
}

TEST(DcqcnTest, BroadcomHasNoCounterpartOfMostRegisters) {
  CongestedPort port("dcqcn.initial_alpha_value");
  port.machine.Put(port.Bnxt("init_cp"), "0x3ff");
  EXPECT_EQ(port.Seen(), "[NoCounterpart]");
}

TEST(DcqcnTest, ADeviceThatBroadcomsConfigfsDoesNotShowIsAnError) {
  CongestedPort port("dcqcn.min_time_between_cnps");
  port.machine.PutList("/sys/kernel/config/bnxt_re", {});
  port.machine.PutList("/sys/kernel/debug", {"bnxt_re"});
  EXPECT_NE(port.Seen().find("mkdir /sys/kernel/config/bnxt_re/mlx5_0"), std::string::npos) << port.Seen();
  const auto made = port.subject.setting->Prepare(port.machine);
  ASSERT_TRUE(made.ok());
  EXPECT_TRUE(made->empty()) << "no RDMA devices are listed";
  port.machine.PutList("/sys/class/infiniband", {"mlx5_0"});
  EXPECT_EQ(port.subject.setting->Prepare(port.machine).value_or({}),
            std::vector<std::string>{"/sys/kernel/config/bnxt_re/mlx5_0"});
}

TEST(DcqcnTest, ARateAboveTheLineRateIsRefused) {
  CongestedPort port("dcqcn.rpg_max_rate");
  port.machine.Put(port.Rp("rpg_max_rate"), "0").Put(port.Net("speed"), "100000");
  EXPECT_EQ(port.Apply("100001").message(), "100001 Mbit/s is more than rail0 has: 100000 Mbit/s");
  EXPECT_TRUE(port.machine.Writes().empty());
  EXPECT_TRUE(port.Apply("100000").ok());
  port.machine.Put(port.Net("speed"), "-1");
  EXPECT_TRUE(port.Apply("400000").ok()) << "a link that is down tells no rate";
  CongestedPort first("dcqcn.rate_to_set_on_first_cnp");
  first.machine.Put(first.Rp("rate_to_set_on_first_cnp"), "0");
  EXPECT_NE(first.Apply("340001").message().find("85 % of 400000"), std::string::npos);
  EXPECT_TRUE(first.Apply("340000").ok());
}

TEST(DcqcnTest, UnderAProgramTheRegistersMeanNothing) {
  CongestedPort port("dcqcn.rpg_ai_rate");
  port.machine.Put(port.Rp("rpg_ai_rate"), "5").Put(port.kProgrammable, "next=True(1) current=True(1)");
  EXPECT_EQ(port.Seen(), "[ProgrammableCC]");
  for (const char* other : {"next=True(1) current=False(0)", "next=True(1)", "nonsense", "current=Maybe"}) {
    port.machine.Put(port.kProgrammable, other);
    EXPECT_EQ(port.Seen(), "5") << other << " is no proof";
  }
  port.machine.FailReads(port.kProgrammable, Status(Code::kUnimplemented, "no mstconfig"));
  EXPECT_EQ(port.Seen(), "5");
}

TEST(DcqcnTest, APortWithoutCardOrDeviceHasNone) {
  CongestedPort soft("dcqcn.rpg_ai_rate");
  soft.subject.facts.ports.front().bdf.clear();
  EXPECT_EQ(soft.Seen(), "[NoDcqcn]") << "Soft-RoCE";
  soft.machine.Put(soft.Net("device/uevent"), "DRIVER=hv_netvsc");
  EXPECT_FALSE(soft.Observe().ok()) << "a device whose address is not known";
  soft.subject.facts.ports.front().ibdev.clear();
  EXPECT_EQ(soft.Seen(), "[NoRdmaDevice]");
  CongestedPort gone("dcqcn.rpg_ai_rate");
  gone.machine.Remove("/sys/class/net/rail0");
  EXPECT_EQ(gone.Observe().status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace railwright
