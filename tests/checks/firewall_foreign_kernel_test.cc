// firewall.foreign over the real kernel, in a network namespace of its own.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "agent/machine/linux_machine.h"
#include "agent/tools/tools.h"
#include "railwright/check.h"

namespace railwright {
namespace {

class FirewallForeignKernelTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root for a network namespace";
    ASSERT_EQ(unshare(CLONE_NEWNET), 0);
    machine_ = MakeLinuxMachine();
    facts_.subnets = {"10.10.0.0/16"};
    BoundPort port;
    port.port.name = "rail0";
    port.port.role = PortRole::kFabric;
    port.port.addresses = {"10.10.0.1/24"};
    port.netdev = "rail0";
    facts_.ports.push_back(port);
    for (auto& check : MakeChecks())
      if (check->info().key == "firewall.foreign") check_ = std::move(check);
    ASSERT_TRUE(check_);
  }
  Finding Run() { return check_->Run(*machine_, facts_).at(0); }
  static void Nft(const std::string& script) {
    const auto ran = RunTool({"/usr/sbin/nft", "-f", "-"}, script, std::chrono::seconds(10));
    ASSERT_TRUE(ran.ok()) << ran.status().ToString();
    ASSERT_EQ(ran->exit_code, 0) << ran->err;
  }

  std::unique_ptr<Machine> machine_;
  std::unique_ptr<const Check> check_;
  NodeFacts facts_;
};

TEST_F(FirewallForeignKernelTest, APlantedDropIsFoundAndItsFixHelps) {
  EXPECT_EQ(Run().verdict, Verdict::kCompliant) << Run().message;
  Nft("table inet railwright {\n chain input {\n type filter hook input priority -10; policy accept;\n udp "
      "dport 4791 accept\n }\n}\n");
  EXPECT_EQ(Run().verdict, Verdict::kCompliant) << Run().message;
  Nft("table inet site {\n chain input {\n type filter hook input priority 0; policy accept;\n udp dport "
      "4791 drop\n }\n}\n");
  const Finding found = Run();
  EXPECT_EQ(found.verdict, Verdict::kDrifted);
  EXPECT_NE(found.message.find("table inet site chain input handle 2: \"udp dport 4791 drop\""),
            std::string::npos)
      << found.message;
  ASSERT_TRUE(found.fix.starts_with("nft ")) << found.fix;
  Nft(found.fix.substr(4) + "\n");
  EXPECT_EQ(Run().verdict, Verdict::kCompliant) << Run().message;
}

TEST_F(FirewallForeignKernelTest, AnUnchangedRulesetSpawnsNothingAndCostsLittle) {
  std::string rules =
      "table inet site {\n chain input {\n type filter hook input priority 0; policy accept;\n";
  for (int i = 0; i < 1000; ++i)
    rules += "  ip saddr 192.0.2." + std::to_string(i % 250) + " tcp dport " + std::to_string(1000 + i) +
             " accept\n";
  Nft(rules + " }\n}\n");
  EXPECT_EQ(Run().verdict, Verdict::kCompliant) << Run().message;
  const auto spawned = ProgramsSpawned();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; ++i) (void)Run();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(ProgramsSpawned(), spawned);
  std::printf("firewall.foreign over 1,000 foreign rules: %.2f ms a run, 0 programs spawned\n",
              took.count() / 10);
}

TEST_F(FirewallForeignKernelTest, OurOwnTableAloneIsNotEvenDecoded) {
  std::string rules =
      "table inet railwright {\n chain input {\n type filter hook input priority 0; policy accept;\n";
  for (int i = 0; i < 1000; ++i) rules += "  tcp dport " + std::to_string(1000 + i) + " accept\n";
  Nft(rules + " }\n}\n");
  EXPECT_EQ(Run().verdict, Verdict::kCompliant) << Run().message;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; ++i) (void)Run();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  std::printf("firewall.foreign over our table of 1,000 rules: %.3f ms a run\n", took.count() / 10);
}

}  // namespace
}  // namespace railwright
