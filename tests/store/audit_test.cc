// The audit in the file: any row touched behind our back is found and named.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <functional>

#include "controller/store/sqlite_store.h"
#include "tests/store/identity_records.h"
#include "tests/store/temp_dir.h"

namespace railwright {
namespace {

constexpr std::uint64_t kRows = 200;

/// The first fault, read in pages of `page` rows; "" when there is none.
std::string FaultOf(const Store& store, std::optional<audit::Head> expected = std::nullopt,
                    std::size_t page = 64) {
  auto check = audit::ChainCheck::Begin(std::move(expected));
  std::int64_t from = kAuditBegin;
  while (true) {
    const auto rows = store.AuditChain(from, page);
    if (!rows.ok()) return rows.status().ToString();
    for (const ChainedAudit& one : rows->rows)
      if (!*check->Take(one.row, one.hash)) return check->fault()->Text();
    if (rows->last) return check->Finish(rows->head) ? "" : check->fault()->Text();
    from = rows->next;
  }
}

class AuditTamperTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    TempDir directory;
    {
      auto store = SqliteStore::Open(directory.path());
      ASSERT_TRUE(store.ok()) << store.status().ToString();
      for (std::uint64_t n = 1; n <= kRows; ++n)
        ASSERT_TRUE((*store)->AddAudit(Act("apply", "generation " + std::to_string(n))).ok());
      ASSERT_EQ(FaultOf(**store), "");
    }
    good_ = new std::string(ReadFile(directory / kStoreFile));
  }
  static void TearDownTestSuite() { delete good_; }
  void SetUp() override {
    WriteFile(directory_ / kStoreFile, *good_);
    auto opened = SqliteStore::Open(directory_.path());
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    store_ = std::move(*opened);
    ASSERT_EQ(sqlite3_open((directory_ / kStoreFile).c_str(), &raw_), SQLITE_OK);
  }
  void TearDown() override { sqlite3_close(raw_); }

