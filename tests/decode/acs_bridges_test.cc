#include "core/decode/acs_bridges.h"

#include <gtest/gtest.h>

namespace railwright {
namespace {

// One switch with a card and a GPU, a second GPU by another root port, a third below another host bridge.
constexpr const char* kNode =
    "pci0000:15/0000:15:01.0 class=060400 id=8086:352a driver=pcieport\n"
    "pci0000:15/0000:15:01.0/0000:16:00.0 class=060400 id=1000:c030 driver=pcieport\n"
    "pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0 class=060400 id=1000:c030 driver=pcieport\n"
    "pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0/0000:18:00.0 class=020000 id=15b3:1021 "
    "driver=mlx5_core\n"
    "pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:01.0 class=060400 id=1000:c030 driver=pcieport\n"
    "pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:01.0/0000:19:00.0 class=030200 id=10de:2330 driver=nvidia\n"
    "pci0000:15/0000:15:03.0 class=060400 id=8086:352b driver=pcieport\n"
    "pci0000:15/0000:15:03.0/0000:20:00.0 class=030200 id=10de:2330\n"
    "pci0000:37/0000:37:01.0 class=060400 id=8086:352a driver=pcieport\n"
    "pci0000:37/0000:37:01.0/0000:38:00.0 class=030200 id=10de:2330 driver=vfio-pci\n";

PciTree Node() {
  auto tree = PciTree::Parse(kNode);
  EXPECT_TRUE(tree.ok()) << tree.status().ToString();
  return tree.ok() ? *tree : PciTree();
}

std::vector<std::string> Names(const std::vector<AcsBridge>& bridges) {
  std::vector<std::string> names;
  for (const AcsBridge& bridge : bridges)
    names.push_back(bridge.bdf + (bridge.turns_round_for.empty() ? "" : " turn"));
  return names;
}

TEST(PciTree, ALineIsReadBackAsItWas) {
  const PciTree tree = Node();
  std::string text;
  for (const PciFunction& one : tree.functions()) text += PciTree::LineOf(one) + "\n";
  EXPECT_EQ(text, kNode);
  EXPECT_EQ(tree.Find("0000:99:00.0"), nullptr);
  EXPECT_TRUE(tree.Find("0000:19:00.0")->IsGpu());
  EXPECT_FALSE(tree.Find("0000:18:00.0")->IsGpu());
}

TEST(PciTree, ALineThatIsNoneIsRefused) {
  for (const char* bad :
       {"0000:18:00.0 class=020000", "pci0000:15 class=060000", "pci0000:15/x class=060400 id=1:2",
        "pci0000:15/0000:15:01.0 class=6", "pci0000:15/0000:15:01.0", "pci0000:15/0000:15:01.8 class=060400",
        "pci0000:15/0000:15:01.0 class=060400\npci0000:15/0000:15:01.0 class=060400",
        "pci/0000:15:01.0 class=060400"})
    EXPECT_FALSE(PciTree::Parse(bad).ok()) << bad;
}

TEST(PciTree, AddressesAreFourNumbers) {
  for (const char* good : {"0000:18:00.0", "10000:e1:00.7", "b833:00:02.0"}) EXPECT_TRUE(IsBdf(good)) << good;
  for (const char* bad :
       {"18:00.0", "0000:18:00.8", "0000:18:00", "0000:18:00.0 ", "0000:1G:00.0", "000:18:00.0", ""})
    EXPECT_FALSE(IsBdf(bad)) << bad;
}

TEST(AcsBridges, TheNearestGpusArePeers) {
  const PciTree tree = Node();
  const auto near = GpusNear(tree, *tree.Find("0000:18:00.0"));
  ASSERT_EQ(near.size(), 1U);
  EXPECT_EQ(near[0]->bdf, "0000:19:00.0") << "0000:20:00.0 shares only the host bridge";
  EXPECT_EQ(NearnessOf(*tree.Find("0000:18:00.0"), *tree.Find("0000:20:00.0")), PciNearness::kSameHostBridge);
  EXPECT_EQ(NearnessOf(*tree.Find("0000:18:00.0"), *tree.Find("0000:38:00.0")), PciNearness::kApart);
}

TEST(AcsBridges, BetweenCardAndGpuAreBothWaysBelowTheCommonBridge) {
  const PciTree tree = Node();
  const PciFunction& card = *tree.Find("0000:18:00.0");
  EXPECT_EQ(Names(BridgesBetween(tree, card, GpusNear(tree, card))),
            (std::vector<std::string>{"0000:17:00.0 turn", "0000:17:01.0 turn"}));
  EXPECT_EQ(
      Names(BridgesBetween(tree, card, {tree.Find("0000:20:00.0")})),
      (std::vector<std::string>{"0000:15:01.0 turn", "0000:15:03.0 turn", "0000:16:00.0", "0000:17:00.0"}));
  EXPECT_EQ(Names(BridgesBetween(tree, card, {})),
            (std::vector<std::string>{"0000:15:01.0", "0000:16:00.0", "0000:17:00.0"}));
  EXPECT_TRUE(BridgesBetween(tree, card, {tree.Find("0000:38:00.0")}).empty());
}

TEST(AcsBridges, AVirtualMachinesDeviceIsFoundBelowItsBridge) {
  const PciTree tree = Node();
  ASSERT_NE(PassedThroughBelow(tree, "0000:37:01.0"), nullptr);
  EXPECT_EQ(PassedThroughBelow(tree, "0000:37:01.0")->bdf, "0000:38:00.0");
  EXPECT_EQ(PassedThroughBelow(tree, "0000:17:01.0"), nullptr);
}

TEST(AcsState, OneTextPerState) {
  const std::string text = "0000:15:01.0=rr+cr+ec 0000:17:01.0=direct";
  const auto state = AcsState::Parse(text);
  ASSERT_TRUE(state.ok()) << state.status().ToString();
  EXPECT_EQ(state->Text(), text);
  EXPECT_FALSE(state->Direct());
  EXPECT_TRUE(AcsState::Parse("0000:17:01.0=direct")->Direct());
  EXPECT_TRUE(AcsState::Parse("none")->Direct());
  EXPECT_EQ(AcsState::Parse("none")->Text(), "none");
  for (const char* bad : {"", "0000:17:01.0=", "0000:17:01.0=cr+rr", "0000:17:01.0=rr+rr", "0000:17:01.0=sv",
                          "x=direct", "p2p-direct", "0000:17:01.0=direct+rr"})
    EXPECT_FALSE(AcsState::Parse(bad).ok()) << bad;
}

}  // namespace
}  // namespace railwright
