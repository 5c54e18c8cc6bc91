// What every Store must do with rollouts and the breaker.
#include <gtest/gtest.h>

#include <random>

#include "controller/store/rollout_rows.h"
#include "tests/rpc/memory_store.h"
#include "tests/store/identity_records.h"
#include "tests/store/temp_dir.h"

namespace railwright {
namespace {

using std::chrono::microseconds;
using std::chrono::system_clock;

system_clock::time_point At(std::int64_t us) { return system_clock::time_point(microseconds(us)); }

RolloutWrite MakeRollout(std::uint64_t generation) {
  RolloutWrite write;
  write.anew = true;
  RolloutRecord& record = write.record.emplace();
  record.generation = {generation};
  record.base = {generation - 1};
  record.author = "ann";
  record.created = At(1'700'000'000'000'001);
  record.policy = std::string("\x01\0\x02", 3);
  record.policy_name = "RolloutPolicy/careful";
  record.phase = RolloutPhase::kHalted;
  record.reason = "gpu-1 refused it";
  record.by = "railwright-controller";
  record.wave = 2;
  record.approvals_needed = 2;
  record.approved = true;
  record.policy_changed = true;
  record.approvals = {{"bob", "10.0.0.1", "looks well", At(5)}, {"carol", "", "", At(6)}};
  record.members = 2;
  record.failed = 1;
  RolloutMember one, other;
  one.node = "gpu-1";
  one.wave = 1;
  one.phase = MemberPhase::kFailed;
  one.why = "refused it: no";
  one.ailed = {{"link.mtu", "rail0"}, {"qos.pfc", ""}};
  one.was_known = true;
  one.since = At(7);
  other.node = "gpu-2";
  other.on_the_way = true;
  write.members = {one, other};
  return write;
}

class RolloutRows : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) {
      Reopen();
    } else {
      store_ = std::make_unique<MemoryStore>();
    }
  }
  void Reopen() {
    if (!GetParam()) return;
    store_.reset();
    auto opened = OpenSqliteStore(directory_.path());
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    store_ = std::move(*opened);
  }
  void Add(std::uint64_t generation) {
    ASSERT_TRUE(
        store_->AddGeneration(MakeGeneration(generation), Act("apply"), MakeRollout(generation)).ok());
  }
  TempDir directory_;
  std::unique_ptr<Store> store_;
};

TEST_P(RolloutRows, ANewStoreHasNeitherARolloutNorATrippedBreaker) {
  EXPECT_FALSE(store_->LatestRollout()->has_value());
  EXPECT_TRUE(store_->Rollouts(10)->empty());
  EXPECT_EQ(*store_->Breaker(), BreakerRecord());
}

TEST_P(RolloutRows, ARolloutComesBackWholeAfterARestart) {
  Add(1);
  Reopen();
  const auto stored = store_->LatestRollout();
  ASSERT_TRUE(stored.ok() && stored->has_value());
  EXPECT_EQ((*stored)->record, *MakeRollout(1).record);
  EXPECT_EQ((*stored)->members, MakeRollout(1).members);
}

TEST_P(RolloutRows, AMoveReplacesTheMembersThatItNamesAndLeavesTheOthers) {
  Add(1);
  RolloutWrite move = MakeRollout(1);
  move.anew = false;
  move.record->wave = 3;
  move.members.erase(move.members.begin());
  move.members[0].phase = MemberPhase::kDone;
  ASSERT_TRUE(store_->PutRollout(move, std::nullopt).ok());
  Reopen();
  const auto stored = store_->LatestRollout();
  EXPECT_EQ((*stored)->record.wave, 3u);
  ASSERT_EQ((*stored)->members.size(), 2u);
  EXPECT_EQ((*stored)->members[0], MakeRollout(1).members[0]);
  EXPECT_EQ((*stored)->members[1].phase, MemberPhase::kDone);
  EXPECT_EQ(store_->Audit(10)->size(), 1u) << "what goes on by itself is not audited";
}

TEST_P(RolloutRows, AnOrderIsWrittenTogetherWithItsAuditRow) {
  Add(1);
  RolloutWrite move = MakeRollout(1);
  ASSERT_TRUE(store_->PutRollout(move, Act("rollout pause")).ok());
  EXPECT_EQ(store_->Audit(10)->front().action, "rollout pause");
  move.record->generation = {9};
  EXPECT_EQ(store_->PutRollout(move, Act("rollout pause")).code(), Code::kNotFound);
  EXPECT_EQ(store_->Audit(10)->size(), 2u) << "what was not written is not audited";
}

