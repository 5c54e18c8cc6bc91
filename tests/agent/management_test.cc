// The way to the controller: found, followed, remembered, and left alone.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "agent/loop/route.h"
#include "core/files/whole_file.h"
#include "tests/agent/agent_node.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

class ManagementTest : public testing::Test, protected AgentNode {
 protected:
  ManagementTest() { controller = "10.0.0.7:7443"; }
  // The kernel sends to the controller through `netdev`; "" = it knows no way.
  void RouteThrough(const std::string& netdev) {
    route = [netdev](const std::string& to) -> Result<std::string> {
      if (to != "10.0.0.7" || netdev.empty())
        return Status(Code::kNotFound, "route to " + to + ": Network is unreachable");
      return netdev;
    };
  }
  void Answer(const std::string& from = "10.0.0.7") {
    host = from;
    Welcome();
  }
  std::string Kept() const { return ReadWhole(directory.path() + "/management").value_or("none"); }
  bool Enforced() const { return Value("/rtnl/link/rail0/mtu") == "4200"; }
  std::string Shown() {
    Pass(1s);
    const std::string text = ReadWhole(directory.path() + "/status.json").value_or("{}");
    return nlohmann::json::parse(text)["agent"]["management_netdev"];
  }
};

TEST_F(ManagementTest, AnInterfaceThatLeadsToTheControllerIsLeftAlone) {
  RouteThrough("rail0");
  ASSERT_TRUE(Boot());
  Answer();
  Give(State(7));
  EXPECT_FALSE(Enforced());
  EXPECT_EQ(Value("/proc/sys/a"), "1");
  EXPECT_EQ(Kept(), "rail0\n");
  EXPECT_EQ(Shown(), "rail0");
  EXPECT_TRUE(Logged("left alone, since the controller is reached through it: rail0"));
}

TEST_F(ManagementTest, ARouteThatMovesIsFollowedBeforeTheNextWrite) {
  RouteThrough("eno1");
  ASSERT_TRUE(Boot());
  Answer();
  Give(State(7));
  ASSERT_TRUE(Enforced());
  RouteThrough("rail0");
  Drift("/rtnl/link/rail0/mtu", "1500");  // in the same moment
  EXPECT_FALSE(Enforced());
  EXPECT_EQ(Kept(), "eno1\nrail0\n") << "through eno1 it was reached last";
  Answer();
  EXPECT_EQ(Kept(), "rail0\n");
  RouteThrough("eno1");
  Answer();
  Settle();
  EXPECT_TRUE(Enforced());
  EXPECT_EQ(Kept(), "eno1\n");
}

TEST_F(ManagementTest, ALinkThatIsLostIsLeftAloneThoughTheKernelNamesAnother) {
  RouteThrough("rail0");
  ASSERT_TRUE(Boot());
  Answer();
  Give(State(7));
  RouteThrough("eno1");  // the default route, by which nobody answers
  Pass(2min);
  EXPECT_FALSE(Enforced());
}

TEST_F(ManagementTest, WithoutAWayTheLastKnownOneStaysAlsoAfterARestart) {
  RouteThrough("rail0");
  ASSERT_TRUE(Boot());
  Answer();
  Give(State(7));
  RouteThrough("");
  Pass(1min);
  EXPECT_FALSE(Enforced());
  for (int restart = 0; restart < 2; ++restart) {
    ASSERT_TRUE(Boot());
    Pass(1min);
    EXPECT_FALSE(Enforced());
    EXPECT_EQ(Kept(), "rail0\n");
  }
}

