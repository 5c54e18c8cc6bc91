// module.<name>, package.<name> and kernel.cmdline.
#include <cerrno>

#include "core/decode/kernel_cmdline.h"
#include "core/decode/package_wish.h"
#include "tests/settings/subject.h"
#include "tests/support/fake_machine.h"

namespace railwright {
namespace {

TEST(ModuleTest, NamesWithDashAndUnderscoreAreOneKey) {
  const Catalog catalog = MakeCatalog();
  EXPECT_EQ(catalog.Find("module.nvidia-peermem")->key, "module.nvidia_peermem");
  const Subject module("module.nvidia_peermem");
  EXPECT_EQ(module.Said("loaded"), "loaded");
  EXPECT_EQ(module.Said("live"), "\"live\"; allowed: loaded, absent");
  for (const char* bad : {"module.a/b", "module.x.ko", "module.a b", "module.../../etc"})
    EXPECT_FALSE(Subject(bad).Canonical("loaded").ok()) << bad;
}

TEST(ModuleTest, EveryStateOfAModule) {
  struct {
    const char* state;
    const char* value;
  } cases[] = {{"live", "loaded"}, {"builtin", "loaded"}, {"absent", "absent"}};
  for (const auto& one : cases) {
    const Subject module("module.rdma_cm");
    FakeMachine machine;
    machine.Put("/proc/modules", "").Put("/kmod/rdma_cm", one.state);
    EXPECT_EQ(module.See(machine).value, one.value) << one.state;
  }
  for (const char* passing : {"coming", "going"}) {
    const Subject module("module.rdma_cm");
    FakeMachine machine;
    machine.Put("/proc/modules", "").Put("/kmod/rdma_cm", passing);
    EXPECT_EQ(module.setting->Observe(machine, module.target).status().code(), Code::kUnavailable) << passing;
  }
}

TEST(ModuleTest, AModuleWithoutAFileIsAbsentAndSaysSo) {
  Subject module("module.nvidia_peermem");
  FakeMachine machine;
  machine.Put("/proc/modules", "");
  EXPECT_EQ(module.See(machine).value, "absent");
  EXPECT_NE(module.See(machine).message.find("no module file nvidia_peermem.ko"), std::string::npos);
  module.Wish("absent");
  EXPECT_TRUE(module.Satisfied(machine));
  module.Wish("loaded");
  EXPECT_FALSE(module.Satisfied(machine));
}

TEST(ModuleTest, AKernelWithoutModulesIsNotApplicableUnlessItIsBuiltIn) {
  const Subject module("module.rdma_cm");
  FakeMachine machine;
  EXPECT_EQ(module.See(machine).reason, "KernelHasNoModules");
  machine.Put("/kmod/rdma_cm", "builtin");
  EXPECT_EQ(module.See(machine).value, "loaded");
  machine.Remove("/kmod");
  machine.FailReads("/proc/modules", FromErrno(EACCES, "/proc/modules"));
  EXPECT_FALSE(module.setting->Observe(machine, module.target).ok());
}

TEST(ModuleTest, OnlyUnloadingDisturbs) {
  const Subject module("module.mlx5_core");
  EXPECT_EQ(module.setting->DisruptionOf(module.target, "absent", "loaded"), Disruption::kNone);
  EXPECT_EQ(module.setting->DisruptionOf(module.target, "loaded", "absent"), Disruption::kFunctionReset);
  FakeMachine machine;
  ASSERT_TRUE(module.Apply(machine, "loaded").ok());
  EXPECT_EQ(machine.Value("/kmod/mlx5_core"), "live");
  ASSERT_TRUE(module.Apply(machine, "absent").ok());
  EXPECT_FALSE(machine.Exists("/kmod/mlx5_core"));
  EXPECT_FALSE(module.Apply(machine, "live").ok());
}

TEST(PackageTest, ConstraintsHaveOneSpelling) {
  const Subject package("package.rdma-core");
  EXPECT_EQ(package.Said("installed"), "installed");
  EXPECT_EQ(package.Said("44.0-2"), "=44.0-2");
  EXPECT_EQ(package.Said("hold, >= 44.0 ,<45"), "<45 >=44.0 hold");
  EXPECT_EQ(package.Said("installed hold"), "installed hold");
  EXPECT_EQ(package.Said("550.*"), "550.*");
  EXPECT_EQ(package.Said("=1:2.3~rc1-4+deb12u1"), "=1:2.3~rc1-4+deb12u1");
  for (const char* bad :
       {"", "absent hold", "absent 1.2", ">=", ">= ", "newest", "=", "1.2 $(x)", "==1.2", ".1.*", "*"})
    EXPECT_FALSE(package.Canonical(bad).ok()) << bad;
  for (const char* bad :
       {"package.A", "package.x", "package./etc", "package.a b", "package.-a", "package.libc6:"})
    EXPECT_FALSE(Subject(bad).Canonical("installed").ok()) << bad;
  EXPECT_TRUE(Subject("package.libc6:amd64").Canonical("installed").ok());
}

TEST(PackageTest, VersionsAreOrderedAsDebianOrdersThem) {
  struct {
    const char* wish;
    const char* version;  // "" = not installed
    bool held;
    bool fulfilled;
  } cases[] = {
      {"installed", "1.0-1", false, true},
      {"installed", "", false, false},
      {"absent", "", false, true},
      {"absent", "1.0-1", false, false},
      {"=1.0-1", "1.0-1", false, true},
      {"=1.0-1", "1.0-1+b1", false, false},
      {"=1.0-1", "0:1.0-1", false, true},
      {">=1.10", "1.9", false, false},
      {">=1.9", "1.10", false, true},
      {">=1.0", "1.0~rc1", false, false},
      {">=1.0", "1:0.1", false, true},
      {"<2", "2~beta", false, true},
      {">1.0-1 <1.0-3", "1.0-2", false, true},
      {">1.0-1 <1.0-3", "1.0-3", false, false},
      {"550.*", "550.163.01-1", false, true},
      {"550.*", "5501.1-1", false, false},
      {"installed hold", "1.0", false, false},
      {"installed hold", "1.0", true, true},
      {"=1.0 hold", "1.1", true, false},
  };
  for (const auto& one : cases) {
    const auto wish = PackageWish::Parse(one.wish);
    ASSERT_TRUE(wish.ok());
    EXPECT_EQ(wish->FulfilledBy(one.version, one.held), one.fulfilled) << one.wish << " by " << one.version;
  }
}

TEST(PackageTest, ItReadsTheDatabaseAndWritesNothing) {
  Subject package("package.rdma-core");
  FakeMachine machine;
  EXPECT_EQ(package.See(machine).kind, Observation::Kind::kAbsent);
  package.Wish("installed");
  EXPECT_FALSE(package.Satisfied(machine));
  package.Wish("absent");
  EXPECT_TRUE(package.Satisfied(machine));
  machine.Put("/pkg/rdma-core", "version=44.0-2 hold=1");
  EXPECT_EQ(package.See(machine).value, "44.0-2 hold");
  EXPECT_FALSE(package.Satisfied(machine));
  package.Wish(">=44 hold");
  EXPECT_TRUE(package.Satisfied(machine));
  EXPECT_EQ(package.Apply(machine, "=45.0-1").code(), Code::kUnimplemented);
  EXPECT_EQ(package.setting->info().effect, Effect::kObserveOnly);
  for (const char* bad : {"", "hold=1", "version=", "nonsense"}) {
    machine.Put("/pkg/rdma-core", bad);
    EXPECT_FALSE(package.setting->Observe(machine, package.target).ok()) << bad;
  }
  machine.Put("/pkg/rdma-core", "version=44.0-2 hold=0 state=half-configured");
  EXPECT_NE(package.setting->Observe(machine, package.target).status().message().find("dpkg --configure -a"),
            std::string::npos);
}

TEST(CmdlineTest, ListsAndBlanksAreOneSpelling) {
  const Subject cmdline("kernel.cmdline");
  EXPECT_EQ(cmdline.Said("iommu=pt intel_iommu=on"), "intel_iommu=on iommu=pt");
  EXPECT_EQ(cmdline.Said("iommu=pt,intel_iommu=on,!quiet"), "intel_iommu=on iommu=pt !quiet");
  EXPECT_EQ(cmdline.Said("nosmt,mitigations=off"), "mitigations=off nosmt");
  EXPECT_EQ(cmdline.Said("isolcpus=1,2,7-9 quiet"), "isolcpus=1,2,7-9 quiet");
  EXPECT_EQ(cmdline.Said("no-kvmclock"), "no_kvmclock") << "the kernel takes both";
  EXPECT_EQ(cmdline.Said("a=b a=b"), "a=b");
  EXPECT_EQ(cmdline.Said("dyndbg=\"file a +p\""), "dyndbg=\"file a +p\"");
  for (const char* bad : {"", " ", "!", "quiet !quiet", "=x", "!!a"})
    EXPECT_FALSE(cmdline.Canonical(bad).ok()) << bad;
  EXPECT_FALSE(cmdline.Canonical(std::string(2049, 'a')).ok());
}

TEST(CmdlineTest, AProfileSaysWhatIsOfThisFieldAndNoHostsOwnRoot) {
  FakeMachine machine;
  const Subject cmdline("kernel.cmdline");
  machine.Put("/proc/cmdline", "BOOT_IMAGE=/vmlinuz root=UUID=1 intel_iommu=on quiet iommu=pt");
  EXPECT_EQ(*cmdline.setting->AsWish(cmdline.target, cmdline.See(machine)), "intel_iommu=on iommu=pt");
  machine.Put("/proc/cmdline", "BOOT_IMAGE=/vmlinuz root=UUID=1 quiet");
  EXPECT_FALSE(cmdline.setting->AsWish(cmdline.target, cmdline.See(machine)).ok());
}

TEST(CmdlineTest, TheLastValueOfAParameterCounts) {
  struct {
    const char* wish;
    const char* booted;
    bool fulfilled;
  } cases[] = {
      {"iommu=pt", "BOOT_IMAGE=/vmlinuz root=UUID=1 iommu=pt", true},
      {"iommu=pt", "iommu=pt iommu=off", false},
      {"iommu=pt", "iommu=off iommu=pt", true},
      {"iommu=pt", "iommu", false},
      {"iommu=pt", "xiommu=pt intel_iommu=pt", false},
      {"console=ttyS0,115200", "console=ttyS0,115200 console=tty0", true},
      {"!quiet", "splash", true},
      {"!quiet", "quiet splash", false},
      {"!iommu=off", "iommu=pt", true},
      {"!iommu=off", "iommu=off", false},
      {"quiet", "-- quiet", false},
      {"mlx5_core.prof_sel=2", "mlx5-core.prof-sel=2", true},
      {"nosmt", "nosmt=force", false},
  };
  for (const auto& one : cases) {
    Subject cmdline("kernel.cmdline");
    FakeMachine machine;
    machine.Put("/proc/cmdline", one.booted);
    cmdline.Wish(one.wish);
    EXPECT_EQ(cmdline.Satisfied(machine), one.fulfilled) << one.wish << " in " << one.booted;
  }
}

TEST(CmdlineTest, WhatTheBootLoaderAlreadyHasIsPending) {
  Subject cmdline("kernel.cmdline");
  FakeMachine machine;
  machine.Put("/proc/cmdline", "root=/dev/sda1 quiet");
  cmdline.Wish("iommu=pt");
  Observation observed = cmdline.See(machine);
  EXPECT_FALSE(observed.pending_reboot);
  EXPECT_NE(observed.message.find("iommu=pt is missing; set it in /etc/default/grub"), std::string::npos);
  machine.Put("/file/etc/default/grub",
              "# x\nGRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\nGRUB_CMDLINE_LINUX=\"iommu=pt\"\n");
  observed = cmdline.See(machine);
  EXPECT_TRUE(observed.pending_reboot);
  EXPECT_FALSE(cmdline.Satisfied(machine));
  machine.Put("/file/etc/default/grub",
              "#GRUB_CMDLINE_LINUX=\"iommu=pt\"\nGRUB_CMDLINE_LINUX=\"iommu=off\"\n");
  EXPECT_FALSE(cmdline.See(machine).pending_reboot);
  EXPECT_EQ(cmdline.setting->info().effect, Effect::kNeedsReboot);
  EXPECT_EQ(cmdline.Apply(machine, "iommu=pt").code(), Code::kUnimplemented);
}

}  // namespace
}  // namespace railwright
