// roce.traffic_class and roce.accel.<field>: what a device does with all of its RDMA traffic.
#include <cerrno>

#include "tests/settings/congested_port.h"

namespace railwright {
namespace {

constexpr const char* kDevice = "/sys/class/infiniband/mlx5_0";
constexpr const char* kClass = "/sys/class/infiniband/mlx5_0/tc/1/traffic_class";
constexpr const char* kAccel = "/reg/0000:18:00.0/ROCE_ACCL";

TEST(RoceTrafficClassTest, TheGlobalLineIsTheValue) {
  CongestedPort port("roce.traffic_class");
  port.machine.Put(kClass, "Global tclass=106");
  EXPECT_EQ(port.Seen(), "106");
  port.machine.Put(kClass, "");
  EXPECT_EQ(port.Seen(), "unset");
  port.machine.Put(kClass, "src_ip=10.0.0.1,tclass=104");
  EXPECT_EQ(port.Seen(), "unset") << "a rule is not the device's class";
  for (const char* text : {"Global tclass=", "Global tclass=300", "106", "nonsense"}) {
    port.machine.Put(kClass, text);
    EXPECT_FALSE(port.Observe().ok()) << text;
  }
}

TEST(RoceTrafficClassTest, RulesOfOthersAreShownAndMakeNoDifference) {
  CongestedPort port("roce.traffic_class");
  port.machine.Put(kClass, "Global tclass=106\nsrc_ip=10.0.0.1,dst_ip=10.0.0.0/16,tclass=104");
  port.subject.Wish("0x6a");
  EXPECT_TRUE(port.subject.Satisfied(port.machine));
  EXPECT_NE(port.Observe()->message.find("src_ip=10.0.0.1,dst_ip=10.0.0.0/16,tclass=104"), std::string::npos);
}

TEST(RoceTrafficClassTest, UnsetIsWrittenAsANegativeNumber) {
  CongestedPort port("roce.traffic_class");
  EXPECT_EQ(port.subject.Said("0x6A"), "106");
  EXPECT_EQ(port.subject.Said("unset"), "unset");
  EXPECT_EQ(port.subject.Said("256"), "\"256\"; allowed: 0…255, 0x00…0xff, or unset");
  EXPECT_FALSE(port.subject.Canonical("-1").ok()) << "said by its name";
  port.machine.Put(kClass, "Global tclass=106");
  ASSERT_TRUE(port.Apply("unset").ok());
  EXPECT_EQ(port.machine.Value(kClass), "-1");
  ASSERT_TRUE(port.Apply("104").ok());
  EXPECT_EQ(port.machine.Value(kClass), "104");
}

TEST(RoceTrafficClassTest, ADriverWithoutItIsNotApplicable) {
  CongestedPort port("roce.traffic_class");
  EXPECT_EQ(port.Observe().status().code(), Code::kNotFound) << "no such device is an error";
  port.machine.Put(std::string(kDevice) + "/fw_ver", "28.39.1002");
  EXPECT_EQ(port.Seen(), "[NoTrafficClass]");
  EXPECT_EQ(port.Apply("106").code(), Code::kFailedPrecondition);
  port.subject.facts.ports.front().ibdev.clear();
  EXPECT_EQ(port.Seen(), "[NoRdmaDevice]");
}

TEST(RoceTrafficClassTest, ATwoPortDeviceIsReadAtThePortOfItsInterface) {
  CongestedPort port("roce.traffic_class");
  port.machine.Put(kClass, "Global tclass=106").Put(std::string(kDevice) + "/tc/2/traffic_class", "");
  port.machine.Put(port.Net("dev_port"), "1");
  EXPECT_EQ(port.Seen(), "unset");
  port.machine.Put(port.Net("dev_port"), "0");
  EXPECT_EQ(port.Seen(), "106");
}

TEST(RoceAccelTest, FieldsAreReadAsTheToolPrintsThem) {
  CongestedPort port("roce.accel.adaptive_routing_forced_en");
  port.machine.Put(kAccel, "roce_tx_window_en=0x00000001 adaptive_routing_forced_en=0x00000000");
  EXPECT_EQ(port.Seen(), "0");
  CongestedPort window("roce.accel.roce_tx_window_en");
  window.machine.Put(kAccel, "roce_tx_window_en=1");
  EXPECT_EQ(window.Seen(), "1");
  window.machine.Put(kAccel, "roce_tx_window_en=yes");
  EXPECT_FALSE(window.Observe().ok());
}

TEST(RoceAccelTest, AFieldThatTheFirmwareLacksIsNotApplicable) {
  CongestedPort port("roce.accel.cc_per_plane_en");
  port.machine.Put(kAccel, "roce_tx_window_en=0x00000001");
  EXPECT_EQ(port.Seen(), "[NoSuchRegister]");
}

TEST(RoceAccelTest, AFieldThatTheQueryDoesNotOfferIsNotApplicable) {
  CongestedPort port("roce.accel.roce_tx_window_en");
  port.machine.Put(kAccel, "roce_tx_window_field_select=0 roce_tx_window_en=0");
  EXPECT_EQ(port.Seen(), "[NoSuchRegister]");
  EXPECT_EQ(port.Apply("1").code(), Code::kFailedPrecondition);
  CongestedPort dscp("roce.accel.ack_dscp");
  dscp.machine.Put(kAccel, "ack_dscp_force_field_select=0 ack_dscp=0");
  EXPECT_EQ(dscp.Seen(), "[NoSuchRegister]");
  CongestedPort forced("roce.accel.selective_repeat_forced_en");
  forced.machine.Put(kAccel, "selective_repeat_forced_en_field_select=0 selective_repeat_forced_en=0");
  EXPECT_EQ(forced.Seen(), "[NoSuchRegister]");
}

TEST(RoceAccelTest, AFieldIsWrittenWithItsSelectBit) {
  CongestedPort port("roce.accel.roce_tx_window_en");
  port.machine.Put(kAccel, "roce_tx_window_field_select=1 roce_slow_restart_en=1 roce_tx_window_en=0");
  ASSERT_TRUE(port.Apply("1").ok());
  EXPECT_EQ(port.machine.Get(kAccel).value(), "roce_tx_window_field_select=1 roce_tx_window_en=1");
}

TEST(RoceAccelTest, WithoutTheProgramItIsUnknown) {
  CongestedPort port("roce.accel.roce_tx_window_en");
  port.machine.FailReads(kAccel, Status(Code::kUnimplemented, "neither mstreg nor mlxreg is installed"));
  EXPECT_EQ(port.Observe().status().code(), Code::kUnimplemented);
  port.machine.FailReads(kAccel, Ok());
  EXPECT_EQ(port.Observe().status().code(), Code::kNotFound) << "a register that is not there proves nothing";
}

TEST(RoceAccelTest, UnknownFieldsAndValuesAreRefused) {
  EXPECT_EQ(Subject("roce.accel.roce_tx_windows_en").Said("1"),
            "unknown field \"roce_tx_windows_en\" of ROCE_ACCL; did you mean \"roce_tx_window_en\"?");
  EXPECT_EQ(Subject("roce.accel.roce_tx_window_en").Said("2"), "\"2\" is too large; allowed: 0…1");
  EXPECT_EQ(Subject("roce.accel.ack_dscp").Said("48"), "48");
}

}  // namespace
}  // namespace railwright
