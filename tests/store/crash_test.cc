// kill -9 in the middle of writes: what was acknowledged is there.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "controller/store/sqlite_store.h"
#include "tests/store/identity_records.h"
#include "tests/store/temp_dir.h"
#include "tests/support/fork_child.h"

namespace railwright {
namespace {

struct Acknowledged {
  char what;  // 'r' report, 'g' generation, 'p' pause, 't' token, 'j' join, 'n' renewal
  std::uint64_t number;
};

/// Writes for ever and tells on `pipe` what is durable.
[[noreturn]] void WriteForEver(const std::string& directory, int pipe) {
  auto store = SqliteStore::Open(directory);
  if (!store.ok()) _exit(3);
  const auto latest = (*store)->LatestGeneration();
  std::uint64_t n = latest.ok() && latest->has_value() ? (*latest)->generation.value : 0;
  while (true) {
    ++n;
    const auto tell = [&](char what, const Status& status) {
      if (!status.ok()) _exit(4);
      const Acknowledged done{what, n};
      if (write(pipe, &done, sizeof done) != sizeof done) _exit(5);
    };
    tell('g', (*store)->AddGeneration(MakeGeneration(n, "text " + std::to_string(n)), {}, {}));
    tell('r', (*store)->PutReports({MakeWrite("a", n), MakeWrite("b", n)}));
    tell('p', (*store)->SetPauses({{"a", "k" + std::to_string(n), "", ""}}, {}));
    const std::string token = "t" + std::to_string(n), name = "m" + std::to_string(n);
    tell('t', (*store)->AddToken(MakeToken(token), Act("token", token)));
    tell('j', (*store)->Join(token, MakeMember(name), Act("join", name)));
    tell('n', (*store)->Renew(MemberKind::kNode, name, 1, "02", At(9), Act("renew", name)));
  }
}

TEST(CrashTest, WhatWasAcknowledgedBeforeKillNineIsThereAfterwards) {
  TempDir directory;
  std::uint64_t report = 0, reports_acknowledged = 0, generation = 0, pause = 0, joins = 0, renewals = 0;
  std::string token;
  for (int round = 0; round < 6; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      WriteForEver(directory.path(), ends[1]);
    }
    close(ends[1]);
    Acknowledged done{};
    int seen = 0;
    const auto note = [&] {
      if (done.what == 'r') report = done.number, ++reports_acknowledged;
      if (done.what == 'g') generation = done.number;
      if (done.what == 'p') pause = done.number;
      if (done.what == 't') token = "t" + std::to_string(done.number);
      if (done.what == 'j') ++joins, token.clear();
      if (done.what == 'n') ++renewals;
    };
    // Killed after a growing number of acknowledgements, at whatever it is doing then.
    while (seen < 5 + 37 * round && read(ends[0], &done, sizeof done) == sizeof done) {
      note();
      ++seen;
    }
    kill(child, SIGKILL);
    while (read(ends[0], &done, sizeof done) == sizeof done) note();
    close(ends[0]);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself with " << WEXITSTATUS(status);

    auto store = SqliteStore::Open(directory.path());
    ASSERT_TRUE(store.ok()) << store.status().ToString();
    const auto latest = (*store)->LatestGeneration();
    ASSERT_TRUE(latest.ok() && latest->has_value());
    EXPECT_GE((*latest)->generation.value, generation);
    EXPECT_EQ((*latest)->documents[1].text, "text " + std::to_string((*latest)->generation.value));
    const auto reports = (*store)->Reports();
    ASSERT_EQ(reports->size(), 2u);
    EXPECT_GE((*reports)[0].stored_change, report);
    EXPECT_EQ((*reports)[0].report_hash, (*reports)[1].report_hash);
    EXPECT_GE((*store)->Changes({})->size(), 2 * reports_acknowledged);
    const auto members = (*store)->Members();
    ASSERT_TRUE(members.ok()) << members.status().ToString();
    EXPECT_GE(members->size(), joins);
    EXPECT_GE(static_cast<std::uint64_t>(std::count_if(
                  members->begin(), members->end(), [](const auto& member) { return member.renewals == 2; })),
              renewals);
    // A token that was made and not used is there, or its last use is a member: never neither, never both.
    const auto tokens = (*store)->Tokens();
    ASSERT_TRUE(tokens.ok());
    for (const TokenRecord& one : *tokens)
      for (const MemberRecord& member : *members) EXPECT_NE("m" + one.token.id.substr(1), member.name);
    if (!token.empty()) {
      const bool unused = std::any_of(tokens->begin(), tokens->end(),
                                      [&](const TokenRecord& one) { return one.token.id == token; });
      const bool used = std::any_of(members->begin(), members->end(), [&](const MemberRecord& member) {
        return member.name == "m" + token.substr(1);
      });
      EXPECT_NE(unused, used);
    }
    const auto audit = CheckStoredAudit(directory.path(), std::nullopt);
    ASSERT_TRUE(audit.ok()) << audit.status().ToString();
    EXPECT_FALSE(audit->fault()) << audit->fault()->Text();
    if (pause) {
      const auto pauses = (*store)->Pauses();
      ASSERT_EQ(pauses->size(), 1u);
      EXPECT_GE(std::stoull((*pauses)[0].key.substr(1)), pause);
    }
  }
  EXPECT_GT(reports_acknowledged, 30u);
}

// The store is made with SQLite's own journal and switched to the write-ahead log by the first start.
TEST(CrashTest, AFirstStartThatDiedInItsSwitchToTheLogIsUndoneByTheNext) {
  const TempDir directory;
  ASSERT_TRUE(SqliteStore::Open(directory.path()).ok());
  const pid_t child = ForkChild();
  if (child == 0) {
    auto database = Database::Open(directory / kStoreFile, Database::Access::kReadWrite);
    const bool begun = database.ok() && (*database)
                                            // More than the cache holds: some of it is in the file already.
                                            ->Execute(
                                                "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; "
                                                "BEGIN IMMEDIATE; CREATE TABLE half (a); "
                                                "INSERT INTO half VALUES (zeroblob(1000000));")
                                            .ok();
    _exit(begun ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(access((directory / (std::string(kStoreFile) + "-journal")).c_str(), F_OK), 0);

  const auto store = SqliteStore::Open(directory.path());
  ASSERT_TRUE(store.ok()) << store.status().ToString();
  EXPECT_TRUE((*store)->AddGeneration(MakeGeneration(1), {}, {}).ok());
}

}  // namespace
}  // namespace railwright
