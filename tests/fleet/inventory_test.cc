// Cluster documents: nodes, ports, addresses, subnets.
#include "tests/fleet/documents_of_tests.h"

namespace railwright {
namespace {

std::string C(const std::string& rest) { return "kind: Cluster\nname: pod-a\n" + rest; }

// One fabric port with an address pattern, and the nodes.
std::string Rail(const std::string& nodes, const std::string& address) {
  return C("nodes: [" + nodes + "]\nports:\n  - {name: rail0, select: {netdev: e0}, role: fabric, " +
           address + "}\n");
}

std::vector<std::string> One(const std::string& text) { return Problems({{"c.yaml", text}}); }

using Texts = std::vector<std::string>;

TEST(InventoryTest, TheSampleGivesEveryNodeItsAddresses) {
  const Resolved resolved = Good({{"c.yaml", C(R"(nodes:
  - {name: "gpu-[001-003]", role: gpu, rack: r1, labels: {pool: a}}
  - {name: login, role: login}
ports:
  - {name: rail0, select: {pci: "0000:18:00.0"}, role: fabric, address: "10.10.0.{index}/24"}
  - {name: rail1, select: {pci: "3B:00.1"}, role: fabric, address: "10.11.0.{n}/24", on: {role: gpu}}
  - {name: mgmt, select: {netdev: eno1}, role: management}
)")}});
  ASSERT_EQ(resolved.nodes.size(), 4U);
  const InventoryNode& third = resolved.nodes.at("gpu-003").node;
  EXPECT_EQ(third.role, "gpu");
  EXPECT_EQ(third.rack, "r1");
  EXPECT_EQ(third.labels.at("pool"), "a");
  EXPECT_EQ(third.index, 3);
  EXPECT_EQ(third.cluster, "pod-a");
  ASSERT_EQ(third.ports.size(), 3U);
  EXPECT_EQ(third.ports[0].addresses, Texts{"10.10.0.3/24"});
  EXPECT_EQ(third.ports[0].pci, "0000:18:00.0");
  EXPECT_EQ(third.ports[1].addresses, Texts{"10.11.0.3/24"});
  EXPECT_EQ(third.ports[1].pci, "0000:3b:00.1");
  EXPECT_EQ(third.ports[2].role, PortRole::kManagement);
  EXPECT_EQ(third.ports[2].netdev, "eno1");
  const InventoryNode& login = resolved.nodes.at("login").node;
  ASSERT_EQ(login.ports.size(), 2U);
  EXPECT_EQ(login.ports[0].addresses, Texts{"10.10.0.4/24"});
  EXPECT_EQ(resolved.cluster_subnets.at("pod-a"), (Texts{"10.10.0.0/24", "10.11.0.0/24"}));
}

TEST(InventoryTest, BothFamiliesAndGatewaysAreFilledIn) {
  const Resolved resolved = Good(
      {{"c.yaml",
        Rail("{name: 'gpu-[09-10]', rack: '7'}",
             R"(address: "10.{rack}.0.{n}/24", )"
             R"(addresses: ["fd00:{rack}::{index}/64"], gateway: "10.{rack}.0.254, FD00:{rack}::FE")")}});
  const Port& port = resolved.nodes.at("gpu-10").node.ports.at(0);
  EXPECT_EQ(port.addresses, (Texts{"10.7.0.10/24", "fd00:7::2/64"}));
  EXPECT_EQ(port.gateways, (Texts{"10.7.0.254", "fd00:7::fe"}));
  EXPECT_EQ(resolved.cluster_subnets.at("pod-a"), (Texts{"10.7.0.0/24", "fd00:7::/64"}));
}

TEST(InventoryTest, ANodesOwnAddressesReplaceThePattern) {
  const std::string text = Rail(
      "{name: a1, addresses: {rail0: '10.10.0.99/24, fd00::9/64'}}, {name: a2}, {name: a3, addresses: "
      "{rail0: fd00::3/64}}",
      R"(addresses: ["10.10.0.{index}/24", "fd00::{index}/64"], gateway: "10.10.0.254")");
  const Resolved resolved = Good({{"c.yaml", text}});
  EXPECT_EQ(resolved.nodes.at("a1").node.ports.at(0).addresses, (Texts{"10.10.0.99/24", "fd00::9/64"}));
  EXPECT_EQ(resolved.nodes.at("a2").node.ports.at(0).addresses, (Texts{"10.10.0.2/24", "fd00::2/64"}));
  EXPECT_EQ(resolved.nodes.at("a1").node.ports.at(0).gateways, Texts{"10.10.0.254"});
  // No address of the gateway's family: no gateway, and no problem.
  EXPECT_EQ(resolved.nodes.at("a3").node.ports.at(0).gateways, Texts{});
}

TEST(InventoryTest, OnePortNameMayBeDifferentHardwareOnDifferentNodes) {
  const Resolved resolved =
      Good({{"c.yaml", C(R"(nodes: [{name: a, role: x}, {name: b, role: y, labels: {nic: old}}]
ports:
  - {name: rail0, select: {netdev: e0}, role: fabric, on: {role: x}}
  - {name: rail0, select: {netdev: p1p1}, role: fabric, on: {labels: {nic: old}}}
  - {name: st0, select: {netdev: s0}, role: storage, on: {nodes: [b, c]}}
)")}});
  EXPECT_EQ(resolved.nodes.at("a").node.ports.size(), 1U);
  EXPECT_EQ(resolved.nodes.at("a").node.ports[0].netdev, "e0");
  ASSERT_EQ(resolved.nodes.at("b").node.ports.size(), 2U);
  EXPECT_EQ(resolved.nodes.at("b").node.ports[0].netdev, "p1p1");
  EXPECT_EQ(resolved.nodes.at("b").node.ports[1].name, "st0");
}

TEST(InventoryTest, NodesTwice) {
  EXPECT_EQ(One(C("nodes:\n  - {name: 'gpu-[1-4]'}\n  - {name: 'gpu-[3-9]'}\n")),
            Texts{"c.yaml:5:12: node gpu-[3-4] is declared twice (first at c.yaml:4:5)"});
  EXPECT_EQ(Problems({{"a.yaml", C("nodes: [{name: n1}]\n")},
                      {"b.yaml", "kind: Cluster\nname: b\nnodes: [{name: n1}]\n"}}),
            Texts{"b.yaml:3:16: node n1 is declared twice (first at a.yaml:3:9)"});
  EXPECT_EQ(Problems({{"a.yaml", C("nodes: [{name: n1}]\n")}, {"b.yaml", C("nodes: [{name: n2}]\n")}}),
            Texts{"b.yaml:1:1: Cluster \"pod-a\" is declared twice (first at a.yaml:1:1); rename one"});
}

TEST(InventoryTest, AnEmptyInventoryIsRefusedUnlessAllowed) {
  EXPECT_EQ(One("kind: Profile\nname: a\nsettings: {link.mtu: 4200}\n"),
            Texts{"no Cluster document declares any node; apply one first (kind: Cluster, with \"nodes:\")"});
  EXPECT_EQ(Problems({}),
            Texts{"no Cluster document declares any node; apply one first (kind: Cluster, with \"nodes:\")"});
  EXPECT_EQ(One(C("nodes: []\n")),
            Texts{"c.yaml:1:1: cluster \"pod-a\" declares no node; add some under \"nodes:\""});
  EXPECT_EQ(Good({{"c.yaml", C("nodes: []\n")}}, {.allow_empty = true}).nodes.size(), 0U);
  EXPECT_EQ(Good({}, {.allow_empty = true}).nodes.size(), 0U);
}

TEST(InventoryTest, BadRangesAndOwnAddressesOfMany) {
  EXPECT_EQ(One(C("nodes:\n  - {name: 'gpu-[4-1]'}\n")),
            Texts{"c.yaml:4:12: nodes: \"gpu-[4-1]\": the range 4-1 runs backwards"});
  EXPECT_EQ(
      One(Rail("{name: 'a[1-2]', addresses: {rail0: 10.0.0.1/24}}", "address: '10.0.0.{index}/24'")).front(),
      "c.yaml:3:9: addresses are for a single node, \"a[1-2]\" names 2; declare the node by itself, or use a "
      "pattern of the port");
  EXPECT_EQ(One(Rail("{name: a, addresses: {rial0: 10.0.0.1/24}}", "address: '10.0.0.{index}/24'")),
            Texts{"c.yaml:3:38: node a has no port \"rial0\"; did you mean \"rail0\"?"});
}

TEST(InventoryTest, WhatAPortSelects) {
  const auto port = [](const std::string& select) {
    return One(C("nodes: [{name: a}]\nports:\n  - {name: p0, select: " + select + ", role: fabric}\n"));
  };
  EXPECT_EQ(port("{}"), Texts{"c.yaml:5:24: port p0: select by either pci or netdev, neither is given"});
  EXPECT_EQ(port("{pci: '18:00.0', netdev: e0}"),
            Texts{"c.yaml:5:24: port p0: select by either pci or netdev, not both is given"});
  EXPECT_EQ(
      port("{pci: '18:00'}"),
      Texts{
          "c.yaml:5:30: port p0: \"18:00\" is no PCI address; write it as lspci -D does: \"0000:18:00.0\""});
  EXPECT_EQ(port("{pci: '0000:18:00.9'}"), Texts{"c.yaml:5:30: port p0: \"0000:18:00.9\" is no PCI address; "
                                                 "write it as lspci -D does: \"0000:18:00.0\""});
  EXPECT_EQ(port("{netdev: ../etc}"), Texts{"c.yaml:5:33: port p0: \"../etc\" is no interface name (1 to 15 "
                                            "characters, no blank, \"/\" or \":\")"});
  EXPECT_EQ(port("{netdev: abcdefghijklmnop}"),
            Texts{"c.yaml:5:33: port p0: \"abcdefghijklmnop\" is no interface name (1 to 15 characters, no "
                  "blank, \"/\" or \":\")"});
}

TEST(InventoryTest, PortsTwice) {
  const std::string nodes = "nodes: [{name: 'a[1-3]', role: x}]\nports:\n";
  EXPECT_EQ(One(C(nodes + "  - {name: p0, select: {netdev: e0}, role: fabric}\n"
                          "  - {name: p0, select: {netdev: e1}, role: fabric}\n")),
            Texts{"c.yaml:6:5: port \"p0\" is declared twice (first at c.yaml:5:5) for a[1-3]; rename one, "
                  "or keep them apart with \"on:\""});
  EXPECT_EQ(
      One(C(nodes + "  - {name: p0, select: {netdev: e0}, role: fabric}\n"
                    "  - {name: p1, select: {netdev: e0}, role: management, on: {nodes: ['a[2-9]']}}\n")),
      Texts{"c.yaml:6:5: ports p0 and p1 select the same netdev e0 (first at c.yaml:5:5) for a[2-3]"});
  EXPECT_EQ(One(C(nodes + "  - {name: all, select: {netdev: e0}, role: fabric}\n")),
            Texts{"c.yaml:5:12: a port cannot be named \"all\"; profiles use this word to select ports"});
  EXPECT_EQ(One(C(nodes + "  - {name: storage, select: {netdev: e0}, role: fabric}\n")),
            Texts{"c.yaml:5:12: a port cannot be named \"storage\"; profiles use this word to select ports"});
}

TEST(InventoryTest, PatternsThatGiveNoAddress) {
  EXPECT_EQ(
      One(Rail("{name: 'a[1-300]'}", "address: '10.10.0.{index}/24'")),
      Texts{
          "c.yaml:5:64: port rail0 of a255: 10.10.0.255/24 is the broadcast address of its network (pattern "
          "\"10.10.0.{index}/24\", node 255 of its cluster); make the pattern wider, as in "
          "\"10.10.{index/250}.{index%250+1}/16\", or give the node addresses of its own (and 45 more like "
          "it)"});
  EXPECT_EQ(One(Rail("{name: 'a[1-2]'}", "address: '10.10.0.{idx}/24'")).front().substr(0, 78),
            "c.yaml:5:64: address: \"10.10.0.{idx}/24\": unknown placeholder \"{idx}\"; did you");
  EXPECT_EQ(One(Rail("{name: login}, {name: head}", "address: '10.10.0.{n}/24'")),
            Texts{"c.yaml:5:64: port rail0 of login: \"10.10.0.{n}/24\": there is no number in the name "
                  "\"login\" (and 1 more like it)"});
  EXPECT_EQ(One(Rail("{name: a, addresses: {rail0: 10.0.0.0/24}}", "address: '10.0.0.{index}/24'")),
            Texts{"c.yaml:3:38: port rail0 of a: 10.0.0.0/24 is the address of the network itself, not of a "
                  "host in it"});
}

TEST(InventoryTest, AddressesTwice) {
  EXPECT_EQ(One(Rail("{name: 'a[1-3]'}", "address: 10.10.0.1/24")),
            Texts{"c.yaml:5:64: port rail0 of a1 and port rail0 of a2 would both have 10.10.0.1; let the "
                  "pattern vary "
                  "with {index} or {n} (and 1 more like it)"});
  EXPECT_EQ(
      One(Rail("{name: a1}, {name: a2, addresses: {rail0: 'fd00:0::1/64'}}", "address: 'fd00::{index}/64'")),
      Texts{"c.yaml:3:51: port rail0 of a1 and port rail0 of a2 would both have fd00::1 (the other at "
            "c.yaml:5:64)"});
  // Two clusters are two fabrics: the same plan may be used in both.
  const std::string rail =
      "nodes: [{name: NODE}]\nports:\n  - {name: rail0, select: {netdev: e0}, role: fabric, address: "
      "10.0.0.1/24}\n";
  std::string second = "kind: Cluster\nname: b\n" + rail, first = C(rail);
  second.replace(second.find("NODE"), 4, "b1");
  first.replace(first.find("NODE"), 4, "a1");
  EXPECT_EQ(Problems({{"a.yaml", first}, {"b.yaml", second}}), Texts{});
}

TEST(InventoryTest, GatewaysMustBeReachableFromThePort) {
  const auto gateway = [](const std::string& text) {
    return One(Rail("{name: a1}", "address: '10.10.0.{index}/24', gateway: '" + text + "'"));
  };
  EXPECT_EQ(
      gateway("10.11.0.1"),
      Texts{
          "c.yaml:5:95: gateway of port rail0 of a1: 10.11.0.1 is in no network of the port (10.10.0.1/24)"});
  EXPECT_EQ(gateway("10.10.0.254/24"), Texts{"c.yaml:5:95: gateway of port rail0 of a1: \"10.10.0.254/24\" "
                                             "is no IPv4 address; write it without a prefix length"});
  EXPECT_EQ(gateway("10.10.0.{index}"),
            Texts{"c.yaml:5:95: gateway of port rail0 of a1: 10.10.0.1 is the port's own address"});
  EXPECT_EQ(gateway("10.10.0.255"), Texts{"c.yaml:5:95: gateway of port rail0 of a1: 10.10.0.255/24 is the "
                                          "broadcast address of its network"});
  EXPECT_EQ(gateway("{x}").size(), 1U);
  EXPECT_EQ(One(Rail("{name: a1}", "gateway: 10.0.0.1")),
            Texts{"c.yaml:5:64: gateway of port rail0 of a1: 10.0.0.1 is in no network of the port, which "
                  "has no address"});
}

TEST(InventoryTest, SubnetsAreCheckedAndCoverTheFabric) {
  const std::string rail =
      "nodes: [{name: a1}]\nports: [{name: r, select: {netdev: e}, role: fabric, address: 10.0.0.1/24}]\n";
  EXPECT_EQ(One(C(rail + "subnets: [10.0.0.1/24, 10.0.0.0/33, 10.0.0.0/8, 10.0.0.0/8]\n")),
            (Texts{"c.yaml:5:11: subnets: 10.0.0.1/24 has bits of a host; write 10.0.0.0/24",
                   "c.yaml:5:24: subnets: \"10.0.0.0/33\": the prefix length must be 0…32, found \"33\"",
                   "c.yaml:5:49: subnets: 10.0.0.0/8 is given twice"}));
  const Resolved wide = Good({{"c.yaml", C(rail + "subnets: [10.0.0.0/8, fd00::/8]\n")}});
  EXPECT_EQ(wide.cluster_subnets.at("pod-a"), (Texts{"10.0.0.0/8", "fd00::/8"}));
  EXPECT_EQ(wide.warnings, Texts{});
  EXPECT_EQ(Good({{"c.yaml", C(rail + "subnets: [10.9.0.0/16]\n")}}).warnings,
            Texts{"Cluster/pod-a: 10.0.0.1/24 (port r of a1) is in none of its subnets; the firewall will "
                  "not let its peers in"});
}

TEST(InventoryTest, AClusterWithoutFabricPortsIsToldOf) {
  EXPECT_EQ(Good({{"c.yaml", C("nodes: [{name: a1}]\n")}}).warnings,
            Texts{"Cluster/pod-a declares no fabric port; settings of ports have no effect there"});
}

TEST(InventoryTest, TenantsNameNodesOfTheirCluster) {
  EXPECT_EQ(One(C("nodes: [{name: 'a[1-4]'}]\ntenants:\n  - {name: t, nodes: ['a[3-6]']}\n  - {name: t, "
                  "nodes: ['a[']}\n")),
            (Texts{"c.yaml:5:23: tenant \"t\" names a[5-6], which cluster pod-a does not declare",
                   "c.yaml:6:5: tenant \"t\" is declared twice (first at c.yaml:5:5)",
                   "c.yaml:6:23: nodes: \"a[\": a \"[\" is never closed"}));
}

}  // namespace
}  // namespace railwright
