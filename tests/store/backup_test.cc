#include <atomic>
#include <thread>

#include "controller/store/sqlite_store.h"
#include "tests/store/temp_dir.h"

namespace railwright {
namespace {

TEST(BackupTest, ABackupOfAStoreInUseIsConsistentAndRestores) {
  TempDir directory, other;
  {
    auto store = SqliteStore::Open(directory.path());
    ASSERT_TRUE(store.ok());
    ASSERT_TRUE((*store)->AddGeneration(MakeGeneration(1), {}, {}).ok());
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> written{0};
    std::thread writer([&] {
      for (std::uint64_t n = 1; !stop; ++n) {
        EXPECT_TRUE((*store)->PutReports({MakeWrite("a", n), MakeWrite("b", n)}).ok());
        written = n;
      }
    });
    while (written < 20) std::this_thread::yield();
    const Status status = BackupStore(directory.path(), other / "backup.db");
    stop = true;
    writer.join();
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  // One file, nothing beside it.
  EXPECT_FALSE(std::filesystem::exists(other / "backup.db-wal"));
  TempDir target;
  ASSERT_TRUE(RestoreStore(target.path(), other / "backup.db").ok());
  auto restored = SqliteStore::Open(target.path());
  ASSERT_TRUE(restored.ok()) << restored.status().ToString();
  const auto reports = (*restored)->Reports();
  ASSERT_EQ(reports->size(), 2u);
  EXPECT_EQ((*reports)[0].report_hash, (*reports)[1].report_hash);
  EXPECT_GE((*reports)[0].stored_change, 20u);
  EXPECT_EQ((*restored)->LatestGeneration()->value().documents, MakeGeneration(1).documents);
}

TEST(BackupTest, NothingIsOverwritten) {
  TempDir directory, other;
  ASSERT_TRUE(SqliteStore::Open(directory.path()).ok());
  WriteFile(other / "precious", "data");
  EXPECT_EQ(BackupStore(directory.path(), other / "precious").code(), Code::kAlreadyExists);
  EXPECT_EQ(ReadFile(other / "precious"), "data");
}

TEST(BackupTest, WithoutAStoreThereIsNothingToBackUp) {
  TempDir directory;
  EXPECT_EQ(BackupStore(directory.path(), directory / "b").code(), Code::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(directory / "b"));
}

TEST(BackupTest, AFailedBackupLeavesNoFileBehind) {
  TempDir directory;
  ASSERT_TRUE(SqliteStore::Open(directory.path()).ok());
  EXPECT_FALSE(BackupStore(directory.path(), directory / "no/such/place").ok());
  std::string bad = ReadFile(directory / kStoreFile);
  bad.resize(bad.size() / 2);
  WriteFile(directory / kStoreFile, bad);
  TempDir other;
  EXPECT_EQ(BackupStore(directory.path(), other / "b").code(), Code::kDataLoss);
  EXPECT_TRUE(std::filesystem::is_empty(other.path()));
}

class RestoreTest : public testing::Test {
 protected:
  void SetUp() override {
    {
      auto store = SqliteStore::Open(directory_.path());
      ASSERT_TRUE((*store)->AddGeneration(MakeGeneration(1), {}, {}).ok());
    }
    ASSERT_TRUE(BackupStore(directory_.path(), backup_).ok());
    auto store = SqliteStore::Open(directory_.path());
    ASSERT_TRUE((*store)->AddGeneration(MakeGeneration(2), {}, {}).ok());
  }
  std::uint64_t Latest() const {
    auto store = SqliteStore::Open(directory_.path());
    return store.ok() ? (*store)->LatestGeneration()->value().generation.value : 0;
  }
  TempDir directory_, other_;
  std::string backup_ = other_ / "backup.db";
};

TEST_F(RestoreTest, TheOldStoreIsKeptBesideWithItsDate) {
  ASSERT_EQ(Latest(), 2u);
  ASSERT_TRUE(RestoreStore(directory_.path(), backup_).ok());
  EXPECT_EQ(Latest(), 1u);
  int kept = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path()))
    if (entry.path().filename().string().starts_with("railwright.db.2")) {
      ++kept;
      TempDir look;
      std::filesystem::copy(entry.path(), look / kStoreFile);
      auto old = SqliteStore::Open(look.path());
      ASSERT_TRUE(old.ok());
      EXPECT_EQ((*old)->LatestGeneration()->value().generation.value, 2u);
    }
  EXPECT_EQ(kept, 1);
}

TEST_F(RestoreTest, ItRefusesWhileAControllerHasTheStoreOpen) {
  auto store = SqliteStore::Open(directory_.path());
  const Status status = RestoreStore(directory_.path(), backup_);
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_NE(status.message().find("stop it first"), std::string::npos);
  store->reset();
  EXPECT_EQ(Latest(), 2u);
}

TEST_F(RestoreTest, ADamagedBackupChangesNothing) {
  const std::string good = ReadFile(backup_);
  std::string bad = good;
  bad.resize(bad.size() - 4096);
  WriteFile(backup_, bad);
  EXPECT_EQ(RestoreStore(directory_.path(), backup_).code(), Code::kDataLoss);
  EXPECT_EQ(Latest(), 2u);
  WriteFile(backup_, "not a database at all");
  EXPECT_EQ(RestoreStore(directory_.path(), backup_).code(), Code::kDataLoss);
  EXPECT_EQ(RestoreStore(directory_.path(), other_ / "missing").code(), Code::kNotFound);
  EXPECT_EQ(Latest(), 2u);
}

TEST_F(RestoreTest, ABackupWithOneChangedRowIsRefusedByItsDigest) {
  auto database = Database::Open(backup_, Database::Access::kReadWrite);
  ASSERT_TRUE((*database)->Execute("UPDATE generations SET author = 'eve'").ok());
  database->reset();
  const Status status = RestoreStore(directory_.path(), backup_);
  EXPECT_EQ(status.code(), Code::kDataLoss);
  EXPECT_NE(status.message().find("table generations, row 1"), std::string::npos) << status.message();
  EXPECT_EQ(Latest(), 2u);
}

TEST_F(RestoreTest, ANewerBackupIsRefused) {
  auto database = Database::Open(backup_, Database::Access::kReadWrite);
  ASSERT_TRUE((*database)->Execute("PRAGMA user_version = 999").ok());
  database->reset();
  EXPECT_EQ(RestoreStore(directory_.path(), backup_).code(), Code::kFailedPrecondition);
  EXPECT_EQ(Latest(), 2u);
}

TEST_F(RestoreTest, ADamagedStoreIsHealedByABackup) {
  WriteFile(directory_ / kStoreFile, "rubbish");
  ASSERT_EQ(Latest(), 0u);
  ASSERT_TRUE(RestoreStore(directory_.path(), backup_).ok());
  EXPECT_EQ(Latest(), 1u);
}

}  // namespace
}  // namespace railwright
