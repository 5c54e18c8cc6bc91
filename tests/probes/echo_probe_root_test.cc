#include "agent/probes/echo_probe.h"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "agent/machine/linux_machine.h"
#include "tests/machine/network_namespace.h"
#include "tests/support/fork_child.h"

namespace railwright::machine {
namespace {

using namespace std::chrono_literals;

/// rail0 leads to a neighbour in a namespace of its own (peer0, 10.10.0.2 and fd00:10::2).
class EchoProbeTest : public NetworkNamespaceTest {
 protected:
  void SetUp() override {
    NetworkNamespaceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    child_ = ForkChild();
    if (child_ == 0) {
      if (::unshare(CLONE_NEWNET) != 0) ::_exit(1);
      (void)!::write(pipe[1], "x", 1);
      for (;;) ::pause();
    }
    char byte = 0;
    ASSERT_EQ(::read(pipe[0], &byte, 1), 1);
    ::close(pipe[0]);
    ::close(pipe[1]);
    MakeVeth("rail0", "peer0");
    machine_ = MakeLinuxMachine();
    Run({"ip", "link", "set", "peer0", "netns", std::to_string(child_)});
    There({"link", "set", "peer0", "up"});
    There({"addr", "add", "10.10.0.2/24", "dev", "peer0"});
    There({"addr", "add", "fd00:10::2/64", "dev", "peer0", "nodad"});
    Run({"ip", "link", "set", "rail0", "up"});
    Run({"ip", "addr", "add", "10.10.0.1/24", "dev", "rail0"});
    Run({"ip", "addr", "add", "fd00:10::1/64", "dev", "rail0", "nodad"});
    Run({"ip", "link", "set", "lo", "up"});
    LetEchoes("0 2147483647");
  }
  // What this namespace lets the groups of programs without privilege do.
  void LetEchoes(const std::string& groups) {
    ASSERT_TRUE(machine_->Set("/proc/sys/net/ipv4/ping_group_range", groups).ok());
  }
  void TearDown() override {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    NetworkNamespaceTest::TearDown();
  }
  static void Run(std::vector<std::string> words) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      std::vector<char*> argv;
      for (std::string& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      ::execvp(argv[0], argv.data());
      ::_exit(127);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    ASSERT_EQ(status, 0) << words[0] << " " << words[1] << " " << words[2];
  }
  void There(const std::vector<std::string>& words) const {
    std::vector<std::string> all{"nsenter", "--target", std::to_string(child_), "--net", "ip"};
    all.insert(all.end(), words.begin(), words.end());
    Run(all);
  }
  std::vector<std::string> Ask(const std::string& netdev, const std::vector<std::string>& addresses,
                               std::size_t wanted) {
    probe_->Ask(netdev, addresses);
    std::vector<std::string> answered;
    for (int i = 0; i < 100 && answered.size() < wanted; ++i) {
      std::this_thread::sleep_for(20ms);
      answered = probe_->Answered(netdev);
    }
    return answered;
  }

  pid_t child_ = -1;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<PeerProbe> probe_ = MakeEchoProbe();
};

TEST_F(EchoProbeTest, ANeighbourAnswersInBothFamiliesAndOneThatIsNotThereDoesNot) {
  const auto answered = Ask("rail0", {"10.10.0.2", "fd00:10::2", "10.10.0.3", "no address"}, 2);
  EXPECT_EQ(answered.size(), 2u);
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(probe_->Answered("rail0").size(), 2u);
}

TEST_F(EchoProbeTest, WhatAnsweredBeforeIsForgottenWithTheNextQuestion) {
  ASSERT_EQ(Ask("rail0", {"10.10.0.2"}, 1).size(), 1u);
  There({"link", "set", "peer0", "down"});
  probe_->Ask("rail0", {"10.10.0.2"});
  std::this_thread::sleep_for(300ms);
  EXPECT_TRUE(probe_->Answered("rail0").empty());
}

TEST_F(EchoProbeTest, WhereTheKernelLetsNobodyAskThatIsSaidWithWhatToDo) {
  LetEchoes("1 0");
  EXPECT_TRUE(Ask("rail0", {"10.10.0.2"}, 1).empty());
  EXPECT_EQ(
      probe_->Obstacle("rail0"),
      "the kernel lets no echo out for group 0: sysctl net.ipv4.ping_group_range=\"0 2147483647\" does");
  LetEchoes("0 2147483647");
  EXPECT_EQ(Ask("rail0", {"10.10.0.2"}, 1).size(), 1u);
  EXPECT_EQ(probe_->Obstacle("rail0"), "");
  probe_->Ask("absent0", {"10.10.0.2"});
  EXPECT_NE(probe_->Obstacle("absent0").find("no echo can be bound to absent0"), std::string::npos);
}

// One descriptor is left: the first family gets its socket, the other none, as on a kernel without IPv6.
TEST_F(EchoProbeTest, AFamilyThatCannotBeAskedIsNoObstacleToTheOther) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = dup(0);
  ASSERT_GE(next, 0);
  close(next);
  const rlimit one_more{static_cast<rlim_t>(next) + 1, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &one_more), 0);
  probe_->Ask("rail0", {"10.10.0.2", "fd00:10::2"});
  EXPECT_EQ(probe_->Obstacle("rail0"), "");
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  std::vector<std::string> answered;
  for (int i = 0; i < 100 && answered.empty(); ++i) {
    answered = probe_->Answered("rail0");
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_EQ(answered, (std::vector<std::string>{"10.10.0.2"}));
}

TEST_F(EchoProbeTest, NobodyIsHeardThroughAnotherInterface) {
  MakeVeth("rail1", "peer1");
  Run({"ip", "link", "set", "rail1", "up"});
  probe_->Ask("rail1", {"10.10.0.2"});
  probe_->Ask("absent0", {"10.10.0.2"});
  std::this_thread::sleep_for(300ms);
  EXPECT_TRUE(probe_->Answered("rail1").empty());
  EXPECT_TRUE(probe_->Answered("absent0").empty());
  EXPECT_TRUE(probe_->Answered("never asked").empty());
}

}  // namespace
}  // namespace railwright::machine
