// nic.nvconfig.<KEY> and nic.firmware over a host in memory.
#include <cerrno>

#include "tests/settings/subject.h"
#include "tests/support/fake_machine.h"

namespace railwright {
namespace {

constexpr const char* kDcbx = "/nvconfig/0000:18:00.0/LLDP_NB_DCBX_P1";

/// A setting on port rail0, whose card is known by its PCI address.
class OnCard : public Subject {
 public:
  explicit OnCard(const std::string& key) : Subject(key) { facts.ports.front().bdf = "0000:18:00.0"; }
};

TEST(NicNvconfigTest, OneMeaningIsOneSpelling) {
  const OnCard dcbx("nic.nvconfig.LLDP_NB_DCBX_P1");
  for (const char* same : {"true", "True(1)", "1", "TRUE", "0x1"}) EXPECT_EQ(dcbx.Said(same), "1") << same;
  EXPECT_EQ(dcbx.Said("false"), "0");
  EXPECT_EQ(OnCard("nic.nvconfig.PCI_WR_ORDERING").Said("per_mkey"), "per_mkey");
  for (const char* bad : {"", "a b", "-y", "1;reboot"}) EXPECT_FALSE(dcbx.Canonical(bad).ok()) << bad;
  EXPECT_FALSE(OnCard("nic.nvconfig.LINK_TYPE_P1").Canonical("IB").ok())
      << "that would take it off the network";
  EXPECT_FALSE(OnCard("nic.nvconfig.SRIOV_EN").Canonical("1").ok()) << "not on the list";
}

TEST(NicNvconfigTest, WhatRunsIsComparedByMeaning) {
  OnCard dcbx("nic.nvconfig.LLDP_NB_DCBX_P1");
  FakeMachine machine;
  machine.Put(kDcbx, "default=False(0) current=False(0) next=False(0)");
  dcbx.Wish("false");
  EXPECT_TRUE(dcbx.Satisfied(machine));
  machine.Put(kDcbx, "default=False(0) current=True(1) next=True(1)");
  EXPECT_FALSE(dcbx.Satisfied(machine));
  EXPECT_FALSE(dcbx.See(machine).pending_reboot);
  EXPECT_EQ(dcbx.See(machine).value, "True(1)");
}

TEST(NicNvconfigTest, WhatIsSetForTheNextBootIsPending) {
  OnCard dcbx("nic.nvconfig.LLDP_NB_DCBX_P1");
  FakeMachine machine;
  machine.Put(kDcbx, "default=False(0) current=True(1) next=False(0)");
  dcbx.Wish("false");
  EXPECT_TRUE(dcbx.See(machine).pending_reboot);
  EXPECT_FALSE(dcbx.Satisfied(machine)) << "the firmware still runs with the other";
  dcbx.Wish("true");
  EXPECT_FALSE(dcbx.Satisfied(machine)) << "as declared now, and not any more after the next boot";
  EXPECT_FALSE(dcbx.See(machine).pending_reboot);
  EXPECT_EQ(dcbx.See(machine).value, "True(1) (next boot 0)");
}

TEST(NicNvconfigTest, AnOriginalIsWhatTheFlashHeldNotWhatRan) {
  OnCard dcbx("nic.nvconfig.LLDP_NB_DCBX_P1");
  FakeMachine machine;
  machine.Put(kDcbx, "default=False(0) current=True(1) next=True(1)");
  ASSERT_TRUE(dcbx.Apply(machine, "True(1) (next boot 0)").ok());
  EXPECT_EQ(machine.Value(kDcbx), "0");
}

TEST(NicNvconfigTest, TheNumberIsWritten) {
  OnCard dcbx("nic.nvconfig.LLDP_NB_DCBX_P1");
  FakeMachine machine;
  machine.Put(kDcbx, "default=False(0) current=True(1) next=True(1)");
  EXPECT_EQ(dcbx.See(machine).stored_in, kDcbx) << "so that a plan knows that the whole card is concerned";
  ASSERT_TRUE(dcbx.Apply(machine, "False(0)").ok());
  EXPECT_EQ(machine.Value(kDcbx), "0");
  EXPECT_EQ(dcbx.Apply(machine, "Array[0..7]").code(), Code::kInvalidArgument);
}

TEST(NicNvconfigTest, AFirmwareWithoutTheParameterIsNotApplicableAndAMissingToolUnknown) {
  OnCard dcbx("nic.nvconfig.LLDP_NB_DCBX_P1");
  FakeMachine machine;
  EXPECT_EQ(dcbx.See(machine).reason, "NoSuchParameter");
  for (const Status& error :
       {Status(Code::kUnimplemented, "neither mstconfig nor mlxconfig is installed"),
        FromErrno(ENODEV, kDcbx), Status(Code::kInternal, "-E- Failed to open device")}) {
    machine.FailReads(kDcbx, error);
    EXPECT_FALSE(dcbx.setting->Observe(machine, dcbx.target).ok()) << error.ToString();
  }
  machine.FailReads(kDcbx, Ok());
  machine.Put(kDcbx, "next=False(0)");
  EXPECT_FALSE(dcbx.setting->Observe(machine, dcbx.target).ok()) << "a listing without Current tells nothing";
}

TEST(NicNvconfigTest, AParameterOfAPortIsTheCardsByWhicheverFunction) {
  const auto place = [](const std::string& key, const std::string& bdf, const std::string& wish) {
    OnCard one("nic.nvconfig." + key);
    one.facts.ports.front().bdf = bdf;
    Observation seen = Observation::Value("0");
    seen.stored_in = "/nvconfig/" + bdf + "/" + key;
    const auto told = one.setting->WritesTo(one.target, wish, seen);
    return told ? told->path + "=" + told->value : "nowhere";
  };
  EXPECT_EQ(place("CNP_DSCP_P1", "0000:18:00.0", "26"), "/nvconfig/0000:18:00/CNP_DSCP_P1=26");
  EXPECT_EQ(place("CNP_DSCP_P1", "0000:18:00.1", "48 (next boot 26)"), "/nvconfig/0000:18:00/CNP_DSCP_P1=26");
  EXPECT_EQ(place("PCI_WR_ORDERING", "0000:18:00.1", "per_mkey"),
            "/nvconfig/0000:18:00.1/PCI_WR_ORDERING=per_mkey")
      << "may be each function's own";
}

TEST(NicFirmwareTest, VersionsAreConstraints) {
  const Subject firmware("nic.firmware");
  EXPECT_EQ(firmware.Said("28.39.1002"), "=28.39.1002");
  for (const char* bad : {"", "installed", "absent", "hold", "28.39.1002 hold", "newest"})
    EXPECT_FALSE(firmware.Canonical(bad).ok()) << bad;
}

TEST(NicFirmwareTest, WhatRunsIsHeldAgainstThemAndThePsidIsTold) {
  Subject firmware("nic.firmware");
  FakeMachine machine;
  machine.Put("/sys/class/infiniband/mlx5_0/fw_ver", "28.39.1002");
  machine.Put("/sys/class/infiniband/mlx5_0/board_id", "MT_0000000838");
  for (const char* good : {"28.39.1002", ">=28.38.0 <29", "28.39.*"}) {
    firmware.Wish(good);
    EXPECT_TRUE(firmware.Satisfied(machine)) << good;
  }
  for (const char* bad : {"28.39.1003", ">=28.40", "28.38.*"}) {
    firmware.Wish(bad);
    EXPECT_FALSE(firmware.Satisfied(machine)) << bad;
  }
  EXPECT_EQ(firmware.See(machine).message, "PSID MT_0000000838");
  EXPECT_EQ(firmware.Apply(machine, "28.40.1000").code(), Code::kUnimplemented);
}

}  // namespace
}  // namespace railwright