TEST_F(ManagementTest, ANameThatWasNeverReachedLeavesAllInterfacesAlone) {
  controller = "controller.example:7443";
  RouteThrough("eno1");
  ASSERT_TRUE(
      WriteWholeFile(directory.path() + "/desired.bin", State(7).SerializeAsString(), {.sync = Sync::kNone})
          .ok());
  ASSERT_TRUE(Boot());
  Pass(1min);
  EXPECT_FALSE(Enforced());
  EXPECT_EQ(Value("/proc/sys/a"), "1") << "felt by no interface";
  EXPECT_EQ(Shown(), "unknown");
  EXPECT_TRUE(Logged("controller.example:7443 has not been reached yet"));
  Answer();
  Settle();
  EXPECT_TRUE(Enforced());
  EXPECT_EQ(Shown(), "eno1");
  // The next life knows it without the controller.
  machine.Put("/rtnl/link/rail0/mtu", "1500");
  ASSERT_TRUE(Boot());
  Pass(1min);
  EXPECT_TRUE(Enforced());
}

TEST_F(ManagementTest, ADamagedFileIsAsNone) {
  controller = "controller.example:7443";
  ASSERT_TRUE(
      WriteWholeFile(directory.path() + "/desired.bin", State(7).SerializeAsString(), {.sync = Sync::kNone})
          .ok());
  for (const std::string& damaged : {std::string(), std::string("\n\n"), std::string("../../x\n"),
                                     std::string(300, 'x'), std::string("a b\n")}) {
    ASSERT_TRUE(WriteWholeFile(directory.path() + "/management", damaged, {.sync = Sync::kNone}).ok());
    ASSERT_TRUE(Boot());
    Settle();
    EXPECT_FALSE(Enforced());
    EXPECT_EQ(Shown(), "unknown");
  }
}

TEST_F(ManagementTest, AnInterfaceThatIsToldIsNeitherAskedForNorKept) {
  management_netdev = "rail0";
  RouteThrough("eno1");
  ASSERT_TRUE(Boot());
  Answer();
  Give(State(7));
  EXPECT_FALSE(Enforced());
  EXPECT_EQ(Kept(), "none");
  EXPECT_EQ(Shown(), "rail0");
}

TEST_F(ManagementTest, AControllerOnThisHostNeedsNoInterface) {
  for (const char* local : {"unix:/run/controller.sock", "127.0.0.1:7443", "[::1]:7443"}) {
    controller = local;
    ASSERT_TRUE(WriteWholeFile(directory.path() + "/management", "rail0\n", {.sync = Sync::kNone}).ok());
    machine.Put("/rtnl/link/rail0/mtu", "1500");
    ASSERT_TRUE(Boot());
    Answer("");
    Give(State(7));
    Pass(1min);
    EXPECT_TRUE(Enforced()) << local;
    EXPECT_EQ(Shown(), "");
  }
}

TEST_F(ManagementTest, AControllerAtAnAddressOfThisHostNeedsNoneEither) {
  route = [](const std::string&) { return std::string(); };  // lo
  ASSERT_TRUE(Boot());
  Answer();
  Give(State(7));
  EXPECT_TRUE(Enforced());
}

TEST_F(ManagementTest, AStateDirectoryThatTakesNoWritesGetsItLater) {
  RouteThrough("eno1");
  ASSERT_TRUE(Boot());
  Answer();
  const std::string elsewhere = directory.path() + "-away";
  std::filesystem::rename(directory.path(), elsewhere);
  RouteThrough("rail0");
  agent->Tick();
  EXPECT_TRUE(Logged("nothing is written to this machine until that is over"));
  std::filesystem::rename(elsewhere, directory.path());
  EXPECT_EQ(Kept(), "eno1\n");
  Pass(6s);
  EXPECT_EQ(Kept(), "eno1\nrail0\n");
}

TEST_F(ManagementTest, WhoeverAnsweredIsNotBelievedWhereTheAddressWasGiven) {
  RouteThrough("eno1");
  ASSERT_TRUE(Boot());
  Answer("127.0.0.1");  // "no interface leads there", says the half that talks to the network
  EXPECT_EQ(Kept(), "eno1\n");
}

TEST(NetdevTowards, LoopbackNeedsNoInterfaceAndNamesAreNotLookedUp) {
  EXPECT_EQ(NetdevTowards("127.0.0.1").value_or("?"), "");
  EXPECT_EQ(NetdevTowards("::1").value_or("?"), "");
  EXPECT_EQ(NetdevTowards("localhost").status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace railwright
