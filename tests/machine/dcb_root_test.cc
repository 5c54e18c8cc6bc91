#include <cerrno>

#include "agent/machine/linux_machine.h"
#include "tests/machine/network_namespace.h"

namespace railwright::machine {
namespace {

// No device of a namespace has data center bridging, so this is what the kernel says without it. The rest:
// dcb_message_test.cc.
class DcbTest : public NetworkNamespaceTest {
 protected:
  void SetUp() override {
    NetworkNamespaceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    MakeVeth("rail0", "peer0");
    machine_ = MakeLinuxMachine();
  }

  void ExpectSaid(const Status& status, Code code, int error, const std::string& words) {
    EXPECT_EQ(status.code(), code) << status.ToString();
    EXPECT_EQ(status.error_number(), error) << status.ToString();
    EXPECT_NE(status.message().find(words), std::string::npos) << status.message();
  }
  std::unique_ptr<Machine> machine_;
};

TEST_F(DcbTest, ADriverWithoutItIsUnimplementedAndSaysSo) {
  for (const char* netdev : {"lo", "rail0"})
    for (const char* leaf : {"app", "buffer", "dcbx", "ets", "maxrate", "pfc", "pfc_counters"})
      ExpectSaid(machine_->Get("/dcb/" + std::string(netdev) + "/" + leaf).status(), Code::kUnimplemented,
                 EOPNOTSUPP, std::string("the driver of ") + netdev + " has no data center bridging");
}

TEST_F(DcbTest, AnInterfaceThatIsNotThereIsNotFound) {
  ExpectSaid(machine_->Get("/dcb/rail9/pfc").status(), Code::kNotFound, ENODEV, "no interface rail9");
  ExpectSaid(machine_->Set("/dcb/rail9/pfc", "enabled=3"), Code::kNotFound, ENODEV, "no interface rail9");
  ExpectSaid(machine_->Get("/dcb/a-name-of-more-than-15/pfc").status(), Code::kNotFound, ENODEV,
             "No such device");
}

TEST_F(DcbTest, NothingIsWrittenWhereNothingCanBeRead) {
  for (const auto& [leaf, value] :
       {std::pair("app", "dscp 26 prio 3"), std::pair("dcbx", "host=1 ieee=1"),
        std::pair("ets", "bw=0,0,0,0,0,0,0,0"), std::pair("pfc", "enabled=3"),
        std::pair("buffer", "size=0,0,0,0,0,0,0,0"), std::pair("maxrate", "kbit=0,0,0,0,0,0,0,0")})
    ExpectSaid(machine_->Set("/dcb/rail0/" + std::string(leaf), value), Code::kUnimplemented, EOPNOTSUPP,
               "has no data center bridging");
  EXPECT_EQ(machine_->Set("/dcb/rail0/app", "dscp 64 prio 3").code(), Code::kInvalidArgument);
}

TEST_F(DcbTest, ListNamesInterfacesThatHaveIt) {
  EXPECT_EQ(machine_->List("/dcb").value(), std::vector<std::string>{});
  ExpectSaid(machine_->List("/dcb/rail0").status(), Code::kUnimplemented, EOPNOTSUPP, "no data center");
  EXPECT_EQ(machine_->List("/dcb/rail9").status().code(), Code::kNotFound);
}

TEST_F(DcbTest, PathsThatDoNotExistAreNotServed) {
  for (const char* path : {"/dcb", "/dcb/rail0", "/dcb/rail0/trust", "/dcb/rail0/pfc/3"}) {
    const Status status = machine_->Get(path).status();
    EXPECT_EQ(status.code(), Code::kUnimplemented) << path;
    EXPECT_EQ(status.error_number(), 0) << path << ": not the driver's answer";
  }
  EXPECT_EQ(machine_->Set("/dcb/rail0/pfc_counters", "requests=0").error_number(), 0);
}

TEST_F(DcbTest, TheStormPreventionOfADriverWithoutItIsUnimplemented) {
  constexpr const char* kPath = "/ethtool/rail0/pfc_storm_prevention";
  ExpectSaid(machine_->Get(kPath).status(), Code::kUnimplemented, EOPNOTSUPP, kPath);
  ExpectSaid(machine_->Set(kPath, "200"), Code::kUnimplemented, EOPNOTSUPP, "setting 200");
  ExpectSaid(machine_->Get("/ethtool/rail9/pfc_storm_prevention").status(), Code::kNotFound, ENODEV, "rail9");
  for (const char* text : {"", "on", "0", "65535", "-1", "100ms"})
    EXPECT_EQ(machine_->Set(kPath, text).code(), Code::kInvalidArgument) << text;
}

}  // namespace
}  // namespace railwright::machine
