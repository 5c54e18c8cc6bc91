// The two halves of the agent, as programs: each may die, and neither has what is the other's.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "core/files/whole_file.h"
#include "tests/e2e/one_node.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

bool Alive(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const auto behind = text.rfind(") ");
  return behind != std::string::npos && text[behind + 2] != 'Z';
}

class Halves : public OneNode {
 protected:
  void Declare() {
    StartController();
    const Ran declared = Apply(Site(), {"--no-wait"});
    ASSERT_EQ(declared.code, 0) << declared.out << declared.err << Logs();
    ASSERT_NO_FATAL_FAILURE(Join());
  }
  void ExpectInForce() {
    ASSERT_TRUE(Eventually([&] { return Mtu() == "4200" && Compliant() && Connected(); }, 25s)) << Logs();
  }
  void Begin() {
    ASSERT_NO_FATAL_FAILURE(Declare());
    StartAgent();
    ExpectInForce();
  }
  bool Connected() const { return AgentStatus()["agent"]["session"] == "connected"; }
  // The front that the agent has started; -1: none now.
  pid_t FrontOf(pid_t half) const {
    const std::string pid = std::to_string(half);
    std::ifstream file("/proc/" + pid + "/task/" + pid + "/children");
    std::set<pid_t> children;
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + pid + "/task")) {
      std::ifstream list(task.path() / "children");
      for (pid_t child = 0; list >> child;)
        if (std::filesystem::read_symlink("/proc/" + std::to_string(child) + "/exe").filename() ==
            "railwright-agent-front")
          children.insert(child);
    }
    return children.size() == 1 ? *children.begin() : -1;
  }
  // Every number once, none missing.
  void ExpectHistoryIsWhole() {
    ASSERT_TRUE(Eventually([&] { return AgentStatus()["agent"]["unstored_changes"] == 0; }, 20s)) << Logs();
    std::set<std::size_t> numbers;
    const auto changes = RailctlJson({"get", "changes"})["changes"];
    for (const auto& change : changes)
      EXPECT_TRUE(numbers.insert(change["sequence"].get<std::size_t>()).second);
    ASSERT_FALSE(numbers.empty());
    EXPECT_EQ(*numbers.begin(), 1U);
    EXPECT_EQ(*numbers.rbegin(), numbers.size());
  }
};

TEST_F(Halves, AFrontThatIsKilledStopsNothingAndIsReplacedWithinSeconds) {
  ASSERT_NO_FATAL_FAILURE(Begin());
  std::set<pid_t> fronts;
  for (int round = 0; round < 3; ++round) {
    pid_t front = -1;
    ASSERT_TRUE(Eventually([&] { return (front = FrontOf(agent_.pid())) > 0; })) << Logs();
    EXPECT_TRUE(fronts.insert(front).second);
    const int mtu = 4208 + 8 * round;
    // A new generation while nobody carries it, and drift that nobody is told of.
    ASSERT_EQ(kill(front, SIGKILL), 0);
    SetMtu(1500);
    ASSERT_TRUE(Eventually([&] { return Mtu() != "1500"; })) << Logs();
    ASSERT_EQ(Apply(Site("gpu-001", mtu), {"--no-wait"}).code, 0) << Logs();
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(Eventually([&] { return Mtu() == std::to_string(mtu) && Connected(); }, 25s)) << Logs();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
    ASSERT_TRUE(
        Eventually([&] { return RailctlJson({"status"})["nodes"][0]["verdict"] == "Compliant"; }, 25s))
        << Logs();
  }
  EXPECT_TRUE(agent_.running());
  ExpectHistoryIsWhole();
}

TEST_F(Halves, APrivilegedHalfThatIsKilledLeavesNoOrphan) {
  ASSERT_NO_FATAL_FAILURE(Begin());
  const pid_t front = FrontOf(agent_.pid());
  ASSERT_GT(front, 0);
  agent_.Kill();
  EXPECT_TRUE(Eventually([&] { return !Alive(front); }, 3s));
}

TEST_F(Halves, ATerminationOfEitherEndsBothInOrder) {
  ASSERT_NO_FATAL_FAILURE(Begin());
  for (const bool of_the_front : {true, false}) {
    const pid_t front = FrontOf(agent_.pid());
    ASSERT_GT(front, 0);
    const auto begin = std::chrono::steady_clock::now();
    if (of_the_front) {
      kill(front, SIGTERM);
      EXPECT_EQ(agent_.Wait(), 0) << Logs();
    } else {
      EXPECT_EQ(agent_.Terminate(), 0) << Logs();
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
    EXPECT_FALSE(Alive(front));
    EXPECT_EQ(Mtu(), "4200") << "what is enforced stays";
    if (!of_the_front) break;
    StartAgent();
    ExpectInForce();
  }
}

TEST_F(Halves, TheFrontIsSomebodyWithoutPrivilege) {
  ASSERT_NO_FATAL_FAILURE(Begin());
  const pid_t front = FrontOf(agent_.pid());
  std::ifstream file("/proc/" + std::to_string(front) + "/status");
  std::stringstream text;
  text << file.rdbuf();
  const std::string status = text.str();
  EXPECT_EQ(status.find("\nUid:\t0\t"), std::string::npos) << status;
  EXPECT_NE(status.find("\nCapEff:\t0000000000000000\n"), std::string::npos) << status;
  EXPECT_NE(status.find("\nCapBnd:\t0000000000000000\n"), std::string::npos) << status;
  EXPECT_NE(status.find("\nNoNewPrivs:\t1\n"), std::string::npos) << status;
}

TEST_F(Halves, EachRestartsAloneAndThePrivilegedOneOpensNoNetworkSocket) {
  ASSERT_EQ(RunProgram({Binary("no_inet"), "--open"}).code, 128 + SIGSYS) << "or this test could not fail";
  ASSERT_NO_FATAL_FAILURE(Declare());
  StartFront();
  StartPrivileged();
  ASSERT_NO_FATAL_FAILURE(ExpectInForce());

  front_.Kill();
  EXPECT_TRUE(Eventually([&] { return !Connected(); })) << Logs();
  SetMtu(1500);
  EXPECT_TRUE(Eventually([&] { return Mtu() == "4200"; })) << Logs();
  StartFront();
  ASSERT_NO_FATAL_FAILURE(ExpectInForce());

  agent_.Kill();
  std::this_thread::sleep_for(300ms);
  EXPECT_TRUE(front_.running()) << "it waits for the other half";
  SetMtu(1500);
  StartPrivileged();
  ASSERT_NO_FATAL_FAILURE(ExpectInForce());
  EXPECT_EQ(agent_.Terminate(), 0) << Logs();
  EXPECT_TRUE(front_.running());
  EXPECT_EQ(front_.Terminate(), 0) << Logs();
  EXPECT_FALSE(std::filesystem::exists(gate()));
}

}  // namespace
}  // namespace railwright
