// The simulated world's seeds as tests, and that it is what it says: repeatable, and hit by every fault.
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <fstream>
#include <sstream>

#include "tests/sim/world.h"
#include "tests/support/rounds.h"

namespace railwright::sim {
namespace {

constexpr std::uint64_t kParts = 10;  // tests that CTest may run side by side

Outcome RunSeed(std::uint64_t seed) {
  spdlog::set_level(spdlog::level::off);
  Outcome outcome = World({seed}).Run();
  std::string trace;
  for (const std::string& line : outcome.trace) trace += "\n  " + line;
  EXPECT_TRUE(outcome.ok) << "seed " << seed << ": " << outcome.broken << trace << "\nagain: rw_sim --seed "
                          << seed << " --trace";
  return outcome;
}

class SimTest : public testing::TestWithParam<std::uint64_t> {};

// 100 seeds in every run, 1,000 in a slow one.
TEST_P(SimTest, EveryInvariantHoldsAfterEveryStep) {
  const auto seeds = static_cast<std::uint64_t>(Rounds(100, 1000)) / kParts;
  FaultCounts faults;
  for (std::uint64_t i = 0; i < seeds; ++i) faults.Add(RunSeed(1 + GetParam() * seeds + i).faults);
  EXPECT_GT(faults.All(), 100U);
}
INSTANTIATE_TEST_SUITE_P(Seeds, SimTest, testing::Range<std::uint64_t>(0, kParts));

TEST(SimTest, SeedsThatOnceFoundABugStayGreen) {
  std::ifstream file(RAILWRIGHT_SOURCE_DIR "/tests/sim/seeds.txt");
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::uint64_t seed = 0;
    ASSERT_TRUE(std::istringstream(line) >> seed) << line;
    RunSeed(seed);
    ++count;
  }
  EXPECT_GT(count, 0U);
}

TEST(SimTest, OneSeedIsOneRun) {
  const Outcome once = RunSeed(11), other = RunSeed(12), again = RunSeed(11);
  EXPECT_EQ(once.fingerprint, again.fingerprint);
  EXPECT_EQ(once.steps, again.steps);
  EXPECT_NE(once.fingerprint, other.fingerprint);
}

// A fault point that nothing reaches tests nothing.
TEST(SimTest, EveryFaultPointIsHit) {
  FaultCounts faults;
  const auto missing = [&] {
    std::string names;
    for (std::size_t i = 0; i < static_cast<std::size_t>(Fault::kCount); ++i)
      if (faults.Of(static_cast<Fault>(i)) == 0) names += std::string(Name(static_cast<Fault>(i))) + " ";
    return names;
  };
  // Of the fast seeds, as many as it takes.
  for (std::uint64_t seed = 1; seed <= 100 && !missing().empty(); ++seed) faults.Add(RunSeed(seed).faults);
  EXPECT_EQ(missing(), "");
}

}  // namespace
}  // namespace railwright::sim
