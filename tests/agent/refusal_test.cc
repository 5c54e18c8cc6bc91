// States that are refused: what is said of them, and that nothing happens.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/files/whole_file.h"
#include "tests/agent/agent_node.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

class RefusalTest : public testing::Test, protected AgentNode {
 protected:
  void SetUp() override { ASSERT_TRUE(Boot()); }
  nlohmann::json Status() const {
    return nlohmann::json::parse(*ReadWhole(directory.path() + "/status.json"));
  }
};

TEST_F(RefusalTest, APoisonedStateIsRefusedWithItsReasonAndChangesNothing) {
  Welcome();
  Give(State(7));
  machine.ClearLog();
  v1::DesiredState poisoned = State(8, "9000");
  poisoned.mutable_group()->at(3) ^= 1;
  Give(poisoned);
  Give(Signer().Signed(9, "\xff\xff", ""));
  const auto nacks = Sent<v1::Nack>();
  ASSERT_EQ(nacks.size(), 2U);
  EXPECT_EQ(nacks[0].generation(), 8U);
  EXPECT_NE(nacks[0].message().find("SHA-256"), std::string::npos);
  EXPECT_NE(nacks[1].message().find("no GroupPayload"), std::string::npos);
  EXPECT_TRUE(machine.Writes().empty());
  EXPECT_EQ(agent->Hello().generation(), 7U);
  Pass(1s);
  EXPECT_EQ(Status()["agent"]["refused_generation"], 9);
}

TEST_F(RefusalTest, AnUnknownKeyIsRefusedByName) {
  Welcome();
  v1::GroupPayload group;
  AddWish(group, "link.mtuu", "rail0", "4200");
  v1::NodeOverlay overlay;
  overlay.set_node("gpu-001");
  Give(Sealed(3, group, overlay));
  ASSERT_EQ(Sent<v1::Nack>().size(), 1U);
  EXPECT_NE(Sent<v1::Nack>()[0].message().find("link.mtuu"), std::string::npos)
      << Sent<v1::Nack>()[0].message();
}

TEST_F(RefusalTest, AStateForAnotherNodeIsRefused) {
  Welcome();
  Give(State(3, "4200", "gpu-002"));
  ASSERT_EQ(Sent<v1::Nack>().size(), 1U);
  EXPECT_NE(Sent<v1::Nack>()[0].message().find("gpu-002"), std::string::npos);
  EXPECT_FALSE(ReadWhole(directory.path() + "/desired.bin").ok());
}

TEST_F(RefusalTest, GenerationsNeverGoBackAlsoAfterARestart) {
  Welcome();
  Give(State(7));
  Give(State(6, "9000"));
  ASSERT_TRUE(Boot());
  Welcome();
  Give(State(6, "9000"));
  const auto nacks = Sent<v1::Nack>();
  ASSERT_EQ(nacks.size(), 2U);
  for (const auto& nack : nacks)
    EXPECT_NE(nack.message().find("generation 6 is older than generation 7"), std::string::npos)
        << nack.message();
  EXPECT_EQ(Value("/rtnl/link/rail0/mtu"), "4200");
}

// The reason of the Nack that `state` is answered with.
std::string Printed(const v1::Nack& nack) {
  for (const unsigned char c : nack.message()) EXPECT_TRUE(c >= 0x20 && c != 0x7f) << nack.message();
  return nack.message();
}

TEST_F(RefusalTest, ANackQuotesPoisonShortAndPrintableAndStillTellsTheReason) {
  const std::string huge = "\x1b[2J\n" + std::string(1 << 19, 'k');
  struct Case {
    std::string key, target, value, place, node, reason;
  };
  std::uint64_t generation = 3;
  for (const Case& one : {Case{huge, "rail0", "1", "site.yaml:3", "gpu-001", "unknown setting"},
                          Case{"link.mtu", huge, "1", "site.yaml:3", "gpu-001", "no port of that name"},
                          Case{"link.mtu", "rail0", huge, "site.yaml:3", "gpu-001", "is not a number"},
                          Case{"link.mtu", "", "1", huge, "gpu-001", "applies to a port"},
                          Case{"sysctl.a", "", "1", "site.yaml:3", huge, "it is for node"}}) {
    Welcome();
    sent.clear();
    v1::GroupPayload group;
    AddWish(group, one.key, one.target, one.value);
    group.mutable_settings(0)->mutable_origin()->set_place(one.place);
    v1::NodeOverlay overlay;
    overlay.set_node(one.node);
    v1::Port* port = overlay.add_ports();
    port->set_name("rail0");
    Give(Sealed(generation++, group, overlay));
    ASSERT_EQ(Sent<v1::Nack>().size(), 1U) << one.reason;
    const std::string said = Printed(Sent<v1::Nack>()[0]);
    EXPECT_LE(said.size(), 1024U) << one.reason;
    EXPECT_NE(said.find(one.reason), std::string::npos) << said;
    EXPECT_NE(said.find("…"), std::string::npos) << "that something was left out shows: " << said;
    EXPECT_NE(said.find("\\x1b"), std::string::npos) << said;
  }
}

TEST_F(RefusalTest, ANackOfAStateWithAnEndlessHashIsShort) {
  Welcome();
  v1::DesiredState message = State(3);
  message.set_hash(std::string(1 << 20, '\n'));
  Give(message);
  ASSERT_EQ(Sent<v1::Nack>().size(), 1U);
  EXPECT_LT(Sent<v1::Nack>()[0].ByteSizeLong(), 1500U);
  Printed(Sent<v1::Nack>()[0]);
}

TEST_F(RefusalTest, ADryRunOfPoisonIsAnsweredShort) {
  Welcome();
  v1::GroupPayload group;
  AddWish(group, std::string(1 << 20, '\x01'), "", "1");
  v1::NodeOverlay overlay;
  overlay.set_node("gpu-001");
  v1::Command command;
  *command.mutable_plan() = Sealed(3, group, overlay);
  Give(command);
  ASSERT_EQ(Sent<v1::CommandResult>().size(), 1U);
  EXPECT_LT(Sent<v1::CommandResult>()[0].ByteSizeLong(), 1500U);
}

}  // namespace
}  // namespace railwright
