// Who a new generation must reach when the one before it has not reached everybody.
#include "tests/rollout/fleet_of_tests.h"

namespace railwright {
namespace {

class MembersOfTest : public RolloutTest {
 protected:
  static bool Declared(const std::string&) { return true; }
  void Stand(int n, MemberPhase phase, bool on_the_way = false) {
    StoredRollout stored{rollout_->record(), rollout_->members()};
    stored.members[static_cast<std::size_t>(n) - 1].phase = phase;
    stored.members[static_cast<std::size_t>(n) - 1].on_the_way = on_the_way;
    stored.members[static_cast<std::size_t>(n) - 1].wave = 2;
    Make(std::move(stored));
  }
};

TEST_F(MembersOfTest, WithoutOneBeforeItIsThoseThatChange) {
  const auto members = MembersOf({"b", "a"}, nullptr, Declared);
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[0].node, "a");
  EXPECT_EQ(members[0].phase, MemberPhase::kWaiting);
  EXPECT_FALSE(members[0].on_the_way);
}

TEST_F(MembersOfTest, WhoHasNotGotTheLastOneIsReachedByThisOneThoughItDoesNotDiffer) {
  Start(3);
  Stand(1, MemberPhase::kDone);
  const auto members = MembersOf({}, rollout_.get(), Declared);
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[0].node, "gpu-02");
  EXPECT_EQ(members[0].wave, 0u);
}

TEST_F(MembersOfTest, WhoIsStillChangingIsOnTheWayWhenThisOneChangesItAndElseGoesOn) {
  Start(2);
  Stand(1, MemberPhase::kChanging);
  Stand(2, MemberPhase::kChanging);
  const auto members = MembersOf({"gpu-01"}, rollout_.get(), Declared);
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[0].phase, MemberPhase::kWaiting);
  EXPECT_TRUE(members[0].on_the_way);
  EXPECT_EQ(members[1].phase, MemberPhase::kChanging) << "it was sent this very state";
  EXPECT_EQ(members[1].wave, 0u);
}

TEST_F(MembersOfTest, AFailedOneIsOnTheWayAndSoIsOneThatWasAlready) {
  Start(3);
  Stand(1, MemberPhase::kFailed);
  Stand(2, MemberPhase::kWaiting, true);
  Stand(3, MemberPhase::kAccepted);
  const auto members = MembersOf({"gpu-01", "gpu-02", "gpu-03"}, rollout_.get(), Declared);
  EXPECT_TRUE(members[0].on_the_way);
  EXPECT_TRUE(members[1].on_the_way);
  EXPECT_FALSE(members[2].on_the_way) << "a person let it go";
}

TEST_F(MembersOfTest, WhoLeftTheInventoryIsNoMember) {
  Start(2);
  const auto members =
      MembersOf({}, rollout_.get(), [](const std::string& node) { return node != "gpu-01"; });
  ASSERT_EQ(members.size(), 1u);
  EXPECT_EQ(members[0].node, "gpu-02");
}

}  // namespace
}  // namespace railwright
