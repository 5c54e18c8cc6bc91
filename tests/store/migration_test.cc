#include "controller/store/migrations.h"

#include "controller/store/sqlite_store.h"
#include "tests/store/temp_dir.h"

namespace railwright {
namespace {

/// The file that store version 1 wrote: its own dump, digests included. It stays as it is for ever.
void MakeVersion1(const std::string& file) {
  auto database = Database::Open(file, Database::Access::kCreate);
  ASSERT_TRUE(database.ok());
  const std::string dump = ReadFile(std::string(RAILWRIGHT_SOURCE_DIR) + "/tests/store/version1.sql");
  ASSERT_FALSE(dump.empty());
  const Status status = (*database)->Execute(dump.c_str());
  ASSERT_TRUE(status.ok()) << status.ToString();
}

TEST(MigrationTest, NumbersHaveNoGap) {
  int expected = 1;
  for (const Migration& migration : Migrations()) {
    EXPECT_EQ(migration.version, expected++);
    EXPECT_NE(std::string(migration.sql).find("STRICT"), std::string::npos) << migration.name;
  }
  EXPECT_GE(NewestStoreVersion(), 2);
}

TEST(MigrationTest, AnEmptyDirectoryGetsTheNewestVersion) {
  TempDir directory;
  ASSERT_TRUE(SqliteStore::Open(directory.path()).ok());
  EXPECT_EQ(*CheckStoreFile(directory / kStoreFile, ""), NewestStoreVersion());
  EXPECT_FALSE(std::filesystem::exists(directory / "railwright.db.new"));
}

TEST(MigrationTest, AVersion1FileKeepsEverything) {
  TempDir directory;
  MakeVersion1(directory / kStoreFile);
  auto store = SqliteStore::Open(directory.path());
  ASSERT_TRUE(store.ok()) << store.status().ToString();
  const auto latest = (*store)->LatestGeneration();
  ASSERT_TRUE(latest.ok()) << latest.status().ToString();
  EXPECT_EQ((*latest)->documents, MakeGeneration(2).documents);
  EXPECT_EQ((*latest)->restores, MakeGeneration(2).restores);
  const auto reports = (*store)->Reports();
  ASSERT_TRUE(reports.ok()) << reports.status().ToString();
  ASSERT_EQ(reports->size(), 2u);
  EXPECT_EQ((*reports)[0].report.findings, MakeWrite("gpu-001", 1).report.report.findings);
  EXPECT_EQ((*store)->Changes({})->size(), 2u);
  EXPECT_EQ((*store)->Pauses()->at(0).reason, "cable work");
  // What came with version 2 works.
  EXPECT_TRUE((*store)->AddAudit({0, {}, "ann", "apply", "", ""}).ok());
  EXPECT_TRUE((*store)->Probe().ok());
  store->reset();
  EXPECT_EQ(*CheckStoreFile(directory / kStoreFile, ""), NewestStoreVersion());
}

TEST(MigrationTest, AVersion1BackupRestores) {
  TempDir directory, other;
  MakeVersion1(other / "old.db");
  const Status status = RestoreStore(directory.path(), other / "old.db");
  ASSERT_TRUE(status.ok()) << status.ToString();
  auto store = SqliteStore::Open(directory.path());
  ASSERT_TRUE(store.ok());
  EXPECT_EQ((*store)->LatestGeneration()->value().generation.value, 2u);
}

TEST(MigrationTest, ANewerFileIsRefusedAndUntouched) {
  TempDir directory;
  ASSERT_TRUE(SqliteStore::Open(directory.path()).ok());
  auto database = Database::Open(directory / kStoreFile, Database::Access::kReadWrite);
  ASSERT_TRUE((*database)->Execute("PRAGMA user_version = 77; PRAGMA wal_checkpoint(TRUNCATE)").ok());
  database->reset();
  const std::string before = ReadFile(directory / kStoreFile);
  const auto opened = SqliteStore::Open(directory.path());
  EXPECT_EQ(opened.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(opened.status().message().find("newer railwright-controller (store version 77"),
            std::string::npos)
      << opened.status().message();
  EXPECT_EQ(ReadFile(directory / kStoreFile), before);
}

TEST(MigrationTest, AFailedMigrationLeavesTheVersionItHad) {
  TempDir directory;
  MakeVersion1(directory / kStoreFile);
  auto database = Database::Open(directory / kStoreFile, Database::Access::kReadWrite);
  // Something of that name is there already, so step 2 fails in its middle.
  ASSERT_TRUE((*database)->Execute("CREATE TABLE IF NOT EXISTS probe (x INTEGER) STRICT").ok());
  EXPECT_FALSE(Migrate(**database).ok());
  EXPECT_EQ(*(*database)->Value("PRAGMA user_version"), "1");
  EXPECT_EQ(*(*database)->Value("SELECT count(*) FROM sqlite_schema WHERE name = 'audit'"), "0");
}

}  // namespace
}  // namespace railwright
