// Damaged files: found, named, left alone.
#include <sqlite3.h>

#include <random>
#include <sstream>

#include "controller/store/sqlite_store.h"
#include "tests/store/identity_records.h"
#include "tests/store/temp_dir.h"

namespace railwright {
namespace {

/// A store with something in every table; closed.
void Fill(const std::string& directory) {
  auto store = SqliteStore::Open(directory);
  ASSERT_TRUE(store.ok()) << store.status().ToString();
  RolloutWrite rollout;
  rollout.record.emplace().generation = {3};
  rollout.members.emplace_back().node = "gpu-1";
  for (std::uint64_t n = 1; n <= 3; ++n)
    ASSERT_TRUE((*store)
                    ->AddGeneration(MakeGeneration(n, std::string(3000, static_cast<char>('a' + n))), {},
                                    n == 3 ? rollout : RolloutWrite())
                    .ok());
  for (std::uint64_t n = 1; n <= 40; ++n)
    ASSERT_TRUE((*store)->PutReports({MakeWrite("gpu-" + std::to_string(n), n)}).ok());
  ASSERT_TRUE((*store)->PutBreaker({true, "many", {}}, {}, {}).ok());
  ASSERT_TRUE((*store)->SetPauses({{"gpu-1", "link.mtu", "ann", "cable work"}}, {}).ok());
  ASSERT_TRUE((*store)->AddAudit({0, {}, "ann", "apply", "generation 1", ""}).ok());
  ASSERT_TRUE((*store)->AddToken(MakeToken("aaa"), Act("token")).ok());
  TokenRecord operators = MakeToken("bbb");
  operators.kind = MemberKind::kOperator;
  operators.name = "carol";
  operators.authority = identity::Authority{{"admin"}, "*"};
  ASSERT_TRUE((*store)->AddToken(operators, Act("token")).ok());
  ASSERT_TRUE((*store)->AddToken(MakeToken("ccc", 2), Act("token")).ok());
  AuditRow join = Act("join", "node gpu-1");
  join.detail = "by token ccc";
  ASSERT_TRUE((*store)->Join("ccc", MakeMember("gpu-1"), join).ok());
  ASSERT_TRUE((*store)->Join("ccc", MakeMember("ann", MemberKind::kOperator), Act("join")).ok());
  ASSERT_TRUE((*store)->SetStanding(MemberKind::kNode, "gpu-1", Standing::kHeld, "twice", Act("hold")).ok());
}

class DamageTest : public testing::Test {
 protected:
  void SetUp() override {
    Fill(directory_.path());
    file_ = directory_ / kStoreFile;
    good_ = ReadFile(file_);
    ASSERT_GT(good_.size(), 16384u);
  }
  /// Opening must fail with DataLoss, name the file and the next step, and change no byte.
  void ExpectRefused(const std::string& bytes) {
    WriteFile(file_, bytes);
    const auto opened = SqliteStore::Open(directory_.path());
    ASSERT_EQ(opened.status().code(), Code::kDataLoss) << opened.status().ToString();
    EXPECT_NE(opened.status().message().find(file_), std::string::npos);
    EXPECT_NE(opened.status().message().find("railwright-controller restore FILE"), std::string::npos)
        << opened.status().message();
    EXPECT_EQ(ReadFile(file_), bytes) << "the file was changed";
  }
  /// One statement run behind our back.
  void Tamper(const char* sql) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(file_.c_str(), &db), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, &error), SQLITE_OK) << (error ? error : "");
    sqlite3_close(db);
  }
  TempDir directory_;
  std::string file_, good_;
};

TEST_F(DamageTest, AnEmptyFileIsRefused) { ExpectRefused(""); }
TEST_F(DamageTest, ATruncatedFileIsRefused) {
  ExpectRefused(good_.substr(0, 10));
  ExpectRefused(good_.substr(0, 5000));
  ExpectRefused(good_.substr(0, good_.size() / 2));
  ExpectRefused(good_.substr(0, good_.size() - 4096));
}
TEST_F(DamageTest, WhatIsNoDatabaseIsRefused) { ExpectRefused(std::string(20000, 'x')); }
TEST_F(DamageTest, AZeroedPageIsRefused) {
  std::string bad = good_;
  bad.replace(4096 * 2, 4096, std::string(4096, '\0'));
  ExpectRefused(bad);
}

