// What every IdentityStore must do, whatever is behind it. A new implementation adds one way to open itself.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/store/identity_records.h"
#include "tests/store/temp_dir.h"
#include "tests/support/memory_identity_store.h"

namespace railwright {
namespace {

using Kind = MemberKind;

/// An open store with what keeps it open.
struct Opened {
  std::unique_ptr<StateStore> state;
  std::shared_ptr<MemoryIdentityStore> memory;
  IdentityStore& store() const { return memory ? static_cast<IdentityStore&>(*memory) : *state; }
  std::vector<AuditRow> Audits() const {
    if (memory) return memory->audits();
    auto rows = state->Audit(1000);
    EXPECT_TRUE(rows.ok()) << rows.status().ToString();
    return {rows->rbegin(), rows->rend()};
  }
};

/// `before` is what was open; a restart closes it first.
using Opener = Opened (*)(const std::string& directory, Opened before);

Opened OpenSqlite(const std::string& directory, Opened before) {
  before.state.reset();
  auto store = OpenStateStore(directory);
  EXPECT_TRUE(store.ok()) << store.status().ToString();
  return {std::move(*store), nullptr};
}

Opened OpenMemory(const std::string&, Opened before) {
  if (!before.memory) before.memory = std::make_shared<MemoryIdentityStore>();
  return before;
}

class IdentityStoreContract : public testing::TestWithParam<Opener> {
 protected:
  void SetUp() override { Reopen(); }
  void Reopen() { opened_ = GetParam()(directory_.path(), std::move(opened_)); }
  IdentityStore& store() { return opened_.store(); }
  std::size_t Audited() { return opened_.Audits().size(); }
  void Join(const std::string& name, Kind kind = Kind::kNode) {
    const std::string id = "token-of-" + name;
    ASSERT_TRUE(store().AddToken(MakeToken(id), Act("token")).ok());
    const Status joined = store().Join(id, MakeMember(name, kind), Act("join", name));
    ASSERT_TRUE(joined.ok()) << joined.ToString();
  }
  TempDir directory_;
  Opened opened_;
};

TEST_P(IdentityStoreContract, ANewStoreIsEmpty) {
  EXPECT_TRUE(store().Tokens()->empty());
  EXPECT_TRUE(store().Members()->empty());
  EXPECT_EQ(Audited(), 0u);
}

TEST_P(IdentityStoreContract, ATokenComesBackWholeAfterARestart) {
  TokenRecord operators = MakeToken("bbb");
  operators.kind = Kind::kOperator;
  operators.name = "carol";
  operators.authority = identity::Authority{{"admin", "approver"}, "*"};
  operators.from = "";
  ASSERT_TRUE(store().AddToken(operators, Act("token", "bbb")).ok());
  ASSERT_TRUE(store().AddToken(MakeToken("aaa", 9), Act("token", "aaa")).ok());
  EXPECT_EQ(store().AddToken(MakeToken("aaa", 2), Act("token", "aaa")).code(), Code::kAlreadyExists);
  Reopen();
  EXPECT_EQ(*store().Tokens(), (std::vector<TokenRecord>{operators, MakeToken("aaa", 9)}));
  EXPECT_EQ(Audited(), 2u) << "what was refused by the store is not audited as done";
}

TEST_P(IdentityStoreContract, ADroppedTokenIsGone) {
  ASSERT_TRUE(store().AddToken(MakeToken("aaa"), Act("token")).ok());
  EXPECT_TRUE(store().DropToken("aaa", Act("drop token")).ok());
  EXPECT_EQ(store().DropToken("aaa", Act("drop token")).code(), Code::kNotFound);
  EXPECT_EQ(store().Join("aaa", MakeMember("gpu-1"), Act("join")).code(), Code::kNotFound);
  EXPECT_TRUE(store().Members()->empty());
  EXPECT_EQ(Audited(), 2u);
}

TEST_P(IdentityStoreContract, AMemberComesBackWholeAfterARestart) {
  Join("gpu-2");
  Join("ann", Kind::kOperator);
  Join("gpu-1");
  Reopen();
  EXPECT_EQ(*store().Members(), (std::vector<MemberRecord>{MakeMember("gpu-1"), MakeMember("gpu-2"),
                                                           MakeMember("ann", Kind::kOperator)}));
}

TEST_P(IdentityStoreContract, EachUseOfATokenIsTakenOnce) {
  ASSERT_TRUE(store().AddToken(MakeToken("aaa", 2), Act("token")).ok());
  EXPECT_TRUE(store().Join("aaa", MakeMember("gpu-1"), Act("join")).ok());
  ASSERT_EQ(store().Tokens()->size(), 1u);
  EXPECT_EQ(store().Tokens()->at(0).uses_left, 1u);
  EXPECT_TRUE(store().Join("aaa", MakeMember("gpu-2"), Act("join")).ok());
  EXPECT_TRUE(store().Tokens()->empty());
  EXPECT_EQ(store().Join("aaa", MakeMember("gpu-3"), Act("join")).code(), Code::kNotFound);
  EXPECT_EQ(store().Members()->size(), 2u);
}

TEST_P(IdentityStoreContract, AnExpiredTokenLetsNobodyIn) {
  ASSERT_TRUE(store().AddToken(MakeToken("aaa"), Act("token")).ok());
  MemberRecord late = MakeMember("gpu-1");
  late.changed = At(3600);
  EXPECT_EQ(store().Join("aaa", late, Act("join")).code(), Code::kFailedPrecondition);
  late.changed -= std::chrono::microseconds(1);
  EXPECT_TRUE(store().Join("aaa", late, Act("join")).ok());
}

TEST_P(IdentityStoreContract, AUuidHasOneMemberAndARefusedJoinTakesNoUse) {
  Join("gpu-1");
  ASSERT_TRUE(store().AddToken(MakeToken("aaa"), Act("token")).ok());
  MemberRecord thief = MakeMember("gpu-2");
  thief.uuid = MakeMember("gpu-1").uuid;
  EXPECT_EQ(store().Join("aaa", thief, Act("join")).code(), Code::kAlreadyExists);
  EXPECT_EQ(store().Tokens()->at(0).uses_left, 1u);
  EXPECT_EQ(store().Members()->size(), 1u);
}

TEST_P(IdentityStoreContract, AMemberThatJoinsAgainTakesItsOwnPlace) {
  Join("gpu-1");
  MemberRecord again = MakeMember("gpu-1");
  again.uuid = "another";
  again.serial = "02";
  ASSERT_TRUE(store().AddToken(MakeToken("aaa"), Act("token")).ok());
  ASSERT_TRUE(store().Join("aaa", again, Act("join")).ok());
  EXPECT_EQ(*store().Members(), std::vector<MemberRecord>{again});
}

TEST_P(IdentityStoreContract, ABannedNameDoesNotJoin) {
  Join("gpu-1");
  ASSERT_TRUE(store().SetStanding(Kind::kNode, "gpu-1", Standing::kBanned, "stolen", Act("ban")).ok());
  ASSERT_TRUE(store().AddToken(MakeToken("aaa", 2), Act("token")).ok());
  EXPECT_EQ(store().Join("aaa", MakeMember("gpu-1"), Act("join")).code(), Code::kPermissionDenied);
  EXPECT_EQ(store().Tokens()->at(0).uses_left, 2u);
  EXPECT_EQ(store().DropMember(Kind::kNode, "gpu-1", Act("drop")).code(), Code::kFailedPrecondition);
  EXPECT_EQ(store().Members()->at(0).standing, Standing::kBanned);
}

TEST_P(IdentityStoreContract, ARenewalCountsUpAndAnotherCounterChangesNothing) {
  Join("gpu-1");
  EXPECT_TRUE(store().Renew(Kind::kNode, "gpu-1", 1, "02", At(90000), Act("renew")).ok());
  EXPECT_EQ(store().Renew(Kind::kNode, "gpu-1", 1, "03", At(90001), Act("renew")).code(), Code::kAborted);
  EXPECT_EQ(store().Renew(Kind::kOperator, "gpu-1", 2, "03", At(90001), Act("renew")).code(),
            Code::kNotFound);
  Reopen();
  MemberRecord expected = MakeMember("gpu-1");
  expected.renewals = 2;
  expected.serial = "02";
  expected.not_after = At(90000);
  EXPECT_EQ(*store().Members(), std::vector<MemberRecord>{expected});
}

TEST_P(IdentityStoreContract, OnlyAnActiveMemberRenews) {
  Join("gpu-1");
  for (const Standing standing : {Standing::kHeld, Standing::kEvicted, Standing::kBanned}) {
    ASSERT_TRUE(store().SetStanding(Kind::kNode, "gpu-1", standing, "", Act("standing")).ok());
    EXPECT_EQ(store().Renew(Kind::kNode, "gpu-1", 1, "02", At(1), Act("renew")).code(), Code::kAborted);
  }
  ASSERT_TRUE(store().SetStanding(Kind::kNode, "gpu-1", Standing::kActive, "", Act("standing")).ok());
  EXPECT_TRUE(store().Renew(Kind::kNode, "gpu-1", 1, "02", At(1), Act("renew")).ok());
}

TEST_P(IdentityStoreContract, AStandingSaysWhoWhenAndWhy) {
  Join("gpu-1");
  AuditRow audit = Act("evict", "gpu-1");
  audit.at = At(77);
  ASSERT_TRUE(store().SetStanding(Kind::kNode, "gpu-1", Standing::kEvicted, "cloned", audit).ok());
  EXPECT_EQ(store().SetStanding(Kind::kNode, "gpu-2", Standing::kEvicted, "", audit).code(), Code::kNotFound);
  Reopen();
  MemberRecord expected = MakeMember("gpu-1");
  expected.standing = Standing::kEvicted;
  expected.reason = "cloned";
  expected.by = "operator alice";
  expected.changed = At(77);
  EXPECT_EQ(*store().Members(), std::vector<MemberRecord>{expected});
}

TEST_P(IdentityStoreContract, ADroppedMemberLeavesItsNameAndUuidFree) {
  Join("gpu-1");
  EXPECT_TRUE(store().DropMember(Kind::kNode, "gpu-1", Act("drop")).ok());
  EXPECT_EQ(store().DropMember(Kind::kNode, "gpu-1", Act("drop")).code(), Code::kNotFound);
  Join("gpu-1");
  EXPECT_EQ(store().Members()->size(), 1u);
}

TEST_P(IdentityStoreContract, EachWriteLeavesItsAuditRow) {
  Join("gpu-1");
  ASSERT_TRUE(store().Renew(Kind::kNode, "gpu-1", 1, "02", At(1), Act("renew", "gpu-1")).ok());
  ASSERT_TRUE(store().SetStanding(Kind::kNode, "gpu-1", Standing::kHeld, "", Act("hold", "gpu-1")).ok());
  ASSERT_TRUE(store().DropMember(Kind::kNode, "gpu-1", Act("drop", "gpu-1")).ok());
  const auto rows = opened_.Audits();
  ASSERT_EQ(rows.size(), 5u);
  const std::vector<std::string> actions = {"token", "join", "renew", "hold", "drop"};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    AuditRow expected = Act(actions[i], i == 0 ? "" : "gpu-1");
    expected.id = i + 1;
    EXPECT_EQ(rows[i], expected) << actions[i];
  }
}

TEST_P(IdentityStoreContract, OfManyRacersForOneUseExactlyOneJoins) {
  constexpr int kThreads = 8, kTokens = 1250;
  for (int n = 0; n < kTokens; ++n)
    ASSERT_TRUE(store().AddToken(MakeToken("t" + std::to_string(n)), Act("token")).ok());
  std::vector<std::atomic<int>> joined(kTokens);
  std::atomic<int> other{0};
  std::vector<std::thread> racers;
  for (int who = 0; who < kThreads; ++who)
    racers.emplace_back([&, who] {
      for (int n = 0; n < kTokens; ++n) {
        const std::string token = "t" + std::to_string(n);
        const Status status = store().Join(token, MakeMember(token + "-" + std::to_string(who)), Act("join"));
        if (status.ok())
          ++joined[static_cast<std::size_t>(n)];
        else if (status.code() != Code::kNotFound)
          ++other;
      }
    });
  for (std::thread& racer : racers) racer.join();
  for (const auto& count : joined) EXPECT_EQ(count, 1);
  EXPECT_EQ(other, 0);
  EXPECT_EQ(store().Members()->size(), static_cast<std::size_t>(kTokens));
  EXPECT_TRUE(store().Tokens()->empty());
}

INSTANTIATE_TEST_SUITE_P(EveryStore, IdentityStoreContract, testing::Values(&OpenSqlite, &OpenMemory),
                         [](const auto& one) {
                           return std::string(one.param == &OpenSqlite ? "Sqlite" : "Memory");
                         });

}  // namespace
}  // namespace railwright
