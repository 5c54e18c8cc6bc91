// A try as the running agent has it: confirmed by a whole report that is acknowledged over a connection begun
// later.
#include <gtest/gtest.h>

#include "tests/agent/agent_node.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

class AgentTryTest : public testing::Test, protected AgentNode {
 protected:
  AgentTryTest() {
    controller = "10.0.0.7:7443";
    route = [](const std::string&) -> Result<std::string> { return std::string("rail0"); };
    redial = [this] {
      ++redials;
      session_text = "connecting: dialled anew";
      return connection + begun_already;
    };
  }
  static v1::DesiredState Tried(std::uint64_t generation, std::uint32_t try_ms = 60'000) {
    v1::GroupPayload group;
    group.set_cluster("pod-a");
    group.set_try_ms(try_ms);
    AddWish(group, "link.mtu", "rail0", "4200");
    v1::NodeOverlay overlay;
    overlay.set_node("gpu-001");
    v1::Port* port = overlay.add_ports();
    port->set_name("rail0");
    port->set_netdev("rail0");
    port->set_role(v1::PORT_ROLE_FABRIC);
    return Sealed(generation, group, overlay);
  }
  void Answer() {
    host = "10.0.0.7";
    Welcome();
    acknowledged = Sent<v1::Report>().size() - 1;  // those of an earlier connection are none of this one
  }
  void BeginIt() {
    ASSERT_TRUE(Boot());
    host = "10.0.0.7";
    Welcome();
    AcknowledgeReports();
    Give(Tried(7));
    ASSERT_EQ(Mtu(), "4200");
    AcknowledgeReports();
    Pass(5s);
    ASSERT_EQ(redials, 1);
  }
  std::string Mtu() const { return Value("/rtnl/link/rail0/mtu"); }

  int redials = 0;
  std::uint64_t begun_already = 0;  ///< connections that were under way when it was dialled anew
};

TEST_F(AgentTryTest, AWholeReportThatIsAcknowledgedOverANewConnectionConfirmsIt) {
  BeginIt();
  EXPECT_EQ(agent->Hello().pad_welcome(), 16'384u) << "nor need they in the other direction";
  Answer();
  const v1::Report last = Sent<v1::Report>().back();
  EXPECT_TRUE(last.full());
  EXPECT_GE(last.ByteSizeLong(), 16'384u) << "small packets pass where large ones do not";
  AcknowledgeReports();
  EXPECT_EQ(agent->Hello().pad_welcome(), 0u);
  Pass(10min);
  EXPECT_EQ(Mtu(), "4200");
  EXPECT_EQ(redials, 1);
  EXPECT_LT(Sent<v1::Report>().back().ByteSizeLong(), 16'384u);
}

TEST_F(AgentTryTest, AWelcomeAloneDoesNot) {
  BeginIt();
  Answer();
  Pass(61s);
  EXPECT_EQ(Mtu(), "1500");
  EXPECT_TRUE(Logged("the controller has not answered over a new connection"));
}

TEST_F(AgentTryTest, AConnectionThatWasBegunBeforeDoesNot) {
  begun_already = 1;  // its Welcome is on its way
  BeginIt();
  Answer();
  AcknowledgeReports();
  Pass(50s);
  Pass(11s);
  EXPECT_EQ(Mtu(), "1500");
}

TEST_F(AgentTryTest, WithoutTheOperatorsWordItIsRefused) {
  ASSERT_TRUE(Boot());
  host = "10.0.0.7";
  Welcome();
  Give(Tried(7, 0));
  EXPECT_EQ(Mtu(), "1500");
  EXPECT_EQ(redials, 0);
}

TEST_F(AgentTryTest, TheNextLifeIsConfirmedByItsOwnConnection) {
  BeginIt();
  session_text = "connecting: not tried yet";
  connection = 0;
  ASSERT_TRUE(Boot());
  EXPECT_EQ(Mtu(), "4200");
  Pass(5s);
  EXPECT_EQ(redials, 2);
  Answer();
  AcknowledgeReports();
  Pass(10min);
  EXPECT_EQ(Mtu(), "4200");
}

}  // namespace
}  // namespace railwright
