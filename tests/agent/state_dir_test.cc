#include "agent/loop/state_dir.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/files/whole_file.h"
#include "tests/agent/temporary_directory.h"

namespace railwright {
namespace {

TEST(StateDir, IsMadeToWalkThroughAndNothingElse) {
  TemporaryDirectory temporary;
  const std::string directory = temporary.path() + "/state";
  const auto state = StateDir::Open(directory);
  ASSERT_TRUE(state.ok()) << state.status().ToString();
  struct stat info {};
  ASSERT_EQ(stat(directory.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0711U);
}

TEST(StateDir, HasOneAgentAtATimeAndNamesIt) {
  TemporaryDirectory temporary;
  const auto first = StateDir::Open(temporary.path());
  ASSERT_TRUE(first.ok());
  const auto second = StateDir::Open(temporary.path());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(second.status().message().find("process " + std::to_string(getpid())), std::string::npos)
      << second.status().message();
  const auto look = StateDir::Look(temporary.path());
  ASSERT_TRUE(look.ok());
  EXPECT_EQ(look->Holder(), getpid());
}

TEST(StateDir, IsFreeAgainWhenItsAgentDied) {
  TemporaryDirectory temporary;
  const pid_t child = fork();
  if (child == 0) {
    const auto held = StateDir::Open(temporary.path());
    _exit(held.ok() ? 0 : 1);  // no destructor: as kill -9 would leave it
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(StateDir::Look(temporary.path())->Holder(), std::nullopt);
  EXPECT_TRUE(StateDir::Open(temporary.path()).ok());
}

TEST(StateDir, AFileInItsPlaceIsSaid) {
  TemporaryDirectory temporary;
  const std::string path = temporary.path() + "/file";
  ASSERT_TRUE(WriteWholeFile(path, "x", {.sync = Sync::kNone}).ok());
  const auto state = StateDir::Open(path);
  EXPECT_EQ(state.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(state.status().message().find("is no directory"), std::string::npos);
}

TEST(StateDir, AParentThatIsNotThereIsNamed) {
  const auto state = StateDir::Open("/tmp/railwright-no-such-folder/state");
  ASSERT_FALSE(state.ok());
  EXPECT_NE(state.status().message().find("/tmp/railwright-no-such-folder/state"), std::string::npos);
}

TEST(StateDir, ADirectoryThatTakesNoWritesSaysWhatToDo) {
  const auto state = StateDir::Open("/proc/self");
  ASSERT_FALSE(state.ok());
  EXPECT_NE(state.status().message().find("state directory /proc/self"), std::string::npos)
      << state.status().message();
}

}  // namespace
}  // namespace railwright
