#include "controller/cli/why_view.h"

#include <gtest/gtest.h>

#include "core/text/yaml.h"
#include "tests/cli/canned.h"
#include "tests/cli/golden.h"

namespace railwright::cli {
namespace {

const Terminal kPlain;

v1::WhyRequest Asked() {
  v1::WhyRequest request;
  request.set_node("gpu-001");
  request.set_key("link.mtu");
  return request;
}

TEST(WhyViewTest, LayersWinnerFindingAndChanges) {
  ExpectGolden("why.txt", WhyText(Asked(), MtuWhy(), kPlain, SimClock().WallNow()));
  ExpectGolden("why.json", ToJsonText(WhyJson(Asked(), MtuWhy())));
}

TEST(WhyViewTest, AKeyThatNobodySetsIsSaidToBeLeftAlone) {
  v1::WhyResponse nobody;
  nobody.set_generation(42);
  EXPECT_EQ(WhyText(Asked(), nobody, kPlain, SimClock().WallNow()),
            "No document sets link.mtu on gpu-001, generation 42; it is left as it is.\n");
  EXPECT_TRUE(WhyJson(Asked(), nobody)["targets"].is_array());
}

TEST(WhyViewTest, WhatWasNeverSeenIsSaidToBeUnseen) {
  v1::WhyResponse why = MtuWhy();
  why.mutable_targets(0)->clear_finding();
  EXPECT_NE(WhyText(Asked(), why, kPlain, SimClock().WallNow()).find("seen: nothing yet"), std::string::npos);
  EXPECT_TRUE(WhyJson(Asked(), why)["targets"][0]["finding"].is_null());
}

}  // namespace
}  // namespace railwright::cli
