// Result<T>: what a temporary held outlives it.
#include "railwright/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <type_traits>
#include <vector>

namespace railwright {
namespace {

using Texts = std::vector<std::string>;
Result<Texts> Made() { return Texts{std::string(100, 'a'), std::string(100, 'b')}; }

TEST(ResultTest, ATemporarysValueIsGivenByValueSoThatALoopOverItDoesNotDangle) {
  static_assert(std::is_same_v<decltype(Made().value()), Texts>);
  static_assert(std::is_same_v<decltype(*Made()), Texts>);
  std::string all;
  for (const std::string& text : Made().value()) all += text;
  for (const std::string& text : *Made()) all += text;
  EXPECT_EQ(all.size(), 400U);
}

TEST(ResultTest, ANamedResultsValueIsReferredToAndMayBeMovedOut) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  static_assert(std::is_same_v<decltype(*result), std::unique_ptr<int>&>);
  const std::unique_ptr<int> taken = std::move(*result);
  EXPECT_EQ(*taken, 7);
  EXPECT_TRUE(result.ok());
}

}  // namespace
}  // namespace railwright
