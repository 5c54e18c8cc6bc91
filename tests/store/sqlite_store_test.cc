#include "controller/store/sqlite_store.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "tests/store/temp_dir.h"

namespace railwright {
namespace {

TEST(SqliteStoreTest, ASecondControllerIsToldWhoHoldsTheDirectory) {
  TempDir directory;
  auto first = SqliteStore::Open(directory.path());
  ASSERT_TRUE(first.ok());
  const auto second = SqliteStore::Open(directory.path());
  EXPECT_EQ(second.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(second.status().message().find("process " + std::to_string(getpid())), std::string::npos);
  first->reset();
  EXPECT_TRUE(SqliteStore::Open(directory.path()).ok());
}

TEST(SqliteStoreTest, AMissingDirectoryNamesInit) {
  const auto opened = SqliteStore::Open("/nonexistent/railwright");
  EXPECT_EQ(opened.status().code(), Code::kNotFound);
  EXPECT_NE(opened.status().message().find("railwright-controller init --state-dir /nonexistent/railwright"),
            std::string::npos);
}

TEST(SqliteStoreTest, ADirectoryThatIsAFileIsRefused) {
  TempDir directory;
  WriteFile(directory / "x", "");
  EXPECT_EQ(SqliteStore::Open(directory / "x").status().code(), Code::kInvalidArgument);
}

TEST(SqliteStoreTest, ADirectoryThatIsNotWritableIsNamedWithItsUser) {
  TempDir directory;
  ASSERT_EQ(chmod(directory.path().c_str(), 0555), 0);
  // Root writes everywhere, so the question is asked by a child that is nobody.
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(9);
    const auto opened = SqliteStore::Open(directory.path());
    const bool good = opened.status().code() == Code::kPermissionDenied &&
                      opened.status().message().find("not writable by user") != std::string::npos;
    _exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(SqliteStoreTest, TheFileIsNotForEverybody) {
  TempDir directory;
  ASSERT_TRUE(SqliteStore::Open(directory.path()).ok());
  struct stat info {};
  ASSERT_EQ(stat((directory / kStoreFile).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0007, 0u);
}

TEST(SqliteStoreTest, AnotherProgramsLockIsUnavailableAndLosesNothing) {
  TempDir directory;
  auto store = SqliteStore::Open(directory.path());
  ASSERT_TRUE(store.ok());
  ASSERT_TRUE((*store)->PutReports({MakeWrite("a", 1)}).ok());
  {
    auto intruder = Database::Open(directory / kStoreFile, Database::Access::kReadWrite);
    ASSERT_TRUE(intruder.ok());
    ASSERT_TRUE((*intruder)->Execute("BEGIN IMMEDIATE").ok());
    const Status status = (*store)->PutReports({MakeWrite("a", 2)});
    EXPECT_EQ(status.code(), Code::kUnavailable) << status.ToString();
    EXPECT_NE(status.message().find("another program"), std::string::npos);
  }
  EXPECT_TRUE((*store)->PutReports({MakeWrite("a", 2)}).ok());
  EXPECT_EQ((*store)->Changes({})->size(), 2u);
}

TEST(SqliteStoreTest, HistoryIsBoundedAndTheOldestGoFirst) {
  TempDir directory;
  auto store = SqliteStore::Open(directory.path(), 100);
  ASSERT_TRUE(store.ok());
  for (std::uint64_t n = 1; n <= 300; ++n) ASSERT_TRUE((*store)->PutReports({MakeWrite("a", n)}).ok());
  auto changes = (*store)->Changes({});
  ASSERT_TRUE(changes.ok());
  EXPECT_GE(changes->size(), 100u);
  EXPECT_LE(changes->size(), 110u);
  EXPECT_EQ((*changes)[0].second.sequence, 300u);
  // What was dropped stays dropped, also after a restart: the highest sequence is remembered beside it.
  store->reset();
  store = SqliteStore::Open(directory.path(), 100);
  ASSERT_TRUE(store.ok());
  ASSERT_TRUE((*store)->PutReports({MakeWrite("a", 3)}).ok());
  EXPECT_NE((*store)->Changes({})->back().second.sequence, 3u);
}

TEST(SqliteStoreTest, ATextIsStoredOnceForAllGenerations) {
  TempDir directory;
  auto store = SqliteStore::Open(directory.path());
  ASSERT_TRUE(store.ok());
  for (std::uint64_t n = 1; n <= 5; ++n) ASSERT_TRUE((*store)->AddGeneration(MakeGeneration(n), {}, {}).ok());
  auto reader = Database::Open(directory / kStoreFile, Database::Access::kReadOnly);
  EXPECT_EQ(*(*reader)->Value("SELECT count(*) FROM texts"), "2");
}

TEST(SqliteStoreTest, ReadersSeeWholeTransactionsWhileTheWriterWrites) {
  TempDir directory;
  auto store = SqliteStore::Open(directory.path());
  ASSERT_TRUE(store.ok());
  std::atomic<bool> stop{false};
  std::atomic<int> torn{0}, reads{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&] {
      while (!stop) {
        const auto reports = (*store)->Reports();
        if (!reports.ok() || (reports->size() != 0 && reports->size() != 2) ||
            (reports->size() == 2 && (*reports)[0].report_hash != (*reports)[1].report_hash))
          ++torn;
        ++reads;
      }
    });
  for (std::uint64_t n = 1; n <= 100; ++n)
    EXPECT_TRUE((*store)->PutReports({MakeWrite("a", n), MakeWrite("b", n)}).ok());
  while (reads < 10) std::this_thread::yield();
  stop = true;
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(torn, 0);
}

}  // namespace
}  // namespace railwright
