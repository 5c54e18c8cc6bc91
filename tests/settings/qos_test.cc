// What the qos.* settings have in common, and the small ones of them, over a port that behaves as mlx5 does.
#include <cerrno>

#include "tests/settings/subject.h"
#include "tests/support/mlx5_machine.h"

namespace railwright {
namespace {

std::string DcbPath(const std::string& leaf) { return "/dcb/rail0/" + leaf; }

constexpr const char* kFirmwareSpeaks = "overridden by what the switch";

TEST(QosTest, ADriverWithoutDcbIsNotApplicableAndNamed) {
  for (const char* key :
       {"qos.dcbx", "qos.trust", "qos.dscp_map", "qos.pfc", "qos.ets", "qos.buffer", "qos.cable_length"}) {
    const Subject subject(key);
    FakeMachine machine;
    machine.Put("/sys/class/net/rail0/device/uevent", "DRIVER=virtio_net");
    for (const char* leaf : {"app", "dcbx", "pfc", "ets", "buffer"})
      machine.FailReads(DcbPath(leaf), FromErrno(EOPNOTSUPP, leaf));
    const Observation seen = subject.See(machine);
    EXPECT_EQ(seen.reason, "NoDcb") << key;
    EXPECT_NE(seen.message.find("rail0 (virtio_net)"), std::string::npos) << seen.message;
  }
}

TEST(QosTest, APartThatIsMissingInTheAnswerProvesNothing) {
  for (const char* key : {"qos.dcbx", "qos.trust", "qos.pfc", "qos.ets", "qos.buffer"}) {
    const Subject subject(key);
    Mlx5Machine machine;
    for (const char* leaf : {"app", "dcbx", "pfc", "ets", "buffer"})
      machine.FailReads(DcbPath(leaf), Status(Code::kUnimplemented, "not in the driver's answer"));
    EXPECT_FALSE(subject.setting->Observe(machine, subject.target).ok()) << key;
  }
}

TEST(QosTest, InFirmwareModeEveryObservationSaysWhoOverrides) {
  for (const char* key :
       {"qos.trust", "qos.dscp_map", "qos.pfc", "qos.ets", "qos.buffer", "qos.cable_length"}) {
    const Subject subject(key);
    Mlx5Machine machine;
    EXPECT_EQ(subject.See(machine).message.find(kFirmwareSpeaks), std::string::npos) << key;
    machine.dcb.SetDcbx(0);
    machine.Show();
    EXPECT_NE(subject.See(machine).message.find(kFirmwareSpeaks), std::string::npos) << key;
    machine.FailReads(DcbPath("dcbx"), FromErrno(EOPNOTSUPP, "dcbx"));
    EXPECT_EQ(subject.See(machine).message.find(kFirmwareSpeaks), std::string::npos) << key;
    machine.FailReads(DcbPath("dcbx"), FromErrno(EIO, "dcbx"));
    EXPECT_FALSE(subject.setting->Observe(machine, subject.target).ok()) << key;
  }
}

TEST(QosTest, NonsenseFromTheKernelIsAnError) {
  for (const char* key : {"qos.dcbx", "qos.trust", "qos.dscp_map", "qos.pfc", "qos.ets", "qos.buffer"}) {
    const Subject subject(key);
    Mlx5Machine machine;
    for (const char* leaf : {"app", "dcbx", "pfc", "ets", "buffer"}) machine.Put(DcbPath(leaf), "nonsense");
    EXPECT_FALSE(subject.setting->Observe(machine, subject.target).ok()) << key;
    const std::string wish = subject.Said(key == std::string("qos.pfc") ? "3" : "default");
    EXPECT_FALSE(subject.Apply(machine, wish).ok()) << key;
  }
}

// No setting knows another one, so they must not fight where they share a structure.
TEST(QosTest, OneRoundInTheOrderOfPlansFulfilsAllOfThemWithOneLinkFlap) {
  const std::vector<std::pair<std::string, std::string>> profile{
      {"qos.dcbx", "host"},
      {"qos.trust", "dscp"},
      {"qos.dscp_map", "26:4,48:7"},
      {"qos.ets", "4:50,7:strict,rest:50"},
      {"qos.buffer", "prio_buffer=0,0,0,0,1,0,0,0 size=20016,262144,0,0,0,0,0,0"},
      {"qos.cable_length", "30"},
      {"qos.pfc_storm_prevention", "auto"},
      {"qos.pfc", "4"}};
  Mlx5Machine machine;
  machine.dcb.SetDcbx(0);
  machine.Show();
  int before = 0;
  for (const auto& [key, wish] : profile) {
    Subject subject(key);
    EXPECT_LT(before, subject.setting->info().order) << key;
    before = subject.setting->info().order;
    const Status applied = subject.Apply(machine, subject.Wish(wish));
    EXPECT_TRUE(applied.ok()) << key << ": " << applied.ToString();
  }
  for (const auto& [key, wish] : profile) {
    Subject subject(key);
    subject.Wish(wish);
    EXPECT_TRUE(subject.Satisfied(machine)) << key << " reads " << subject.See(machine).value;
    EXPECT_EQ(subject.See(machine).message, "") << key;
  }
  EXPECT_EQ(machine.dcb.link_flaps, 1);
  EXPECT_EQ(machine.dcb.hardware[26], 4);
}

TEST(QosDcbxTest, HostIsTheHostWithIeee) {
  Subject dcbx("qos.dcbx");
  Mlx5Machine machine;
  machine.dcb.SetDcbx(0);
  machine.Show();
  EXPECT_EQ(dcbx.See(machine).value, "firmware");
  dcbx.Wish("host");
  EXPECT_FALSE(dcbx.Satisfied(machine));
  ASSERT_TRUE(dcbx.Apply(machine, "host").ok());
  EXPECT_EQ(machine.Value(DcbPath("dcbx")), "host=1 lld_managed=0 cee=0 ieee=1 static=0");
  EXPECT_TRUE(dcbx.Satisfied(machine));
  EXPECT_EQ(dcbx.See(machine).value, "host");
  ASSERT_TRUE(dcbx.Apply(machine, "firmware").ok());
  EXPECT_EQ(dcbx.See(machine).value, "firmware");
  for (const char* bad : {"", "Host", "os", "9", "host firmware"})
    EXPECT_FALSE(dcbx.Canonical(bad).ok()) << bad;
}

TEST(QosDcbxTest, CeeBesideIeeeIsTheHostsToo) {
  Subject dcbx("qos.dcbx");
  Mlx5Machine machine;
  const std::string original = dcbx.See(machine).value;
  EXPECT_EQ(original, "host+cee");
  dcbx.Wish("host");
  EXPECT_TRUE(dcbx.Satisfied(machine));
  ASSERT_TRUE(dcbx.Apply(machine, "host").ok());
  ASSERT_TRUE(dcbx.Apply(machine, original).ok());
  EXPECT_EQ(dcbx.See(machine).value, original);
  machine.Put(DcbPath("dcbx"), "host=1 lld_managed=0 cee=1 ieee=0 static=0");
  EXPECT_EQ(dcbx.See(machine).value, "host=1 lld_managed=0 cee=1 ieee=0 static=0");
  EXPECT_FALSE(dcbx.Satisfied(machine));
  machine.Put(DcbPath("dcbx"), "host=1 lld_managed=1 cee=0 ieee=1 static=0");
  EXPECT_FALSE(dcbx.Satisfied(machine));
}

TEST(QosDcbxTest, TheBitsOfFirmwareModeAreTheCardsAndNotWritten) {
  const Subject dcbx("qos.dcbx");
  Mlx5Machine machine;
  machine.Put(DcbPath("dcbx"), "host=0 lld_managed=0 cee=1 ieee=1 static=0");
  ASSERT_TRUE(dcbx.Apply(machine, dcbx.See(machine).value).ok());
  EXPECT_TRUE(machine.dcb_writes.empty());
}

TEST(QosDcbxTest, GivingTheModeToTheFirmwareIsWhatDisturbs) {
  const Subject dcbx("qos.dcbx");
  EXPECT_EQ(dcbx.setting->DisruptionOf(dcbx.target, "firmware", "host"), Disruption::kNone);
  EXPECT_EQ(dcbx.setting->DisruptionOf(dcbx.target, "host", "firmware"), Disruption::kTrafficBlip);
  EXPECT_EQ(dcbx.setting->DisruptionOf(dcbx.target, "firmware", "firmware"), Disruption::kNone);
}

TEST(QosCableLengthTest, MetresAreTheDelayAndTheMaskStays) {
  Subject cable("qos.cable_length");
  Mlx5Machine machine;
  machine.dcb.pfc.enabled = 0x08;
  machine.Show();
  EXPECT_EQ(cable.See(machine).value, "7");
  cable.Wish("100");
  ASSERT_TRUE(cable.Apply(machine, cable.target.wish).ok());
  EXPECT_TRUE(cable.Satisfied(machine));
  EXPECT_EQ(machine.dcb.pfc.enabled, 0x08);
  EXPECT_EQ(machine.dcb.link_flaps, 0) << "the same mask";
  for (const char* bad : {"", "0", "1000", "7m", "007", "-1"}) EXPECT_FALSE(cable.Canonical(bad).ok()) << bad;
}

TEST(QosCableLengthTest, WhereTheDelayIsBitTimesNoLengthIsWritten) {
  const Subject cable("qos.cable_length");
  Mlx5Machine machine;
  machine.Put("/sys/class/net/rail0/device/uevent", "DRIVER=bnxt_en");
  const Observation seen = cable.See(machine);
  EXPECT_EQ(seen.reason, "NoCableLength");
  EXPECT_NE(seen.message.find("bnxt_en"), std::string::npos) << seen.message;
  EXPECT_EQ(cable.Apply(machine, "100").code(), Code::kFailedPrecondition);
  EXPECT_TRUE(machine.dcb_writes.empty());
  machine.FailReads("/sys/class/net/rail0/device/uevent", FromErrno(EIO, "uevent"));
  EXPECT_FALSE(cable.setting->Observe(machine, cable.target).ok()) << "an unknown driver is not another one";
}

TEST(QosPfcStormPreventionTest, AutoIsFulfilledByWhatMlx5MakesOfIt) {
  Subject storm("qos.pfc_storm_prevention");
  Mlx5Machine machine;
  EXPECT_EQ(storm.See(machine).value, "8000");
  storm.Wish("auto");
  EXPECT_FALSE(storm.Satisfied(machine));
  ASSERT_TRUE(storm.Apply(machine, "auto").ok());
  EXPECT_EQ(storm.See(machine).value, "100");
  EXPECT_TRUE(storm.Satisfied(machine));
  storm.Wish("off");
  EXPECT_FALSE(storm.Satisfied(machine));
  ASSERT_TRUE(storm.Apply(machine, "off").ok());
  EXPECT_TRUE(storm.Satisfied(machine));
  for (const char* bad : {"", "on", "0", "79", "8001", "100ms"})
    EXPECT_FALSE(storm.Canonical(bad).ok()) << bad;
}

TEST(QosPfcStormPreventionTest, AFirmwareWithoutItIsNotApplicable) {
  const Subject storm("qos.pfc_storm_prevention");
  Mlx5Machine machine;
  machine.FailReads("/ethtool/rail0/pfc_storm_prevention", FromErrno(EOPNOTSUPP, "tunable"));
  EXPECT_EQ(storm.See(machine).reason, "NoPfcStormPrevention");
  machine.FailReads("/ethtool/rail0/pfc_storm_prevention", FromErrno(EPERM, "tunable"));
  EXPECT_FALSE(storm.setting->Observe(machine, storm.target).ok());
}

}  // namespace
}  // namespace railwright
