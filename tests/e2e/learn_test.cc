// An adopted node with the real programs on the real kernel: learned, declared, compared; nothing is written.
#include "core/files/whole_file.h"
#include "tests/e2e/one_node.h"

namespace railwright {
namespace {

class Learn : public OneNode {
 protected:
  void Begin(const std::string& cluster) {
    StartController();
    const Ran declared = Apply(cluster, {"--no-wait"});
    ASSERT_EQ(declared.code, 0) << declared.out << declared.err << Logs();
    StartAgent();
    ASSERT_TRUE(Eventually([&] { return AgentStatus()["agent"]["session"] == "connected"; })) << Logs();
  }
  std::string file() const { return directory_.path() + "/learned.yaml"; }
  /// The learned documents' plan: nothing but documents changes, and nothing differs.
  void ExpectNoDifference() {
    const auto plan = RailctlJson({"plan", "-f", file()});
    EXPECT_EQ(plan["summary"]["answered"], 1) << plan.dump(2);
    EXPECT_EQ(plan["summary"]["steps"], 0) << plan.dump(2);
    EXPECT_EQ(plan["summary"]["refused"], 0) << plan.dump(2);
    EXPECT_EQ(plan["summary"]["unknown"], 0) << plan.dump(2);
  }
};

constexpr const char* kPorts =
    "kind: Cluster\nname: pod-a\nnodes:\n  - {name: gpu-001, role: gpu}\nports:\n"
    "  - {name: rail0, select: {netdev: rail0}, role: fabric}\n"
    "  - {name: rail1, select: {netdev: rail1}, role: fabric}\n";

TEST_F(Learn, WhatIsLearnedIsAcceptedAsItIsAndDiffersInNothing) {
  ASSERT_NO_FATAL_FAILURE(Begin(kPorts));
  const Ran learned = Railctl({"learn", "gpu-001", "--output-dir", directory_.path()});
  ASSERT_TRUE(learned.code == 0 || learned.code == 3) << learned.code << learned.out << learned.err << Logs();
  const std::string text = ReadWhole(file()).value_or("");
  EXPECT_NE(text.find("link.mtu:\n    fabric: 1500\n"), std::string::npos) << text;
  EXPECT_NE(text.find("sysctl."), std::string::npos) << text;
  ExpectNoDifference();

  const Ran applied = Railctl({"apply", "-f", file(), "--yes"});
  EXPECT_EQ(applied.code, 0) << applied.out << applied.err << Logs();
  EXPECT_EQ(Railctl({"drift"}).code, 0) << Railctl({"drift"}).out;

  SetMtu(4200);
  ASSERT_TRUE(Eventually([&] { return Railctl({"drift"}).code == 2; })) << Logs();
  EXPECT_NE(
      Railctl({"drift"}).out.find("in mode observe: 1 value on gpu-001 would be changed; switch on with "
                                  "mode: enforce for link.mtu"),
      std::string::npos)
      << Railctl({"drift"}).out;
  EXPECT_EQ(Mtu(), "4200") << "it only observes";
}

TEST_F(Learn, PortsThatNobodyDeclaredAreProposedAndLearnedFrom) {
  for (const char* peer : {"peer0", "peer1"}) SetMtu(1500, peer);  // they could be rails as well
  ASSERT_NO_FATAL_FAILURE(Begin("kind: Cluster\nname: pod-a\nnodes:\n  - {name: gpu-001, role: gpu}\n"));
  const Ran learned = Railctl({"learn", "gpu-001", "--output-dir", directory_.path()});
  ASSERT_TRUE(learned.code == 0 || learned.code == 3) << learned.code << learned.out << learned.err << Logs();
  const std::string text = ReadWhole(file()).value_or("");
  EXPECT_NE(text.find("  # proposed: "), std::string::npos) << text;
  EXPECT_NE(text.find("link.mtu:\n    fabric: 1500\n"), std::string::npos) << text;
  ExpectNoDifference();
}

}  // namespace
}  // namespace railwright
