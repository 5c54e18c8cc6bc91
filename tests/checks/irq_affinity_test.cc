// irq.affinity over a host in memory: two sockets of four CPUs, one card of node 0.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "agent/machine/linux_machine.h"
#include "railwright/check.h"
#include "railwright/explain.h"
#include "tests/support/fake_machine.h"

namespace railwright {
namespace {

constexpr const char* kBdf = "0000:3b:00.0";
constexpr const char* kOnline = "/sys/devices/system/cpu/online";
const std::string kDevice = "/sys/bus/pci/devices/" + std::string(kBdf);

class IrqAffinityTest : public testing::Test {
 protected:
  IrqAffinityTest() {
    AddPort("rail0", "ens1", kBdf);
    machine_.Put(kOnline, "0-7");
    Place("0", "0-3");
  }
  void AddPort(const std::string& name, const std::string& netdev, const std::string& bdf,
               PortRole role = PortRole::kFabric) {
    BoundPort port;
    port.port.name = name;
    port.port.role = role;
    port.netdev = netdev;
    port.bdf = bdf;
    facts_.ports.push_back(port);
  }
  void Place(const std::string& node, const std::string& cpus) {
    machine_.Put(kDevice + "/numa_node", node);
    machine_.Put(kDevice + "/local_cpulist", cpus);
  }
  /// A vector as the kernel shows it; without `handler` it is allocated and nobody has asked for it.
  void Vector(int irq, const std::string& handler, const std::string& effective) {
    const std::string folder = "/proc/irq/" + std::to_string(irq);
    irqs_.push_back(std::to_string(irq));
    machine_.PutList(kDevice + "/msi_irqs", irqs_);
    for (const char* file : {"/affinity_hint", "/effective_affinity", "/smp_affinity", "/spurious"})
      machine_.Put(folder + file, "0");
    machine_.Put(folder + "/node", "0");
    machine_.Put(folder + "/smp_affinity_list", "0-7");
    machine_.Put(folder + "/effective_affinity_list", effective);
    if (!handler.empty()) machine_.Put(folder + "/" + handler, "");
  }
  /// mlx5: the vector of events, then one of completions on each of `cpus`.
  void Mlx5(const std::vector<std::string>& cpus) {
    Vector(100, "mlx5_async0@pci:0000:3b:00.0", "7");
    for (std::size_t i = 0; i < cpus.size(); ++i)
      Vector(static_cast<int>(101 + i), "mlx5_comp" + std::to_string(i) + "@pci:0000:3b:00.0", cpus[i]);
  }
  void Move(int irq, const std::string& cpus) {
    machine_.Put("/proc/irq/" + std::to_string(irq) + "/effective_affinity_list", cpus);
  }
  std::vector<Finding> Run() const {
    for (const auto& check : MakeChecks()) {
      if (check->info().key != "irq.affinity") continue;
      auto findings = check->Run(machine_, facts_);
      for (const Finding& one : findings) {
        EXPECT_EQ(one.code, "RW-2106");
        if (one.verdict == Verdict::kCompliant) continue;
        const auto pages = ReasonPages();
        EXPECT_TRUE(std::any_of(pages.begin(), pages.end(), [&](const ReasonPage& page) {
          return page.word == one.reason;
        })) << one.reason;
        EXPECT_FALSE(one.message.empty());
      }
      EXPECT_TRUE(machine_.Writes().empty());
      return findings;
    }
    ADD_FAILURE();
    return {};
  }
  Finding First() const {
    auto findings = Run();
    return findings.empty() ? Finding() : findings.front();
  }
  std::size_t ReadsBelow(const std::string& prefix) const {
    const auto reads = machine_.Reads();
    return static_cast<std::size_t>(std::count_if(
        reads.begin(), reads.end(), [&](const std::string& path) { return path.starts_with(prefix); }));
  }

