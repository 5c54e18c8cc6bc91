#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <random>

#include "agent/machine/linux_machine.h"
#include "agent/tools/tools.h"
#include "tests/machine/temporary_directory.h"
#include "tests/support/fork_child.h"
#include "tests/support/rounds.h"

namespace railwright::machine {
namespace {

class FilesTest : public testing::Test {
 protected:
  TemporaryDirectory root_;
  std::unique_ptr<Machine> machine_ = MakeLinuxMachine({.root = root_.path()});

  std::string Names(const std::string& directory) {
    std::string names;
    const auto listed = machine_->List(directory);
    for (const std::string& name : *listed) names += name + " ";
    return names;
  }
  mode_t ModeOf(const std::string& name) {
    struct stat facts {};
    EXPECT_EQ(::stat((root_.path() + name).c_str(), &facts), 0);
    return facts.st_mode & 07777;
  }
};

TEST_F(FilesTest, KernelFilesLoseTheirTrailingNewlinesOnly) {
  root_.Write("/sys/a/value", " 1 2\n\n");
  root_.Write("/proc/empty", "");
  EXPECT_EQ(machine_->Get("/sys/a/value").value(), " 1 2");
  EXPECT_EQ(machine_->Get("/proc/empty").value(), "");
}

TEST_F(FilesTest, AChangedFileIsNeverReadFromMemory) {
  root_.Write("/proc/sys/net/x", "1\n");
  EXPECT_EQ(machine_->Get("/proc/sys/net/x").value(), "1");
  std::filesystem::remove(root_.path() + "/proc/sys/net/x");
  root_.Write("/proc/sys/net/x", "2\n");
  EXPECT_EQ(machine_->Get("/proc/sys/net/x").value(), "2");
}

TEST_F(FilesTest, AKernelFileIsWrittenInPlaceWithANewline) {
  root_.Write("/sys/a/value", "a longer text\n");
  ASSERT_TRUE(machine_->Set("/sys/a/value", "5").ok());
  EXPECT_EQ(root_.Read("/sys/a/value"), "5\n");
  EXPECT_EQ(machine_->Set("/sys/a/other", "5").code(), Code::kNotFound) << "a write makes no file";
}

TEST_F(FilesTest, MissingThingsAreNotFoundWithTheKernelsWords) {
  Status status = machine_->Get("/sys/nothing").status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_EQ(status.error_number(), ENOENT);
  EXPECT_EQ(status.message(), "/sys/nothing: No such file or directory");
  EXPECT_EQ(machine_->List("/sys/nothing").status().code(), Code::kNotFound);
  EXPECT_EQ(machine_->Get("/file/etc/nothing").status().code(), Code::kNotFound);
}

TEST_F(FilesTest, OnlyDirectoriesBelowConfigfsAreValues) {
  root_.Write("/sys/kernel/config/rdma_cm/.keep", "");
  EXPECT_EQ(machine_->Get("/sys/kernel/config/rdma_cm").value(), "directory");
  EXPECT_EQ(machine_->Get("/sys/kernel").status().error_number(), EISDIR);
  ASSERT_TRUE(machine_->Set("/sys/kernel/config/rdma_cm/mlx5_0", "directory").ok());
  ASSERT_TRUE(machine_->Set("/sys/kernel/config/rdma_cm/mlx5_0", "directory").ok()) << "it is there";
  EXPECT_EQ(machine_->Get("/sys/kernel/config/rdma_cm/mlx5_0").value(), "directory");
  ASSERT_TRUE(machine_->Set("/sys/kernel/config/rdma_cm/mlx5_0", "").ok());
  ASSERT_TRUE(machine_->Set("/sys/kernel/config/rdma_cm/mlx5_0", "").ok()) << "it is gone";
  EXPECT_EQ(machine_->Get("/sys/kernel/config/rdma_cm/mlx5_0").status().code(), Code::kNotFound);
  EXPECT_FALSE(machine_->Set("/sys/kernel/config/no/such/parent", "directory").ok());
}

TEST_F(FilesTest, ListIsSortedAndShowsHiddenNames) {
  root_.Write("/sys/class/b", "");
  root_.Write("/sys/class/a", "");
  root_.Write("/sys/class/.c", "");
  EXPECT_EQ(Names("/sys/class"), ".c a b ");
}

TEST_F(FilesTest, FilesAreExactBytes) {
  const std::string bytes("\n a\0b\r\n\n", 8);
  ASSERT_TRUE(machine_->Set("/file/etc/x", bytes).ok());
  EXPECT_EQ(machine_->Get("/file/etc/x").value(), bytes);
  EXPECT_EQ(root_.Read("/etc/x"), bytes);
  root_.Write("/etc/empty", "");
  EXPECT_EQ(machine_->Get("/file/etc/empty").value(), "");
}

TEST_F(FilesTest, ANewFileIs0644AndItsFoldersAreMade) {
  ::umask(077);
  ASSERT_TRUE(machine_->Set("/file/etc/deep/er/nccl.conf", "NCCL_DEBUG=WARN\n").ok());
  ::umask(022);
  EXPECT_EQ(ModeOf("/etc/deep/er/nccl.conf"), 0644u) << "whatever the umask";
  EXPECT_EQ(Names("/file/etc/deep/er"), "nccl.conf ");
}

TEST_F(FilesTest, AReplacedFileKeepsModeAndOwner) {
  root_.Write("/etc/secret", "old");
  ASSERT_EQ(::chmod((root_.path() + "/etc/secret").c_str(), 0640), 0);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown((root_.path() + "/etc/secret").c_str(), 12345, 23456), 0);
  }
  ASSERT_TRUE(machine_->Set("/file/etc/secret", "new").ok());
  EXPECT_EQ(ModeOf("/etc/secret"), 0640u);
  struct stat facts {};
  ASSERT_EQ(::stat((root_.path() + "/etc/secret").c_str(), &facts), 0);
  if (::geteuid() == 0) {
    EXPECT_EQ(facts.st_uid, 12345u);
    EXPECT_EQ(facts.st_gid, 23456u);
  }
}