  void Sql(const std::string& sql) {
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(raw_, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << sql << ": " << error;
  }
  /// What is found after `sql`.
  std::string After(const std::string& sql) {
    Sql("BEGIN; " + sql + "; COMMIT");
    return FaultOf(*store_);
  }
  /// All rows as they were.
  void Mend() { Sql("BEGIN; DELETE FROM audit; INSERT INTO audit SELECT * FROM kept; COMMIT"); }
  void Keep() { Sql("CREATE TABLE kept AS SELECT * FROM audit; PRAGMA synchronous = OFF"); }

  static std::string* good_;
  TempDir directory_;
  std::unique_ptr<SqliteStore> store_;
  sqlite3* raw_ = nullptr;
};
std::string* AuditTamperTest::good_ = nullptr;

TEST_F(AuditTamperTest, AnEditedRowIsNamed) {
  Keep();
  const char* const columns[] = {"who", "origin", "serial", "action", "subject", "detail", "outcome"};
  for (std::uint64_t id = 1; id <= kRows; ++id) {
    const std::string where = " WHERE id = " + std::to_string(id);
    const std::string column = columns[id % std::size(columns)];
    EXPECT_EQ(After("UPDATE audit SET " + column + " = " + column + " || ' '" + where)
                  .find("row " + std::to_string(id) + ": its content"),
              0u)
        << id;
    Mend();
  }
  EXPECT_EQ(FaultOf(*store_), "");
}

TEST_F(AuditTamperTest, ADeletedRowIsNamed) {
  Keep();
  for (std::uint64_t id = 1; id <= kRows; ++id) {
    const std::string row = "row " + std::to_string(id);
    EXPECT_EQ(
        After("DELETE FROM audit WHERE id = " + std::to_string(id)).find(row + ": " + row + " is missing"),
        0u)
        << id;
    // The hole closed: those behind it moved up.
    if (id < kRows) {
      EXPECT_EQ(After("UPDATE audit SET id = -id WHERE id > " + std::to_string(id) +
                      "; UPDATE audit SET id = -id - 1 WHERE id < 0")
                    .find(row + ": its content"),
                0u)
          << id;
    }
    Mend();
  }
}

TEST_F(AuditTamperTest, ATailThatWasCutIsMissed) {
  Keep();
  for (std::uint64_t id = 1; id <= kRows; ++id) {
    EXPECT_EQ(After("DELETE FROM audit WHERE id >= " + std::to_string(id))
                  .find("row " + std::to_string(id) + ": row"),
              0u)
        << id;
    Mend();
  }
}

TEST_F(AuditTamperTest, RowsThatChangedPlacesAreNamed) {
  Keep();
  for (std::uint64_t id = 1; id < kRows; ++id) {
    const std::string one = std::to_string(id), other = std::to_string(kRows);
    EXPECT_EQ(After("UPDATE audit SET id = -1 WHERE id = " + one + "; UPDATE audit SET id = " + one +
                    " WHERE id = " + other + "; UPDATE audit SET id = " + other + " WHERE id = -1")
                  .find("row " + one + ": its content"),
              0u)
        << id;
    Mend();
  }
}

TEST_F(AuditTamperTest, AnInsertedRowIsNamed) {
  Keep();
  for (std::uint64_t id = 1; id <= kRows + 1; ++id) {
    const std::string at = std::to_string(id);
    const std::string fault = After(
        "UPDATE audit SET id = -id - 1 WHERE id >= " + at + "; UPDATE audit SET id = -id WHERE id < 0" +
        "; INSERT INTO audit SELECT " + at +
        ", at_us, 'operator eve', origin, serial, action, subject, detail, outcome, hash, digest FROM audit "
        "WHERE id <> " +
        at + " LIMIT 1");
    EXPECT_EQ(fault.find("row " + at + ": its content"), 0u) << fault;
    Mend();
  }
  EXPECT_EQ(
      After("INSERT INTO audit SELECT -7, at_us, who, origin, serial, action, subject, detail, outcome, "
            "hash, digest FROM audit LIMIT 1")
          .find("row -7: it does not belong there"),
      0u);
}

TEST_F(AuditTamperTest, TheKeptHeadIsCheckedItself) {
  EXPECT_NE(After("UPDATE audit_head SET last = 150").find("the head that the store keeps"),
            std::string::npos);
  EXPECT_EQ(store_->AddAudit(Act("apply")).code(), Code::kDataLoss)
      << "nothing is chained to what is damaged";
  EXPECT_NE(After("DELETE FROM audit_head").find("the head that the store keeps"), std::string::npos);
}

TEST_F(AuditTamperTest, RowsAfterATamperedOneGoOnFromTheKeptHead) {
  Sql("DELETE FROM audit WHERE id > 190");
  ASSERT_TRUE(store_->AddAudit(Act("apply")).ok());
  EXPECT_EQ(FaultOf(*store_), "row 191: rows 191 to 200 are missing: row 201 comes next");
}

TEST_F(AuditTamperTest, ATailCutWithItsHeadIsFoundByOneWhoNotedIt) {
  const audit::Head noted = *store_->AuditChain(kAuditBegin, 1000)->head;
  ASSERT_TRUE(store_->AddAudit(Act("apply")).ok());
  EXPECT_EQ(FaultOf(*store_, noted), "");
  store_.reset();
  // An older copy of the whole file is consistent in itself.
  TempDir older;
  auto store = SqliteStore::Open(older.path());
  ASSERT_TRUE(store.ok());
  ASSERT_TRUE((*store)->AddAudit(Act("apply", "generation 1")).ok());
  EXPECT_EQ(FaultOf(**store), "");
  EXPECT_EQ(FaultOf(**store, noted).find("row 2: rows 2 to 200 are missing: the end was cut off"), 0u);
}

TEST(AuditChainStore, APageEndsWhereTheRowsDoAndAnEmptyAuditIsWhole) {
  TempDir directory;
  auto store = SqliteStore::Open(directory.path());
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(FaultOf(**store), "");
  EXPECT_EQ((*store)->AuditChain(kAuditBegin, 10)->head->id, 0u);
  for (int n = 0; n < 10; ++n) ASSERT_TRUE((*store)->AddAudit(Act("apply")).ok());
  EXPECT_FALSE((*store)->AuditChain(kAuditBegin, 10)->last) << "it cannot know that nothing is behind";
  EXPECT_TRUE((*store)->AuditChain(11, 10)->last);
  EXPECT_TRUE((*store)->AuditChain(11, 10)->rows.empty());
  EXPECT_EQ(FaultOf(**store, std::nullopt, 10), "");
  EXPECT_EQ(FaultOf(**store, std::nullopt, 3), "");
}

TEST_F(AuditTamperTest, RowsOfNoPossibleIdEndNoPageWrongly) {
  Sql("BEGIN; INSERT INTO audit SELECT id - 3, at_us, who, origin, serial, action, subject, detail, outcome, "
      "hash, "
      "digest FROM audit WHERE id <= 3; INSERT INTO audit SELECT 9223372036854775807, at_us, who, origin, "
      "serial, "
      "action, subject, detail, outcome, hash, digest FROM audit LIMIT 1; COMMIT");
  for (const std::size_t page : {1u, 2u, 3u, 1000u})
    EXPECT_EQ(FaultOf(*store_, std::nullopt, page), "row -2: it does not belong there: row 1 is due");
  Sql("DELETE FROM audit WHERE id < 1");
  EXPECT_EQ(FaultOf(*store_, std::nullopt, 201),
            "row 201: rows 201 to 9223372036854775806 are missing: row 9223372036854775807 comes next");
}

TEST(AuditChainStore, WhatIsWrittenTogetherWithAnEffectIsInTheChain) {
  TempDir directory;
  auto store = SqliteStore::Open(directory.path());
  ASSERT_TRUE(store.ok());
  ASSERT_TRUE((*store)->AddGeneration(MakeGeneration(1), Act("apply"), {}).ok());
  EXPECT_FALSE((*store)->AddGeneration(MakeGeneration(1), Act("apply again"), {}).ok());
  ASSERT_TRUE((*store)->SetPauses({{"a", "", "ann", ""}}, Act("pause")).ok());
  ASSERT_TRUE((*store)->PutReports({MakeWrite("a", 1)}).ok());
  ASSERT_TRUE((*store)->ForgetNode("a", Act("forget")).ok());
  EXPECT_FALSE((*store)->ForgetNode("a", Act("forget again")).ok());
  ASSERT_TRUE((*store)->AddToken(MakeToken("aaa"), Act("token")).ok());
  AuditRow refused = Act("apply");
  refused.outcome = "refused: not an operator";
  ASSERT_TRUE((*store)->AddAudit(refused).ok());
  const auto rows = (*store)->Audit(10);
  ASSERT_TRUE(rows.ok());
  std::vector<std::string> actions;
  for (const AuditRow& row : *rows) actions.push_back(row.action);
  EXPECT_EQ(actions, (std::vector<std::string>{"apply", "token", "forget", "pause", "apply"}));
  refused.id = 5;
  EXPECT_EQ((*rows)[0], refused);
  EXPECT_EQ(FaultOf(**store), "");
}

}  // namespace
}  // namespace railwright
