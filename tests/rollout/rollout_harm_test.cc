// How far a bad generation gets: random fleets, policies, failures, absences. R-21.
#include <random>

#include "tests/rollout/fleet_of_tests.h"

namespace railwright {
namespace {

class RolloutHarm : public RolloutTest {
 protected:
  using Random = std::mt19937_64;
  static int Below(Random& random, int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }
};

TEST_F(RolloutHarm, ABadGenerationHarmsOneNodeWhateverTheFleet) {
  for (const int count : {1, 2, 5, 30, 99}) {
    nodes_.clear();
    traits_.clear();
    Start(count);
    std::set<std::string> harmed;
    for (int i = 0; i < 400; ++i) {
      for (const std::string& name : Look().begun) harmed.insert(name);
      for (const std::string& name : harmed) nodes_[name].sight.refused = "bad";
    }
    EXPECT_EQ(harmed.size(), 1u) << count << " nodes";
  }
}

TEST_F(RolloutHarm, AtAnyTimeAtMostTheCapIsUnavailableAndSetsAreKeptApart) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    nodes_.clear();
    traits_.clear();
    RolloutPolicy policy;
    policy.soak = seconds(Below(random, 20));
    policy.settle_within = minutes(2);
    policy.max_unavailable = Below(random, 2) == 0
                                 ? Amount{static_cast<std::uint32_t>(1 + Below(random, 4)), false}
                                 : Amount{static_cast<std::uint32_t>(1 + Below(random, 50)), true};
    if (Below(random, 2) == 0) policy.waves = {{Wave::Kind::kMore, {2, false}}, {Wave::Kind::kRack, {}}, {}};
    if (Below(random, 3) == 0) policy.apart = {"pair"};
    const int count = 2 + Below(random, 40);
    Start(count, policy);
    if (!policy.apart.empty())
      for (int n = 1; n <= count; ++n) traits_[Name(n)].apart = {"pair=" + std::to_string((n + 1) / 2)};
    Restart();
    const int bad_percent = Below(random, 4) == 0 ? 0 : Below(random, 30);
    std::set<std::string> harmed;
    for (int step = 0; step < 300; ++step) {
      const std::vector<std::string> begun = Look(seconds(Below(random, 5))).begun;
      // When a node is begun all must hold; one that was done and fails later is nobody's choice.
      std::size_t unavailable = 0;
      std::map<std::string, int> pairs;
      for (const RolloutMember& member : rollout_->members()) {
        if (member.phase != MemberPhase::kChanging && member.phase != MemberPhase::kFailed) continue;
        ++unavailable;
        for (const std::string& value : traits_[member.node].apart) ++pairs[value];
      }
      for (const std::string& name : begun) {
        ASSERT_LE(unavailable, policy.UnavailableMost(static_cast<std::size_t>(count))) << "seed " << seed;
        for (const std::string& value : traits_[name].apart)
          ASSERT_EQ(pairs[value], 1) << "seed " << seed << ": " << value;
        if (Below(random, 100) < bad_percent) harmed.insert(name);
      }
      for (auto& [name, node] : nodes_) {
        if (Below(random, 50) == 0) node.sight.connected ? Leave(name) : Come(name);
        if (PhaseOf(name) != MemberPhase::kChanging || !node.sight.connected) continue;
        if (harmed.contains(name))
          node.sight.refused = "bad";
        else if (Below(random, 3) == 0)
          Settle(name);
      }
      if (Below(random, 100) == 0) Restart();
      if (rollout_->record().phase == RolloutPhase::kHalted && Below(random, 20) == 0)
        Do(rollout_->Resume(Present(), "bob", ""));
    }
  }
}

}  // namespace
}  // namespace railwright
