#include "agent/offline/documents.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/agent/temporary_directory.h"

namespace railwright::offline {
namespace {

constexpr const char* kCluster = R"(kind: Cluster
name: pod-a
nodes:
  - {name: "gpu-[001-002]", role: gpu}
ports:
  - {name: rail0, select: {netdev: eth1}, role: fabric, address: "10.10.0.{index}/24"}
)";
constexpr const char* kProfile = R"(kind: Profile
name: roce
for: {role: gpu}
mode: enforce
settings:
  link.mtu: {fabric: 4200}
)";

Result<ChosenNode> Choose(const std::string& text, NodeChoice choice) {
  std::istringstream in(text);
  auto documents = ReadDocuments({"-"}, in);
  if (!documents.ok()) return documents.status();
  return ChooseNode(std::move(*documents), CatalogDeclarations(), choice);
}

std::string Both() { return std::string(kCluster) + "---\n" + kProfile; }

TEST(ParsePort, ReadsNameRoleDeviceAndAddresses) {
  const auto port = ParsePort("rail0=fabric:ens3f0np0,10.10.0.1/24,fd00:10::1/64");
  ASSERT_TRUE(port.ok()) << port.status().ToString();
  EXPECT_EQ(port->name, "rail0");
  EXPECT_EQ(port->role, PortRole::kFabric);
  EXPECT_EQ(port->netdev, "ens3f0np0");
  EXPECT_EQ(port->addresses, (std::vector<std::string>{"10.10.0.1/24", "fd00:10::1/64"}));
  const auto pci = ParsePort("rail1=storage:0000:18:00.0");
  ASSERT_TRUE(pci.ok());
  EXPECT_EQ(pci->pci, "0000:18:00.0");
  EXPECT_EQ(pci->netdev, "");
  EXPECT_EQ(pci->role, PortRole::kStorage);
}

TEST(ParsePort, WhatIsWrongIsSaidWithTheForm) {
  for (const char* text : {"", "rail0", "=fabric:eth1", "rail0=eth1", "rail0=fibre:eth1",
                           "rail0=fabric:", "rail0=fabric:eth1,", "rail0=unspecified:eth1"}) {
    const auto port = ParsePort(text);
    ASSERT_FALSE(port.ok()) << text;
    EXPECT_NE(port.status().message().find("NAME=ROLE:DEVICE"), std::string::npos);
  }
}

TEST(ChooseNode, TakesTheHostsOwnNode) {
  const auto node = Choose(Both(), {"", "gpu-002", {}});
  ASSERT_TRUE(node.ok()) << node.status().ToString();
  EXPECT_EQ(node->state.node, "gpu-002");
  ASSERT_EQ(node->state.ports.size(), 1U);
  EXPECT_EQ(node->state.ports[0].addresses, std::vector<std::string>{"10.10.0.2/24"});
  ASSERT_EQ(node->state.settings.size(), 1U);
  EXPECT_EQ(node->state.settings[0].key, "link.mtu");
  EXPECT_EQ(node->state.settings[0].target, "rail0");
  EXPECT_EQ(node->state.subnets, std::vector<std::string>{"10.10.0.0/24"});
}

TEST(ChooseNode, AHostNameWithItsDomainIsTheSameHost) {
  const auto node = Choose(Both(), {"", "gpu-001.example.net", {}});
  ASSERT_TRUE(node.ok());
  EXPECT_EQ(node->state.node, "gpu-001");
}

TEST(ChooseNode, AnUnknownHostIsAskedToSayWhichNodeItIs) {
  const auto node = Choose(Both(), {"", "laptop", {}});
  ASSERT_FALSE(node.ok());
  EXPECT_NE(node.status().message().find("--node"), std::string::npos);
  EXPECT_NE(node.status().message().find("gpu-[001-002]"), std::string::npos) << node.status().message();
}

TEST(ChooseNode, AMistypedNodeGetsTheNearest) {
  const auto node = Choose(Both(), {"gpu-0001", "", {}});
  ASSERT_FALSE(node.ok());
  EXPECT_NE(node.status().message().find("did you mean gpu-001?"), std::string::npos)
      << node.status().message();
}

