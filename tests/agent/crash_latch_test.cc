// A state with which the agent dies again and again.
#include "agent/loop/crash_latch.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/files/whole_file.h"
#include "tests/agent/agent_node.h"
#include "tests/support/fork_child.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

class CrashLatchTest : public testing::Test, protected AgentNode {
 protected:
  // A life in a process of its own, on a machine of which the first write ends it. Whether it did.
  bool Dies(const std::function<void()>& live) {
    agent.reset();
    state_dir.reset();
    const pid_t child = ForkChild();
    if (child == 0) {
      const rlimit none{0, 0};
      setrlimit(RLIMIT_CORE, &none);
      machine.on_set = [](const std::string& path, const std::string&) {
        if (path == "/proc/sys/a" || path.ends_with("/mtu")) std::abort();
      };
      if (!Boot()) _exit(1);
      live();
      _exit(0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  }
  bool DiesTaking(const v1::DesiredState& state) {
    return Dies([&] {
      Welcome();
      Give(state);
    });
  }
  bool DiesAtStart() {
    return Dies([&] { Settle(); });
  }
  void DieThreeTimes() {
    ASSERT_TRUE(DiesTaking(State(7)));
    ASSERT_TRUE(DiesAtStart());
    ASSERT_TRUE(DiesAtStart());
  }
  nlohmann::json Status() {
    Pass(1s);
    return nlohmann::json::parse(*ReadWhole(directory.path() + "/status.json"));
  }
  bool Marked() const { return ReadWhole(directory.path() + "/taking-up").ok(); }
};

TEST_F(CrashLatchTest, AfterThreeDeathsTheStateIsNotTakenUpAndSaidToBeSo) {
  DieThreeTimes();
  ASSERT_TRUE(Boot());
  machine.ClearLog();
  Settle();
  EXPECT_TRUE(machine.Writes().empty());
  EXPECT_EQ(agent->Hello().state_hash(), "") << "so that the controller sends it, and hears why not";
  const auto status = Status();
  EXPECT_NE(status["agent"]["refused"].get<std::string>().find("died 3 times in a row"), std::string::npos)
      << status["agent"]["refused"];
  EXPECT_EQ(status["agent"]["refused_generation"], 7);
  EXPECT_TRUE(Logged("generation 7 is not taken up: the agent died 3 times in a row"));
  EXPECT_NE(agent->Summary().find("generation 7 is not taken up"), std::string::npos) << agent->Summary();
  EXPECT_TRUE(agent->Ready()) << "it is not waited for";
  Welcome();
  Give(State(7));
  ASSERT_EQ(Sent<v1::Nack>().size(), 1U);
  EXPECT_NE(Sent<v1::Nack>()[0].message().find("died 3 times in a row"), std::string::npos);
  EXPECT_EQ(Sent<v1::Nack>()[0].hash(), State(7).hash());
  EXPECT_TRUE(machine.Writes().empty());
}

TEST_F(CrashLatchTest, ANewNumberForTheSameWishesDoesNotHelpButAnotherStateDoes) {
  DieThreeTimes();
  ASSERT_TRUE(Boot());
  Welcome();
  Give(State(8));
  EXPECT_EQ(Sent<v1::Nack>().size(), 1U);
  Give(State(6, "9000"));
  ASSERT_EQ(Sent<v1::Nack>().size(), 2U);
  EXPECT_NE(Sent<v1::Nack>()[1].message().find("older than generation 7"), std::string::npos);
  Give(State(9, "9000"));
  ASSERT_EQ(Sent<v1::Ack>().size(), 1U);
  EXPECT_EQ(Value("/rtnl/link/rail0/mtu"), "9000");
  EXPECT_FALSE(Marked());
  EXPECT_EQ(Status()["agent"]["refused"], "");
  ASSERT_TRUE(Boot());
  EXPECT_EQ(agent->Hello().generation(), 9U);
}

TEST_F(CrashLatchTest, ItHoldsOverRestartsOfAllKinds) {
  DieThreeTimes();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(Boot());
    machine.ClearLog();
    Settle();
    EXPECT_TRUE(machine.Writes().empty());
    if (i == 1) {
      EXPECT_TRUE(agent->Stop().ok());
    }
  }
}

TEST_F(CrashLatchTest, TwoDeathsAreNotEnoughAndAPassThatEndsIsForgiven) {
  ASSERT_TRUE(DiesTaking(State(7)));
  ASSERT_TRUE(DiesAtStart());
  EXPECT_TRUE(Marked());
  ASSERT_TRUE(Boot());
  Settle();
  EXPECT_EQ(Value("/proc/sys/a"), "1");
  EXPECT_FALSE(Marked());
  // From now on it is no newly accepted state: its deaths are counted anew.
  machine.Put("/proc/sys/a", "0");
  ASSERT_TRUE(DiesAtStart());
  ASSERT_TRUE(Boot());
  Settle();
  EXPECT_EQ(Value("/proc/sys/a"), "1");
}

TEST_F(CrashLatchTest, DeathsWithDifferentStatesAreNotInARow) {
  ASSERT_TRUE(DiesTaking(State(7)));
  ASSERT_TRUE(DiesAtStart());
  ASSERT_TRUE(Dies([&] {  // the controller is there before the first pass
    agent->Handle({v1::Welcome(), ++connection});
    agent->Handle({State(8, "9000"), connection});
    Settle();
  }));
  ASSERT_TRUE(Boot());
  Settle();
  EXPECT_EQ(Value("/rtnl/link/rail0/mtu"), "9000") << "with generation 8 it died once";
}

TEST_F(CrashLatchTest, AnEndInGoodOrderIsNoDeath) {
  ASSERT_TRUE(Boot());
  Welcome();
  for (std::uint64_t i = 0; i < 5; ++i) {
    agent->Handle({State(7 + i), connection});  // the same wishes, and no pass
    EXPECT_TRUE(Marked());
    EXPECT_TRUE(agent->Stop().ok());
    EXPECT_FALSE(Marked());
    ASSERT_TRUE(Boot());
    Welcome();
  }
  Settle();
  EXPECT_EQ(Value("/proc/sys/a"), "1");
}

TEST_F(CrashLatchTest, TheMarkStandsFromBeforeTheStateIsLookedAtUntilItsPassHasEnded) {
  ASSERT_TRUE(Boot());
  Welcome();
  bool marked = true;
  at_work = [&] { marked = marked && Marked(); };
  Give(State(7));
  EXPECT_TRUE(marked);
  EXPECT_FALSE(Marked());
  at_work = {};
  v1::DesiredState poison = State(8);
  poison.set_hash("nonsense");
  Give(poison);
  EXPECT_FALSE(Marked()) << "refused, and alive";
}

TEST_F(CrashLatchTest, AnotherVersionOfTheAgentTriesAgain) {
  DieThreeTimes();
  version = "0.1.1";
  ASSERT_TRUE(Boot());
  Settle();
  EXPECT_EQ(Value("/proc/sys/a"), "1");
}

TEST_F(CrashLatchTest, WhoeverRemovesTheFileTriesAgain) {
  DieThreeTimes();
  ASSERT_EQ(unlink((directory.path() + "/taking-up").c_str()), 0);
  ASSERT_TRUE(Boot());
  Settle();
  EXPECT_EQ(Value("/proc/sys/a"), "1");
}

TEST_F(CrashLatchTest, ADamagedMarkIsAsNone) {
  DieThreeTimes();
  for (const char* damaged : {"", "{", "[]", "{\"hash\":7,\"deaths\":\"x\"}"}) {
    ASSERT_TRUE(WriteWholeFile(directory.path() + "/taking-up", damaged, {.sync = Sync::kNone}).ok());
    machine.Put("/proc/sys/a", "0");
    ASSERT_TRUE(Boot());
    Settle();
    EXPECT_EQ(Value("/proc/sys/a"), "1") << damaged;
  }
}

}  // namespace
}  // namespace railwright
