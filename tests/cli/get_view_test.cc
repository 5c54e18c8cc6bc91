#include "controller/cli/get_view.h"

#include <gtest/gtest.h>

#include "tests/cli/canned.h"
#include "tests/cli/golden.h"

namespace railwright::cli {
namespace {

const Terminal kPlain;
const auto kNow = SimClock().WallNow();

v1::ChangesResponse OneChange() {
  v1::ChangesResponse changes;
  v1::NodeChange& one = *changes.add_changes();
  one.set_node("gpu-001");
  *one.mutable_change() = MtuWhy().targets(0).changes(0);
  one.mutable_change()->set_key("link.mtu");
  one.mutable_change()->set_target("rail0");
  return changes;
}

v1::DesiredResponse OneDesired() {
  v1::DesiredResponse desired;
  desired.set_generation(42);
  desired.set_hash("0123456789abcdef");
  desired.mutable_group()->set_cluster("pod-a");
  desired.mutable_group()->add_subnets("10.10.0.0/24");
  v1::SettingSpec& mtu = *desired.mutable_group()->add_settings();
  mtu.set_key("link.mtu");
  mtu.set_target("rail0");
  mtu.set_value("4200");
  mtu.set_mode(v1::MODE_ENFORCE);
  mtu.mutable_origin()->set_document("Profile/roce-lossless");
  mtu.mutable_origin()->set_place("site.yaml:14:5");
  v1::Port& port = *desired.mutable_overlay()->add_ports();
  port.set_name("rail0");
  port.set_role(v1::PORT_ROLE_FABRIC);
  port.set_pci("0000:18:00.0");
  port.add_addresses("10.10.0.1/24");
  desired.mutable_overlay()->add_settings()->set_key("cpu.governor");
  desired.mutable_overlay()->add_restore()->set_key("nccl.NCCL_DEBUG");
  return desired;
}

TEST(GetViewTest, Lists) {
  const v1::StatusResponse response = TroubledFleet();
  const FleetView fleet = Judge(response, kNow);
  v1::GenerationsResponse generations;
  v1::GenerationInfo& back = *generations.add_generations();
  back.set_generation(42);
  back.set_created_unix_us(Before(std::chrono::minutes(5)));
  back.set_author("root@head");
  back.set_rolled_back_from(40);
  back.set_nodes(7);
  back.set_settings(3);
  back.add_documents("Cluster/pod-a");
  back.add_documents("Profile/roce-lossless");
  v1::AuditResponse audit;
  v1::AuditEntry& entry = *audit.add_entries();
  entry.set_id(9);
  entry.set_at_unix_us(Before(std::chrono::minutes(5)));
  entry.set_who("root@head");
  entry.set_action("apply");
  entry.set_subject("generation 42");
  entry.set_from("ipv4:10.0.0.7:40312");
  entry.set_serial("0a1b");
  entry.set_outcome("done");
  std::string text =
      NodesTable(fleet, kPlain, kNow) + "----\n" + SettingsTable(fleet, "", kPlain) + "----\n" +
      FindingsTable(fleet, "", kPlain) + "----\n" + ChangesTable(OneChange(), kPlain, kNow) + "----\n" +
      GenerationsTable(generations, kPlain, kNow) + "----\n" + DesiredTable("gpu-001", OneDesired(), kPlain) +
      "----\n" + AuditTable(audit, kPlain, kNow);
  ExpectGolden("get.txt", text);
}

TEST(GetViewTest, EmptyListsSaySoAndStayListsInJson) {
  const FleetView empty = Judge({}, kNow);
  EXPECT_FALSE(NodesTable(empty, kPlain, kNow).empty());
  EXPECT_FALSE(SettingsTable(empty, "", kPlain).empty());
  EXPECT_FALSE(FindingsTable(empty, "", kPlain).empty());
  EXPECT_FALSE(ChangesTable({}, kPlain, kNow).empty());
  EXPECT_FALSE(GenerationsTable({}, kPlain, kNow).empty());
  EXPECT_FALSE(AuditTable({}, kPlain, kNow).empty());
  EXPECT_TRUE(NodesJson(empty)["nodes"].is_array());
  EXPECT_TRUE(ChangesJson({})["changes"].is_array());
  EXPECT_TRUE(GenerationsJson({})["generations"].is_array());
  EXPECT_TRUE(AuditJson({})["entries"].is_array());
  EXPECT_TRUE(DesiredJson("x", {})["settings"].is_array());
}

TEST(ChangesJsonTest, TimesAreThereForPeopleAndForArithmetic) {
  const nlohmann::ordered_json change = ChangesJson(OneChange())["changes"][0];
  EXPECT_EQ(change["at"], "2026-11-29T23:59:48.000Z");
  EXPECT_EQ(change["at_unix_us"], Before(std::chrono::seconds(12)));
  EXPECT_EQ(change["took_us"], 12'400);
  EXPECT_EQ(change["kind"], "corrective");
  EXPECT_EQ(change["node"], "gpu-001");
}

TEST(DesiredJsonTest, SettingsOfGroupAndNodeStandInOneSortedList) {
  const nlohmann::ordered_json json = DesiredJson("gpu-001", OneDesired());
  ASSERT_EQ(json["settings"].size(), 2u);
  EXPECT_EQ(json["settings"][0]["key"], "cpu.governor");
  EXPECT_EQ(json["settings"][1]["key"], "link.mtu");
  EXPECT_EQ(json["restore"][0]["key"], "nccl.NCCL_DEBUG");
}

TEST(SettingsJsonTest, OneKeyCanBeChosenAndChecksAreLeftOut) {
  const v1::StatusResponse response = TroubledFleet();
  const FleetView fleet = Judge(response, kNow);
  EXPECT_EQ(SettingsJson(fleet, "link.mtu")["settings"].size(), 7u);
  EXPECT_EQ(SettingsJson(fleet, "").at("settings").size(), 8u);
  EXPECT_EQ(FindingsJson(fleet, "nothing")["findings"].size(), 0u);
}

}  // namespace
}  // namespace railwright::cli
