#include <cerrno>

#include "agent/machine/linux_machine.h"
#include "tests/machine/network_namespace.h"

namespace railwright::machine {
namespace {

class EthtoolTest : public NetworkNamespaceTest {
 protected:
  void SetUp() override {
    NetworkNamespaceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    MakeVeth("rail0", "peer0", 8);
    machine_ = MakeLinuxMachine();
  }
  std::unique_ptr<Machine> machine_;
};

TEST_F(EthtoolTest, ChannelsAreReadAndWrittenInOneMessage) {
  ASSERT_TRUE(machine_->Set("/ethtool/rail0/channels", "rx=8 tx=8").ok());
  EXPECT_EQ(machine_->Get("/ethtool/rail0/channels").value(), "rx=8 rx_max=8 tx=8 tx_max=8");
  ASSERT_TRUE(machine_->Set("/ethtool/rail0/channels", "rx=3 tx=2").ok());
  EXPECT_EQ(machine_->Get("/ethtool/rail0/channels").value(), "rx=3 rx_max=8 tx=2 tx_max=8");
  ASSERT_TRUE(machine_->Set("/ethtool/rail0/channels", "tx=4").ok());
  EXPECT_EQ(machine_->Get("/ethtool/rail0/channels").value(), "rx=3 rx_max=8 tx=4 tx_max=8");
}

TEST_F(EthtoolTest, WhatWasReadMayBeWrittenBack) {
  const std::string before = machine_->Get("/ethtool/rail0/channels").value();
  ASSERT_TRUE(machine_->Set("/ethtool/rail0/channels", "rx=1 tx=1").ok());
  ASSERT_TRUE(machine_->Set("/ethtool/rail0/channels", before).ok());
  EXPECT_EQ(machine_->Get("/ethtool/rail0/channels").value(), before);
}

TEST_F(EthtoolTest, TheKernelsRefusalComesWithItsSentence) {
  Status status = machine_->Set("/ethtool/rail0/channels", "rx=9");
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("requested channel count exceeds maximum"), std::string::npos)
      << status.message();
  EXPECT_FALSE(machine_->Set("/ethtool/rail0/channels", "combined=1").ok());
}

TEST_F(EthtoolTest, UnknownFieldsAndValuesAreRefusedByName) {
  Status status = machine_->Set("/ethtool/rail0/channels", "rx=1 lanes=4");
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("\"lanes\" (known: rx, tx, other, combined)"), std::string::npos);
  for (const char* text : {"", "rx", "rx=x", "rx=-1", "rx=4294967296", "rx_max=8"})
    EXPECT_EQ(machine_->Set("/ethtool/rail0/channels", text).code(), Code::kInvalidArgument) << text;
  EXPECT_EQ(machine_->Set("/ethtool/rail0/pause", "rx=2").code(), Code::kInvalidArgument);
}

TEST_F(EthtoolTest, WhatTheDriverLacksIsUnimplementedNotAbsent) {
  for (const char* path : {"/ethtool/rail0/rings", "/ethtool/rail0/pause"}) {
    auto text = machine_->Get(path);
    EXPECT_EQ(text.status().code(), Code::kUnimplemented) << path;
    EXPECT_EQ(text.status().error_number(), EOPNOTSUPP) << path;
  }
  EXPECT_EQ(machine_->Set("/ethtool/rail0/pause", "rx=1").code(), Code::kUnimplemented);
}

TEST_F(EthtoolTest, FecOfADriverWithoutItIsUnimplementedAndWordsAreRefusedFirst) {
  for (const Status& status : {machine_->Get("/ethtool/rail0/fec").status(),
                               machine_->Set("/ethtool/rail0/fec", "modes=rs,baser auto=0 active=rs")}) {
    EXPECT_EQ(status.code(), Code::kUnimplemented);
    EXPECT_EQ(status.error_number(), EOPNOTSUPP) << "the kernel took the message apart: " << status.message();
  }
  for (const char* bad : {"", "modes=fast", "modes=", "auto=2", "active=rs", "modes=rs lanes=4"})
    EXPECT_EQ(machine_->Set("/ethtool/rail0/fec", bad).code(), Code::kInvalidArgument) << bad;
  EXPECT_EQ(machine_->Get("/ethtool/rail9/fec").status().code(), Code::kNotFound);
}

TEST_F(EthtoolTest, AnInterfaceWithoutACageHasNoModuleAndNoneIsWritten) {
  const Status status = machine_->Get("/ethtool/rail0/module").status();
  EXPECT_EQ(status.code(), Code::kUnimplemented);
  EXPECT_EQ(status.error_number(), EOPNOTSUPP) << "the kernel took the message apart: " << status.message();
  EXPECT_TRUE(status.message().ends_with("; its driver shows no module")) << status.message();
  EXPECT_EQ(machine_->Get("/ethtool/rail9/module").status().code(), Code::kNotFound);
  EXPECT_EQ(machine_->Set("/ethtool/rail0/module", "id=0x19").code(), Code::kUnimplemented);
}

// No virtual device here has devlink; whether the kernel has it differs.
TEST_F(EthtoolTest, DevlinkTellsAMissingDeviceFromAMissingFamily) {
  const auto buses = machine_->List("/devlink");
  const Status info = machine_->Get("/devlink/pci/0000:ff:1f.7/info").status();
  if (buses.ok()) {
    EXPECT_EQ(info.code(), Code::kNotFound);
    EXPECT_EQ(info.error_number(), ENODEV);
    EXPECT_NE(info.message().find("no devlink device"), std::string::npos) << info.message();
    EXPECT_EQ(machine_->List("/devlink/pci/0000:ff:1f.7").status().code(), Code::kNotFound);
  } else {
    EXPECT_EQ(buses.status().code(), Code::kUnimplemented);
    EXPECT_NE(info.message().find("this kernel has no devlink"), std::string::npos) << info.message();
  }
  EXPECT_EQ(machine_->Get("/devlink/pci/0000:ff:1f.7/health").status().code(), Code::kUnimplemented);
  EXPECT_EQ(machine_->Set("/devlink/pci/0000:ff:1f.7/info", "x").code(), Code::kUnimplemented);
}

TEST_F(EthtoolTest, ListNamesWhatTheDriverAnswers) {
  EXPECT_EQ(machine_->List("/ethtool").value(), (std::vector<std::string>{"lo", "peer0", "rail0"}));
  EXPECT_EQ(machine_->List("/ethtool/rail0").value(), (std::vector<std::string>{"channels"}));
  EXPECT_EQ(machine_->List("/ethtool/rail9").status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace railwright::machine
