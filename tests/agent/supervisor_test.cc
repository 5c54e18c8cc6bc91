// What a supervisor hears, also while the first pass takes its time.
#include "agent/loop/supervisor.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <thread>

#include "agent/loop/poll_loop.h"
#include "core/files/whole_file.h"
#include "tests/agent/agent_node.h"
#include "tests/support/fake_hints.h"
#include "tests/support/test_signer.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

// The supervisor's end of NOTIFY_SOCKET.
class NotifySocket {
 public:
  NotifySocket() : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    const std::string path = directory_.path() + "/notify";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
    setenv("WATCHDOG_USEC", "200000", 1);
  }
  ~NotifySocket() {
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    close(fd_);
  }
  /// Everything that was said so far.
  const std::vector<std::string>& Heard() {
    char buffer[512];
    for (ssize_t got = 0; (got = recv(fd_, buffer, sizeof buffer, 0)) > 0;)
      heard_.emplace_back(buffer, static_cast<std::size_t>(got));
    return heard_;
  }
  /// Waits until this was said; false after 10 s.
  bool Hears(const std::string& line) {
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (Count(line) == 0) {
      pollfd wait{fd_, POLLIN, 0};
      if (std::chrono::steady_clock::now() > end) return false;
      poll(&wait, 1, 100);
    }
    return true;
  }
  long Count(const std::string& line) {
    Heard();
    return std::count(heard_.begin(), heard_.end(), line);
  }

 private:
  TemporaryDirectory directory_;
  const int fd_;
  std::vector<std::string> heard_;
};

using Lines = std::vector<std::string>;

TEST(SupervisorTest, SpeaksToWhoeverListens) {
  NotifySocket socket;
  Supervisor supervisor;
  supervisor.Ready();
  supervisor.Ready();
  supervisor.Status("gpu-001: Compliant\nMAINPID=1");
  supervisor.Alive(std::chrono::steady_clock::now());
  supervisor.Alive(std::chrono::steady_clock::now());
  EXPECT_EQ(supervisor.interval(), 100ms);
  EXPECT_EQ(socket.Heard(), (Lines{"READY=1", "STATUS=gpu-001: Compliant MAINPID=1", "WATCHDOG=1"}));
}

TEST(SupervisorTest, AFirstPassThatEndsInTimeIsWaitedFor) {
  NotifySocket socket;
  Supervisor supervisor;
  supervisor.Starting("begins", "still runs", 1h);
  EXPECT_EQ(socket.Heard(), Lines{"STATUS=begins"});
  supervisor.Ready();
  EXPECT_EQ(socket.Heard(), (Lines{"STATUS=begins", "READY=1"}));
}

TEST(SupervisorTest, AFirstPassThatTakesLongIsNotWaitedForAndSaidToRun) {
  NotifySocket socket;
  Supervisor supervisor;
  supervisor.Starting("begins", "still runs", 20ms);
  ASSERT_TRUE(socket.Hears("READY=1"));
  supervisor.Ready();
  EXPECT_EQ(socket.Heard(), (Lines{"STATUS=begins", "STATUS=still runs", "READY=1"}));
}

