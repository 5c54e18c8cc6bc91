#include "core/text/shapes.h"

#include <gtest/gtest.h>

namespace railwright {
namespace {

NodeShape Node(const std::string& name, Verdict verdict, bool unreachable = false) {
  NodeShape node;
  node.node = name;
  node.verdict = verdict;
  node.unreachable = unreachable;
  return node;
}

TEST(StatusShape, CountsEachNodeOnce) {
  const auto shape = StatusShape(Generation{4}, {Node("a", Verdict::kCompliant), Node("b", Verdict::kDrifted),
                                                 Node("c", Verdict::kPending), Node("d", Verdict::kUnknown),
                                                 Node("e", Verdict::kCompliant, true)});
  EXPECT_EQ(shape["generation"], 4);
  EXPECT_EQ(shape["summary"].dump(),
            R"({"nodes":5,"compliant":1,"drifted":1,"pending":1,"unknown":1,"unreachable":1})");
  EXPECT_EQ(shape["complete"], false);
  EXPECT_EQ(shape["nodes"][0]["last_seen"], nullptr);
}

TEST(StatusShape, AnUnknownFindingMakesItIncomplete) {
  NodeShape node = Node("a", Verdict::kCompliant);
  EXPECT_EQ(StatusShape({}, {node})["complete"], true);
  node.findings.emplace_back();
  EXPECT_EQ(StatusShape({}, {node})["complete"], false);
}

TEST(StatusShape, NoNodesIsAnEmptyListNotNull) { EXPECT_EQ(StatusShape({}, {})["nodes"].dump(), "[]"); }

TEST(FindingShape, HasEveryMemberOfTheContract) {
  const auto shape = ToJson(Finding{});
  for (const char* name :
       {"code", "key", "target", "desired", "observed", "verdict", "reason", "message", "fix"})
    EXPECT_TRUE(shape[name].is_string()) << name;
  EXPECT_TRUE(shape["evidence"].is_array());
}

TEST(CatalogShape, HasEveryMemberOfTheContract) {
  SettingInfo setting;
  setting.noticed = {true, "rtnetlink", std::chrono::milliseconds(100)};
  CheckInfo check;
  const auto shape = CatalogShape({&setting}, {&check}, "00ff");
  for (const char* name : {"key", "help", "why", "targets", "syntax", "default", "disruption", "noticed"})
    EXPECT_TRUE(shape["settings"][0].contains(name)) << name;
  EXPECT_EQ(shape["settings"][0]["noticed"].dump(), R"({"by":"rtnetlink","worst_ms":100})");
  EXPECT_EQ(shape["checks"][0]["noticed"]["by"], "scan");
}

}  // namespace
}  // namespace railwright
