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

/// A file of store version 2 with five rows of audit, as that version wrote them.
void MakeVersion2(const std::string& file) {
  MakeVersion1(file);
  auto database = Database::Open(file, Database::Access::kReadWrite);
  ASSERT_TRUE((*database)->Execute(Migrations()[1].sql).ok());
  ASSERT_TRUE((*database)->Execute("PRAGMA user_version = 2").ok());
  for (std::uint64_t id = 1; id <= 5; ++id) {
    const std::string subject = "generation " + std::to_string(id);
    RecordWriter record;
    record.Number(id).Signed(1000 + static_cast<std::int64_t>(id));
    record.Text("ann").Text("apply").Text(subject).Text("added Profile/a");
    auto insert = (*database)->Prepare(
        "INSERT INTO audit (at_us, who, action, subject, detail, digest) VALUES (?, ?, ?, ?, ?, ?)");
    insert->Bind(1000 + static_cast<std::int64_t>(id)).BindText("ann").BindText("apply").BindText(subject);
    ASSERT_TRUE(insert->BindText("added Profile/a").BindBlob(RowDigest("audit", record.bytes())).Run().ok());
  }
}

std::string OutcomeOf(const std::vector<AuditRow>& rows, std::uint64_t id) {
  return rows.at(rows.size() - id).outcome;
}

TEST(MigrationTest, TheAuditOfVersion2IsChainedAsItIs) {
  TempDir directory;
  MakeVersion2(directory / kStoreFile);
  EXPECT_EQ(CheckStoredAudit(directory.path(), std::nullopt).status().code(), Code::kFailedPrecondition);
  auto store = SqliteStore::Open(directory.path());
  ASSERT_TRUE(store.ok()) << store.status().ToString();
  const auto rows = (*store)->Audit(10);
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  ASSERT_EQ(rows->size(), 5u);
  EXPECT_EQ((*rows)[1].subject, "generation 4");
  for (std::uint64_t id = 1; id <= 5; ++id) EXPECT_EQ(OutcomeOf(*rows, id), "done");
  ASSERT_TRUE((*store)->AddAudit({0, {}, "ann", "apply", "", ""}).ok());
  const auto check = CheckStoredAudit(directory.path(), std::nullopt);
  ASSERT_TRUE(check.ok()) << check.status().ToString();
  EXPECT_FALSE(check->fault());
  EXPECT_EQ(check->head().id, 6u);
}

TEST(MigrationTest, WhatWasWrongInAnOldAuditIsSaidAndNotWhitewashed) {
  TempDir directory;
  MakeVersion2(directory / kStoreFile);
  {
    auto database = Database::Open(directory / kStoreFile, Database::Access::kReadWrite);
    ASSERT_TRUE((*database)->Execute("UPDATE audit SET who = 'eve' WHERE id = 2").ok());
    ASSERT_TRUE((*database)->Execute("DELETE FROM audit WHERE id = 4").ok());
  }
  auto store = SqliteStore::Open(directory.path());
  ASSERT_TRUE(store.ok()) << store.status().ToString();
  const auto rows = (*store)->Audit(10);
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  ASSERT_EQ(rows->size(), 4u);
  EXPECT_EQ(OutcomeOf(*rows, 1), "done");
  EXPECT_NE(OutcomeOf(*rows, 2).find("did not fit its digest"), std::string::npos);
  EXPECT_EQ(OutcomeOf(*rows, 3), "done");
  EXPECT_NE(OutcomeOf(*rows, 4).find("it was row 5, and the one before it was missing"), std::string::npos);
  EXPECT_FALSE(CheckStoredAudit(directory.path(), std::nullopt)->fault());
}

TEST(MigrationTest, AVersion2BackupRestores) {
  TempDir directory, other;
  MakeVersion2(other / "old.db");
  const Status status = RestoreStore(directory.path(), other / "old.db");
  ASSERT_TRUE(status.ok()) << status.ToString();
  auto store = SqliteStore::Open(directory.path());
  ASSERT_TRUE(store.ok());
  EXPECT_EQ((*store)->Audit(10)->size(), 5u);
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
