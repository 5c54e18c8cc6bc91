#include "controller/rpc/desired.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "controller/rpc/agent_link.h"
#include "controller/rpc/status_text.h"
#include "controller/rpc/stored_state.h"
#include "tests/rpc/site.h"

namespace railwright {
namespace {

std::string Bytes(const Outbound& message) {
  return message.head + (message.shared ? *message.shared : "") + message.tail;
}

std::shared_ptr<const FleetState> Resolve(const std::string& yaml, std::vector<NodeKey> restores = {}) {
  StoredGeneration stored;
  stored.generation = {300};
  stored.restores = std::move(restores);
  for (const Document& d : LoadDocuments("site.yaml", yaml).documents)
    stored.documents.push_back({d.kind, d.name, d.file, d.line, d.text});
  return ResolveStored(stored, CatalogDeclarations());
}

TEST(OutboundTest, HandWrittenBytesAreWhatProtobufReads) {
  const auto state = Resolve(SiteYaml());
  const NodeDesired& desired = state->desired.at("gpu-002");
  v1::ControllerMessage message;
  ASSERT_TRUE(message.ParseFromString(Bytes(DesiredOutbound(300, desired, "signed"))));
  EXPECT_EQ(message.desired().generation(), 300u);
  EXPECT_EQ(message.desired().group(), *desired.group);
  EXPECT_EQ(message.desired().overlay(), desired.overlay);
  EXPECT_EQ(message.desired().hash(), desired.hash);
  EXPECT_EQ(message.SerializeAsString(), Bytes(DesiredOutbound(300, desired, "signed")))
      << "canonical order too";

  ASSERT_TRUE(message.ParseFromString(Bytes(PlanOutbound(1'000'000, 15'000, 301, desired))));
  EXPECT_EQ(message.command().id(), 1'000'000u);
  EXPECT_EQ(message.command().deadline_ms(), 15'000);
  EXPECT_TRUE(FromWire(message.command().plan()).ok());
}

TEST(RailPeersTest, EachPortKnowsUpToThreeOthersOfItsRailAndNobodyIsKnownToAll) {
  const auto state = Resolve(
      "kind: Cluster\nname: pod\nnodes:\n  - {name: \"gpu-[001-009]\", role: gpu}\nports:\n"
      "  - {name: rail0, select: {netdev: rail0}, role: fabric, address: \"10.10.0.{index}/24\"}\n"
      "  - {name: rail1, select: {netdev: rail1}, role: fabric}\n"
      "  - {name: mgmt, select: {netdev: eno1}, role: management, address: \"10.0.0.{index}/24\"}\n");
  ASSERT_EQ(state->problem, "");
  std::map<std::string, int> known;
  for (const auto& [name, desired] : state->desired) {
    v1::NodeOverlay overlay;
    ASSERT_TRUE(overlay.ParseFromString(desired.overlay));
    ASSERT_EQ(overlay.peers_size(), 3) << name;
    std::set<std::string> others;
    for (const auto& peer : overlay.peers()) {
      EXPECT_EQ(peer.port(), "rail0") << "no address, or no fabric port";
      EXPECT_NE(peer.address() + "/24", overlay.ports(0).addresses(0)) << "not itself";
      others.insert(peer.address());
      ++known[peer.address()];
    }
    EXPECT_EQ(others.size(), 3u);
  }
  for (const auto& [address, by] : known) EXPECT_EQ(by, 3) << address;
  EXPECT_EQ(Resolve(SiteYaml())->desired.begin()->second.overlay,
            Resolve(SiteYaml())->desired.begin()->second.overlay);
}

TEST(RailPeersTest, ANodeThatIsAloneOnItsSubnetHasNone) {
  const auto state = Resolve(
      "kind: Cluster\nname: pod\nnodes:\n  - {name: \"gpu-[001-002]\", role: gpu}\nports:\n"
      "  - {name: rail0, select: {netdev: rail0}, role: fabric, address: \"10.{index}.0.1/24\"}\n");
  ASSERT_EQ(state->problem, "");
  for (const auto& [name, desired] : state->desired) {
    v1::NodeOverlay overlay;
    ASSERT_TRUE(overlay.ParseFromString(desired.overlay));
    EXPECT_EQ(overlay.peers_size(), 0) << name;
  }
}

TEST(StoredStateTest, ATryIsInTheBytesAlsoAfterARestart) {
  const auto plain = Resolve(SiteYaml());
  StoredGeneration stored = plain->stored;
  stored.try_for = std::chrono::seconds(90);
  const auto tried = ResolveStored(stored, CatalogDeclarations());
  const auto& [node, desired] = *tried->desired.begin();
  v1::DesiredState message;
  message.set_generation(300);
  message.set_group(*desired.group);
  message.set_overlay(desired.overlay);
  message.set_hash(desired.hash);
  const auto state = FromWire(message);
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(state->try_for, std::chrono::seconds(90));
  EXPECT_NE(desired.hash, plain->desired.at(node).hash);
}

TEST(ParseStoredTest, TextAndPlacesAreThoseOfTheFileItCameFrom) {
  const std::string yaml = "# the pod\n\n" + SiteYaml() + "\n\n---\n\n# more\nkind: Profile\nname: more\n";
  const Loaded loaded = LoadDocuments("site.yaml", yaml);
  ASSERT_EQ(loaded.documents.size(), 3u);
  StoredGeneration stored;
  for (const Document& d : loaded.documents)
    stored.documents.push_back({d.kind, d.name, d.file, d.line, d.text});
  auto parsed = ParseStored(stored);
  const auto& documents = std::get<std::vector<Document>>(parsed);
  ASSERT_EQ(documents.size(), 3u);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    EXPECT_EQ(documents[i].text, loaded.documents[i].text);
    EXPECT_EQ(documents[i].line, loaded.documents[i].line);
    const auto bytes = [](const Document& d) {  // the marks are among them
      return std::visit([](const auto& body) { return body.SerializeAsString(); }, d.body);
    };
    EXPECT_EQ(bytes(documents[i]), bytes(loaded.documents[i]));
  }
}

TEST(ParseStoredTest, AProblemStandsAtItsPlaceInTheFileWithItsLine) {
  StoredGeneration stored;
  stored.documents = {{"Profile", "x", "site.yaml", 40, "kind: Profile\nname: x\nprecedense: 1\n"}};
  const auto parsed = ParseStored(stored);
  const auto& problems = std::get<std::vector<Problem>>(parsed);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].ToString().find("site.yaml:42:1: unknown field \"precedense\""), 0u)
      << problems[0].ToString();
  EXPECT_NE(problems[0].excerpt.find("42 | precedense: 1"), std::string::npos) << problems[0].excerpt;
}

TEST(OutboundTest, AnEmptyGroupIsStillAWholeMessage) {
  v1::ControllerMessage message;
  ASSERT_TRUE(message.ParseFromString(Bytes(DesiredOutbound(5, RetiredDesired("gpu-009"), "signed"))));
  const auto state = FromWire(message.desired());
  ASSERT_TRUE(state.ok()) << state.status().ToString();
  EXPECT_EQ(state->node, "gpu-009");
  EXPECT_TRUE(state->settings.empty());
}

TEST(DesiredTest, ARestoreStandsInTheOverlayOfItsNodeAlone) {
  const auto state = Resolve(SiteYaml(), {{"gpu-001", {"link.rings", "rail0"}}});
  v1::NodeOverlay overlay;
  overlay.ParseFromString(state->desired.at("gpu-001").overlay);
  ASSERT_EQ(overlay.restore_size(), 1);
  EXPECT_EQ(overlay.restore(0).key(), "link.rings");
  overlay.ParseFromString(state->desired.at("gpu-002").overlay);
  EXPECT_EQ(overlay.restore_size(), 0);
}

TEST(DesiredTest, TheSameDocumentsGiveTheSameHashes) {
  const auto a = Resolve(SiteYaml()), b = Resolve(SiteYaml());
  for (const auto& [name, desired] : a->desired) EXPECT_EQ(desired.hash, b->desired.at(name).hash);
  EXPECT_NE(Resolve(SiteYaml(9000))->desired.at("gpu-001").hash, a->desired.at("gpu-001").hash);
}

TEST(StoredStateTest, PlacesAreThoseOfTheFileItCameFrom) {
  const auto state = Resolve(SiteYaml());
  ASSERT_EQ(state->problem, "");
  const auto& setting = state->resolved.nodes.at("gpu-001").settings[0];
  EXPECT_EQ(setting.origin.document, "Profile/base");
  EXPECT_EQ(setting.origin.place.substr(0, 13), "site.yaml:13:") << setting.origin.place;
}

TEST(StatusTextTest, AShortTextIsKeptAndALongOneEndsWithWhatIsMissing) {
  EXPECT_EQ(FitStatusText("a\nb"), "a\nb");
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "site.yaml:" + std::to_string(i) + ":1: unknown field\n";
  const std::string fitted = FitStatusText(lines);
  EXPECT_LT(fitted.size(), kStatusTextMost);
  EXPECT_TRUE(fitted.ends_with(" more lines")) << fitted.substr(fitted.size() - 40);
  // One endless line of characters that cost three bytes each: cut between characters.
  std::string wide;
  for (int i = 0; i < 5000; ++i) wide += "ü";
  const std::string cut = FitStatusText(wide);
  EXPECT_LT(cut.size() * 3, kStatusTextMost + 20);
  EXPECT_EQ(cut.size() % 2, 1u) << "whole characters of two bytes, and an ellipsis of three";
}

}  // namespace
}  // namespace railwright
