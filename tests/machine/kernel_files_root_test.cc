#include <cerrno>

#include "agent/machine/linux_machine.h"
#include "tests/machine/network_namespace.h"

namespace railwright::machine {
namespace {

class KernelFilesTest : public NetworkNamespaceTest {
 protected:
  void SetUp() override {
    NetworkNamespaceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    MakeVeth("rail0", "peer0");
    machine_ = MakeLinuxMachine();
  }
  static std::string Conf(std::string_view device, std::string_view name) {
    return "/proc/sys/net/ipv4/conf/" + std::string(device) + "/" + std::string(name);
  }
  std::unique_ptr<Machine> machine_;
};

TEST_F(KernelFilesTest, ASysctlIsWrittenAndReadBackWithoutItsNewline) {
  ASSERT_TRUE(machine_->Set(Conf("rail0", "arp_ignore"), "1").ok());
  EXPECT_EQ(machine_->Get(Conf("rail0", "arp_ignore")).value(), "1");
  ASSERT_TRUE(machine_->Set(Conf("rail0", "arp_ignore"), "2").ok());
  EXPECT_EQ(machine_->Get(Conf("rail0", "arp_ignore")).value(), "2") << "a kept descriptor reads afresh";
  EXPECT_EQ(machine_->Get(Conf("peer0", "arp_ignore")).value(), "0");
}

TEST_F(KernelFilesTest, ARemadeInterfaceOfTheSameNameIsReadNotTheOldOne) {
  ASSERT_TRUE(machine_->Set(Conf("rail0", "arp_ignore"), "2").ok());
  ASSERT_EQ(machine_->Get(Conf("rail0", "arp_ignore")).value(), "2");
  ASSERT_TRUE(machine_->Set("/rtnl/link/rail0/mtu", "1400").ok());
  ASSERT_EQ(machine_->Get("/sys/class/net/rail0/mtu").value(), "1400");
  DeleteLink("rail0");
  EXPECT_EQ(machine_->Get(Conf("rail0", "arp_ignore")).status().code(), Code::kNotFound);
  EXPECT_EQ(machine_->Get("/sys/class/net/rail0/mtu").status().code(), Code::kNotFound);
  MakeVeth("rail0", "peer0");
  EXPECT_EQ(machine_->Get(Conf("rail0", "arp_ignore")).value(), "0");
  EXPECT_EQ(machine_->Get("/sys/class/net/rail0/mtu").value(), "1500");
}

TEST_F(KernelFilesTest, ARemadeInterfaceIsReadAlsoWhenItWasNotMissedMeanwhile) {
  ASSERT_TRUE(machine_->Set(Conf("rail0", "arp_ignore"), "2").ok());
  ASSERT_EQ(machine_->Get(Conf("rail0", "arp_ignore")).value(), "2");
  DeleteLink("rail0");
  MakeVeth("rail0", "peer0");
  EXPECT_EQ(machine_->Get(Conf("rail0", "arp_ignore")).value(), "0");
}

TEST_F(KernelFilesTest, RenamedInterfacesAreReadByTheirPresentName) {
  MakeVeth("rail1", "peer1");
  ASSERT_TRUE(machine_->Set("/rtnl/link/rail0/mtu", "1400").ok());
  ASSERT_TRUE(machine_->Set(Conf("rail0", "arp_ignore"), "2").ok());
  for (const char* name : {"rail0", "rail1"}) {
    ASSERT_TRUE(machine_->Get("/sys/class/net/" + std::string(name) + "/mtu").ok());
    ASSERT_TRUE(machine_->Get(Conf(name, "arp_ignore")).ok());
  }
  RenameLink("rail0", "spare");
  RenameLink("rail1", "rail0");
  EXPECT_EQ(machine_->Get("/sys/class/net/rail0/mtu").value(), "1500");
  EXPECT_EQ(machine_->Get("/sys/class/net/spare/mtu").value(), "1400");
  EXPECT_EQ(machine_->Get(Conf("rail0", "arp_ignore")).value(), "0");
  EXPECT_EQ(machine_->Get(Conf("spare", "arp_ignore")).value(), "2");
  EXPECT_EQ(machine_->Get("/rtnl/link/rail0/mtu").value(), "1500");
}

TEST_F(KernelFilesTest, TheKernelsRefusalKeepsItsErrno) {
  Status status = machine_->Set(Conf("rail0", "arp_ignore"), "many");
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.error_number(), EINVAL);
  EXPECT_NE(status.message().find("writing \"many\": Invalid argument"), std::string::npos)
      << status.message();
  EXPECT_EQ(machine_->Set(Conf("rail9", "arp_ignore"), "1").code(), Code::kNotFound);
  EXPECT_EQ(machine_->Set("/proc/sys/kernel/osrelease", "1").code(), Code::kPermissionDenied);
}

TEST_F(KernelFilesTest, AWriteNeverMakesAFile) {
  EXPECT_FALSE(machine_->Set("/proc/sys/net/nothing", "1").ok());
  EXPECT_FALSE(machine_->Set("/sys/class/net/rail0/nothing", "1").ok());
}

TEST_F(KernelFilesTest, FilesThatComeInPiecesAreReadWhole) {
  for (int i = 0; i < 120; ++i) MakeVeth("v" + std::to_string(i), "w" + std::to_string(i));
  auto text = machine_->Get("/proc/net/dev");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(std::count(text->begin(), text->end(), '\n'), 2 + 243 - 1);
  EXPECT_EQ(machine_->List("/sys/class/net")->size(), 243u);
}

TEST_F(KernelFilesTest, OtherFilesOfProcAreReadAfresh) {
  ASSERT_TRUE(machine_->Get("/proc/uptime").ok());
  const std::string before = machine_->Get("/proc/uptime").value();
  ::usleep(50'000);
  EXPECT_NE(machine_->Get("/proc/uptime").value(), before);
  EXPECT_TRUE(machine_->Get("/proc/cmdline").ok());
}

}  // namespace
}  // namespace railwright::machine
