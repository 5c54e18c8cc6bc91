// What several nodes have in common: compared, and written so that the controller takes it.
#include "controller/cli/learned.h"

#include <gtest/gtest.h>

#include "controller/cli/learned_text.h"
#include "controller/fleet/documents.h"

namespace railwright::cli {
namespace {

using Value = v1::ObservedValue;
using Agreement = LearnedSetting::Agreement;

Value Has(const std::string& key, const std::string& target, const std::string& value) {
  Value one;
  one.set_key(key);
  one.set_target(target);
  one.set_kind(Value::KIND_VALUE);
  one.set_value(value);
  one.set_wish(value);
  return one;
}
Value Without(Value::Kind kind, const std::string& key, const std::string& target = "",
              const std::string& reason = "", const std::string& message = "") {
  Value one;
  one.set_key(key);
  one.set_target(target);
  one.set_kind(kind);
  one.set_reason(reason);
  one.set_message(message);
  return one;
}
Value Unsayable(const std::string& key, const std::string& target, const std::string& value,
                const std::string& why) {
  Value one = Has(key, target, value);
  one.clear_wish();
  one.set_no_wish(why);
  return one;
}

v1::ObservedPort PortOf(const std::string& name, v1::PortRole role = v1::PORT_ROLE_FABRIC) {
  v1::ObservedPort port;
  port.mutable_port()->set_name(name);
  port.mutable_port()->set_role(role);
  port.mutable_port()->set_netdev(name);
  port.set_netdev(name);
  return port;
}

v1::ObservedNode Answer(const std::string& name, const std::vector<Value>& values) {
  v1::ObservedNode node;
  node.set_node(name);
  for (const char* port : {"rail0", "rail1"}) *node.add_ports() = PortOf(port);
  *node.add_ports() = PortOf("mgmt", v1::PORT_ROLE_MANAGEMENT);
  for (const Value& value : values) *node.add_values() = value;
  return node;
}

constexpr const char* kCluster = R"(# our pod
kind: Cluster
name: pod-a
nodes:
  - {name: "gpu-[001-004]", role: gpu, rack: r1}
ports:
  - {name: rail0, select: {netdev: rail0}, role: fabric, address: "10.10.0.{index}/24"}
  - {name: rail1, select: {netdev: rail1}, role: fabric, address: "10.11.0.{index}/24"}
  - {name: mgmt, select: {netdev: mgmt}, role: management}
)";

class LearnedTest : public testing::Test {
 protected:
  LearnedTest() { InForce(kCluster); }

  void InForce(const std::string& yaml) {
    Loaded loaded = LoadDocuments("site.yaml", yaml);
    ASSERT_TRUE(loaded.problems.empty()) << loaded.problems.front().ToString();
    lesson_.documents = std::move(loaded.documents);
    auto resolved = Resolve(lesson_.documents, catalog_);
    ASSERT_TRUE(std::holds_alternative<Resolved>(resolved))
        << std::get<std::vector<Problem>>(resolved).front().ToString();
    lesson_.in_force = std::move(std::get<Resolved>(resolved));
    lesson_.generation = 7;
    lesson_.name = "learned";
  }
  LearnedSetting Of(const std::string& key) {
    for (LearnedSetting& one : Learn(lesson_.nodes, catalog_, lesson_.in_force,
                                     {"gpu-001", "gpu-002", "gpu-003", "gpu-004"}, "Profile/learned"))
      if (one.key == key) return one;
    ADD_FAILURE() << key << " was not learned about";
    return {};
  }
  /// Three nodes, both rails each, with these values of link.mtu.
  void Mtus(const std::vector<std::pair<std::string, std::string>>& values) {
    int number = 1;
    for (const auto& [rail0, rail1] : values)
      lesson_.nodes.push_back(Answer("gpu-00" + std::to_string(number++),
                                     {Has("link.mtu", "rail0", rail0), Has("link.mtu", "rail1", rail1),
                                      Has("link.mtu", "mgmt", "1500")}));
  }
  std::string Text() {
    auto made = WriteLesson(lesson_, catalog_);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return made.ok() ? made->text : "";
  }
  /// The settings of the profile in `text`, applied upon what is in force: node → "key@target=value".
  std::vector<std::string> Asks(const std::string& text, const std::string& node) {
    Loaded loaded = LoadDocuments("learned.yaml", text);
    EXPECT_TRUE(loaded.problems.empty());
    auto changes = ApplyDocuments(lesson_.documents, std::move(loaded.documents), false);
    auto resolved = Resolve(std::get<DocumentChanges>(changes).next, catalog_);
    if (!std::holds_alternative<Resolved>(resolved)) {
      ADD_FAILURE() << std::get<std::vector<Problem>>(resolved).front().ToString();
      return {};
    }
    std::vector<std::string> asks;
    for (const SettingSpec& spec : *std::get<Resolved>(resolved).nodes.at(node).settings) {
      EXPECT_EQ(spec.mode, Mode::kObserve);
      asks.push_back(spec.key + "@" + spec.target + "=" + spec.value);
    }
    return asks;
  }