TEST(ChooseNode, AProfileAloneIsMeantForThisMachineWithThePortsGiven) {
  const auto node = Choose(kProfile, {"", "laptop", {*ParsePort("rail0=fabric:eth7,10.9.0.1/24")}});
  ASSERT_TRUE(node.ok()) << node.status().ToString();
  EXPECT_EQ(node->state.node, "laptop");
  ASSERT_EQ(node->state.settings.size(), 1U);
  EXPECT_EQ(node->state.settings[0].target, "rail0");
  EXPECT_EQ(node->state.ports[0].netdev, "eth7");
  ASSERT_EQ(node->warnings.size(), 1U);
  EXPECT_NE(node->warnings[0].find("Profile/roce"), std::string::npos);
}

// How a fleet spreads its generations says nothing of one machine.
TEST(ChooseNode, ARolloutPolicyBesideAProfileIsCheckedAndLeftAlone) {
  NodeChoice choice;
  choice.host = "gpu-007";
  choice.ports = {*ParsePort("rail0=fabric:eth1,10.10.0.7/24")};
  const std::string policy = "---\nkind: RolloutPolicy\nname: careful\nsoak: ";
  const auto chosen = Choose(kProfile + policy + "5m\n", choice);
  ASSERT_TRUE(chosen.ok()) << chosen.status().ToString();
  EXPECT_EQ(chosen->state.settings.size(), 1U);
  const auto wrong = Choose(kProfile + policy + "soon\n", choice);
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.status().message().find("stdin:10:7: soak: \"soon\" is no time"), std::string::npos)
      << wrong.status().message();
}

TEST(ChooseNode, PortsBesideAClusterAreAContradiction) {
  const auto node = Choose(Both(), {"gpu-001", "", {*ParsePort("rail0=fabric:eth7")}});
  ASSERT_FALSE(node.ok());
  EXPECT_NE(node.status().message().find("--port"), std::string::npos);
}

TEST(ChooseNode, ABadAddressOfAPortIsSaidToBeFromTheCommandLine) {
  const auto node = Choose(kProfile, {"", "laptop", {*ParsePort("rail0=fabric:eth7,10.9.0.300/24")}});
  ASSERT_FALSE(node.ok());
  EXPECT_NE(node.status().message().find("--port"), std::string::npos) << node.status().message();
}

TEST(ReadDocuments, EveryProblemOfEveryFileIsSaidWithItsPlace) {
  TemporaryDirectory directory;
  std::ofstream(directory.path() + "/a.yaml") << "kind: Profile\nname: x\nsettigns: {}\n";
  std::ofstream(directory.path() + "/b.yml") << "kind: Profil\n";
  std::ofstream(directory.path() + "/notes.txt") << "not: read\n";
  std::istringstream nothing;
  const auto documents = ReadDocuments({directory.path()}, nothing);
  ASSERT_FALSE(documents.ok());
  EXPECT_NE(documents.status().message().find("/a.yaml:3:1: "), std::string::npos)
      << documents.status().message();
  EXPECT_NE(documents.status().message().find("/b.yml:1:"), std::string::npos);
  EXPECT_NE(documents.status().message().find("settings"), std::string::npos);
}

TEST(ReadDocuments, AMissingFileAnEmptyFolderAndAnEmptyFileAreSaid) {
  TemporaryDirectory directory;
  std::istringstream nothing;
  EXPECT_NE(ReadDocuments({"/no/such.yaml"}, nothing).status().message().find("/no/such.yaml"),
            std::string::npos);
  EXPECT_NE(ReadDocuments({directory.path()}, nothing).status().message().find("no *.yaml"),
            std::string::npos);
  std::ofstream(directory.path() + "/empty.yaml") << "# nothing\n";
  EXPECT_FALSE(ReadDocuments({directory.path()}, nothing).ok());
}

TEST(ReadDocuments, TheSameFileTwiceIsReadOnce) {
  TemporaryDirectory directory;
  const std::string path = directory.path() + "/a.yaml";
  std::ofstream(path) << kProfile;
  std::istringstream nothing;
  const auto documents = ReadDocuments({path, path}, nothing);
  ASSERT_TRUE(documents.ok());
  EXPECT_EQ(documents->size(), 1U);
}

}  // namespace
}  // namespace railwright::offline