TEST_F(FilesTest, AnEmptyValueRemovesAndRemovingTwiceIsDone) {
  root_.Write("/etc/x", "x");
  ASSERT_TRUE(machine_->Set("/file/etc/x", "").ok());
  EXPECT_EQ(machine_->Get("/file/etc/x").status().code(), Code::kNotFound);
  EXPECT_TRUE(machine_->Set("/file/etc/x", "").ok());
  EXPECT_TRUE(machine_->Set("/file/no/folder/x", "").ok());
  EXPECT_FALSE(std::filesystem::exists(root_.path() + "/no"));
}

TEST_F(FilesTest, WhatIsNoRegularFileIsRefusedByNameAndLeftAlone) {
  root_.Write("/etc/real", "content");
  std::filesystem::create_symlink("real", root_.path() + "/etc/link");
  std::filesystem::create_symlink("gone", root_.path() + "/etc/broken");
  std::filesystem::create_directory(root_.path() + "/etc/folder");
  ASSERT_EQ(::mkfifo((root_.path() + "/etc/pipe").c_str(), 0600), 0);
  struct Case {
    const char* path;
    const char* words;
  };
  for (const Case& one : {Case{"/file/etc/link", "a symbolic link to real"},
                          Case{"/file/etc/broken", "a symbolic link to gone"},
                          Case{"/file/etc/folder", "a directory"}, Case{"/file/etc/pipe", "a named pipe"}}) {
    for (const Status& status :
         {machine_->Get(one.path).status(), machine_->Set(one.path, "x"), machine_->Set(one.path, "")}) {
      EXPECT_EQ(status.code(), Code::kFailedPrecondition) << one.path;
      EXPECT_NE(status.message().find(one.words), std::string::npos) << status.message();
    }
  }
  EXPECT_EQ(root_.Read("/etc/real"), "content");
  EXPECT_TRUE(std::filesystem::is_symlink(root_.path() + "/etc/link"));
}

TEST_F(FilesTest, WhatACrashLeftBehindIsNoHindrance) {
  root_.Write("/etc/.x.railwright-new", "half");
  ASSERT_TRUE(machine_->Set("/file/etc/x", "whole").ok());
  EXPECT_EQ(root_.Read("/etc/x"), "whole");
  EXPECT_EQ(Names("/file/etc"), "x ");
}