  FakeMachine machine_;
  NodeFacts facts_;
  std::vector<std::string> irqs_;
};

TEST_F(IrqAffinityTest, InterruptsOnTheCardsNodeAreRight) {
  Mlx5({"0", "1", "2", "3"});
  const Finding finding = First();
  EXPECT_EQ(finding.verdict, Verdict::kCompliant) << finding.message;
  EXPECT_EQ(finding.target, "rail0");
  EXPECT_EQ(finding.observed, "near");
  EXPECT_EQ(finding.evidence,
            (std::vector<std::string>{"0000:3b:00.0 (ens1): NUMA node 0, CPUs 0-3, 5 vectors",
                                      "its completion vectors are on more than one CPU"}));
}

TEST_F(IrqAffinityTest, FarInterruptsAreNamedWithTheirPlaceAndTheCards) {
  Mlx5({"0", "4", "2", "6", "5", "7"});
  const Finding finding = First();
  EXPECT_EQ(finding.verdict, Verdict::kDrifted);
  EXPECT_EQ(finding.reason, "IrqFarFromCard");
  EXPECT_EQ(finding.observed, "4 of 6 far");
  EXPECT_EQ(finding.message,
            "4 of 6 completion vectors of 0000:3b:00.0 (ens1) are delivered away from the card (NUMA node 0, "
            "CPUs 0-3): IRQ 102 mlx5_comp1@pci:0000:3b:00.0 on CPU 4, IRQ 104 mlx5_comp3@pci:0000:3b:00.0 on "
            "CPU 6, IRQ 105 mlx5_comp4@pci:0000:3b:00.0 on CPU 5, and 1 more");
  EXPECT_NE(finding.fix.find("CPUs 0-3 to /proc/irq/N/smp_affinity_list"), std::string::npos) << finding.fix;
  EXPECT_EQ(finding.evidence.size(), 5U) << "the card, and each of the four";
}

TEST_F(IrqAffinityTest, TheVectorOfEventsMayBeAnywhere) {
  for (const char* handler : {"mlx5_async0@pci:0000:3b:00.0", "mlx5_pages_eq@pci:0000:3b:00.0",
                              "mlx5_cmd_eq@pci:0000:3b:00.0", "mlx5_sf_ctrl60@pci:0000:3b:00.0",
                              "bnxt_re-creq@pci:0000:3b:00.0", "irdma-ens1-AEQ-0", "ice-0000:3b:00.0:misc",
                              "mana_hwc@pci:0000:3b:00.0", "efa-mgmnt@pci:0000:3b:00.0", "virtio0-config"}) {
    irqs_.clear();
    machine_.Remove("/proc/irq");
    Mlx5({"0", "1", "2"});
    Vector(300, handler, "6");
    EXPECT_EQ(First().verdict, Verdict::kCompliant) << handler << ": " << First().message;
  }
  Vector(301, "ens1-TxRx-0", "6");
  EXPECT_EQ(First().reason, "IrqFarFromCard") << "any other name counts";
}

TEST_F(IrqAffinityTest, AVectorThatNobodyAskedForIsLeftOut) {
  Mlx5({"0", "1"});
  Vector(110, "", "6");
  Vector(111, "", "0-7");
  EXPECT_EQ(First().verdict, Verdict::kCompliant) << First().message;
}

TEST_F(IrqAffinityTest, OfACardWithNothingAwayFewNamesAreRead) {
  std::vector<std::string> cpus;
  for (int i = 0; i < 60; ++i) cpus.push_back(std::to_string(i % 4));
  Mlx5(cpus);
  Move(100, "0");
  EXPECT_EQ(First().verdict, Verdict::kCompliant);
  std::size_t listings = 0;
  for (const std::string& path : machine_.Reads())
    if (path.starts_with("/proc/irq/") && std::count(path.begin(), path.end(), '/') == 3) ++listings;
  EXPECT_EQ(listings, 3U) << "the events, and two completion vectors that are on two CPUs";
  EXPECT_EQ(ReadsBelow("/proc/irq/"), 61U + 3U);
}

TEST_F(IrqAffinityTest, CompletionsAllOnOneCpuAreDrift) {
  Mlx5({"2", "2", "2", "2"});
  const Finding finding = First();
  EXPECT_EQ(finding.verdict, Verdict::kDrifted);
  EXPECT_EQ(finding.reason, "IrqsOnOneCpu");
  EXPECT_EQ(finding.observed, "all on CPU 2");
  EXPECT_EQ(finding.message,
            "all 4 completion vectors of 0000:3b:00.0 (ens1) are delivered on CPU 2, though 4 are near the "
            "card (NUMA node 0, CPUs 0-3): IRQ 101 mlx5_comp0@pci:0000:3b:00.0 on CPU 2, IRQ 102 "
            "mlx5_comp1@pci:0000:3b:00.0 on CPU 2, IRQ 103 mlx5_comp2@pci:0000:3b:00.0 on CPU 2, and 1 more");
  Move(104, "3");
  EXPECT_EQ(First().verdict, Verdict::kCompliant);
}

TEST_F(IrqAffinityTest, OneCpuIsEnoughForOneQueueOrWhereNoOtherIsNear) {
  Mlx5({"2", "2"});
  EXPECT_EQ(First().verdict, Verdict::kCompliant) << "two vectors may be one queue";
  Mlx5({"2", "2", "2"});
  EXPECT_EQ(First().reason, "IrqsOnOneCpu");
  machine_.Put(kOnline, "2,4-7");
  EXPECT_EQ(First().verdict, Verdict::kCompliant) << "the other near CPUs are offline";
}

TEST_F(IrqAffinityTest, AllOnOneFarCpuIsFar) {
  Mlx5({"5", "5", "5"});
  EXPECT_EQ(First().reason, "IrqFarFromCard");
  EXPECT_EQ(First().observed, "3 of 3 far");
}

TEST_F(IrqAffinityTest, MoreVectorsThanNearCpusMayGoOnAtTheNextNode) {
  Mlx5({"0", "1", "2", "3", "4", "5"});
  Finding finding = First();
  EXPECT_EQ(finding.verdict, Verdict::kCompliant) << finding.message;
  EXPECT_EQ(finding.observed, "near, as far as the node has CPUs");
  Move(106, "4");
  EXPECT_EQ(First().reason, "IrqFarFromCard") << "two share a far CPU, and could share a near one";
  Move(106, "5");
  Move(104, "6");
  EXPECT_EQ(First().reason, "IrqFarFromCard") << "CPU 3 is near and has none";
}

TEST_F(IrqAffinityTest, WhereNothingIsFarOnlyTheHeapIsJudged) {
  for (const auto& [node, cpus] :
       std::vector<std::pair<const char*, const char*>>{{"-1", "0-7"}, {"0", "0-7"}, {"0", "0-15"}}) {
    irqs_.clear();
    machine_.Remove("/proc/irq");
    Place(node, cpus);
    Mlx5({"0", "7", "3"});
    EXPECT_EQ(First().verdict, Verdict::kNotApplicable) << node << " " << cpus;
    EXPECT_EQ(First().reason, "NoFarCpu");
    machine_.ClearLog();
    (void)Run();
    EXPECT_EQ(ReadsBelow("/proc/irq/"), 5U) << "three handlers and two places, then it is proved";
    Move(102, "0");
    Move(103, "0");
    EXPECT_EQ(First().reason, "IrqsOnOneCpu");
    EXPECT_EQ(First().verdict, Verdict::kDrifted);
  }
  machine_.Remove(kDevice + "/numa_node");
  Move(103, "1");
  EXPECT_EQ(First().reason, "NoFarCpu") << "a kernel without NUMA";
}

TEST_F(IrqAffinityTest, SmallMachinesAndOtherPortsAreNotJudged) {
  Mlx5({"2"});
  machine_.Put(kOnline, "0");
  Place("-1", "0");
  machine_.ClearLog();
  EXPECT_EQ(First().reason, "OneCpu");
  EXPECT_EQ(machine_.Reads().size(), 1U) << "nothing else is looked at";
  machine_.Put(kOnline, "0-7");
  Place("-1", "0-7");
  EXPECT_EQ(First().reason, "NoFarCpu") << "one vector: " << First().message;
  Place("1", "");
  EXPECT_EQ(First().reason, "NoNearCpu");
  Place("0", "0-3");
  machine_.Remove(kDevice + "/msi_irqs");
  EXPECT_EQ(First().reason, "NoMsiVectors");
  facts_.ports[0].bdf.clear();
  EXPECT_EQ(First().reason, "NoPciDevice");
  facts_.ports[0].port.role = PortRole::kManagement;
  EXPECT_EQ(First().reason, "NoFabricPort");
  EXPECT_EQ(First().verdict, Verdict::kNotApplicable);
}

TEST_F(IrqAffinityTest, EachFabricPortHasItsFinding) {
  Mlx5({"0", "1"});
  AddPort("rail1", "ens2", "0000:9b:00.0");
  AddPort("mgmt", "eno1", "0000:01:00.0", PortRole::kManagement);
  const auto findings = Run();
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].verdict, Verdict::kCompliant);
  EXPECT_EQ(findings[1].target, "rail1");
  EXPECT_EQ(findings[1].reason, "ReadFailed") << "nothing is told of that function";
  EXPECT_EQ(ReadsBelow(kOnline), 1U) << "once for all ports";
}

