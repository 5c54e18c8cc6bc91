// A full disk: told as such, loses nothing, heals. Needs root for a small tmpfs of its own.
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "controller/store/sqlite_store.h"
#include "tests/store/temp_dir.h"

namespace railwright {
namespace {

class FullDiskTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root to mount a tmpfs";
    // A mount namespace of our own, so that nothing is left on the host whatever happens.
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      GTEST_SKIP() << "no mount namespace: " << std::strerror(errno);
    ASSERT_EQ(mount("tmpfs", directory_.path().c_str(), "tmpfs", 0, "size=2m"), 0) << std::strerror(errno);
    mounted_ = true;
  }
  void TearDown() override {
    store_.reset();
    if (mounted_) umount2(directory_.path().c_str(), MNT_DETACH);
  }
  void FillDisk() {
    std::ofstream out(directory_ / "filler", std::ios::binary);
    const std::string block(4096, 'x');
    while (out.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  void FreeDisk() { std::filesystem::remove(directory_ / "filler"); }
  TempDir directory_;
  bool mounted_ = false;
  std::unique_ptr<SqliteStore> store_;
};

TEST_F(FullDiskTest, EveryWriteSaysSoNothingIsLostAndTheProbeSeesItHeal) {
  auto opened = SqliteStore::Open(directory_.path());
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  store_ = std::move(*opened);
  ASSERT_TRUE(store_->AddGeneration(MakeGeneration(1), {}, {}).ok());
  ASSERT_TRUE(store_->PutReports({MakeWrite("a", 1)}).ok());
  FillDisk();
  // The log may still have room inside its file; it ends soon.
  Status status;
  std::uint64_t stored = 1;
  for (std::uint64_t n = 2; n < 2000 && status.ok(); ++n) {
    status = store_->PutReports({MakeWrite("a", n)});
    if (status.ok()) stored = n;
  }
  ASSERT_EQ(status.code(), Code::kResourceExhausted) << status.ToString();
  EXPECT_EQ(status.error_number(), ENOSPC);
  EXPECT_EQ(store_->AddGeneration(MakeGeneration(2, std::string(200'000, 'y')), {}, {}).code(),
            Code::kResourceExhausted);
  EXPECT_EQ(store_->Probe().code(), Code::kResourceExhausted);
  // Reading goes on, and shows exactly what was acknowledged.
  EXPECT_EQ((*store_->Reports())[0].stored_change, stored);
  EXPECT_EQ(store_->LatestGeneration()->value().generation.value, 1u);

  FreeDisk();
  EXPECT_TRUE(store_->Probe().ok());
  EXPECT_TRUE(store_->PutReports({MakeWrite("a", stored + 1)}).ok());
  EXPECT_TRUE(store_->AddGeneration(MakeGeneration(2), {}, {}).ok());
  store_.reset();
  auto again = SqliteStore::Open(directory_.path());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*(*again)->Reports())[0].stored_change, stored + 1);
  EXPECT_EQ((*again)->LatestGeneration()->value().generation.value, 2u);
}

TEST_F(FullDiskTest, ABackupThatDoesNotFitLeavesNothing) {
  TempDir source;
  auto opened = SqliteStore::Open(source.path());
  ASSERT_TRUE(opened.ok());
  for (std::uint64_t n = 1; n <= 20; ++n)
    ASSERT_TRUE(
        (*opened)
            ->AddGeneration(MakeGeneration(n, std::string(200'000, static_cast<char>('a' + n))), {}, {})
            .ok());
  const Status status = BackupStore(source.path(), directory_ / "backup.db");
  EXPECT_EQ(status.code(), Code::kResourceExhausted) << status.ToString();
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST_F(FullDiskTest, AReadOnlyFileSystemIsNamed) {
  ASSERT_EQ(mount(nullptr, directory_.path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  const auto opened = SqliteStore::Open(directory_.path());
  EXPECT_EQ(opened.status().code(), Code::kPermissionDenied);
  EXPECT_NE(opened.status().message().find("Read-only file system"), std::string::npos)
      << opened.status().message();
}

}  // namespace
}  // namespace railwright