  CatalogDeclarations catalog_;
  Lesson lesson_;
};

TEST_F(LearnedTest, WhatEveryFabricPortOfEveryNodeHasIsOneWish) {
  Mtus({{"4200", "4200"}, {"4200", "4200"}});
  EXPECT_EQ(Of("link.mtu").agreement, Agreement::kAgreed);
  EXPECT_EQ(Of("link.mtu").value, "4200");
  const std::string text = Text();
  EXPECT_NE(text.find("  link.mtu:\n    fabric: 4200\n"), std::string::npos) << text;
  EXPECT_EQ(Asks(text, "gpu-001"), (std::vector<std::string>{"link.mtu@rail0=4200", "link.mtu@rail1=4200"}))
      << "the management port's 1500 counts for nothing";
}

TEST_F(LearnedTest, TheClusterIsWrittenAsItIsInForce) {
  Mtus({{"4200", "4200"}});
  Loaded loaded = LoadDocuments("learned.yaml", Text());
  auto changes = ApplyDocuments(lesson_.documents, std::move(loaded.documents), false);
  const auto& made = std::get<DocumentChanges>(changes);
  EXPECT_EQ(made.added, std::vector<std::string>{"Profile/learned"});
  EXPECT_TRUE(made.changed.empty()) << "all four nodes stay, with their addresses and comments";
}

TEST_F(LearnedTest, WhereNodesDifferTheMajorityIsToldAndNotAskedFor) {
  Mtus({{"4200", "4200"}, {"4200", "4200"}, {"4200", "1500"}});
  const LearnedSetting mtu = Of("link.mtu");
  EXPECT_EQ(mtu.agreement, Agreement::kDiffers);
  EXPECT_EQ(mtu.value, "4200");
  ASSERT_EQ(mtu.answers.size(), 2U);
  EXPECT_EQ(mtu.answers[0].text, "4200") << "the majority first";
  const std::string text = Text();
  EXPECT_NE(text.find("# link.mtu on fabric ports: THE NODES DIFFER; most have 4200\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("#   4200: gpu-[001-002]; gpu-003 rail0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("#   1500: gpu-003 rail1\n"), std::string::npos) << text;
  EXPECT_TRUE(Asks(text, "gpu-003").empty());
  lesson_.majority = true;
  EXPECT_EQ(Asks(Text(), "gpu-003"),
            (std::vector<std::string>{"link.mtu@rail0=4200", "link.mtu@rail1=4200"}));
}

TEST_F(LearnedTest, ATieIsNoMajority) {
  Mtus({{"4200", "4200"}, {"1500", "1500"}});
  EXPECT_EQ(Of("link.mtu").agreement, Agreement::kDiffers);
  EXPECT_EQ(Of("link.mtu").value, "");
  lesson_.majority = true;
  EXPECT_TRUE(Asks(Text(), "gpu-001").empty());
}

TEST_F(LearnedTest, PortsThatDifferInTheSameWayOnAllNodesAreAskedForByName) {
  Mtus({{"4200", "9000"}, {"4200", "9000"}});
  EXPECT_EQ(Of("link.mtu").agreement, Agreement::kByPort);
  EXPECT_EQ(Asks(Text(), "gpu-002"),
            (std::vector<std::string>{"link.mtu@rail0=4200", "link.mtu@rail1=9000"}));
}

TEST_F(LearnedTest, WhatDoesNotApplySomewhereIsLearnedFromTheRest) {
  lesson_.nodes = {
      Answer("gpu-001", {Has("nccl.NCCL_IB_HCA", "", "mlx5")}),
      Answer("gpu-002", {Without(Value::KIND_NOT_APPLICABLE, "nccl.NCCL_IB_HCA", "", "NoNccl", "no NCCL")})};
  EXPECT_EQ(Of("nccl.NCCL_IB_HCA").agreement, Agreement::kAgreed);
  EXPECT_NE(Text().find("# nccl.NCCL_IB_HCA does not apply to gpu-002: NoNccl\n"), std::string::npos)
      << Text();
}

TEST_F(LearnedTest, WhatAppliesNowhereIsAComment) {
  lesson_.nodes = {
      Answer("gpu-001", {Without(Value::KIND_NOT_APPLICABLE, "firewall.rdma", "", "NoNft", "no nf_tables")})};
  EXPECT_EQ(Of("firewall.rdma").agreement, Agreement::kNotApplicable);
  EXPECT_NE(Text().find("# Does not apply: NoNft: no nf_tables\n#   firewall.rdma\n"), std::string::npos)
      << Text();
}

TEST_F(LearnedTest, NoEvidenceIsNoAgreement) {
  const std::string key = "nccl.NCCL_IB_HCA";
  const auto told = Answer("gpu-001", {Has(key, "", "mlx5")});
  for (const v1::ObservedNode& blind :
       {Answer("gpu-002", {Without(Value::KIND_ERROR, key, "", "ReadFailed", "/etc: Permission denied")}),
        Answer("gpu-002", {}), Answer("gpu-002", {Without(Value::KIND_UNSPECIFIED, key)})}) {
    lesson_.nodes = {told, blind};
    EXPECT_EQ(Of(key).agreement, Agreement::kUnread);
    const std::string text = Text();
    EXPECT_NE(text.find("# Could not be read everywhere, so not learned:\n#   " + key + "\n"),
              std::string::npos)
        << text;
    EXPECT_TRUE(Asks(text, "gpu-001").empty());
  }
}

TEST_F(LearnedTest, AnUnboundPortIsNoEvidenceForItsSettings) {
  Mtus({{"4200", "4200"}});
  v1::ObservedNode lame = Answer("gpu-002", {Has("link.mtu", "rail0", "4200")});
  lame.mutable_ports(1)->clear_netdev();
  lame.mutable_ports(1)->set_message("port rail1: no interface rail1 on this node");
  lesson_.nodes.push_back(lame);
  EXPECT_EQ(Of("link.mtu").agreement, Agreement::kUnread);
  EXPECT_NE(Text().find("no interface rail1"), std::string::npos);
}

TEST_F(LearnedTest, AValueThatWaitsForTheNextBootIsNotInForce) {
  Value pending = Has("nccl.NCCL_IB_HCA", "", "mlx5");
  pending.set_pending_reboot(true);
  lesson_.nodes = {Answer("gpu-001", {pending})};
  EXPECT_EQ(Of("nccl.NCCL_IB_HCA").agreement, Agreement::kUnread);
}

TEST_F(LearnedTest, TheWordForAHostsOwnValueIsLearnedAndTheValueIsNot) {
  const auto with = [](const std::string& name, const std::string& address) {
    Value value = Has("rail.address", "rail0", address), other = Has("rail.address", "rail1", address);
    value.set_wish("declared");
    other.set_wish("declared");
    return Answer(name, {value, other});
  };
  lesson_.nodes = {with("gpu-001", "10.10.0.1/24"), with("gpu-002", "10.10.0.2/24")};
  const std::string text = Text();
  EXPECT_NE(text.find("fabric: declared\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("10.10.0.1/24"), std::string::npos) << text;
}

TEST_F(LearnedTest, WhatNoProfileCanAskForIsAComment) {
  const std::string why = "rail0 has 10.9.9.9/24; the Cluster document declares 10.10.0.1/24";
  lesson_.nodes = {Answer("gpu-001", {Unsayable("rail.address", "rail0", "10.9.9.9/24", why),
                                      Unsayable("rail.address", "rail1", "10.9.9.8/24", why)})};
  EXPECT_EQ(Of("rail.address").agreement, Agreement::kUnsayable);
  const std::string text = Text();
  EXPECT_NE(text.find("# Read, but nothing that a profile can ask for:\n#   rail.address on fabric ports\n"),
            std::string::npos)
      << text;
  EXPECT_TRUE(Asks(text, "gpu-001").empty());
}

TEST_F(LearnedTest, WhatTheCatalogueDoesNotTakeIsNotWritten) {
  lesson_.nodes = {
      Answer("gpu-001", {Has("link.mtu", "rail0", "4200 bytes"), Has("link.mtu", "rail1", "04200"),
                         Has("link.colour", "rail0", "red")})};
  EXPECT_EQ(Of("link.mtu").agreement, Agreement::kUnsayable);
  EXPECT_EQ(Text().find("link.colour"), std::string::npos);
}

TEST_F(LearnedTest, WhatIsSetNowhereIsListedAndNotAskedFor) {
  lesson_.nodes = {Answer("gpu-001", {Without(Value::KIND_ABSENT, "nccl.NCCL_DEBUG")}),
                   Answer("gpu-002", {Without(Value::KIND_ABSENT, "nccl.NCCL_DEBUG")})};
  EXPECT_EQ(Of("nccl.NCCL_DEBUG").agreement, Agreement::kNotSet);
  EXPECT_NE(Text().find("# Not set on any node:\n#   nccl.NCCL_DEBUG\n"), std::string::npos) << Text();
}

TEST_F(LearnedTest, SetOnOneAndNotOnTheOtherIsADifference) {
  lesson_.nodes = {Answer("gpu-001", {Has("nccl.NCCL_DEBUG", "", "INFO")}),
                   Answer("gpu-002", {Without(Value::KIND_ABSENT, "nccl.NCCL_DEBUG")}),
                   Answer("gpu-003", {Without(Value::KIND_ABSENT, "nccl.NCCL_DEBUG")})};
  EXPECT_EQ(Of("nccl.NCCL_DEBUG").agreement, Agreement::kDiffers);
  EXPECT_EQ(Of("nccl.NCCL_DEBUG").value, "") << "the majority has none";
  EXPECT_NE(Text().find("#   (not set): gpu-[002-003]\n"), std::string::npos) << Text();
}

TEST_F(LearnedTest, AnotherProfilesKeyIsLeftToIt) {
  InForce(std::string(kCluster) + "---\nkind: Profile\nname: base\nfor: {nodes: [gpu-004]}\nmode: enforce\n" +
          "settings:\n  link.mtu: 9000\n");
  Mtus({{"4200", "4200"}});
  EXPECT_EQ(Of("link.mtu").agreement, Agreement::kDeclared);
  const std::string text = Text();
  EXPECT_NE(text.find("#   link.mtu on fabric ports, by Profile/base\n"), std::string::npos) << text;
  EXPECT_TRUE(Asks(text, "gpu-001").empty());
}

TEST_F(LearnedTest, AProfileOfTheSameNameIsLearnedAnew) {
  InForce(std::string(kCluster) + "---\nkind: Profile\nname: learned\nfor: {role: gpu}\nsettings:\n" +
          "  link.mtu: 9000\n");
  Mtus({{"4200", "4200"}});
  EXPECT_EQ(Asks(Text(), "gpu-001"),
            (std::vector<std::string>{"link.mtu@rail0=4200", "link.mtu@rail1=4200"}));
}

TEST_F(LearnedTest, NodesOfOneRoleTeachTheirRole) {
  Mtus({{"4200", "4200"}});
  EXPECT_NE(Text().find("for: {role: \"gpu\"}\n"), std::string::npos) << Text();
  InForce(
      "kind: Cluster\nname: pod-a\nnodes:\n  - {name: gpu-001, role: gpu}\n  - {name: gpu-002}\n"
      "ports:\n  - {name: rail0, select: {netdev: rail0}, role: fabric}\n"
      "  - {name: rail1, select: {netdev: rail1}, role: fabric}\n");
  Mtus({{"4200", "4200"}, {"4200", "4200"}});
  lesson_.nodes.erase(lesson_.nodes.begin());
  EXPECT_NE(Text().find("for: {nodes: [\"gpu-[001-002]\"]}\n"), std::string::npos) << Text();
}

TEST_F(LearnedTest, ProposedPortsAreWrittenIntoAClusterThatHasNone) {
  InForce("kind: Cluster\nname: pod-a\nnodes:\n  - {name: \"gpu-[001-002]\", role: gpu}\n");
  for (const char* name : {"gpu-001", "gpu-002"}) {
    v1::ObservedNode node;
    node.set_node(name);
    v1::ObservedPort port = PortOf("rail0");
    port.mutable_port()->clear_netdev();
    port.mutable_port()->set_pci("0000:18:00.0");
    port.set_message("it has the RDMA device mlx5_0");
    *node.add_proposed() = port;
    *node.add_values() = Has("link.mtu", "rail0", "4200");
    lesson_.nodes.push_back(node);
  }
  const std::string text = Text();
  EXPECT_NE(
      text.find("ports:\n  # proposed: it has the RDMA device mlx5_0\n  - {name: \"rail0\", select: {pci: "
                "\"0000:18:00.0\"}, role: fabric, on: {role: \"gpu\"}}\n"),
      std::string::npos)
      << text;
  EXPECT_EQ(Asks(text, "gpu-002"), std::vector<std::string>{"link.mtu@rail0=4200"});
}

TEST_F(LearnedTest, ProposedPortsThatDifferFromNodeToNodeNameTheirNodes) {
  InForce("kind: Cluster\nname: pod-a\nnodes:\n  - {name: \"gpu-[001-002]\", role: gpu}\n");
  for (const char* name : {"gpu-001", "gpu-002"}) {
    v1::ObservedNode node;
    node.set_node(name);
    v1::ObservedPort port = PortOf("rail0");
    port.mutable_port()->set_netdev(std::string("ens") + name[6]);
    *node.add_proposed() = port;
    *node.add_values() = Has("link.mtu", "rail0", "4200");
    lesson_.nodes.push_back(node);
  }
  const std::string text = Text();
  EXPECT_NE(text.find("on: {nodes: [\"gpu-001\"]}"), std::string::npos) << text;
  EXPECT_EQ(Asks(text, "gpu-002"), std::vector<std::string>{"link.mtu@rail0=4200"});
}

TEST_F(LearnedTest, ProposedPortsThatFindNoPlaceAreComments) {
  InForce("{kind: Cluster, name: pod-a, nodes: [{name: gpu-001, role: gpu}]}\n");
  v1::ObservedNode node;
  node.set_node("gpu-001");
  *node.add_proposed() = PortOf("rail0");
  *node.add_values() = Has("link.mtu", "rail0", "4200");
  lesson_.nodes = {node};
  const std::string text = Text();
  EXPECT_NE(text.find("#   - {name: \"rail0\""), std::string::npos) << text;
  EXPECT_EQ(Asks(text, "gpu-001"), std::vector<std::string>{});
}

TEST_F(LearnedTest, WhatNodesSayNeverLeavesItsComment) {
  lesson_.nodes = {Answer("gpu-001", {Without(Value::KIND_ERROR, "firewall.rdma", "", "Read\nkind: Profile",
                                              "line\n---\nkind: Cluster\x1b[2J \xe2\x80\xae\xe2\x80\xa6")})};
  lesson_.silent.emplace_back();
  lesson_.silent.back().set_node("gpu-002");
  lesson_.silent.back().set_reason("gone\nsettings: {link.mtu: 1}");
  const std::string text = Text();
  EXPECT_EQ(LoadDocuments("x", text).documents.size(), 2U) << text;
  EXPECT_TRUE(Asks(text, "gpu-001").empty());
}

TEST_F(LearnedTest, ATextOfSeveralLinesIsReadBackAsItIs) {
  const std::string key = "file./etc/modprobe.d/railwright.conf";
  for (const char* content : {"options a b=1\n", "options a b=1\n# x\n\n", "options a b=1\n\n\n", " a\n b"}) {
    lesson_.nodes = {Answer("gpu-001", {Has(key, "", content), Has("nccl.NCCL_IB_HCA", "", "mlx5")}),
                     Answer("gpu-002", {Without(Value::KIND_NOT_APPLICABLE, key, "", "NoFiles", "none"),
                                        Has("nccl.NCCL_IB_HCA", "", "mlx5")})};
    const auto canonical = catalog_.Canonical(key, content);
    if (!canonical.ok() || *canonical != content) continue;
    const auto asks = Asks(Text(), "gpu-001");
    ASSERT_EQ(asks.size(), 2U) << Text();
    EXPECT_EQ(asks[0], key + "@=" + content) << Text();
  }
  EXPECT_EQ(*catalog_.Canonical(key, "options a b=1\n\n"), "options a b=1\n\n") << "or nothing was tried";
}

TEST_F(LearnedTest, ANodeOfNoClusterIsRefused) {
  lesson_.nodes = {Answer("gpu-009", {})};
  const auto made = WriteLesson(lesson_, catalog_);
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.status().message().find("gpu-009"), std::string::npos);
}

}  // namespace
}  // namespace railwright::cli