TEST_F(IrqAffinityTest, WithoutEvidenceItIsUnknown) {
  Mlx5({"0", "1", "2"});
  const std::vector<std::string> needed{kOnline,
                                        kDevice + "/numa_node",
                                        kDevice + "/local_cpulist",
                                        kDevice + "/msi_irqs",
                                        "/proc/irq/102/effective_affinity_list",
                                        "/proc/irq/101"};
  for (const std::string& path : needed) {
    machine_.FailReads(path, FromErrno(EIO, path));
    EXPECT_EQ(First().verdict, Verdict::kUnknown) << path;
    EXPECT_EQ(First().reason, "ReadFailed") << path;
    EXPECT_NE(First().message.find(path), std::string::npos) << First().message;
    machine_.FailReads(path, Ok());
  }
  for (const std::string& path : {std::string(kOnline), kDevice + "/local_cpulist",
                                  std::string("/proc/irq/102/effective_affinity_list")}) {
    const std::string before = machine_.Value(path);
    machine_.Put(path, "all");
    EXPECT_EQ(First().reason, "ReadFailed") << path;
    machine_.Put(path, before);
  }
  Move(102, "");
  EXPECT_EQ(First().message, "/proc/irq/102/effective_affinity_list names no CPU");
  Move(102, "1");
  machine_.PutList(kDevice + "/msi_irqs", {"config"});
  EXPECT_EQ(First().reason, "ReadFailed");
}

