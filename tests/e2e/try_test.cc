// A change that cuts the node off comes back by itself.
#include <cstdio>
#include <fstream>
#include <set>
#include <thread>

#include "core/files/whole_file.h"
#include "railwright/clock.h"
#include "tests/e2e/controller_elsewhere.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

/// As short as a try may be.
constexpr auto kTry = 30s;

class TryOnTheWay : public ControllerElsewhere {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(ControllerElsewhere::SetUp());
    if (!IsSkipped()) Do(There({"ip", "link", "set", "peer0", "mtu", "1500"}));
  }
  /// Documents in which rail0 has this MTU and address.
  static std::string Declared(const std::string& mtu, const std::string& address = "10.220.0.1/24",
                              const std::string& more = {}) {
    return "kind: Cluster\nname: e2e\nnodes:\n  - {name: gpu-001, role: gpu}\nports:\n"
           "  - {name: rail0, select: {netdev: rail0}, role: fabric, address: \"" +
           address + "\"" + more +
           "}\n"
           "---\nkind: Profile\nname: rails\nfor: {role: gpu}\nmode: enforce\nsettings:\n"
           "  link.mtu: {fabric: " +
           mtu + "}\n  rail.address: {fabric: declared}\n";
  }
  void Start() { StartAgent(); }
  /// A node that is as declared, and connected.
  void BeginWell() {
    ASSERT_EQ(Apply(Declared("1500"), {"--no-wait"}).code, 0) << Logs();
    Start();
    ASSERT_TRUE(Eventually([&] { return Compliant(); })) << Logs();
  }
  bool Connected() { return StatusCommand()["agent"]["session"] == "connected"; }
  static std::string Addresses() {
    return RunProgram({"ip", "-o", "-4", "addr", "show", "dev", "rail0"}).out;
  }
  nlohmann::json FindingOf(const std::string& key) {
    const auto status = AgentStatus();
    if (status.is_object())
      for (const auto& finding : status["nodes"][0]["findings"])
        if (finding["key"] == key && finding["target"] == "rail0") return finding;
    return nlohmann::json::object();
  }
  /// What the agent's journal says now; CLOCK_BOOTTIME in ms, 0 when no try is open.
  long long Deadline() const {
    std::ifstream journal(state_dir() + "/journal");
    long long deadline = 0;
    for (std::string line; std::getline(journal, line);) {
      const auto record = nlohmann::json::parse(line, nullptr, false);
      if (!record.is_object()) continue;
      if (record["op"] == "try") deadline = std::stoll(record["deadline_ms"].get<std::string>());
      if (record["op"] == "end-try") deadline = 0;
    }
    return deadline;
  }
  /// Waits until `changed`, then until `back`; prints how far that was from the journalled deadline.
  void ComesBack(const std::string& name, const std::function<bool()>& changed,
                 const std::function<bool()>& back) {
    ASSERT_TRUE(Eventually(changed, 20s)) << name << Logs();
    const long long deadline = Deadline();
    ASSERT_GT(deadline, 0) << "journalled before it was written" << Logs();
    if (meanwhile_) meanwhile_();
    ASSERT_TRUE(Eventually(back, kTry + 15s)) << name << Logs();
    const long long after = SystemClock().BootNow().count() - deadline;
    std::printf("%s: put back %+lld ms from the deadline of a try of 30 s\n", name.c_str(), after);
    EXPECT_GE(after, 0) << "not before";
    EXPECT_LT(after, 3000);
  }
  void ReachesTheControllerAgain(const std::string& key) {
    EXPECT_TRUE(Eventually([&] { return Connected(); }, 30s)) << Logs();
    const auto finding = FindingOf(key);
    EXPECT_EQ(finding.value("reason", ""), "TryFailed") << finding << Logs();
    EXPECT_NE(finding.value("message", "").find("controller has not answered"), std::string::npos) << finding;
    bool undone = false;
    EXPECT_TRUE(Eventually([&] {
      const auto answer = RailctlJson({"get", "changes", "--key", key});
      for (const auto& change : answer["changes"]) undone = undone || change["kind"] == "undone";
      return undone;
    })) << "the history tells it";
  }

  std::function<void()> meanwhile_;  ///< right after the change was seen
};

