// The busy guard: what would hurt a job waits for its end, and is then done without being asked.
#include "agent/reconcile/busy.h"

#include "tests/reconcile/node.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

constexpr const char* kQps0 = "/rdma/dev/mlx5_0/qps";
constexpr const char* kQps1 = "/rdma/dev/mlx5_1/qps";
constexpr const char* kTraining =
    "qpn=1 port=1 type=GSI state=RTS kernel=ib_core\n"
    "qpn=17 port=1 type=RC state=RTS pid=4711\n"
    "qpn=18 port=1 type=RC state=RTS pid=4711";

/// A node whose two rails have RDMA devices that nobody uses.
struct BusyNode : Node {
  BusyNode() {
    machine.Put("/sys/class/infiniband/mlx5_0/parent", "rail0");
    machine.Put("/sys/class/infiniband/mlx5_1/parent", "rail1");
    machine.Put(kQps0, "qpn=1 port=1 type=GSI state=RTS kernel=ib_core");
    machine.Put(kQps1, "");
  }
  static DesiredState Flaps(std::uint64_t generation, const std::string& speed = "400") {
    DesiredState state = State(generation)
                             .Enforce("link.speed", "rail0", speed)
                             .Enforce("link.speed", "rail1", speed)
                             .Enforce("link.mtu", "rail0", "4200");
    for (SettingSpec& spec : state.settings) spec.max_disruption = Disruption::kLinkFlap;
    return state;
  }
};

TEST(BusyGuardTest, AProfileThatAllowsALinkFlapIsAppliedToAnIdlePort) {
  BusyNode node;
  node.Apply(BusyNode::Flaps(1));
  EXPECT_EQ(node.Value("/ethtool/rail0/speed"), "400");
  EXPECT_EQ(node.agent->Report().verdict, Verdict::kCompliant);
}

TEST(BusyGuardTest, WithoutThatWordItStaysPendingAndTheFixSaysTheWord) {
  BusyNode node;
  node.Apply(Node::State(1).Enforce("link.speed", "rail0", "400"));
  EXPECT_EQ(node.Of("link.speed", "rail0").reason, "ApprovalNeeded");
  EXPECT_NE(node.Of("link.speed", "rail0").fix.find("`max_disruption: LinkFlap`"), std::string::npos)
      << node.Of("link.speed", "rail0").fix;
  EXPECT_EQ(node.Value("/ethtool/rail0/speed"), "100");
}

TEST(BusyGuardTest, APortWithAQueuePairInRtsIsLeftAloneAndItsIdleNeighbourIsNot) {
  BusyNode node;
  node.machine.Put(kQps0, kTraining);
  node.Apply(BusyNode::Flaps(1));
  const Finding& held = node.Of("link.speed", "rail0");
  EXPECT_EQ(held.verdict, Verdict::kPending);
  EXPECT_EQ(held.reason, "Busy");
  EXPECT_NE(held.message.find("pid 4711 has 2 connected queue pairs on mlx5_0"), std::string::npos)
      << held.message;
  EXPECT_EQ(node.Value("/ethtool/rail0/speed"), "100");
  EXPECT_EQ(node.Value("/ethtool/rail1/speed"), "400");
  EXPECT_EQ(node.Value("/rtnl/link/rail0/mtu"), "4200") << "a TrafficBlip is not held back";
}

TEST(BusyGuardTest, TheEndThatOnlyReceivesIsBusyToo) {
  BusyNode node;
  node.machine.Put(kQps0, "qpn=17 port=1 type=RC state=RTR pid=4711");
  node.Apply(BusyNode::Flaps(1));
  EXPECT_EQ(node.Of("link.speed", "rail0").reason, "Busy");
  EXPECT_EQ(node.Value("/ethtool/rail0/speed"), "100");
}

TEST(BusyGuardTest, WhatWaitedIsDoneByItselfWhenTheJobHasEnded) {
  BusyNode node;
  node.machine.Put(kQps0, kTraining);
  node.Apply(BusyNode::Flaps(1));
  node.Pass(60s);
  EXPECT_EQ(node.Value("/ethtool/rail0/speed"), "100");
  node.machine.Put(kQps0, "qpn=17 port=1 type=RC state=ERR pid=4711");
  node.Pass(11s);
  EXPECT_EQ(node.Value("/ethtool/rail0/speed"), "400");
  EXPECT_EQ(node.Of("link.speed", "rail0").verdict, Verdict::kCompliant);
}

TEST(BusyGuardTest, AJobThatStartsWithinThePassIsSeenBeforeTheWrite) {
  BusyNode node;
  // rail0 is written first; its write is the moment in which a job starts on rail1.
  node.machine.on_set = [&](const std::string& path, const std::string&) {
    if (path == "/ethtool/rail0/speed") node.machine.Put(kQps1, kTraining);
  };
  node.Apply(BusyNode::Flaps(1));
  EXPECT_EQ(node.Value("/ethtool/rail0/speed"), "400");
  EXPECT_EQ(node.Value("/ethtool/rail1/speed"), "100");
  EXPECT_EQ(node.Of("link.speed", "rail1").reason, "Busy");
}

