// A rail that leads to the controller: declared as fabric, and yet not touched.
#include <fstream>
#include <set>

#include "core/files/whole_file.h"
#include "tests/e2e/controller_elsewhere.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

class WayToController : public ControllerElsewhere {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(ControllerElsewhere::SetUp());
    if (IsSkipped()) return;
    const Ran declared = Apply(Declared(), {"--no-wait"});
    ASSERT_EQ(declared.code, 0) << declared.out << declared.err << Logs();
    Start();
  }
  void Start() { StartAgent(); }

  static std::string Declared() {
    return "kind: Cluster\nname: e2e\nnodes:\n  - {name: gpu-001, role: gpu}\nports:\n"
           "  - {name: rail0, select: {netdev: rail0}, role: fabric, address: \"10.230.0.{index}/24\"}\n"
           "  - {name: rail1, select: {netdev: rail1}, role: fabric, address: \"10.231.0.{index}/24\"}\n"
           "---\nkind: Profile\nname: rails\nfor: {role: gpu}\nmode: enforce\nsettings:\n"
           "  link.mtu: {fabric: 4200}\n"
           "  rail.address: {fabric: declared}\n"
           "  sysctl.net.ipv4.conf.{netdev}.arp_announce: {fabric: 2}\n"
           "  sysctl.net.ipv4.conf.all.arp_ignore: 1\n";
  }
  static std::string ArpAnnounce(const std::string& netdev) {
    return ReadWhole("/proc/sys/net/ipv4/conf/" + netdev + "/arp_announce").value_or("");
  }
  static std::string Addresses(const std::string& netdev) {
    return RunProgram({"ip", "-o", "-4", "addr", "show", "dev", netdev}).out;
  }
  /// Keys of the findings that were refused because they touch `target`, which leads to the controller.
  static std::set<std::string> Refused(const nlohmann::json& status, const std::string& target) {
    std::set<std::string> keys;
    if (!status.is_object()) return keys;
    for (const auto& finding : status["nodes"][0]["findings"])
      if (finding["target"] == target && finding["reason"] == "ManagementPath" &&
          finding["message"].get<std::string>().find(target) != std::string::npos)
        keys.insert(finding["key"].get<std::string>());
    return keys;
  }
  void ExpectUntouched() {
    EXPECT_EQ(Mtu("rail0"), "1500");
    EXPECT_EQ(ArpAnnounce("rail0"), "0\n");
    EXPECT_NE(Addresses("rail0").find("10.220.0.1/24"), std::string::npos) << Addresses("rail0");
    EXPECT_EQ(Addresses("rail0").find("10.230.0."), std::string::npos) << Addresses("rail0");
  }

  const std::set<std::string> kAll{"link.mtu", "rail.address", "sysctl.net.ipv4.conf.{netdev}.arp_announce"};
};

TEST_F(WayToController, IsRefusedWithTheReasonWhileAllElseIsApplied) {
  ASSERT_TRUE(Eventually([&] {
    return Mtu("rail1") == "4200" && Refused(RailctlJson({"status", "gpu-001"}), "rail0") == kAll;
  })) << Logs();
  ExpectUntouched();
  EXPECT_NE(Addresses("rail1").find("10.231.0.1/24"), std::string::npos) << Addresses("rail1");
  EXPECT_EQ(ArpAnnounce("rail1"), "2\n");
  EXPECT_EQ(ReadWhole("/proc/sys/net/ipv4/conf/all/arp_ignore").value_or(""), "1\n");
  EXPECT_EQ(StatusCommand()["agent"]["management_netdev"], "rail0");
  EXPECT_TRUE(Eventually([&] { return StatusCommand()["agent"]["session"] == "connected"; })) << Logs();
}

TEST_F(WayToController, IsFollowedWhenItsRouteMovesAndRememberedWithoutIt) {
  ASSERT_TRUE(Eventually([&] {
    return Mtu("rail1") == "4200" && Mtu("rail0") == "1500" && Refused(AgentStatus(), "rail0") == kAll;
  })) << Logs();
  // The route goes through rail1 now: nobody answers there, and rail0 is where the controller was reached.
  Do({"ip", "route", "add", "10.220.0.254/32", "dev", "rail1"});
  ASSERT_TRUE(Eventually([&] { return AgentStatus()["agent"]["management_netdev"] == "rail0, rail1"; }))
      << Logs();
  SetMtu(1500, "rail1");
  EXPECT_TRUE(Eventually([&] { return Refused(AgentStatus(), "rail1").contains("link.mtu"); })) << Logs();
  EXPECT_EQ(Mtu("rail1"), "1500");
  ExpectUntouched();
  Do({"ip", "route", "del", "10.220.0.254/32", "dev", "rail1"});
  EXPECT_TRUE(Eventually([&] { return Mtu("rail1") == "4200"; }, 25s)) << Logs();

  // A life that begins without a controller, and without a route to it.
  controller_.Kill();
  agent_.Kill();
  Do({"ip", "addr", "del", "10.220.0.1/24", "dev", "rail0"});
  SetMtu(1500, "rail1");
  Start();
  EXPECT_TRUE(Eventually([&] { return Mtu("rail1") == "4200"; }, 25s)) << Logs();
  EXPECT_TRUE(Eventually([&] { return Refused(AgentStatus(), "rail0") == kAll; })) << Logs();
  EXPECT_EQ(Mtu("rail0"), "1500");
  EXPECT_EQ(AgentStatus()["agent"]["management_netdev"], "rail0");
}

}  // namespace
}  // namespace railwright
