// The loop with real descriptors and signals, a fake host below it. Also run under ThreadSanitizer.
#include "agent/loop/poll_loop.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <thread>

#include "core/files/whole_file.h"
#include "tests/agent/agent_node.h"
#include "tests/support/test_signer.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

// Hints with a descriptor, as the kernel's have.
class DescriptorHints final : public Hints {
 public:
  DescriptorHints() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~DescriptorHints() override { close(fd_); }
  void Push(std::string prefix) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back({std::move(prefix), "", 0, std::chrono::steady_clock::now()});
    }
    const std::uint64_t one = 1;
    ASSERT_EQ(write(fd_, &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }
  int fd() const override { return fd_; }
  std::vector<Hint> Drain() override {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = read(fd_, &count, sizeof count);
    const std::lock_guard lock(mutex_);
    return std::exchange(waiting_, {});
  }
  void Watch(const std::vector<std::string>& paths) override {
    const std::lock_guard lock(mutex_);
    watched_ = paths;
  }
  bool Watches(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    return std::find(watched_.begin(), watched_.end(), path) != watched_.end();
  }

 private:
  const int fd_;
  mutable std::mutex mutex_;
  std::vector<Hint> waiting_;
  std::vector<std::string> watched_;
};

bool Within(std::chrono::milliseconds patience, const std::function<bool()>& is_so) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

// The agent's own thread is the test's child thread here, so that the test can play the world.
class RunLoopTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(BlockSignals().ok());
    machine_.Put("/rtnl/link/rail0", "mtu=1500").Put("/rtnl/link/rail0/mtu", "1500").Put("/proc/sys/a", "0");
    auto opened = StateDir::Open(directory_.path());
    ASSERT_TRUE(opened.ok());
    state_dir_ = std::make_unique<StateDir>(std::move(*opened));
    NodeAgentOptions options;
    options.node = "gpu-001";
    options.controller = "unix:/run/controller.sock";
    agent_ =
        std::make_unique<NodeAgent>(options, ReconcilerOptions{},
                                    NodeAgent::Parts{machine_,
                                                     catalog_,
                                                     checks_,
                                                     journal_,
                                                     *state_dir_,
                                                     clock_,
                                                     [this](ToController) { ++sent_; },
                                                     [] { return std::string("connected"); },
                                                     {},
                                                     [](LogLevel, const std::string&) {},
                                                     {},
                                                     {},
                                                     [] { return Result<NodeTrust>(TestSigner().Trust()); }});
    ASSERT_TRUE(agent_->Start().ok());
  }
  void Begin() {
    thread_ = std::thread([this] {
      const auto ended = RunLoop({*agent_, hints_, inbox_, bell_, *state_dir_, supervisor_, clock_,
                                  [](LogLevel, const std::string&) {}});
      ended_with_ = ended.ok() ? *ended : -1;
    });
  }
  void End() {
    pthread_kill(thread_.native_handle(), SIGTERM);
    thread_.join();
    EXPECT_EQ(ended_with_, SIGTERM);
  }
  void Accept() {
    v1::Welcome welcome;
    inbox_.Post({welcome, 1});
    inbox_.Post({AgentNode::State(7), 1});
    ASSERT_TRUE(Within(5s, [&] { return machine_.Value("/proc/sys/a") == "1"; }));
  }

  TemporaryDirectory directory_;
  FakeMachine machine_;
  MemoryJournal journal_;
  SystemClock clock_;
  Catalog catalog_{TestSettings()};
  std::vector<std::unique_ptr<const Check>> checks_;
  std::unique_ptr<StateDir> state_dir_;
  std::unique_ptr<NodeAgent> agent_;
  DescriptorHints hints_;
  Bell bell_ = *Bell::Make();
  Queue<FromController> inbox_{[this] { bell_.Ring(); }};
  Supervisor supervisor_;
  std::atomic<int> sent_{0};
  std::thread thread_;
  int ended_with_ = 0;
};

TEST_F(RunLoopTest, AMessageInTheInboxWakesIt) {
  Begin();
  Accept();
  EXPECT_TRUE(Within(5s, [&] { return hints_.Watches("/proc/sys/a"); }));
  End();
}

TEST_F(RunLoopTest, AHintIsActedUponInMilliseconds) {
  Begin();
  Accept();
  std::vector<double> took;
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(50ms);
    const auto begin = std::chrono::steady_clock::now();
    machine_.Put("/proc/sys/a", "0");
    hints_.Push("/proc/sys/a");
    ASSERT_TRUE(Within(5s, [&] { return machine_.Value("/proc/sys/a") == "1"; }));
    took.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  EXPECT_LT(*std::min_element(took.begin(), took.end()), 500.0);
  End();
}

TEST_F(RunLoopTest, APauseFileIsSeenAtOnceAndSoIsItsEnd) {
  Begin();
  Accept();
  const std::string path = state_dir_->local_pauses();
  ASSERT_TRUE(WriteWholeFile(path, FormatPauses({{"", "", "root", "x"}}), {.sync = Sync::kNone}).ok());
  const auto status = [&] { return ReadWhole(state_dir_->status()).value_or(""); };
  EXPECT_TRUE(Within(5s, [&] { return status().find("\"by\": \"root\"") != std::string::npos; }));
  machine_.Put("/proc/sys/a", "0");
  hints_.Push("/proc/sys/a");
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(machine_.Value("/proc/sys/a"), "0");
  unlink(path.c_str());
  EXPECT_TRUE(Within(5s, [&] { return machine_.Value("/proc/sys/a") == "1"; }));
  End();
}

TEST_F(RunLoopTest, HangupLooksAtEverythingAgain) {
  Begin();
  Accept();
  machine_.Put("/proc/sys/a", "0");  // nobody hints
  pthread_kill(thread_.native_handle(), SIGHUP);
  EXPECT_TRUE(Within(5s, [&] { return machine_.Value("/proc/sys/a") == "1"; }));
  End();
}

TEST_F(RunLoopTest, ATerminationEndsItAtOnce) {
  Begin();
  const auto begin = std::chrono::steady_clock::now();
  End();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
}

TEST_F(RunLoopTest, RestsWhenNothingHappens) {
  Begin();
  Accept();
  std::this_thread::sleep_for(400ms);
  timespec before{}, after{};
  clockid_t clock{};
  ASSERT_EQ(pthread_getcpuclockid(thread_.native_handle(), &clock), 0);
  clock_gettime(clock, &before);
  std::this_thread::sleep_for(500ms);
  clock_gettime(clock, &after);
  const double busy = static_cast<double>(after.tv_sec - before.tv_sec) +
                      static_cast<double>(after.tv_nsec - before.tv_nsec) / 1e9;
  EXPECT_LT(busy, 0.1);
  End();
}

}  // namespace
}  // namespace railwright
