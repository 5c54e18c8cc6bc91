#include "agent/reconcile/survey.h"

#include "tests/reconcile/node.h"

namespace railwright {
namespace {

const Observed& Of(const std::vector<Observed>& all, const std::string& key, const std::string& target = {}) {
  static const Observed none{"", "", Observation::Absent(), std::string()};
  for (const Observed& one : all)
    if (one.key == key && one.target == target) return one;
  ADD_FAILURE() << "no " << key << " " << target;
  return none;
}

class SurveyTest : public testing::Test {
 protected:
  std::vector<Observed> Survey(const DesiredState& state) {
    node_.machine.ClearLog();
    auto all = ObserveEverything(node_.machine, catalog_, BindPorts(node_.machine, state));
    EXPECT_TRUE(node_.machine.Writes().empty());
    return all;
  }
  Node node_;
  const Catalog catalog_{TestSettings()};
};

TEST_F(SurveyTest, PortSettingsAreReadOnBoundPortsOnly) {
  const auto all = Survey(BuildState(1).Fabric("rail0").Fabric("rail7").Storage("nvme0").Done());
  EXPECT_EQ(Of(all, "link.mtu", "rail0").seen->value, "1500");
  EXPECT_EQ(Of(all, "link.mtu", "nvme0").seen->value, "1500");
  for (const Observed& one : all) EXPECT_NE(one.target, "rail7") << one.key;
}

TEST_F(SurveyTest, OfAFamilyTheWellKnownParamsAreRead) {
  const auto all = Survey(BuildState(1).Done());
  EXPECT_EQ(Of(all, "sysctl.a").seen->value, "0");
  EXPECT_EQ(Of(all, "file./etc/x").seen->kind, Observation::Kind::kAbsent);
}

TEST_F(SurveyTest, WhatWouldNotBeFulfilledIsNoWish) {
  node_.machine.Put("/rtnl/link/rail0/mtu", "many");
  const auto all = Survey(BuildState(1).Fabric("rail0").Done());
  EXPECT_TRUE(Of(all, "link.mtu", "rail0").seen.ok());
  EXPECT_NE(Of(all, "link.mtu", "rail0").wish.status().message().find("not a number"), std::string::npos);
  // As read it is "01"; asked for it would be "1", which is something else.
  node_.machine.Put("/rtnl/link/rail0/mtu", "01");
  const auto again = Survey(BuildState(1).Fabric("rail0").Done());
  EXPECT_NE(Of(again, "link.mtu", "rail0").wish.status().message().find("not be fulfilled"),
            std::string::npos);
}

TEST_F(SurveyTest, AFailedReadIsAnError) {
  node_.machine.FailReads("/rtnl/link/rail0/mtu", FromErrno(EIO, "/rtnl/link/rail0/mtu"));
  const auto all = Survey(BuildState(1).Fabric("rail0").Done());
  EXPECT_FALSE(Of(all, "link.mtu", "rail0").seen.ok());
  EXPECT_FALSE(Of(all, "link.mtu", "rail0").wish.ok());
}

TEST(LikelyPortsTest, MembersBridgesAndTheWayInAreNone) {
  FakeMachine machine;
  machine.Put("/rtnl/link/lo", "mtu=65536").Put("/rtnl/link/br0", "mtu=1500 kind=bridge");
  machine.Put("/rtnl/link/eth1", "mtu=1500 master=br0").Put("/rtnl/link/eth2", "mtu=1500");
  machine.Put("/rtnl/link/eth0", "mtu=1500");
  machine.Put("/proc/net/route", "Iface\tDestination\neth0\t00000000\t0102030A");
  const auto ports = LikelyPorts(machine);
  ASSERT_EQ(ports.size(), 1U);
  EXPECT_EQ(ports[0].name, "rail0");
  EXPECT_EQ(ports[0].netdev, "eth2");
}

}  // namespace
}  // namespace railwright
