// The controller's log of expected events would bury a test's own words; critical ones are still shown.
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

namespace {

class Quiet : public testing::Environment {
  void SetUp() override { spdlog::set_level(spdlog::level::critical); }
};
const auto* const kQuiet = testing::AddGlobalTestEnvironment(new Quiet);

}  // namespace
