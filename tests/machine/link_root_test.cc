#include <cerrno>

#include "agent/machine/linux_machine.h"
#include "core/decode/fields.h"
#include "tests/machine/network_namespace.h"

namespace railwright::machine {
namespace {

class RtnlLinkTest : public NetworkNamespaceTest {
 protected:
  void SetUp() override {
    NetworkNamespaceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    MakeVeth("rail0", "peer0");
    machine_ = MakeLinuxMachine();
  }
  std::unique_ptr<Machine> machine_;
};

TEST_F(RtnlLinkTest, AnInterfaceIsReadWithItsLimits) {
  auto text = machine_->Get("/rtnl/link/rail0");
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  auto fields = Fields::Parse(*text);
  ASSERT_TRUE(fields.ok()) << *text;
  EXPECT_EQ(fields->Number("mtu").value(), 1500u);
  EXPECT_EQ(fields->Number("min_mtu").value(), 68u);
  EXPECT_EQ(fields->Number("max_mtu").value(), 65535u);
  EXPECT_EQ(*fields->Find("state"), "down");
  EXPECT_EQ(*fields->Find("carrier"), "0");
  EXPECT_EQ(*fields->Find("kind"), "veth");
  EXPECT_EQ(fields->Find("master"), nullptr);
  EXPECT_EQ(fields->Find("address")->size(), 17u);
  EXPECT_EQ(machine_->List("/rtnl/link").value(), (std::vector<std::string>{"lo", "peer0", "rail0"}));
}

TEST_F(RtnlLinkTest, MtuAndStateAreWrittenAndReadBack) {
  ASSERT_TRUE(machine_->Set("/rtnl/link/rail0/mtu", "4200").ok());
  EXPECT_EQ(machine_->Get("/rtnl/link/rail0/mtu").value(), "4200");
  ASSERT_TRUE(machine_->Set("/rtnl/link/rail0/state", "up").ok());
  ASSERT_TRUE(machine_->Set("/rtnl/link/peer0/state", "up").ok());
  EXPECT_EQ(machine_->Get("/rtnl/link/rail0/state").value(), "up");
  EXPECT_EQ(*Fields::Parse(machine_->Get("/rtnl/link/rail0").value())->Find("carrier"), "1");
  ASSERT_TRUE(machine_->Set("/rtnl/link/rail0/state", "down").ok());
  EXPECT_EQ(machine_->Get("/rtnl/link/rail0/state").value(), "down");
}

TEST_F(RtnlLinkTest, TheKernelsRefusalComesWithItsSentenceAndTheLimits) {
  Status status = machine_->Set("/rtnl/link/rail0/mtu", "67");
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.error_number(), EINVAL);
  EXPECT_NE(status.message().find("mtu less than device minimum"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("allowed: 68…65535"), std::string::npos) << status.message();
  EXPECT_NE(machine_->Set("/rtnl/link/rail0/mtu", "70000").message().find("mtu greater than device maximum"),
            std::string::npos);
  EXPECT_EQ(machine_->Get("/rtnl/link/rail0/mtu").value(), "1500");
}

TEST_F(RtnlLinkTest, WhatIsNoNumberNeverReachesTheKernel) {
  for (const char* text : {"", "-1", "1500 ", "0x100", "99999999999999999999", "4294967296", "jumbo"})
    EXPECT_EQ(machine_->Set("/rtnl/link/rail0/mtu", text).code(), Code::kInvalidArgument) << text;
  EXPECT_EQ(machine_->Set("/rtnl/link/rail0/state", "UP").code(), Code::kInvalidArgument);
}

TEST_F(RtnlLinkTest, AMissingInterfaceIsNotFoundAndOddNamesAreToo) {
  for (const char* path :
       {"/rtnl/link/rail9", "/rtnl/link/averyveryverylongname", "/rtnl/link/a b", "/rtnl/addr/rail9",
        "/ethtool/rail9/rings", "/ethtool/averyveryverylongname/rings"}) {
    auto text = machine_->Get(path);
    EXPECT_EQ(text.status().code(), Code::kNotFound) << path << ": " << text.status().ToString();
    EXPECT_EQ(text.status().error_number(), ENODEV) << path;
  }
  EXPECT_EQ(machine_->Set("/rtnl/link/rail9/mtu", "1500").code(), Code::kNotFound);
}

TEST_F(RtnlLinkTest, AnUnknownLeafIsUnimplementedNeverNotFound) {
  EXPECT_EQ(machine_->Get("/rtnl/link/rail0/colour").status().code(), Code::kUnimplemented);
  EXPECT_EQ(machine_->Set("/rtnl/link/rail0", "mtu=1500").code(), Code::kUnimplemented);
  EXPECT_EQ(machine_->Get("/rtnl/neigh/rail0").status().code(), Code::kUnimplemented);
}

TEST_F(RtnlLinkTest, ManyInterfacesComeInOneDump) {
  for (int i = 1; i <= 150; ++i) MakeVeth("v" + std::to_string(i), "w" + std::to_string(i));
  EXPECT_EQ(machine_->List("/rtnl/link")->size(), 303u);
}

}  // namespace
}  // namespace railwright::machine
