// roce.gid, pcie.affinity and pcie.link over a host in memory.
#include <gtest/gtest.h>

#include <cerrno>

#include "railwright/check.h"
#include "tests/support/fake_machine.h"

namespace railwright {
namespace {

constexpr const char* kSwitch = "pci0000:15/0000:15:01.0/0000:16:00.0";

class PortChecksTest : public testing::Test {
 protected:
  PortChecksTest() {
    BoundPort port;
    port.port.name = "rail0";
    port.port.role = PortRole::kFabric;
    port.port.addresses = {"10.10.0.1/24", "fd00:10::1/64"};
    port.netdev = "ens1";
    port.bdf = "0000:18:00.0";
    port.ibdev = "mlx5_0";
    facts_.ports.push_back(port);
    machine_.PutList("/sys/class/infiniband/mlx5_0/ports", {"1"});
  }
  std::vector<Finding> Run(const std::string& key) const {
    for (const auto& check : MakeChecks())
      if (check->info().key == key) return check->Run(machine_, facts_);
    ADD_FAILURE() << key;
    return {};
  }
  Finding First(const std::string& key) const {
    auto findings = Run(key);
    return findings.empty() ? Finding() : findings.front();
  }
  void Gid(int index, const std::string& gid, const std::string& type = "RoCE v2",
           const std::string& netdev = "ens1") {
    const std::string port = "/sys/class/infiniband/mlx5_0/ports/1", at = std::to_string(index);
    machine_.Put(port + "/gids/" + at, gid);
    machine_.Put(port + "/gid_attrs/types/" + at, type);
    machine_.Put(port + "/gid_attrs/ndevs/" + at, netdev);
  }
  void Empty(int index) {
    const std::string port = "/sys/class/infiniband/mlx5_0/ports/1", at = std::to_string(index);
    machine_.Put(port + "/gids/" + at, "0000:0000:0000:0000:0000:0000:0000:0000");
    for (const char* attribute : {"/gid_attrs/types/", "/gid_attrs/ndevs/"})
      machine_.FailReads(port + attribute + at, FromErrno(EINVAL, port + attribute + at));
  }
  void Tree(const std::string& gpu_way) {
    machine_.Put("/pci", "pci0000:15/0000:15:01.0 class=060400 id=8086:352a\n" + std::string(kSwitch) +
                             " class=060400 id=1000:c030\n" + kSwitch +
                             "/0000:17:00.0 class=060400 id=1000:c030\n" + kSwitch +
                             "/0000:17:00.0/0000:18:00.0 class=020000 id=15b3:1021\n" +
                             (gpu_way.empty() ? "" : gpu_way + " class=030200 id=10de:2330\n"));
    machine_.Put("/pci/0000:16:00.0/type", "upstream");
    machine_.Put("/pci/0000:15:01.0/type", "root_port");
    machine_.Put("/pci/0000:17:00.0/type", "downstream");
    for (const char* bdf : {"0000:15:01.0", "0000:16:00.0", "0000:17:00.0", "0000:18:00.0"})
      Link(bdf, "32.0", "16");
  }
  void Link(const std::string& bdf, const std::string& speed, const std::string& width) {
    Put(bdf, "current", speed, width);
    Put(bdf, "max", "32.0", "16");
  }
  void Put(const std::string& bdf, const std::string& which, const std::string& speed,
           const std::string& width) {
    const std::string device = "/sys/bus/pci/devices/" + bdf + "/" + which;
    machine_.Put(device + "_link_speed", speed == "Unknown" ? speed : speed + " GT/s PCIe");
    machine_.Put(device + "_link_width", width);
  }

