// The real front, started as the privileged half starts it: what it is allowed, and how it ends.
#include "agent/gate/spawned_front.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "agent/gate/body.h"
#include "agent/gate/connection.h"
#include "agent/gate/front_options.h"
#include "tests/agent/temporary_directory.h"
#include "tests/e2e/programs.h"

namespace railwright::gate {
namespace {

using namespace std::chrono_literals;

// The one child of this process.
pid_t ChildOf(pid_t parent) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    if (entry.path().filename().string().find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    const auto behind_name = text.rfind(')');
    if (behind_name == std::string::npos) continue;
    std::istringstream words(text.substr(behind_name + 1));
    char state = 0;
    pid_t of = 0;
    if (words >> state >> of && of == parent && state != 'Z') return std::stoi(entry.path().filename());
  }
  return -1;
}

std::map<std::string, std::string> StatusOf(pid_t pid) {
  std::map<std::string, std::string> fields;
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);)
    if (const auto colon = line.find(":\t"); colon != std::string::npos)
      fields[line.substr(0, colon)] = line.substr(colon + 2);
  return fields;
}

class SpawnedFrontTest : public testing::Test {
 protected:
  SpawnOptions Options() {
    FrontOptions front;
    front.state_dir = directory_.path();
    SpawnOptions options;
    options.program = Binary("railwright-agent-front");
    options.words = front.Words();
    options.user = FindFrontUser("").value_or(FrontUser{});
    options.waits = {.first = 20ms, .most = 80ms};
    options.told = [this](const std::string& line) { told_ += line + "\n"; };
    options.ended_in_order = [this] { ended_ = true; };
    return options;
  }
  void Begin(SpawnOptions options) { door_ = MakeSpawnedFront(std::move(options)); }
  // As the gate does it.
  bool Start() {
    return Eventually([this] {
      if (auto socket = door_->Look(std::chrono::steady_clock::now())) socket_ = std::move(*socket);
      return static_cast<bool>(socket_);
    });
  }
  // Has the front run so far that it says its version?
  bool Greeted() {
    pollfd ready{socket_.get(), POLLIN, 0};
    return poll(&ready, 1, 10'000) == 1 && (ready.revents & POLLIN) != 0;
  }
  bool LookUntil(const std::function<bool()>& is_so) {
    return Eventually([&] {
      if (auto socket = door_->Look(std::chrono::steady_clock::now())) socket_ = std::move(*socket);
      return is_so();
    });
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Door> door_;
  Descriptor socket_;
  std::string told_;
  bool ended_ = false;
};

TEST_F(SpawnedFrontTest, HasNoPrivilegeAndNothingOfThisProcess) {
  // What it must not inherit: a descriptor that was not marked to be closed, and a word of the environment.
  const int left_open = dup(0);
  setenv("RAILWRIGHT_CANARY", "1", 1);
  Begin(Options());
  ASSERT_TRUE(Start()) << told_;
  ASSERT_TRUE(Greeted());
  const pid_t pid = ChildOf(getpid());
  ASSERT_GT(pid, 0);
  auto status = StatusOf(pid);
  EXPECT_EQ(status["NoNewPrivs"], "1");
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"})
    EXPECT_EQ(status[set], "0000000000000000") << set;
  if (geteuid() == 0) {
    EXPECT_EQ(status["CapBnd"], "0000000000000000");
    EXPECT_EQ(status["Uid"].find("0\t"), std::string::npos) << status["Uid"];
    EXPECT_EQ(status["Groups"].find_first_not_of(" \t"), std::string::npos) << status["Groups"];
  }
  const std::string proc = "/proc/" + std::to_string(pid);
  for (const auto& entry : std::filesystem::directory_iterator(proc + "/fd")) {
    if (std::stoi(entry.path().filename()) != left_open || left_open == 3) continue;
    EXPECT_NE(std::filesystem::read_symlink(entry.path()), std::filesystem::read_symlink("/proc/self/fd/0"));
  }
  std::ifstream environ(proc + "/environ");
  const std::string environment((std::istreambuf_iterator<char>(environ)), {});
  EXPECT_NE(environment.find("PATH="), std::string::npos);
  EXPECT_EQ(environment.find("RAILWRIGHT_CANARY"), std::string::npos);
  EXPECT_EQ(getpgid(pid), pid) << "Ctrl-C is for the privileged half";
  close(left_open);
}

TEST_F(SpawnedFrontTest, ThatIsKilledIsToldAndStartedAgain) {
  Begin(Options());
  ASSERT_TRUE(Start());
  const pid_t first = ChildOf(getpid());
  kill(first, SIGKILL);
  socket_.Close();
  ASSERT_TRUE(LookUntil([&] { return static_cast<bool>(socket_); }));
  EXPECT_NE(told_.find("it ended by signal 9; it starts again in 20 ms"), std::string::npos) << told_;
  const pid_t second = ChildOf(getpid());
  EXPECT_GT(second, 0);
  EXPECT_NE(second, first);
  EXPECT_FALSE(ended_);
}

TEST_F(SpawnedFrontTest, ThatIsTerminatedEndsInOrderAndIsNotStartedAgain) {
  Begin(Options());
  ASSERT_TRUE(Start());
  ASSERT_TRUE(Greeted());
  const Descriptor before = std::move(socket_);
  const std::string bytes = Encode(VersionFrame()) + Encode({FrameKind::kHello, 0, ""});
  ASSERT_EQ(write(before.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  kill(ChildOf(getpid()), SIGTERM);
  ASSERT_TRUE(LookUntil([this] { return ended_; }));
  EXPECT_FALSE(door_->due().has_value());
  EXPECT_FALSE(socket_);
}

TEST_F(SpawnedFrontTest, ThatHangsAfterItsSocketClosedIsKilled) {
  SpawnOptions options = Options();
  // A script that takes the socket and any words, and waits.
  options.program = directory_.path() + "/hangs";
  std::ofstream(options.program) << "#!/bin/sh\nexec sleep 600\n";
  ASSERT_EQ(chmod(options.program.c_str(), 0755), 0);
  ASSERT_EQ(chmod(directory_.path().c_str(), 0755), 0);
  Begin(std::move(options));
  ASSERT_TRUE(Start()) << told_;
  door_->Lost(true, std::chrono::steady_clock::now());
  ASSERT_TRUE(LookUntil([this] { return !told_.empty(); }));
  EXPECT_NE(told_.find("it ended by signal 9"), std::string::npos) << told_;
  EXPECT_FALSE(ended_);
}

TEST_F(SpawnedFrontTest, ThatCannotRunIsToldWithTheKernelsWordAndTriedAgainLater) {
  SpawnOptions options = Options();
  options.program = directory_.path() + "/not-there";
  ASSERT_EQ(chmod(directory_.path().c_str(), 0755), 0);
  Begin(std::move(options));
  ASSERT_TRUE(LookUntil([this] { return told_.find("80 ms") != std::string::npos; })) << told_;
  EXPECT_NE(told_.find("No such file or directory"), std::string::npos) << told_;
  EXPECT_NE(told_.find("in 20 ms"), std::string::npos);
  EXPECT_NE(told_.find("in 40 ms"), std::string::npos);
}

TEST_F(SpawnedFrontTest, EndsWhenThePrivilegedHalfIsKilled) {
  int pipe[2];
  ASSERT_EQ(pipe2(pipe, O_CLOEXEC), 0);
  const pid_t half = fork();
  if (half == 0) {
    door_ = MakeSpawnedFront(Options());
    auto socket = door_->Look(std::chrono::steady_clock::now());
    const pid_t front = ChildOf(getpid());
    if (!socket || write(pipe[1], &front, sizeof front) != static_cast<ssize_t>(sizeof front)) _exit(1);
    pause();
  }
  pid_t front = -1;
  ASSERT_EQ(read(pipe[0], &front, sizeof front), static_cast<ssize_t>(sizeof front));
  ASSERT_GT(front, 0);
  kill(half, SIGKILL);
  waitpid(half, nullptr, 0);
  EXPECT_TRUE(Eventually([front] {
    return kill(front, 0) != 0 || StatusOf(front)["State"].starts_with("Z");
  })) << "an orphan";
  close(pipe[0]);
  close(pipe[1]);
}

TEST_F(SpawnedFrontTest, EndsWhenTheDoorIsClosed) {
  Begin(Options());
  ASSERT_TRUE(Start());
  ASSERT_TRUE(Greeted());
  const pid_t front = ChildOf(getpid());
  socket_.Close();
  const auto begin = std::chrono::steady_clock::now();
  door_->Close(2s);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s) << "by itself, not by being killed";
  EXPECT_NE(kill(front, 0), 0);
  EXPECT_FALSE(door_->due().has_value());
}

TEST(FindFrontUser, NamesAUserThatIsNotThere) {
  const auto user = FindFrontUser("no-such-user-here");
  EXPECT_EQ(user.status().code(), Code::kNotFound);
  EXPECT_NE(user.status().message().find("--front-user no-such-user-here"), std::string::npos);
}

TEST(FindFrontUser, IsNotRootByDefault) {
  const auto user = FindFrontUser("");
  ASSERT_TRUE(user.ok());
  if (geteuid() == 0) {
    EXPECT_NE(user->uid, 0U);
    EXPECT_NE(user->gid, 0U);
  } else {
    EXPECT_EQ(user->uid, geteuid());
  }
}

TEST(FrontOptions, ComeBackFromTheirWords) {
  FrontOptions options;
  options.state_dir = "/var/lib/x";
  auto words = options.Words();
  words.insert(words.end(), {"--gate-fd", "3"});
  const auto parsed = ParseFrontOptions(words);
  const auto* back = std::get_if<FrontOptions>(&parsed);
  ASSERT_NE(back, nullptr) << std::get<std::string>(parsed);
  EXPECT_EQ(back->state_dir, options.state_dir);
  EXPECT_EQ(back->gate_fd, 3);
}

TEST(FrontOptions, ErrorsNameTheWord) {
  const auto said = [](const std::vector<std::string>& words) {
    const auto parsed = ParseFrontOptions(words);
    const auto* text = std::get_if<std::string>(&parsed);
    return text == nullptr ? std::string() : *text;
  };
  EXPECT_EQ(said({"--gate"}), "--gate needs a value");
  EXPECT_EQ(said({"--shell", "x"}), "\"--shell\" is no option of it");
  EXPECT_EQ(said({"--state-dir", "a"}), "one of --gate and --gate-fd is needed");
  EXPECT_EQ(said({"--state-dir", "a", "--gate", "c", "--gate-fd", "3"}),
            "one of --gate and --gate-fd is needed");
  EXPECT_EQ(said({"--gate", "c"}), "--state-dir is missing");
  EXPECT_EQ(said({"--gate-fd", "1"}), "--gate-fd 1: a descriptor from 3 on is needed");
}

}  // namespace
}  // namespace railwright::gate