TEST_F(DamageTest, AnotherProgramsDatabaseIsRefusedAndUntouched) {
  std::filesystem::remove(file_);
  Tamper("CREATE TABLE t (a); INSERT INTO t VALUES (1)");
  const std::string before = ReadFile(file_);
  const auto opened = SqliteStore::Open(directory_.path());
  EXPECT_EQ(opened.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(opened.status().message().find("not one of railwright-controller"), std::string::npos);
  EXPECT_EQ(ReadFile(file_), before);
}

TEST_F(DamageTest, AChangedRowIsFoundWhenItIsReadWithItsTableAndName) {
  const struct {
    const char *sql, *table, *row;
  } kCases[] = {
      {"UPDATE reports SET verdict = 1 + verdict WHERE node = 'gpu-7'", "reports", "gpu-7"},
      {"UPDATE reports SET findings = x'0100' WHERE node = 'gpu-7'", "reports", "gpu-7"},
      {"UPDATE reports SET node = 'gpu-99' WHERE node = 'gpu-7'", "reports", "gpu-99"},
      {"UPDATE generations SET author = 'eve' WHERE generation = 3", "generations", "3"},
      {"UPDATE documents SET name = 'b' WHERE generation = 3 AND position = 1", "documents", "3/1"},
      {"UPDATE texts SET text = text || ' '", "texts", "3/0"},
      {"DELETE FROM documents WHERE generation = 3 AND position = 0", "documents", "generation 3"},
      {"UPDATE changes SET at_us = at_us + 1 WHERE node = 'gpu-7'", "changes", "gpu-7/7"},
      {"UPDATE pauses SET key = 'link.fec'", "pauses", "0"},
      {"UPDATE audit SET who = 'eve' WHERE id = 3", "audit", "row 3"},
      {"UPDATE rollouts SET record = substr(record, 2)", "rollouts", "3"},
      {"UPDATE rollouts SET generation = 4 WHERE generation = 3", "rollouts", "4"},
      {"UPDATE rollout_members SET node = 'gpu-2'", "rollout_members", "gpu-2"},
      {"UPDATE breaker SET record = x'0101'", "breaker", "1"},
  };
  for (const auto& one : kCases) {
    WriteFile(file_, good_);
    Tamper(one.sql);
    auto store = SqliteStore::Open(directory_.path());
    ASSERT_TRUE(store.ok()) << store.status().ToString();
    Status found;
    const auto note = [&found](const Status& status) {
      if (found.ok()) found = status;
    };
    note((*store)->Reports().status());
    note((*store)->LatestGeneration().status());
    note((*store)->Changes({}).status());
    note((*store)->Pauses().status());
    note((*store)->LatestRollout().status());
    note((*store)->Breaker().status());
    note((*store)->Audit(10).status());
    EXPECT_EQ(found.code(), Code::kDataLoss) << one.sql;
    EXPECT_NE(found.message().find(std::string("table ") + one.table), std::string::npos) << found.message();
    EXPECT_NE(found.message().find(one.row), std::string::npos) << found.message();
  }
}

TEST_F(DamageTest, AFlipOfAnyByteInAProtectedColumnIsFound) {
  // Of each table one row with something in it, and a call that reads it.
  struct Protected {
    const char *table, *where, *columns;  // columns: blank-separated
    Status (*read)(const SqliteStore&);
  };
  const Protected tables[] = {
      {"tokens", "id = 'bbb'",
       "id secret_digest kind name authority origin uses_left created_us expires_us by digest",
       [](const SqliteStore& store) { return store.Tokens().status(); }},
      {"members", "name = 'gpu-1'",
       "kind name uuid key_digest serial not_after_us renewals standing reason by changed_us digest",
       [](const SqliteStore& store) { return store.Members().status(); }},
      {"members", "name = 'ann'", "authority",
       [](const SqliteStore& store) { return store.Members().status(); }},
      {"audit", "action = 'join'", "id at_us who origin serial action subject detail outcome hash digest",
       [](const SqliteStore& store) { return store.Audit(100).status(); }},
      {"generations", "generation = 3",
       "generation created_us author comment rolled_back_from nodes settings restores documents digest",
       [](const SqliteStore& store) { return store.LatestGeneration().status(); }},
      {"documents", "generation = 3 AND position = 1", "position kind name file line digest",
       [](const SqliteStore& store) { return store.LatestGeneration().status(); }},
      {"texts", "id = 1", "digest text",
       [](const SqliteStore& store) { return store.LatestGeneration().status(); }},
      {"pauses", "position = 0", "position node key by reason digest",
       [](const SqliteStore& store) { return store.Pauses().status(); }},
      {"audit_head", "id = 1", "last hash digest",
       [](const SqliteStore& store) {
         const auto page = store.AuditChain(kAuditBegin, 1);
         return page.ok() && page->head ? Ok() : Status(Code::kDataLoss, "no head");
       }},
  };
  auto store = SqliteStore::Open(directory_.path());
  ASSERT_TRUE(store.ok()) << store.status().ToString();
  auto raw = Database::Open(file_, Database::Access::kReadWrite);
  ASSERT_TRUE(raw.ok());
  ASSERT_TRUE((*raw)->Execute("PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF").ok());
  int flips = 0;
  for (const Protected& one : tables) {
    std::istringstream columns(one.columns);
    for (std::string column; columns >> column;) {
      const std::string name = std::string(one.table) + "." + column;
      const auto value = [&](const std::string& sql) {
        const auto text = (*raw)->Value((sql + " FROM " + one.table + " WHERE " + one.where).c_str());
        EXPECT_TRUE(text.ok()) << text.status().ToString();
        return text.ok() ? *text : "";
      };
      const std::string type = value("SELECT typeof(" + column + ")");
      const std::string rowid = value("SELECT rowid");
      ASSERT_NE(rowid, "") << name << ": the row is not there";
      const std::string old = value("SELECT " + column);
      const bool number = type == "integer";
      const auto key = (*raw)->Value(
          ("SELECT pk FROM pragma_table_info('" + std::string(one.table) + "') WHERE name = '" + column + "'")
              .c_str());
      // Of numbers each of the first bits; of texts and blobs each byte, up to 64 of them.
      const std::size_t places = number ? 8 : std::min<std::size_t>(old.size(), 64);
      EXPECT_GT(places, 0u) << name << " is empty here, so nothing is shown of it";
      for (std::size_t at = 0; at < places; ++at) {
        const auto put = [&](const std::string& row, const std::string& bytes) {
          auto update = (*raw)->Prepare(
              ("UPDATE " + std::string(one.table) + " SET " + column + " = ? WHERE rowid = " + row).c_str());
          if (number)
            update->Bind(std::stoll(bytes));
          else if (type == "blob")
            update->BindBlob(bytes);
          else
            update->BindText(bytes);
          return update->Run();
        };
        std::string bad = old;
        if (number)
          bad = std::to_string(std::stoll(old) ^ (1LL << at));
        else
          bad[at] = static_cast<char>(bad[at] ^ 1);
        if (!put(rowid, bad).ok()) continue;  // the table's own rules do not let it in
        ++flips;
        EXPECT_EQ(one.read(**store).code(), Code::kDataLoss) << name << ", byte or bit " << at;
        ASSERT_TRUE(put(*key == "1" ? bad : rowid, old).ok()) << name;
        ASSERT_TRUE(one.read(**store).ok()) << name << ": not as before";
      }
    }
  }
  EXPECT_GT(flips, 700);
}

TEST_F(DamageTest, AFileTornAnywhereNeverCrashesAndNeverLies) {
  std::mt19937 random(20261130);
  const auto good_reports = [&] {
    auto store = SqliteStore::Open(directory_.path());
    return (*store)->Reports()->size();
  }();
  for (int round = 0; round < 150; ++round) {
    std::string bad = good_;
    switch (round % 3) {
      case 0: bad.resize(random() % bad.size()); break;
      case 1:  // a torn sector
        bad.replace((random() % (bad.size() / 512)) * 512, 512,
                    std::string(512, static_cast<char>(random())));
        break;
      default:
        for (int n = 0; n < 8; ++n) bad[random() % bad.size()] = static_cast<char>(random());
    }
    for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(file_ + suffix);
    WriteFile(file_, bad);
    auto store = SqliteStore::Open(directory_.path());
    if (!store.ok()) {
      EXPECT_EQ(ReadFile(file_), bad);
      continue;
    }
    // It opened, so the damage lies where SQLite's own check does not look: a digest must find it.
    const auto reports = (*store)->Reports();
    if (reports.ok()) {
      EXPECT_EQ(reports->size(), good_reports) << "round " << round;
    }
    (void)(*store)->LatestGeneration();
    (void)(*store)->Generations(10);
    (void)(*store)->Changes({});
    (void)(*store)->Pauses();
    (void)(*store)->Audit(10);
    (void)(*store)->PutReports({MakeWrite("gpu-1", 100)});
  }
}

TEST_F(DamageTest, ATornLogNeverCrashesAndKeepsWholeTransactions) {
  // A store that was not closed: its log still holds everything.
  TempDir other;
  std::string log, file;
  {
    auto store = SqliteStore::Open(other.path());
    ASSERT_TRUE(store.ok());
    for (std::uint64_t n = 1; n <= 30; ++n)
      ASSERT_TRUE((*store)->PutReports({MakeWrite("a", n), MakeWrite("b", n)}).ok());
    file = ReadFile(other / kStoreFile);
    log = ReadFile(other / "railwright.db-wal");
  }
  ASSERT_GT(log.size(), 4096u);
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    TempDir torn;
    std::string bad = log;
    if (round % 2)
      bad.resize(random() % bad.size());
    else
      bad[random() % bad.size()] ^= static_cast<char>(0x40);
    WriteFile(torn / kStoreFile, file);
    WriteFile(torn / "railwright.db-wal", bad);
    auto store = SqliteStore::Open(torn.path());
    if (!store.ok()) continue;
    const auto reports = (*store)->Reports();
    ASSERT_TRUE(reports.ok()) << reports.status().ToString();
    if (reports->empty()) continue;
    ASSERT_EQ(reports->size(), 2u);
    EXPECT_EQ((*reports)[0].report_hash, (*reports)[1].report_hash) << "half a transaction";
  }
}

}  // namespace
}  // namespace railwright
