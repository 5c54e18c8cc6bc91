#include <cerrno>

#include "core/decode/config_file.h"
#include "tests/settings/subject.h"
#include "tests/support/fake_machine.h"

namespace railwright {
namespace {

constexpr const char* kModprobe = "/etc/modprobe.d/railwright.conf";

TEST(FileTest, ContentIsKeptAndEndsWithALineBreak) {
  Subject file(std::string("file.") + kModprobe);
  EXPECT_EQ(file.Said("options mlx5_core prof_sel=2"), "options mlx5_core prof_sel=2\n");
  EXPECT_EQ(file.Said("a 1\n\n  b 2\n"), "a 1\n\n  b 2\n");
  EXPECT_EQ(file.Said(""), "") << "no such file";
  EXPECT_FALSE(file.Canonical(std::string("a\0b", 3)).ok());
  EXPECT_FALSE(file.Canonical("a\r\n").ok());
  EXPECT_FALSE(file.Canonical(std::string(kConfigTextLimit + 1, 'x')).ok());
}

TEST(FileTest, PathsThatLeaveTheirFolderAreRefused) {
  for (const char* bad :
       {"etc/x", "/etc/modprobe.d/../shadow", "/etc//modprobe.d/railwright.conf", "/etc/./x", "/etc/x/", "/",
        "", "/etc/a b", "/etc/modprobe.d/railwright*.conf", "/etc/x\n"})
    EXPECT_FALSE(CheckConfigPath(bad).ok()) << bad;
}

TEST(FileTest, OnlyOurOwnFilesAreOnTheList) {
  for (const char* good : {"/etc/modprobe.d/railwright.conf", "/etc/modprobe.d/90-railwright-mlx5.conf",
                           "/etc/udev/rules.d/70-railwright.rules", "/etc/sysctl.d/railwright.conf",
                           "/etc/modules-load.d/railwright.conf", "/etc/railwright/files.d/note"})
    EXPECT_TRUE(IsKnownConfigPath(good)) << good;
  for (const char* bad :
       {"/etc/shadow", "/etc/modprobe.d/mlx5.conf", "/etc/modprobe.d/railwright/x.conf",
        "/etc/railwright/sysctl.allow", "/etc/railwright/files.d/a/b", "/etc/udev/rules.d/x.rules"})
    EXPECT_FALSE(IsKnownConfigPath(bad)) << bad;
}

TEST(FileTest, NoListCanAllowWhatDecidesWhoMayChangeTheNode) {
  FakeMachine machine;
  machine.Put("/file/etc/railwright/file.allow",
              "/etc/*\n/etc/railwright/*\n/etc/ssh/*\n/etc/pam.d/*\n/root/.ssh/authorized_keys\n");
  for (const char* path :
       {"/etc/railwright/file.allow", "/etc/railwright/sysctl.allow", "/etc/railwright/agent.conf",
        "/etc/shadow", "/etc/ssh/sshd_config", "/etc/pam.d/sshd", "/etc/ld.so.preload"}) {
    machine.Put(std::string("/file") + path, "secret\n");
    const Subject file(std::string("file.") + path);
    EXPECT_FALSE(file.Canonical("x\n").ok()) << path;
    EXPECT_FALSE(file.setting->Observe(machine, file.target).ok()) << path;
    EXPECT_FALSE(file.Apply(machine, "x\n").ok()) << path;
  }
  EXPECT_TRUE(machine.Writes().empty());
}

TEST(FileTest, APathOutsideTheListIsNotEvenRead) {
  const Subject file("file./etc/hosts");
  EXPECT_EQ(file.Said("127.0.0.1 localhost\n"), "127.0.0.1 localhost\n") << "a node may allow it";
  FakeMachine machine;
  machine.Put("/file/etc/hosts", "10.0.0.1 secret\n");
  const auto refused = file.setting->Observe(machine, file.target);
  EXPECT_EQ(refused.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(refused.status().message().find("/etc/railwright/file.allow"), std::string::npos);
  EXPECT_EQ(refused.status().message().find("secret"), std::string::npos);
  for (const auto& path : machine.Reads()) EXPECT_NE(path, "/file/etc/hosts");

  machine.Put("/file/etc/railwright/file.allow", "# names\n/etc/hosts # by the site\n");
  EXPECT_EQ(file.See(machine).value, "10.0.0.1 secret\n");
  machine.Put("/file/etc/railwright/file.allow", "etc/hosts\n");
  EXPECT_NE(file.setting->Observe(machine, file.target).status().message().find("file.allow:1"),
            std::string::npos);
}

TEST(FileTest, NothingThatRunsAProgramComesOverTheWire) {
  struct {
    const char* path;
    const char* text;
  } cases[] = {
      {kModprobe, "options a b=1\ninstall mlx5_core /bin/sh -c x\n"},
      {kModprobe, "  remove x true\n"},
      {kModprobe, "inst\\\nall x /bin/true\n"},
      {kModprobe, "options a b=1\\\n\n install x y\n"},
      {"/etc/udev/rules.d/70-railwright.rules", "SUBSYSTEM==\"net\", RUN+=\"/bin/sh\"\n"},
      {"/etc/udev/rules.d/70-railwright.rules", "KERNEL==\"x\"RUN{program}=\"/bin/sh\"\n"},
      {"/etc/udev/rules.d/70-railwright.rules", "# x \\\nPROGRAM=\"/bin/sh\"\n"},
      {"/etc/udev/rules.d/70-railwright.rules", "KERNEL==\"x\", RU\\\n   N+=\"/bin/sh\"\n"},
      {"/etc/udev/rules.d/70-railwright.rules", "IMPORT{program}=\"/bin/sh\"\n"},
      {"/etc/sysctl.d/90-railwright.conf", "kernel.core_pattern=|/bin/sh\n"},
      {"/etc/sysctl.d/90-railwright.conf", "# a \\\nkernel.modprobe = /tmp/x\n"},
      {"/etc/sysctl.d/90-railwright.conf", "-kernel/core_p* = x\n"},
      {"/etc/sysctl.d/90-railwright.conf", "vm.swappiness\n"},
  };
  for (const auto& one : cases) {
    const Subject file(std::string("file.") + one.path);
    const auto refused = file.Canonical(one.text);
    ASSERT_FALSE(refused.ok()) << one.text;
    EXPECT_NE(refused.status().message().find("line "), std::string::npos) << refused.status().message();
  }
}

TEST(FileTest, OrdinaryFilesPass) {
  EXPECT_TRUE(
      Subject("file./etc/sysctl.d/90-railwright.conf")
          .Canonical("# rails\n; also\nnet.ipv4.conf.all.rp_filter = 2\n-net.ipv4.conf.*.arp_ignore=1\n")
          .ok());
  EXPECT_TRUE(
      Subject("file./etc/udev/rules.d/70-railwright.rules")
          .Canonical("ACTION==\"add\", SUBSYSTEM==\"net\", KERNELS==\"0000:18:00.0\", NAME=\"rail0\"\n")
          .ok());
  EXPECT_TRUE(Subject("file./etc/modprobe.d/railwright.conf").Canonical("blacklist nouveau\n").ok());
}

TEST(FileTest, AFileIsMadeReplacedAndRemoved) {
  Subject file(std::string("file.") + kModprobe);
  FakeMachine machine;
  EXPECT_EQ(file.See(machine).kind, Observation::Kind::kAbsent);
  file.Wish("options a b=1");
  EXPECT_FALSE(file.Satisfied(machine));
  ASSERT_TRUE(file.Apply(machine, file.target.wish).ok());
  EXPECT_TRUE(file.Satisfied(machine));
  file.Wish("");
  EXPECT_FALSE(file.Satisfied(machine));
  ASSERT_TRUE(file.Apply(machine, "").ok());
  EXPECT_TRUE(file.Satisfied(machine));
}

TEST(FileTest, AFileTooLargeToCompareIsAnError) {
  Subject file(std::string("file.") + kModprobe);
  FakeMachine machine;
  machine.Put(std::string("/file") + kModprobe, std::string(kConfigTextLimit + 1, 'x'));
  EXPECT_FALSE(file.setting->Observe(machine, file.target).ok());
}

}  // namespace
}  // namespace railwright