TEST_F(FilesTest, AHugeFileIsNotReadIntoMemory) {
  root_.Write("/etc/huge", "x");
  ASSERT_EQ(::truncate((root_.path() + "/etc/huge").c_str(), off_t{1} << 40), 0);
  EXPECT_EQ(machine_->Get("/file/etc/huge").status().code(), Code::kResourceExhausted);
}

TEST_F(FilesTest, KilledInTheMiddleTheOldOrTheNewContentIsThereWhole) {
  const std::string a(300'000, 'a'), b(300'000, 'b');
  ASSERT_TRUE(machine_->Set("/file/etc/x", a).ok());
  std::mt19937 random(5);
  for (int round = 0; round < Rounds(30, 500); ++round) {
    const pid_t child = ForkChild();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (;;) {
        (void)machine_->Set("/file/etc/x", b);
        (void)machine_->Set("/file/etc/x", a);
      }
    }
    ::usleep(static_cast<useconds_t>(random() % 6000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    const std::string now = root_.Read("/etc/x");
    EXPECT_TRUE(now == a || now == b) << now.size() << " bytes in round " << round;
  }
}

TEST_F(FilesTest, OddPathsAreRefusedBeforeAnyBackend) {
  for (const char* path :
       {"", "sys/x", "/sys/../etc/passwd", "/sys//x", "/sys/./x", "/file/etc/", "/file/etc/.."})
    EXPECT_EQ(machine_->Get(path).status().code(), Code::kInvalidArgument) << path;
  EXPECT_EQ(machine_->Get(std::string_view("/sys/a\0b", 8)).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(machine_->Get("/sys/" + std::string(5000, 'x')).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(machine_->Set("/file", "x").code(), Code::kInvalidArgument);
}

TEST_F(FilesTest, APathThatNothingServesIsUnimplemented) {
  for (const char* path :
       {"/dcb/rail0/x", "/reg/x", "/etc/passwd", "/filee/x", "/rtnl", "/nft/chain/x", "/pkg"}) {
    EXPECT_EQ(machine_->Get(path).status().code(), Code::kUnimplemented) << path;
    EXPECT_EQ(machine_->Set(path, "x").code(), Code::kUnimplemented) << path;
  }
}

TEST_F(FilesTest, ReadingSpawnsNothing) {
  root_.Write("/var/lib/dpkg/status", "Package: a\nStatus: install ok installed\nVersion: 1\n");
  root_.Write("/etc/x", "x");
  const auto before = ProgramsSpawned();
  for (const char* path :
       {"/file/etc/x", "/pkg/a", "/kmod/loop", "/rtnl/link/lo", "/rtnl/rule/100", "/nft/generation"})
    (void)machine_->Get(path);
  EXPECT_EQ(ProgramsSpawned(), before);
}

TEST_F(FilesTest, ModulesAreKnownByTheirStateDirectory) {
  root_.Write("/sys/module/nvidia_peermem/initstate", "live\n");
  root_.Write("/sys/module/configfs/parameters/x", "");
  EXPECT_EQ(machine_->Get("/kmod/nvidia_peermem").value(), "live");
  EXPECT_EQ(machine_->Get("/kmod/nvidia-peermem").value(), "live") << "dashes and underscores are one";
  EXPECT_EQ(machine_->Get("/kmod/configfs").value(), "builtin");
  Status missing = machine_->Get("/kmod/no_such_module").status();
  EXPECT_EQ(missing.code(), Code::kNotFound);
  EXPECT_NE(missing.message().find("has no such module"), std::string::npos) << missing.message();
  EXPECT_TRUE(machine_->Set("/kmod/nvidia_peermem", "live").ok()) << "it is";
  EXPECT_EQ(machine_->Set("/kmod/configfs", "").code(), Code::kFailedPrecondition);
  EXPECT_EQ(machine_->Set("/kmod/no_such_module", "live").code(), Code::kNotFound);
  EXPECT_EQ(machine_->Set("/kmod/configfs", "on").code(), Code::kInvalidArgument);
  EXPECT_EQ(machine_->List("/kmod").value(), (std::vector<std::string>{"configfs", "nvidia_peermem"}));
}

}  // namespace
}  // namespace railwright::machine
