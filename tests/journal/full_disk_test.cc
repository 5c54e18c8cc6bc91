// The journal on a file system that is really full: a tmpfs of 16 pages in a mount namespace of a child
// process.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "agent/journal/file_journal.h"

namespace railwright {
namespace {

// Runs `body` in a child that has `folder` as a tmpfs of 64 KiB; its return value is the exit status.
int InSmallDisk(const std::string& folder, const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=64k") != 0)
      ::_exit(77);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

TEST(FullDiskTest, AFullDiskIsResourceExhaustedAndNothingStoredIsLost) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to mount a small tmpfs";
  const auto folder = std::filesystem::temp_directory_path() / ("rw-full-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "journal").string();

  const int result = InSmallDisk(folder.string(), [&] {
    auto journal = OpenFileJournal(path);
    if (!journal.ok()) return 1;
    int stored = 0;
    Status status;
    for (; stored < 1000; ++stored) {
      status = (*journal)->RecordOriginal(
          {"key" + std::to_string(stored), "", Original::Kind::kValue, std::string(900, 'v')});
      if (!status.ok()) break;
    }
    if (status.code() != Code::kResourceExhausted || status.error_number() != ENOSPC) return 2;
    if (stored < 10) return 3;
    // The refused record is neither believed nor left half in the file.
    if ((*journal)->OriginalOf("key" + std::to_string(stored), "")) return 4;
    auto again = OpenFileJournal(path);
    if (!again.ok()) return 5;
    return (*again)->Originals().size() == static_cast<std::size_t>(stored) ? 0 : 6;
  });
  std::filesystem::remove_all(folder);
  if (result == 77) GTEST_SKIP() << "no mount namespace here: " << std::strerror(EPERM);
  EXPECT_EQ(result, 0) << "step that failed, see the test's source";
}

TEST(FullDiskTest, GoesOnByItselfWhenThereIsRoomAgain) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to mount a small tmpfs";
  const auto folder = std::filesystem::temp_directory_path() / ("rw-room-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "journal").string();
  const std::string ballast = (folder / "ballast").string();

  const int result = InSmallDisk(folder.string(), [&] {
    auto journal = OpenFileJournal(path);
    if (!journal.ok()) return 1;
    if (!(*journal)->RecordOriginal({"a", "", Original::Kind::kValue, "1"}).ok()) return 2;
    {
      std::ofstream out(ballast);
      out << std::string(200'000, 'b');
    }
    // Fill the last page of the journal, then one more.
    Status status;
    for (int i = 0; i < 20 && status.ok(); ++i)
      status = (*journal)->Begin({"b" + std::to_string(i), "", std::string(900, 'x'), "y"});
    if (status.code() != Code::kResourceExhausted) return 3;
    std::filesystem::remove(ballast);
    if (!(*journal)->RecordOriginal({"c", "", Original::Kind::kValue, "3"}).ok()) return 4;
    auto again = OpenFileJournal(path);
    if (!again.ok()) return 5;
    return (*again)->OriginalOf("a", "") && (*again)->OriginalOf("c", "") ? 0 : 6;
  });
  std::filesystem::remove_all(folder);
  if (result == 77) GTEST_SKIP() << "no mount namespace here: " << std::strerror(EPERM);
  EXPECT_EQ(result, 0) << "step that failed, see the test's source";
}

}  // namespace
}  // namespace railwright
