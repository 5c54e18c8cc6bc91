#include "controller/cli/exit_code.h"

#include <gtest/gtest.h>

#include <set>

namespace railwright::cli {
namespace {

TEST(OutcomeTest, TheStrongerCodeWinsInWhateverOrderTheyCome) {
  constexpr ExitCode kOrder[]{ExitCode::kInterrupted, ExitCode::kUsage,       ExitCode::kNotPermitted,
                              ExitCode::kUnreachable, ExitCode::kStalePlan,   ExitCode::kStopped,
                              ExitCode::kFailed,      ExitCode::kDifferences, ExitCode::kIncomplete,
                              ExitCode::kTimedOut,    ExitCode::kDone};
  for (std::size_t strong = 0; strong < std::size(kOrder); ++strong)
    for (std::size_t weak = strong; weak < std::size(kOrder); ++weak) {
      Outcome forwards, backwards;
      forwards.Add(kOrder[strong]);
      forwards.Add(kOrder[weak]);
      backwards.Add(kOrder[weak]);
      backwards.Add(kOrder[strong]);
      EXPECT_EQ(forwards.code(), kOrder[strong]);
      EXPECT_EQ(backwards.code(), kOrder[strong]);
    }
}

TEST(ExitOfTest, EachKindOfFailureHasItsCode) {
  const std::pair<Code, int> table[]{
      {Code::kPermissionDenied, 4},   {Code::kUnavailable, 8},      {Code::kAborted, 5},
      {Code::kFailedPrecondition, 6}, {Code::kDeadlineExceeded, 7}, {Code::kInvalidArgument, 1},
      {Code::kNotFound, 1},           {Code::kInternal, 1},         {Code::kResourceExhausted, 1},
      {Code::kUnimplemented, 1},      {Code::kDataLoss, 1}};
  for (const auto& [code, wanted] : table)
    EXPECT_EQ(static_cast<int>(ExitOf(Status(code, "x"))), wanted) << Name(code);
  EXPECT_EQ(ExitOf(Ok()), ExitCode::kDone);
}

TEST(ExitMeaningsTest, EveryCodeIsExplainedOnce) {
  std::set<int> seen;
  for (const ExitMeaning& one : ExitMeanings()) {
    EXPECT_TRUE(seen.insert(static_cast<int>(one.code)).second);
    EXPECT_FALSE(one.meaning.empty());
  }
  EXPECT_EQ(seen, (std::set<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 64, 130}));
}

}  // namespace
}  // namespace railwright::cli
