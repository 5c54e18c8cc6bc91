// driver.ofed, driver.nvidia and driver.fabricmanager.
#include <cerrno>

#include "core/decode/driver_version.h"
#include "tests/settings/subject.h"
#include "tests/support/fake_machine.h"

namespace railwright {
namespace {

constexpr const char* kOfedInfo = "/file/usr/bin/ofed_info";
constexpr const char* kLoadedOfed = "/sys/module/mlx5_core/version";
constexpr const char* kNvidia = "/proc/driver/nvidia/version";
constexpr const char* kOpen =
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (user@host)  \n"
    "GCC version:  gcc version 12.2.0";
constexpr const char* kProprietary =
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.163.01  Tue Apr  8 12:41:17 UTC 2025";

TEST(DriverVersionTest, WordsOfDrivers) {
  EXPECT_EQ(OfedRelease("echo OFED-internal-25.10-1.7.1:\n"), "25.10-1.7.1");
  EXPECT_EQ(OfedRelease("MLNX_OFED_LINUX-5.8-4.1.5.0:"), "5.8-4.1.5.0");
  EXPECT_EQ(OfedRelease("# MLNX_OFED_LINUX-x and mlnx-en-5.8-1.0."), "5.8-1.0");
  for (const char* none : {"", "OFED-internal-", "OFED-internal-25.10", "OFED-internal--1"})
    EXPECT_EQ(OfedRelease(none), "") << none;
  EXPECT_EQ(ParseNvidiaVersion(kOpen).version, "580.159.04");
  EXPECT_TRUE(ParseNvidiaVersion(kOpen).open);
  EXPECT_EQ(ParseNvidiaVersion(kProprietary).version, "550.163.01");
  EXPECT_FALSE(ParseNvidiaVersion(kProprietary).open);
  for (const char* none : {"", "NVRM version:", "NVRM version: Kernel Module", "Kernel Module 1.2"})
    EXPECT_EQ(ParseNvidiaVersion(none).version, "") << none;
  EXPECT_EQ(UpstreamVersion("1:580.159.04-0ubuntu1"), "580.159.04");
  EXPECT_EQ(UpstreamVersion("580.159.04"), "580.159.04");
  EXPECT_TRUE(ParseKernelRelease("6.1.0-18-amd64").AtLeast(5, 12));
  EXPECT_FALSE(ParseKernelRelease("5.4.0").AtLeast(5, 12));
  EXPECT_FALSE(ParseKernelRelease("linux").AtLeast(0, 1));
}

TEST(DriverOfedTest, TheReleaseThatIsLoadedIsCompared) {
  Subject ofed("driver.ofed");
  FakeMachine machine;
  machine.Put(kLoadedOfed, "5.8-4.1.5").Put(kOfedInfo, "echo MLNX_OFED_LINUX-5.8-4.1.5.0:\n");
  EXPECT_EQ(ofed.See(machine).value, "5.8-4.1.5.0");
  for (const char* wish : {"=5.8-4.1.5.0", "=5.8-4.1.5", "5.*", "installed", ">=5.8 <6"}) {
    ofed.Wish(wish);
    EXPECT_TRUE(ofed.Satisfied(machine)) << wish;
  }
  for (const char* wish : {"=25.10-1.7.1", ">=6", "=5.8-4.1"}) {
    ofed.Wish(wish);
    EXPECT_FALSE(ofed.Satisfied(machine)) << wish;
  }
  EXPECT_FALSE(ofed.Canonical("absent").ok());
  EXPECT_FALSE(ofed.Canonical("5.* hold").ok());
}

TEST(DriverOfedTest, InstalledAndNotLoadedIsDriftWhateverIsAskedFor) {
  Subject ofed("driver.ofed");
  FakeMachine machine;
  machine.Put(kLoadedOfed, "25.10-1.7.1").Put(kOfedInfo, "echo OFED-internal-26.01-0.3.0:\n");
  EXPECT_EQ(ofed.See(machine).value, "25.10-1.7.1, installed 26.01-0.3.0");
  EXPECT_NE(ofed.See(machine).message.find("restart openibd or reboot"), std::string::npos);
  for (const char* wish : {"=26.01-0.3.0", "=25.10-1.7.1", "installed"}) {
    ofed.Wish(wish);
    EXPECT_FALSE(ofed.Satisfied(machine)) << wish;
  }
  machine.Remove(kLoadedOfed);
  machine.PutList("/sys/module/mlx5_core", {"parameters"});
  EXPECT_EQ(ofed.See(machine).value, "inbox, installed 26.01-0.3.0");
  EXPECT_FALSE(ofed.Satisfied(machine));
}

TEST(DriverOfedTest, TheKernelsOwnDriverIsNotApplicableOnlyWhenNoOfedIsThere) {
  const Subject ofed("driver.ofed");
  FakeMachine machine;
  EXPECT_EQ(ofed.See(machine).reason, "NoMlxDriver");
  machine.PutList("/sys/module/mlx5_core", {"parameters"});
  EXPECT_EQ(ofed.See(machine).reason, "InboxDriver");
  machine.FailReads(kOfedInfo, FromErrno(EACCES, kOfedInfo));
  EXPECT_FALSE(ofed.setting->Observe(machine, ofed.target).ok());
}

TEST(DriverNvidiaTest, VersionAndFlavour) {
  Subject nvidia("driver.nvidia");
  FakeMachine machine;
  machine.Put(kNvidia, kOpen).Put("/nvml/driver", "version=580.159.04 cuda=13.0");
  EXPECT_EQ(nvidia.See(machine).value, "580.159.04");
  EXPECT_EQ(nvidia.See(machine).message, "open kernel modules");
  nvidia.Wish("580.*");
  EXPECT_TRUE(nvidia.Satisfied(machine));
  nvidia.Wish("=550.163.01");
  EXPECT_FALSE(nvidia.Satisfied(machine));
  machine.Put(kNvidia, "garbage");
  EXPECT_FALSE(nvidia.setting->Observe(machine, nvidia.target).ok());
}

TEST(DriverNvidiaTest, ALibraryOfAnotherReleaseIsDrift) {
  Subject nvidia("driver.nvidia");
  FakeMachine machine;
  machine.Put(kNvidia, kProprietary).Put("/nvml/driver", "version=580.159.04");
  nvidia.Wish("installed");
  EXPECT_EQ(nvidia.See(machine).value, "550.163.01, library 580.159.04");
  EXPECT_FALSE(nvidia.Satisfied(machine));
  machine.FailReads("/nvml/driver", Status(Code::kFailedPrecondition, "of different releases", ELIBBAD));
  EXPECT_FALSE(nvidia.Satisfied(machine));
  EXPECT_TRUE(nvidia.setting->Observe(machine, nvidia.target).ok());
  machine.FailReads("/nvml/driver", Status(Code::kFailedPrecondition, "GPU lost", ENODEV));
  EXPECT_FALSE(nvidia.setting->Observe(machine, nvidia.target).ok()) << "no evidence is no value";
  machine.FailReads("/nvml/driver", Status(Code::kNotFound, "no library", ENOENT));
  EXPECT_TRUE(nvidia.Satisfied(machine)) << "without the library the module's word stands";
}

TEST(DriverNvidiaTest, AGpuWithoutDriverIsAbsentNotNotApplicable) {
  Subject nvidia("driver.nvidia");
  FakeMachine machine;
  machine.Put("/sys/bus/pci/devices/0000:3b:00.0/class", "0x020000");
  EXPECT_EQ(nvidia.See(machine).reason, "NoGpu");
  machine.Put("/sys/bus/pci/devices/0000:5d:00.0/class", "0x030200")
      .Put("/sys/bus/pci/devices/0000:5d:00.0/vendor", "0x10de");
  nvidia.Wish("installed");
  EXPECT_EQ(nvidia.See(machine).kind, Observation::Kind::kAbsent);
  EXPECT_NE(nvidia.See(machine).message.find("0000:5d:00.0"), std::string::npos);
  EXPECT_FALSE(nvidia.Satisfied(machine));
}

TEST(DriverFabricmanagerTest, ItMustBeOfTheDriversRelease) {
  Subject manager("driver.fabricmanager");
  FakeMachine machine;
  machine.Put("/sys/bus/pci/devices/0000:05:00.0/class", "0x068000")
      .Put("/sys/bus/pci/devices/0000:05:00.0/vendor", "0x10de")
      .Put(kNvidia, kOpen)
      .Put("/pkg/nvidia-fabricmanager-580", "version=580.159.04-1 hold=0");
  manager.Wish("driver");
  EXPECT_EQ(manager.See(machine).value, "580.159.04");
  EXPECT_TRUE(manager.Satisfied(machine));
  machine.Put("/pkg/nvidia-fabricmanager-580", "version=580.126.20-1 hold=0");
  EXPECT_EQ(manager.See(machine).value, "580.126.20, driver 580.159.04");
  EXPECT_FALSE(manager.Satisfied(machine));
  manager.Wish("580.*");
  EXPECT_FALSE(manager.Satisfied(machine)) << "in the wish's range, and yet it will not start";
  machine.Remove("/pkg");
  EXPECT_EQ(manager.See(machine).kind, Observation::Kind::kAbsent);
  EXPECT_FALSE(manager.Satisfied(machine));
  machine.Remove("/sys/bus/pci/devices/0000:05:00.0");
  EXPECT_EQ(manager.See(machine).reason, "NoNvswitch");
}

}  // namespace
}  // namespace railwright
