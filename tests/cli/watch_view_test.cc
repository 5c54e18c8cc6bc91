#include "controller/cli/watch_view.h"

#include <gtest/gtest.h>

#include "tests/cli/canned.h"

namespace railwright::cli {
namespace {

const Terminal kPlain;
const auto kNow = SimClock().WallNow();

v1::WatchEvent Of(const v1::NodeStatus& node) {
  v1::WatchEvent event;
  *event.mutable_node() = node;
  return event;
}

TEST(WatchViewTest, ANodeIsShownAgainOnlyWhenSomethingChanged) {
  WatchView view(kPlain);
  v1::NodeStatus node = GoodNode("gpu-001");
  EXPECT_NE(view.Line(Of(node), kNow).find("gpu-001  ✓ Compliant      gen 42"), std::string::npos);
  EXPECT_EQ(view.Line(Of(node), kNow), "");
  node.set_verdict(v1::VERDICT_DRIFTED);
  *node.mutable_findings(0) = MtuFinding(v1::VERDICT_DRIFTED);
  const std::string line = view.Line(Of(node), kNow);
  EXPECT_NE(line.find("✗ Drifted        gen 42  link.mtu rail0\n"), std::string::npos) << line;
}

TEST(WatchViewTest, ChangesAndGenerationsHaveLinesOfTheirOwn) {
  WatchView view(kPlain);
  v1::WatchEvent event;
  event.set_generation(43);
  event.mutable_change()->set_node("gpu-001");
  *event.mutable_change()->mutable_change() = MtuWhy().targets(0).changes(0);
  event.mutable_change()->mutable_change()->set_key("link.mtu");
  const std::string text = view.Line(event, kNow);
  EXPECT_NE(text.find("generation 43 is stored\n"), std::string::npos);
  EXPECT_NE(text.find("gpu-001  corrective  link.mtu  1500 → 4200  12.4 ms  by ip[4711]\n"),
            std::string::npos)
      << text;
}

TEST(WatchViewTest, ObjectsAreTypedOneForEachThing) {
  WatchView view(kPlain);
  v1::WatchEvent event = Of(GoodNode("gpu-001"));
  event.set_generation(43);
  event.mutable_change()->set_node("gpu-001");
  const auto objects = view.Objects(event, kNow);
  ASSERT_EQ(objects.size(), 3u);
  EXPECT_EQ(objects[0]["type"], "generation");
  EXPECT_EQ(objects[1]["type"], "change");
  EXPECT_EQ(objects[2]["type"], "node");
  EXPECT_EQ(objects[2]["verdict"], "Compliant");
  EXPECT_EQ(objects[2]["at"], "2026-11-30T00:00:00.000Z");
}

}  // namespace
}  // namespace railwright::cli
