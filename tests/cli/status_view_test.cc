#include <gtest/gtest.h>

#include "controller/cli/fleet_view.h"
#include "core/text/yaml.h"
#include "tests/cli/canned.h"
#include "tests/cli/golden.h"

namespace railwright::cli {
namespace {

const Terminal kPlain;
const auto kNow = SimClock().WallNow();

FleetView JudgeNow(const v1::StatusResponse& response) { return Judge(response, kNow); }

TEST(StatusViewTest, ATroubledFleet) {
  const v1::StatusResponse response = TroubledFleet();
  const FleetView fleet = JudgeNow(response);
  ExpectGolden("status.txt", StatusTable(fleet, kPlain, kNow));
  ExpectGolden("status.json", ToJsonText(StatusJson(fleet)));
  ExpectGolden("drift.txt", DriftTable(fleet, kPlain));
  ExpectGolden("drift.json", ToJsonText(DriftJson(fleet)));
}

TEST(StatusViewTest, AGoodFleet) {
  const v1::StatusResponse response = GoodFleet(3);
  const FleetView fleet = JudgeNow(response);
  ExpectGolden("status_good.txt", StatusTable(fleet, kPlain, kNow));
  ExpectGolden("drift_good.txt", DriftTable(fleet, kPlain));
}

TEST(StatusViewTest, ColourAndAsciiCarryTheSameWords) {
  const v1::StatusResponse response = TroubledFleet();
  const FleetView fleet = JudgeNow(response);
  Terminal ascii;
  ascii.utf8 = false;
  const std::string text = StatusTable(fleet, ascii, kNow);
  for (const char c : text) EXPECT_LT(static_cast<unsigned char>(c), 0x80u);
  Terminal colour;
  colour.colour = true;
  std::string painted = StatusTable(fleet, colour, kNow), bare;
  for (std::size_t i = 0; i < painted.size(); ++i) {
    if (painted[i] == '\x1b') {
      while (painted[i] != 'm') ++i;
    } else {
      bare += painted[i];
    }
  }
  EXPECT_NE(painted, bare);
  EXPECT_EQ(bare, StatusTable(fleet, kPlain, kNow));
}

TEST(StatusViewTest, TheVerdictOnTheFleetIsTheLastLine) {
  v1::StatusResponse response = TroubledFleet();
  response.set_read_only("the disk is full");
  const std::string text = StatusTable(JudgeNow(response), kPlain, kNow);
  const auto last = text.rfind('\n', text.size() - 2);
  EXPECT_NE(text.find("7 nodes: 3 drifted, 1 unknown, 1 unreachable, 1 pending, 1 compliant", last),
            std::string::npos);
  EXPECT_LT(text.find("the controller takes no changes: the disk is full"), last);
  EXPECT_LT(text.find("paused: link.mtu on gpu-003, by root@head: bench test"), last);
}

struct Case {
  const char* what;
  void (*change)(v1::NodeStatus&);
  Verdict verdict;
  ExitCode exit;
};

TEST(JudgeTest, OldEvidenceIsNoEvidence) {
  const Case table[]{
      {"good", [](v1::NodeStatus&) {}, Verdict::kCompliant, ExitCode::kDone},
      {"silent", [](v1::NodeStatus& n) { n.set_stale(true); }, Verdict::kUnknown, ExitCode::kIncomplete},
      {"dropped off a moment ago", [](v1::NodeStatus& n) { n.set_connected(false); }, Verdict::kCompliant,
       ExitCode::kDone},
      {"silent and drifted then",
       [](v1::NodeStatus& n) {
         n.set_stale(true);
         n.set_verdict(v1::VERDICT_DRIFTED);
       },
       Verdict::kUnknown, ExitCode::kIncomplete},
      {"older generation", [](v1::NodeStatus& n) { n.set_generation(41); }, Verdict::kPending,
       ExitCode::kDifferences},
      {"not settled", [](v1::NodeStatus& n) { n.set_settled(false); }, Verdict::kPending,
       ExitCode::kDifferences},
      {"refused", [](v1::NodeStatus& n) { n.set_nack("no"); }, Verdict::kDrifted, ExitCode::kDifferences},
      {"drifted and on its way",
       [](v1::NodeStatus& n) {
         n.set_generation(41);
         n.set_verdict(v1::VERDICT_DRIFTED);
       },
       Verdict::kDrifted, ExitCode::kDifferences},
      {"pending", [](v1::NodeStatus& n) { n.set_verdict(v1::VERDICT_PENDING); }, Verdict::kPending,
       ExitCode::kDifferences},
      {"nothing told", [](v1::NodeStatus& n) { n.set_verdict(v1::VERDICT_UNSPECIFIED); }, Verdict::kUnknown,
       ExitCode::kIncomplete},
      {"nothing applicable", [](v1::NodeStatus& n) { n.set_verdict(v1::VERDICT_NOT_APPLICABLE); },
       Verdict::kUnknown, ExitCode::kIncomplete},
  };
  for (const Case& one : table) {
    v1::StatusResponse response = GoodFleet(2);
    one.change(*response.mutable_nodes(0));
    const FleetView fleet = JudgeNow(response);
    EXPECT_EQ(fleet.nodes[0].verdict, one.verdict) << one.what;
    EXPECT_EQ(fleet.exit(), one.exit) << one.what;
    EXPECT_EQ(fleet.compliant + fleet.drifted + fleet.pending + fleet.unknown + fleet.unreachable, 2u)
        << one.what;
    EXPECT_EQ(DriftExit(fleet) == ExitCode::kDone,
              one.exit == ExitCode::kDone || std::string(one.what) == "pending")
        << one.what;
  }
}

TEST(JudgeTest, AnInventoryWithoutNodesIsNotComplete) {
  const FleetView fleet = JudgeNow({});
  EXPECT_EQ(fleet.exit(), ExitCode::kIncomplete);
  EXPECT_EQ(StatusJson(fleet)["complete"], false);
  EXPECT_NE(StatusTable(fleet, kPlain, kNow).find("no node is declared, so nothing was measured"),
            std::string::npos);
}

TEST(JudgeTest, DifferencesOutrankSilence) {
  v1::StatusResponse response = GoodFleet(2);
  response.mutable_nodes(0)->set_stale(true);
  response.mutable_nodes(1)->set_verdict(v1::VERDICT_DRIFTED);
  EXPECT_EQ(JudgeNow(response).exit(), ExitCode::kDifferences);
}

TEST(DriftViewTest, AFailedCheckIsAProblemButNoDrift) {
  v1::StatusResponse response = GoodFleet(1);
  v1::NodeStatus& node = *response.mutable_nodes(0);
  node.set_verdict(v1::VERDICT_DRIFTED);
  v1::Finding& check = *node.add_findings();
  check.set_code("RW-2101");
  check.set_key("firewall.foreign");
  check.set_verdict(v1::VERDICT_DRIFTED);
  check.set_reason("ForeignRule");
  const FleetView fleet = JudgeNow(response);
  EXPECT_EQ(fleet.exit(), ExitCode::kDifferences);
  EXPECT_EQ(DriftExit(fleet), ExitCode::kDone);
  EXPECT_TRUE(DriftJson(fleet)["drift"].empty());
}

TEST(StatusJsonTest, NumbersAreNumbersListsAreListsAndTimesAreUtc) {
  v1::StatusResponse response = GoodFleet(1);
  response.set_generation(std::uint64_t{1} << 60);
  const nlohmann::ordered_json json = StatusJson(JudgeNow(response));
  EXPECT_EQ(json["generation"].get<std::uint64_t>(), std::uint64_t{1} << 60);
  EXPECT_TRUE(json["nodes"].is_array());
  EXPECT_TRUE(json["nodes"][0]["findings"].is_array());
  EXPECT_EQ(json["nodes"][0]["last_seen"], "2026-11-29T23:59:58.000Z");
  std::string keys;
  for (const auto& [key, value] : json.items()) keys += key + " ";
  EXPECT_EQ(keys, "generation complete summary nodes read_only problem retired pauses ");
}

TEST(StatusTableTest, TextOfANodeCannotDriveTheTerminal) {
  v1::StatusResponse response = TroubledFleet();
  response.mutable_nodes(1)->mutable_findings(0)->set_message("\x1b]0;owned\x07 line\nline");
  const std::string text = StatusTable(JudgeNow(response), kPlain, kNow);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
}

TEST(DriftTableTest, AnAdoptedClusterIsToldWhatWouldBeChanged) {
  v1::StatusResponse response = GoodFleet(2);
  for (v1::NodeStatus& node : *response.mutable_nodes()) {
    node.set_verdict(v1::VERDICT_DRIFTED);
    v1::Finding finding = MtuFinding(v1::VERDICT_DRIFTED);
    finding.set_reason("ObserveMode");
    *node.add_findings() = finding;
  }
  const SimClock clock;
  const FleetView fleet = Judge(response, clock.WallNow());
  const std::string text = DriftTable(fleet, Terminal{});
  EXPECT_NE(
      text.find("in mode observe: 2 values on 2 nodes gpu-[001-002] would be changed; switch on with mode: "
                "enforce for link.mtu\n"),
      std::string::npos)
      << text;
  EXPECT_EQ(DriftJson(fleet)["would_change"]["values"], 2);
}

}  // namespace
}  // namespace railwright::cli