TEST_P(RolloutRows, TheNextGenerationTakesThePlaceOfAnOpenRolloutAndItsMembers) {
  Add(1);
  RolloutWrite next = MakeRollout(2);
  next.members.pop_back();
  ASSERT_TRUE(store_->AddGeneration(MakeGeneration(2), Act("apply"), next).ok());
  Reopen();
  EXPECT_EQ((*store_->LatestRollout())->members.size(), 1u);
  const auto all = store_->Rollouts(10);
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].phase, RolloutPhase::kHalted);
  EXPECT_EQ((*all)[1].generation.value, 1u);
  EXPECT_EQ((*all)[1].phase, RolloutPhase::kSuperseded);
  EXPECT_EQ((*all)[1].reason, "generation 2 took its place");
  EXPECT_EQ(store_->Rollouts(1)->size(), 1u);
}

TEST_P(RolloutRows, AFinishedOrAbortedRolloutKeepsItsPhase) {
  for (const bool finished : {true, false}) {
    const std::uint64_t generation = finished ? 1 : 2;
    RolloutWrite write = MakeRollout(generation);
    write.record->finished = finished;
    write.record->phase = finished ? RolloutPhase::kRunning : RolloutPhase::kAborted;
    ASSERT_TRUE(store_->AddGeneration(MakeGeneration(generation), Act("apply"), write).ok());
  }
  Add(3);
  const auto all = store_->Rollouts(10);
  EXPECT_EQ((*all)[1].phase, RolloutPhase::kAborted);
  EXPECT_EQ((*all)[2].phase, RolloutPhase::kRunning);
}

TEST_P(RolloutRows, AGenerationThatIsRefusedBringsNoRollout) {
  Add(2);
  EXPECT_EQ(store_->AddGeneration(MakeGeneration(1), Act("apply"), MakeRollout(1)).code(), Code::kAborted);
  EXPECT_EQ(store_->Rollouts(10)->size(), 1u);
}

TEST_P(RolloutRows, TheBreakerSurvivesARestartAndIsWrittenTogetherWithWhatItHalts) {
  Add(1);
  const BreakerRecord tripped{true, "3 of 4 nodes failed", At(42)};
  RolloutWrite halt = MakeRollout(1);
  halt.anew = false;
  halt.record->reason = "the breaker";
  ASSERT_TRUE(store_->PutBreaker(tripped, halt, Act("breaker")).ok());
  Reopen();
  EXPECT_EQ(*store_->Breaker(), tripped);
  EXPECT_EQ((*store_->LatestRollout())->record.reason, "the breaker");
  EXPECT_EQ(store_->Audit(10)->front().action, "breaker");
  ASSERT_TRUE(store_->PutBreaker({}, {}, Act("reset breaker")).ok());
  Reopen();
  EXPECT_EQ(*store_->Breaker(), BreakerRecord());
}

INSTANTIATE_TEST_SUITE_P(All, RolloutRows, testing::Bool(),
                         [](const auto& one) { return one.param ? "Sqlite" : "Memory"; });

TEST(RolloutRecords, AnyBytesAreDecodedOrRefused) {
  std::mt19937_64 random(7);
  const std::vector<std::string> good = {EncodeRollout(*MakeRollout(1).record),
                                         EncodeMember(MakeRollout(1).members[0]),
                                         EncodeBreaker({true, "why", At(1)})};
  for (int i = 0; i < 30'000; ++i) {
    std::string bytes = good[random() % good.size()];
    for (std::uint64_t n = 1 + random() % 3; n > 0; --n) {
      const std::size_t at = random() % bytes.size();
      if (random() % 4 == 0)
        bytes.resize(at + 1);
      else
        bytes[at] = static_cast<char>(random());
    }
    RolloutRecord record;
    RolloutMember member;
    BreakerRecord breaker;
    (void)DecodeRollout(bytes, record);
    (void)DecodeMember(bytes, member);
    (void)DecodeBreaker(bytes, breaker);
  }
}

}  // namespace
}  // namespace railwright