TEST(BusyGuardTest, AProcessOnAGpuHoldsTheWholeNode) {
  BusyNode node;
  node.machine.Put("/nvml/0000:06:00.0/processes", "pid=99");
  node.Apply(BusyNode::Flaps(1));
  EXPECT_EQ(node.Of("link.speed", "rail0").reason, "Busy");
  EXPECT_EQ(node.Of("link.speed", "rail1").reason, "Busy");
  EXPECT_NE(node.Of("link.speed", "rail1").message.find("pid 99 runs on GPU 0000:06:00.0"),
            std::string::npos);
  EXPECT_EQ(node.Value("/rtnl/link/rail0/mtu"), "4200");
}

TEST(BusyGuardTest, WhoseUseCannotBeToldIsBusyNotIdle) {
  BusyNode node;
  node.machine.FailReads(kQps0, FromErrno(EPERM, kQps0));
  node.Apply(BusyNode::Flaps(1));
  EXPECT_EQ(node.Of("link.speed", "rail0").reason, "Busy");
  EXPECT_NE(node.Of("link.speed", "rail0").message.find("cannot be told"), std::string::npos);
  EXPECT_EQ(node.Value("/ethtool/rail0/speed"), "100");
}

TEST(BusyGuardTest, ADriverWithoutItsLibraryHidesWhoRunsAndIsBusy) {
  BusyNode node;
  node.machine.FailReads("/nvml", Status(Code::kNotFound, "/nvml: no libnvidia-ml.so.1"));
  node.Apply(BusyNode::Flaps(1));
  EXPECT_EQ(node.Value("/ethtool/rail0/speed"), "400") << "no driver, nobody on a GPU";
  BusyNode hidden;
  hidden.machine.FailReads("/nvml", Status(Code::kNotFound, "/nvml: no libnvidia-ml.so.1"));
  hidden.machine.Put("/sys/module/nvidia/version", "580.159.04");
  hidden.Apply(BusyNode::Flaps(1));
  EXPECT_EQ(hidden.Of("link.speed", "rail0").reason, "Busy");
  EXPECT_NE(hidden.Of("link.speed", "rail0").message.find("libnvidia-ml"), std::string::npos)
      << hidden.Of("link.speed", "rail0").message;
  EXPECT_EQ(hidden.Value("/ethtool/rail0/speed"), "100");
}

TEST(BusyGuardTest, ADryRunSaysWhoIsInTheWay) {
  BusyNode node;
  node.machine.Put(kQps1, kTraining);
  node.Boot();
  const auto plan = node.agent->DryRun(BusyNode::Flaps(1));
  ASSERT_TRUE(plan.ok());
  int busy = 0;
  for (const Step& step : plan->steps)
    if (step.refused == "Busy") ++busy;
  EXPECT_EQ(busy, 1);
}

TEST(HurtByTest, ACardReachesAllItsFunctionsAndADriverEveryPort) {
  NodeFacts facts;
  for (const char* bdf : {"0000:18:00.0", "0000:18:00.1", "0000:3b:00.0"}) {
    BoundPort& port = facts.ports.emplace_back();
    port.bdf = bdf;
    port.netdev = "if" + std::to_string(facts.ports.size());
  }
  Busy busy;
  busy.ports["if2"] = "pid 7";  // 0000:18:00.1
  Step step;
  const auto hurt = [&](std::vector<std::string> blast) {
    step.blast = std::move(blast);
    return HurtBy(busy, facts, step);
  };
  EXPECT_EQ(hurt({"if1"}), "");
  EXPECT_EQ(hurt({"if2"}), "pid 7");
  EXPECT_EQ(hurt({"card:0000:18:00.0"}), "pid 7");
  EXPECT_EQ(hurt({"card:0000:3b:00.0"}), "");
  EXPECT_EQ(hurt({"driver:mlx5_core"}), "pid 7");
  EXPECT_EQ(hurt({}), "pid 7") << "a node's setting of that class reaches all of it";
}

TEST(BusyGuardTest, ACardThatAlsoCarriesAStoragePortIsManagement) {
  Node node;
  node.machine.Put("/sys/class/net/nvme0/device/uevent", "DRIVER=mlx5_core\nPCI_SLOT_NAME=0000:01:00.0");
  node.Apply(Node::State(1).Enforce("node.card", "", "1"));  // whose blast is card:0000:01:00.1
  EXPECT_EQ(node.Of("node.card").reason, "ManagementPath");
  EXPECT_EQ(node.Value("/proc/card"), "0");
}

}  // namespace
}  // namespace railwright