TEST_F(IrqAffinityTest, NoVectorInUseIsNoPass) {
  Vector(100, "mlx5_async0@pci:0000:3b:00.0", "0");
  Vector(101, "", "1");
  EXPECT_EQ(First().verdict, Verdict::kUnknown);
  EXPECT_EQ(First().reason, "NoChecksRun");
  Move(101, "6");
  EXPECT_EQ(First().reason, "NoChecksRun") << "also when what nobody asked for is far";
  Place("-1", "0-7");
  EXPECT_EQ(First().reason, "NoFarCpu") << "where nothing can be far, nothing is missing";
}

TEST_F(IrqAffinityTest, WithoutAnEffectivePlaceTheAllowedOnesCount) {
  Mlx5({"0", "1", "2"});
  for (int irq = 100; irq <= 103; ++irq)
    machine_.Remove("/proc/irq/" + std::to_string(irq) + "/effective_affinity_list");
  const Finding finding = First();
  EXPECT_EQ(finding.verdict, Verdict::kUnknown) << "0-7 may be either";
  EXPECT_EQ(finding.reason, "IrqPlaceUnclear");
  EXPECT_NE(finding.message.find("3 of 3"), std::string::npos) << finding.message;
  for (int irq = 101; irq <= 103; ++irq)
    machine_.Put("/proc/irq/" + std::to_string(irq) + "/smp_affinity_list", "0-3");
  EXPECT_EQ(First().verdict, Verdict::kCompliant) << First().message;
  machine_.Put("/proc/irq/102/smp_affinity_list", "4-7");
  EXPECT_EQ(First().reason, "IrqFarFromCard");
}

TEST(IrqAffinity, TheWrittenNodeHasOneCardThatInterruptsTheOtherSocket) {
  const auto node = OpenSnapshotMachine(RAILWRIGHT_SOURCE_DIR "/tests/snapshots/written-8x-cx7");
  ASSERT_TRUE(node.ok()) << node.status().ToString();
  NodeFacts facts;
  for (const char* bus : {"18", "3b", "4c", "5d", "9b", "bb", "cb", "db"}) {
    BoundPort port;
    port.port.name = bus;
    port.port.role = PortRole::kFabric;
    port.netdev = "eth";
    port.bdf = "0000:" + std::string(bus) + ":00.0";
    facts.ports.push_back(port);
  }
  for (const auto& check : MakeChecks()) {
    if (check->info().key != "irq.affinity") continue;
    const auto findings = check->Run(**node, facts);
    ASSERT_EQ(findings.size(), 8U);
    for (const Finding& finding : findings)
      EXPECT_EQ(finding.reason, finding.target == "4c" ? "IrqFarFromCard" : "")
          << finding.target << ": " << finding.message;
  }
}

}  // namespace
}  // namespace railwright
