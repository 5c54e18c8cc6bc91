// What was signed, on the store's file.
#include "controller/store/statement_store.h"

#include "controller/store/sqlite_store.h"
#include "tests/store/temp_dir.h"

namespace railwright {
namespace {

StatementRow RowOf(const std::string& node, const std::string& envelope) {
  return {node, envelope, "pending", {{identity::Pin(*identity::Sha256("key")), std::string(64, 's')}}};
}

TEST(StatementsTest, ComeBackAfterARestartAndTheNewestCounts) {
  TempDir directory;
  {
    auto store = SqliteStore::Open(directory.path());
    ASSERT_TRUE(store.ok()) << store.status().ToString();
    auto statements = OpenSqliteStatements(directory.path());
    ASSERT_TRUE(statements.ok()) << statements.status().ToString();
    EXPECT_TRUE((*statements)->Statements()->empty());
    ASSERT_TRUE((*statements)->PutStatements({RowOf("gpu-002", "two"), RowOf("gpu-001", "old")}).ok());
    ASSERT_TRUE((*statements)->PutStatements({RowOf("gpu-001", std::string("new\0bytes", 9))}).ok());
    ASSERT_TRUE((*store)->AddAudit({0, {}, "ann", "sign", "", ""}).ok()) << "both write the same file";
  }
  auto store = SqliteStore::Open(directory.path());
  auto statements = OpenSqliteStatements(directory.path());
  ASSERT_TRUE(statements.ok());
  const auto rows = (*statements)->Statements();
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[0].node, "gpu-001");
  EXPECT_EQ((*rows)[0].envelope, std::string("new\0bytes", 9));
  EXPECT_EQ((*rows)[0].pending, "pending");
  ASSERT_EQ((*rows)[0].signatures.size(), 1u);
  EXPECT_EQ((*rows)[0].signatures[0].key, identity::Pin(*identity::Sha256("key")));
  EXPECT_EQ((*rows)[0].signatures[0].bytes, std::string(64, 's'));
}

TEST(StatementsTest, ADamagedRowIsNamed) {
  TempDir directory;
  auto store = SqliteStore::Open(directory.path());
  auto statements = OpenSqliteStatements(directory.path());
  ASSERT_TRUE((*statements)->PutStatements({RowOf("gpu-001", "envelope")}).ok());
  auto database = Database::Open(directory / kStoreFile, Database::Access::kReadWrite);
  ASSERT_TRUE((*database)->Execute("UPDATE statements SET envelope = CAST('envelopf' AS BLOB)").ok());
  const auto rows = (*statements)->Statements();
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.status().code(), Code::kDataLoss);
  EXPECT_NE(rows.status().message().find("gpu-001"), std::string::npos) << rows.status().message();
}

TEST(StatementsTest, ABackupWithADamagedRowIsNotRestored) {
  TempDir directory, other;
  {
    auto store = SqliteStore::Open(directory.path());
    auto statements = OpenSqliteStatements(directory.path());
    ASSERT_TRUE((*statements)->PutStatements({RowOf("gpu-001", "envelope")}).ok());
    ASSERT_TRUE(BackupStore(directory.path(), other / "good").ok());
    auto database = Database::Open(directory / kStoreFile, Database::Access::kReadWrite);
    ASSERT_TRUE((*database)->Execute("UPDATE statements SET pending = CAST('x' AS BLOB)").ok());
  }
  TempDir target;
  EXPECT_TRUE(RestoreStore(target.path(), other / "good").ok());
  const Status backed_up = BackupStore(directory.path(), other / "bad");
  const Status restored = backed_up.ok() ? RestoreStore(target.path(), other / "bad") : backed_up;
  EXPECT_EQ(restored.code(), Code::kDataLoss) << restored.ToString();
  EXPECT_NE(restored.message().find("statements"), std::string::npos) << restored.message();
}

}  // namespace
}  // namespace railwright
