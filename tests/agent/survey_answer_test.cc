// The answer to Command.observe: everything that the node can read of itself.
#include "agent/loop/survey_answer.h"

#include "tests/agent/agent_node.h"

namespace railwright {
namespace {

class SurveyAnswerTest : public testing::Test, protected AgentNode {
 protected:
  void SetUp() override { ASSERT_TRUE(Boot()); }
  v1::ObservedNode Observe() {
    v1::Command command;
    command.set_id(21);
    command.set_deadline_ms(5000);
    command.mutable_observe();
    machine.ClearLog();
    Give(command);
    const auto results = Sent<v1::CommandResult>();
    EXPECT_FALSE(results.empty());
    EXPECT_EQ(results.back().id(), 21U);
    EXPECT_EQ(results.back().error(), "");
    EXPECT_TRUE(machine.Writes().empty());
    return results.back().observed();
  }
  static v1::ObservedValue Of(const v1::ObservedNode& node, const std::string& key,
                              const std::string& target = "") {
    for (const v1::ObservedValue& value : node.values())
      if (value.key() == key && value.target() == target) return value;
    ADD_FAILURE() << key << " " << target << " was not told";
    return {};
  }
  using Value = v1::ObservedValue;
};

TEST_F(SurveyAnswerTest, EverySettingIsToldWithWhatAProfileWouldSay) {
  Welcome();
  Give(State(7));
  machine.FailReads("/ethtool/rail0/speed", FromErrno(EIO, "/ethtool/rail0/speed"));
  machine.Put("/ethtool/rail0/channels", "unsupported");
  const v1::ObservedNode node = Observe();
  EXPECT_EQ(node.node(), "gpu-001");
  EXPECT_EQ(node.generation(), 7U);
  ASSERT_EQ(node.ports_size(), 1);
  EXPECT_EQ(node.ports(0).port().name(), "rail0");
  EXPECT_EQ(node.ports(0).netdev(), "rail0");
  EXPECT_EQ(node.proposed_size(), 0);
  EXPECT_EQ(Of(node, "link.mtu", "rail0").kind(), Value::KIND_VALUE);
  EXPECT_EQ(Of(node, "link.mtu", "rail0").wish(), "4200");
  EXPECT_EQ(Of(node, "sysctl.a").wish(), "1");
  EXPECT_EQ(Of(node, "sysctl.b").wish(), "0") << "nobody declares it";
  EXPECT_EQ(Of(node, "file./etc/x").kind(), Value::KIND_ABSENT);
  EXPECT_EQ(Of(node, "link.speed", "rail0").kind(), Value::KIND_ERROR);
  EXPECT_NE(Of(node, "link.speed", "rail0").message().find("Input/output error"), std::string::npos);
  EXPECT_EQ(Of(node, "link.channels", "rail0").kind(), Value::KIND_NOT_APPLICABLE);
  EXPECT_EQ(Of(node, "link.channels", "rail0").reason(), "NoSuchKnob");
}

TEST_F(SurveyAnswerTest, WithoutDeclaredPortsThoseThatCouldBeAreProposedAndRead) {
  machine.Put("/rtnl/link/rail0", "mtu=1500 kind=veth");
  machine.Put("/rtnl/link/eno1", "mtu=1500").Put("/rtnl/link/eno1/mtu", "1500");
  machine.Put("/rtnl/link/br0", "mtu=1500 kind=bridge");
  machine.Put("/proc/net/route", "Iface\tDestination\neno1\t00000000\t0");
  Welcome();
  const v1::ObservedNode node = Observe();
  EXPECT_EQ(node.generation(), 0U);
  EXPECT_EQ(node.ports_size(), 0);
  ASSERT_EQ(node.proposed_size(), 1);
  EXPECT_EQ(node.proposed(0).netdev(), "rail0");
  EXPECT_NE(node.proposed(0).message(), "");
  EXPECT_EQ(Of(node, "link.mtu", "rail0").wish(), "1500");
}

TEST_F(SurveyAnswerTest, ALongValueIsCutAndNothingToAskFor) {
  machine.Put("/file//etc/x", std::string(5000, 'x'));
  Welcome();
  const v1::ObservedValue value = Of(Observe(), "file./etc/x");
  EXPECT_EQ(value.cut_from(), 5000U);
  EXPECT_LE(value.value().size(), 2048U);
  EXPECT_EQ(value.wish(), "");
  EXPECT_NE(value.no_wish(), "");
}

TEST_F(SurveyAnswerTest, WhatFindsNoRoomIsCounted) {
  machine.Put("/proc/sys/b", "0");
  DesiredState state;
  const v1::ObservedNode whole = Survey(machine, catalog, state, "gpu-001");
  EXPECT_EQ(whole.left_out(), 0U);
  const std::size_t most = whole.ByteSizeLong() / 2;
  const v1::ObservedNode half = Survey(machine, catalog, state, "gpu-001", most);
  EXPECT_LE(half.ByteSizeLong(), most + 16);
  EXPECT_GT(half.left_out(), 0U);
  EXPECT_EQ(half.values_size() + static_cast<int>(half.left_out()), whole.values_size());
}

}  // namespace
}  // namespace railwright