TEST_F(TryOnTheWay, WithoutTheOperatorsWordIsRefusedAsBefore) {
  BeginWell();
  ASSERT_EQ(Apply(Declared("9000"), {"--no-wait"}).code, 0);
  EXPECT_TRUE(Eventually([&] { return FindingOf("link.mtu").value("reason", "") == "ManagementPath"; }))
      << Logs();
  EXPECT_EQ(Mtu(), "1500");
}

TEST_F(TryOnTheWay, AChangeThatTheControllerIsReachedThroughIsConfirmed) {
  BeginWell();
  const Ran ran = Apply(Declared("1400"), {"--try", "30s"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err << Logs();
  EXPECT_EQ(Mtu(), "1400");
  std::this_thread::sleep_for(kTry + 3s);
  EXPECT_EQ(Mtu(), "1400") << Logs();
  EXPECT_TRUE(Compliant());
}

TEST_F(TryOnTheWay, AnAgentThatIsStoppedPutsBackAtOnce) {
  BeginWell();
  ASSERT_EQ(Apply(Declared("68"), {"--no-wait", "--try", "15m"}).code, 0);
  ASSERT_TRUE(Eventually([&] { return Mtu() == "68"; })) << Logs();
  EXPECT_EQ(agent_.Terminate(), 0);
  EXPECT_EQ(Mtu(), "1500") << Logs();
}

// As two units: the privileged half must not open the socket that asks.
TEST_F(TryOnTheWay, ANeighbourThatHadAnsweredMustAnswerAgain) {
  Do(There({"ip", "addr", "add", "10.220.0.2/24", "dev", "peer0"}));  // plays gpu-002
  // As the package's sysctl.d has it.
  Do({"sh", "-c", "echo 0 2147483647 > /proc/sys/net/ipv4/ping_group_range"});
  const auto two = [](const std::string& mtu) {
    std::string all = Declared(mtu, "10.220.0.{index}/24");
    return all.replace(all.find("gpu-001"), 7, "\"gpu-[001-002]\"");
  };
  ASSERT_EQ(Apply(two("1500"), {"--no-wait"}).code, 0) << Logs();
  ASSERT_NO_FATAL_FAILURE(Join());
  StartPrivileged();
  StartFront();
  ASSERT_TRUE(Eventually([&] { return FindingOf("rail.address").value("verdict", "") == "Compliant"; }))
      << Logs();
  ASSERT_EQ(Apply(two("1400"), {"--no-wait", "--try", "30s"}).code, 0);
  ASSERT_TRUE(Eventually([&] { return Mtu() == "1400" && Deadline() == 0; })) << "confirmed" << Logs();
  ASSERT_EQ(Apply(two("1300"), {"--no-wait", "--try", "30s"}).code, 0);
  meanwhile_ = [&] { Do(There({"ip", "addr", "del", "10.220.0.2/24", "dev", "peer0"})); };
  ComesBack(
      "neighbour gone", [&] { return Mtu() == "1300"; }, [&] { return Mtu() == "1400"; });
  EXPECT_TRUE(Eventually([&] {
    return FindingOf("link.mtu").value("message", "").find("no neighbour of rail0 answers") !=
           std::string::npos;
  })) << FindingOf("link.mtu")
      << Logs();
  EXPECT_TRUE(Connected()) << "it was reached all the time";
}

TEST_F(TryOnTheWay, AnMtuThatIsTooSmallComesBack) {
  BeginWell();
  ASSERT_EQ(Apply(Declared("68"), {"--no-wait", "--try", "30s"}).code, 0);
  ComesBack(
      "mtu too small", [&] { return Mtu() == "68"; }, [&] { return Mtu() == "1500"; });
  ReachesTheControllerAgain("link.mtu");
}

TEST_F(TryOnTheWay, AnAddressThatIsReplacedComesBack) {
  BeginWell();
  ASSERT_EQ(Apply(Declared("1500", "10.230.0.1/24"), {"--no-wait", "--try", "30s"}).code, 0);
  ComesBack(
      "address replaced", [&] { return Addresses().find("10.220.0.1/") == std::string::npos; },
      [&] { return Addresses().find("10.220.0.1/24") != std::string::npos; });
  EXPECT_EQ(Addresses().find("10.230.0.1/"), std::string::npos);
  ReachesTheControllerAgain("rail.address");
}

TEST_F(TryOnTheWay, AnAgentThatIsKilledMeanwhileKeepsTheDeadline) {
  BeginWell();
  ASSERT_EQ(Apply(Declared("1500", "10.230.0.1/24"), {"--no-wait", "--try", "30s"}).code, 0);
  meanwhile_ = [&] {
    for (int kill = 0; kill < 3; ++kill) {
      agent_.Kill();
      std::this_thread::sleep_for(2s);
      Start();
      std::this_thread::sleep_for(4s);
    }
  };
  ComesBack(
      "agent killed three times", [&] { return Addresses().find("10.220.0.1/") == std::string::npos; },
      [&] { return Addresses().find("10.220.0.1/24") != std::string::npos; });
  ReachesTheControllerAgain("rail.address");
}

TEST_F(TryOnTheWay, AControllerThatIsGoneAltogetherIsNoConfirmation) {
  BeginWell();
  ASSERT_EQ(Apply(Declared("1400"), {"--no-wait", "--try", "30s"}).code, 0);
  meanwhile_ = [&] { controller_.Kill(); };
  ComesBack(
      "controller gone", [&] { return Mtu() == "1400"; }, [&] { return Mtu() == "1500"; });
  StartController(there_, kController);
  ReachesTheControllerAgain("link.mtu");
}

TEST_F(TryOnTheWay, ADefaultRouteThatGoesWithTheAddressComesBackToo) {
  Do({"ip", "route", "add", "default", "via", "10.220.0.254", "dev", "rail0"});
  BeginWell();
  ASSERT_EQ(Apply(Declared("1500", "10.230.0.1/24"), {"--no-wait", "--try", "30s"}).code, 0);
  const auto route = [] { return RunProgram({"ip", "route", "show", "default"}).out; };
  ComesBack(
      "default route lost", [&] { return route().empty(); },
      [&] { return route().find("default via 10.220.0.254 dev rail0") != std::string::npos; });
  ReachesTheControllerAgain("rail.address");
}

TEST_F(TryOnTheWay, IPv6AddressesThatGoWithTheMtuComeBackToo) {
  Do({"ip", "addr", "add", "fd00:220::1/64", "dev", "rail0", "nodad"});
  const auto mtu_alone = [](const std::string& mtu) {
    const std::string all = Declared(mtu);
    return all.substr(0, all.find("  rail.address"));  // nobody but the try looks after the address
  };
  ASSERT_EQ(Apply(mtu_alone("1500"), {"--no-wait"}).code, 0) << Logs();
  Start();
  ASSERT_TRUE(Eventually([&] { return Compliant(); })) << Logs();
  ASSERT_EQ(Apply(mtu_alone("1000"), {"--no-wait", "--try", "30s"}).code, 0);
  const auto six = [] { return RunProgram({"ip", "-o", "-6", "addr", "show", "dev", "rail0"}).out; };
  meanwhile_ = [&] { controller_.Kill(); };
  ComesBack(
      "ipv6 addresses lost",
      [&] { return Mtu() == "1000" && six().find("fd00:220::1/64") == std::string::npos; },
      [&] { return Mtu() == "1500" && six().find("fd00:220::1/64") != std::string::npos; });
}

TEST_F(TryOnTheWay, AGatewayThatIsNotThereComesBack) {
  // The controller is behind the router at the other end; a table of the rail's own sends everything
  // elsewhere.
  Do(There({"ip", "addr", "add", "10.250.0.1/32", "dev", "lo"}));
  Do({"ip", "route", "add", "default", "via", "10.220.0.254", "dev", "rail0"});
  controller_.Terminate();
  std::filesystem::remove_all(directory_.path() + "/controller/identity");
  StartController(there_, "10.250.0.1");
  ASSERT_EQ(Apply(Declared("1500"), {"--no-wait"}).code, 0) << Logs();
  StartAgent();
  ASSERT_TRUE(Eventually([&] { return Compliant(); })) << Logs();
  ASSERT_EQ(Apply(Declared("1500", "10.220.0.1/24", ", gateway: 10.220.0.77") +
                      "  rail.routing: {rail0: per-rail}\n",
                  {"--no-wait", "--try", "30s"})
                .code,
            0);
  const auto rules = [] { return RunProgram({"ip", "rule", "show"}).out; };
  ComesBack(
      "gateway that is not there",
      [&] { return rules().find("from 10.220.0.1 lookup") != std::string::npos; },
      [&] { return rules().find("from 10.220.0.1 lookup") == std::string::npos; });
  ReachesTheControllerAgain("rail.routing");
}

TEST_F(TryOnTheWay, AFirewallThatDropsTheControllerMeanwhileIsNoConfirmation) {
  if (RunProgram(There({"/usr/sbin/nft", "list", "ruleset"})).code != 0) GTEST_SKIP() << "no nft here";
  BeginWell();
  ASSERT_EQ(Apply(Declared("1400"), {"--no-wait", "--try", "30s"}).code, 0);
  meanwhile_ = [&] {
    Do(There({"/usr/sbin/nft",
              "add table inet t; add chain inet t in { type filter hook input priority 0; policy drop; }"}));
  };
  ComesBack(
      "firewall drops", [&] { return Mtu() == "1400"; }, [&] { return Mtu() == "1500"; });
  Do(There({"/usr/sbin/nft", "delete table inet t"}));
  ReachesTheControllerAgain("link.mtu");
}

TEST_F(TryOnTheWay, AnMtuThatTheWayDoesNotCarryComesBack) {
  // Both ends take 9000 bytes, the switch between them 1500 and says nothing: small packets pass.
  Do(There({"ip", "link", "set", "peer0", "mtu", "1500"}));
  Do(There({"ip", "addr", "flush", "dev", "peer0"}));
  Do(There(
      {"ip", "link", "add", "far0", "mtu", "9000", "type", "veth", "peer", "name", "far1", "mtu", "9000"}));
  Do(There({"ip", "link", "add", "br0", "type", "bridge"}));
  for (const char* port : {"peer0", "far1"}) Do(There({"ip", "link", "set", port, "master", "br0", "up"}));
  Do(There({"ip", "link", "set", "peer0", "mtu", "1500"}));
  Do(There({"ip", "link", "set", "far0", "up"}));
  Do(There({"ip", "link", "set", "br0", "up"}));
  Do(There({"ip", "addr", "add", "10.220.0.254/24", "dev", "far0"}));
  Do({"ethtool", "-K", "rail0", "tso", "off", "gso", "off"});
  BeginWell();
  ASSERT_EQ(Apply(Declared("9000"), {"--no-wait", "--try", "30s"}).code, 0);
  ComesBack(
      "mtu too large for the way", [&] { return Mtu() == "9000"; }, [&] { return Mtu() == "1500"; });
  ReachesTheControllerAgain("link.mtu");
}

TEST_F(TryOnTheWay, AFarEndThatGoesDownMeanwhileIsNoConfirmation) {
  BeginWell();
  ASSERT_EQ(Apply(Declared("1400"), {"--no-wait", "--try", "30s"}).code, 0);
  meanwhile_ = [&] { Do(There({"ip", "link", "set", "peer0", "down"})); };
  ComesBack(
      "link down", [&] { return Mtu() == "1400"; }, [&] { return Mtu() == "1500"; });
  Do(There({"ip", "link", "set", "peer0", "up"}));
  EXPECT_TRUE(Eventually([&] { return Connected(); }, 30s)) << Logs();
}

}  // namespace
}  // namespace railwright