TEST(SupervisorTest, ItsEndIsNotHeldUpByAFirstPass) {
  NotifySocket socket;
  const auto begin = std::chrono::steady_clock::now();
  {
    Supervisor supervisor;
    supervisor.Starting("begins", "still runs", 1h);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_EQ(socket.Count("READY=1"), 0);
}

// A host on which one read hangs until it is let go.
class HangingMachine final : public Machine {
 public:
  explicit HangingMachine(FakeMachine& inner) : inner_(inner) {}
  Result<std::string> Get(std::string_view path) const override {
    if (path == "/proc/sys/a" && !hangs_) {
      hangs_ = true;
      go_.wait();
    }
    return inner_.Get(path);
  }
  Result<std::vector<std::string>> List(std::string_view path) const override { return inner_.List(path); }
  Status Set(std::string_view path, std::string_view value) override { return inner_.Set(path, value); }
  bool hangs() const { return hangs_; }
  void LetGo() { let_go_.set_value(); }

 private:
  FakeMachine& inner_;
  mutable std::atomic<bool> hangs_{false};
  std::promise<void> let_go_;
  std::shared_future<void> go_ = let_go_.get_future().share();
};

TEST(SupervisorTest, AFirstPassThatHangsDoesNotHoldUpReadinessAndFeedsNoWatchdog) {
  ASSERT_TRUE(BlockSignals().ok());
  NotifySocket socket;
  AgentNode node;  // its machine, its state directory
  ASSERT_TRUE(
      WriteWholeFile(node.directory.path() + "/desired.bin", AgentNode::State(7).SerializeAsString()).ok());
  auto state_dir = StateDir::Open(node.directory.path());
  ASSERT_TRUE(state_dir.ok());
  HangingMachine machine(node.machine);
  SystemClock clock;
  Supervisor supervisor;
  const Log log = [](LogLevel, const std::string&) {};
  NodeAgentOptions options;
  options.node = "gpu-001";
  options.controller = "unix:/run/controller.sock";
  NodeAgent agent(options, ReconcilerOptions{},
                  NodeAgent::Parts{machine,
                                   node.catalog,
                                   node.checks,
                                   node.journal,
                                   *state_dir,
                                   clock,
                                   [](ToController) {},
                                   [] { return std::string("connected"); },
                                   {},
                                   log,
                                   [&] { supervisor.Alive(clock.Now()); },
                                   {},
                                   [] { return Result<NodeTrust>(TestSigner().Trust()); }});
  supervisor.Starting("gpu-001: the first pass runs", "gpu-001: the first pass still runs", 300ms);
  ASSERT_TRUE(agent.Start().ok());
  FakeHints hints;
  const Bell bell = *Bell::Make();
  Queue<FromController> inbox;
  std::thread loop([&] {
    const auto ended = RunLoop({agent, hints, inbox, bell, *state_dir, supervisor, clock, log});
    EXPECT_TRUE(ended.ok() && *ended == SIGTERM);
  });
  while (!machine.hangs()) std::this_thread::yield();
  const long fed = socket.Count("WATCHDOG=1");
  EXPECT_TRUE(socket.Hears("READY=1"));
  EXPECT_EQ(socket.Heard()[0], "STATUS=gpu-001: the first pass runs");
  EXPECT_EQ(socket.Count("STATUS=gpu-001: the first pass still runs"), 1);
  EXPECT_EQ(socket.Count("WATCHDOG=1"), fed) << "a loop that hangs must not look alive";
  machine.LetGo();
  EXPECT_TRUE(socket.Hears("STATUS=gpu-001: Compliant, generation 7, connected"));
  EXPECT_TRUE(socket.Hears("WATCHDOG=1"));
  EXPECT_EQ(socket.Count("READY=1"), 1);
  pthread_kill(loop.native_handle(), SIGTERM);
  loop.join();
}

TEST(SupervisorTest, APassThatGetsOnIsSeenToBeAtWork) {
  AgentNode node;
  std::size_t at_work = 0;
  node.at_work = [&] { ++at_work; };
  ASSERT_TRUE(node.Boot());
  node.Welcome();
  node.machine.ClearLog();
  at_work = 0;
  node.Give(AgentNode::State(7));
  EXPECT_EQ(at_work, node.machine.Reads().size() + node.machine.Writes().size());
  EXPECT_GT(at_work, 10U);
}

TEST(SupervisorTest, TheSummarySaysThatTheFirstPassStillRuns) {
  AgentNode node;
  ASSERT_TRUE(node.Boot());
  node.Welcome();
  node.agent->Handle({AgentNode::State(7), node.connection});
  EXPECT_EQ(node.agent->Summary(), "gpu-001: the first pass still runs, generation 7, connected");
  node.Settle();
  EXPECT_EQ(node.agent->Summary(), "gpu-001: Compliant, generation 7, connected");
}

}  // namespace
}  // namespace railwright