  FakeMachine machine_;
  NodeFacts facts_;
};

constexpr const char* kLinkLocal = "fe80:0000:0000:0000:0000:00ff:fe00:0001";
constexpr const char* kFour = "0000:0000:0000:0000:0000:ffff:0a0a:0001";
constexpr const char* kSix = "fd00:0010:0000:0000:0000:0000:0000:0001";

TEST_F(PortChecksTest, GidsAreFoundByTypeInterfaceAndAddress) {
  Gid(0, kLinkLocal, "IB/RoCE v1");
  Gid(1, kLinkLocal);
  Gid(2, kFour, "RoCE v2", "ens1.100");
  Gid(3, kFour, "IB/RoCE v1");
  Empty(4);
  Gid(5, kFour);
  Gid(6, kSix);
  const Finding finding = First("roce.gid");
  EXPECT_EQ(finding.verdict, Verdict::kCompliant) << finding.message;
  EXPECT_EQ(finding.observed, "5,6") << "not the usual 3";
  ASSERT_EQ(finding.evidence.size(), 2U);
  EXPECT_EQ(finding.evidence[0], "mlx5_0 port 1 index 5: RoCE v2 ::ffff:10.10.0.1 on ens1");
}

TEST_F(PortChecksTest, AGidOfAnotherKindIsNone) {
  Gid(0, kFour, "IB/RoCE v1");
  Gid(1, kFour, "RoCE v2", "ens2");
  Gid(2, kSix);
  const Finding finding = First("roce.gid");
  EXPECT_EQ(finding.verdict, Verdict::kDrifted);
  EXPECT_EQ(finding.reason, "GidMissing");
  EXPECT_EQ(finding.message, "mlx5_0 port 1 has no RoCE v2 GID on ens1 for 10.10.0.1 (RoCE v1 only)");
}

TEST_F(PortChecksTest, ATableThatCannotBeReadIsUnknown) {
  EXPECT_EQ(First("roce.gid").verdict, Verdict::kUnknown) << "no table at all";
  Gid(0, kFour);
  Gid(1, kSix);
  machine_.FailReads("/sys/class/infiniband/mlx5_0/ports/1/gids/1", FromErrno(EIO, "gids/1"));
  EXPECT_EQ(First("roce.gid").verdict, Verdict::kUnknown);
  machine_.FailReads("/sys/class/infiniband/mlx5_0/ports/1/gids/1", Ok());
  machine_.FailReads("/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/0", FromErrno(EIO, "types/0"));
  EXPECT_EQ(First("roce.gid").verdict, Verdict::kUnknown);
  facts_.ports[0].port.addresses.clear();
  EXPECT_EQ(First("roce.gid").reason, "NoDeclaredAddress");
}

TEST_F(PortChecksTest, ACardWithAGpuBelowItsSwitchIsWellPlaced) {
  Tree(std::string(kSwitch) + "/0000:17:01.0/0000:19:00.0");
  machine_.Put("/sys/bus/pci/devices/0000:18:00.0/numa_node", "1");
  const Finding finding = First("pcie.affinity");
  EXPECT_EQ(finding.verdict, Verdict::kCompliant) << finding.message;
  EXPECT_EQ(finding.observed, "same switch: 0000:19:00.0");
  EXPECT_NE(finding.evidence.at(0).find("NUMA node 1"), std::string::npos);
  Tree("pci0000:15/0000:15:03.0/0000:20:00.0");
  EXPECT_EQ(First("pcie.affinity").observed, "same host bridge: 0000:20:00.0");
}

TEST_F(PortChecksTest, ACardFarFromEveryGpuIsDrift) {
  Tree("pci0000:97/0000:97:01.0/0000:98:00.0");
  const Finding finding = First("pcie.affinity");
  EXPECT_EQ(finding.verdict, Verdict::kDrifted);
  EXPECT_EQ(finding.reason, "FarFromGpu");
  EXPECT_NE(finding.message.find("0000:98:00.0"), std::string::npos);
  Tree("");
  EXPECT_EQ(First("pcie.affinity").reason, "NoGpu");
  machine_.FailReads("/pci", FromErrno(EIO, "/pci"));
  EXPECT_EQ(First("pcie.affinity").verdict, Verdict::kUnknown);
}

TEST_F(PortChecksTest, EveryLinkOnTheWayIsMeasured) {
  Tree("");
  EXPECT_EQ(First("pcie.link").verdict, Verdict::kCompliant) << First("pcie.link").message;
  EXPECT_EQ(First("pcie.link").evidence,
            (std::vector<std::string>{"0000:17:00.0 – 0000:18:00.0: 32.0 GT/s x16 of 32.0 GT/s x16",
                                      "0000:15:01.0 – 0000:16:00.0: 32.0 GT/s x16 of 32.0 GT/s x16"}));
  Link("0000:18:00.0", "32.0", "8");
  EXPECT_EQ(First("pcie.link").reason, "LinkDowngraded");
  Link("0000:18:00.0", "32.0", "16");
  Link("0000:16:00.0", "16.0", "16");
  const Finding finding = First("pcie.link");
  EXPECT_EQ(finding.verdict, Verdict::kDrifted) << "the switch's own link counts";
  EXPECT_NE(finding.message.find("0000:15:01.0 – 0000:16:00.0: 16.0 GT/s x16 of 32.0 GT/s x16, slower"),
            std::string::npos)
      << finding.message;
}

TEST_F(PortChecksTest, ASlotWithFewerLanesIsNoFaultOfTheCard) {
  Tree("");
  Put("0000:17:00.0", "max", "32.0", "8");
  Link("0000:18:00.0", "32.0", "8");
  const Finding finding = First("pcie.link");
  EXPECT_EQ(finding.verdict, Verdict::kCompliant);
  EXPECT_NE(finding.evidence.at(0).find("the slot has x8, the card x16"), std::string::npos)
      << finding.evidence.at(0);
}

TEST_F(PortChecksTest, AnIdleGpuIsSlowAndThatIsRight) {
  Tree(std::string(kSwitch) + "/0000:17:01.0/0000:19:00.0");
  Link("0000:19:00.0", "2.5", "16");
  auto findings = Run("pcie.link");
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[1].target, "");
  EXPECT_EQ(findings[1].verdict, Verdict::kCompliant) << findings[1].message;
  Link("0000:19:00.0", "2.5", "8");
  EXPECT_EQ(Run("pcie.link")[1].verdict, Verdict::kDrifted) << "lanes do not come and go";
}

TEST_F(PortChecksTest, AVirtualFunctionDoesNotTellItsLink) {
  machine_.Put("/pci", "pci0101:00/0101:00:00.0 class=020700 id=15b3:101c driver=mlx5_core");
  facts_.ports[0].bdf = "0101:00:00.0";
  Put("0101:00:00.0", "current", "Unknown", "0");
  Put("0101:00:00.0", "max", "16.0", "16");
  EXPECT_EQ(First("pcie.link").reason, "LinkNotTold") << First("pcie.link").message;
}

TEST_F(PortChecksTest, ALinkThatCannotBeReadIsUnknown) {
  Tree("");
  machine_.FailReads("/sys/bus/pci/devices/0000:17:00.0/max_link_width", FromErrno(EIO, "max_link_width"));
  EXPECT_EQ(First("pcie.link").verdict, Verdict::kUnknown);
  Tree("");
  machine_.FailReads("/sys/bus/pci/devices/0000:17:00.0/max_link_width", Ok());
  machine_.FailReads("/pci/0000:16:00.0/type", FromErrno(EPERM, "type"));
  EXPECT_EQ(First("pcie.link").verdict, Verdict::kUnknown);
  machine_.Remove("/sys/bus/pci/devices/0000:18:00.0");
  EXPECT_EQ(First("pcie.link").reason, "NoPciExpress");
}

}  // namespace
}  // namespace railwright
