#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "railwright/check.h"
#include "tests/support/fake_machine.h"

namespace railwright {
namespace {

Finding Look(const Machine& machine) {
  for (const auto& check : MakeChecks())
    if (check->info().key == "package.integrity") {
      const auto findings = check->Run(machine, NodeFacts());
      EXPECT_EQ(findings.size(), 1U);
      return findings.front();
    }
  ADD_FAILURE() << "no such check";
  return {};
}

TEST(PackageIntegrityTest, WholePackagesAndModulesAsOnDiskAreCompliant) {
  FakeMachine machine;
  machine.Put("/pkg/rdma-core", "version=44.0-2 hold=1")
      .Put("/sys/module/mlx5_core/srcversion", "0DC1A0F31A1B2C3D4E5F607")
      .Put("/kmod/mlx5_core/info", "srcversion=0DC1A0F31A1B2C3D4E5F607 file=/lib/modules/x/mlx5_core.ko");
  const Finding finding = Look(machine);
  EXPECT_EQ(finding.verdict, Verdict::kCompliant) << finding.message;
  EXPECT_EQ(finding.code, "RW-2105");
  ASSERT_EQ(finding.evidence.size(), 2U);
  EXPECT_EQ(finding.evidence[1], "/kmod: as on disk: mlx5_core");
}

TEST(PackageIntegrityTest, AHalfConfiguredPackageIsNamed) {
  FakeMachine machine;
  machine.Put("/pkg/rdma-core", "version=44.0-2 hold=0")
      .Put("/pkg/nvidia-kernel-dkms", "version=550.163.01-1 hold=0 state=half-configured");
  const Finding finding = Look(machine);
  EXPECT_EQ(finding.verdict, Verdict::kDrifted);
  EXPECT_EQ(finding.reason, "PackageBroken");
  EXPECT_EQ(finding.message, "nvidia-kernel-dkms 550.163.01-1 is half-configured");
  EXPECT_NE(finding.fix.find("dpkg --configure -a"), std::string::npos);
}

TEST(PackageIntegrityTest, ALoadedModuleThatIsNotTheOneOnDiskIsNamed) {
  FakeMachine machine;
  machine.Put("/pkg/rdma-core", "version=44.0-2 hold=0")
      .Put("/sys/module/nvidia/srcversion", "AAAA")
      .Put("/sys/module/nvidia/version", "550.163.01")
      .Put("/kmod/nvidia/info", "version=580.159.04 srcversion=BBBB file=/lib/modules/x/nvidia.ko")
      .Put("/sys/module/ib_core/srcversion", "CCCC");
  const Finding finding = Look(machine);
  EXPECT_EQ(finding.reason, "ModuleOutdated");
  EXPECT_EQ(finding.message,
            "the loaded nvidia 550.163.01 is not the one on disk, 580.159.04; ib_core is loaded, and this "
            "kernel has "
            "no file of it any more");
}

TEST(PackageIntegrityTest, WhereNoModuleFileIsOnDiskNothingCanBeCompared) {
  FakeMachine machine;
  machine.Put("/sys/module/nvidia/srcversion", "ABC");
  const Finding finding = Look(machine);
  EXPECT_EQ(finding.verdict, Verdict::kUnknown);
  EXPECT_NE(finding.message.find("no module file of this kernel is on disk"), std::string::npos)
      << finding.message;
}

TEST(PackageIntegrityTest, WhatCannotBeReadIsUnknown) {
  FakeMachine machine;
  machine.FailReads("/pkg/rdma-core", Status(Code::kDataLoss, "/pkg/rdma-core: damaged"));
  EXPECT_EQ(Look(machine).verdict, Verdict::kUnknown);
  machine.FailReads("/pkg/rdma-core", Ok());
  machine.FailReads("/sys/module/nvidia/srcversion", FromErrno(EACCES, "/sys/module/nvidia/srcversion"));
  EXPECT_EQ(Look(machine).verdict, Verdict::kUnknown);
  machine.FailReads("/sys/module/nvidia/srcversion", Ok());
  machine.Put("/sys/module/nvidia/srcversion", "A").Put("/kmod/nvidia/info", "nonsense");
  EXPECT_EQ(Look(machine).reason, "ReadFailed");
}

TEST(PackageIntegrityTest, WithoutDpkgTheModulesStillCount) {
  FakeMachine machine;
  machine.FailReads("/pkg/doca-ofed", Status(Code::kUnimplemented, "/pkg: no dpkg database on this host"));
  EXPECT_EQ(Look(machine).reason, "NoDpkg");
  machine.Put("/sys/module/nvidia/srcversion", "A").Put("/kmod/nvidia/info", "srcversion=A file=/x");
  EXPECT_EQ(Look(machine).verdict, Verdict::kCompliant);
  machine.Put("/kmod/nvidia/info", "srcversion=B file=/x");
  EXPECT_EQ(Look(machine).reason, "ModuleOutdated");
}

}  // namespace
}  // namespace railwright
