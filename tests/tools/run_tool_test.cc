#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "agent/tools/allow_list.h"
#include "agent/tools/tools.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

/// A shell stands for a tool here: tests need children that misbehave. It is in no shipped list.
class RunToolTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (const char* one : {"/bin/sh", "/bin/cat", "/bin/true", "/nonexistent/tool"}) AllowInTests(one);
  }
  static Result<ToolResult> Script(const std::string& text, std::string_view input = {},
                                   std::chrono::milliseconds deadline = 20s) {
    return RunTool({"/bin/sh", "-c", text}, input, deadline);
  }
};

TEST_F(RunToolTest, OutputErrorsAndExitCodeAreKeptApart) {
  auto result = Script("echo out; echo err >&2; exit 3");
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->out, "out\n");
  EXPECT_EQ(result->err, "err\n");
  EXPECT_EQ(result->exit_code, 3);
}

TEST_F(RunToolTest, ASignalIsAnExitCodeAbove128) {
  auto result = Script("kill -SEGV $$");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->exit_code, 128 + SIGSEGV);
}

TEST_F(RunToolTest, OnlyTheListIsRunAndOnlyByItsAbsolutePath) {
  const auto before = ProgramsSpawned();
  for (const char* one : {"/bin/ls", "sh", "./sh", "/usr/sbin/../../bin/sh", "/bin/sh "}) {
    auto result = RunTool({one}, {}, 1s);
    EXPECT_EQ(result.status().code(), Code::kFailedPrecondition) << one;
    EXPECT_NE(result.status().message().find("/usr/sbin/nft"), std::string::npos) << "names what is allowed";
  }
  EXPECT_EQ(RunTool({}, {}, 1s).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(RunTool({"/bin/cat", std::string("a\0b", 3)}, {}, 1s).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ProgramsSpawned(), before);
}

TEST_F(RunToolTest, AToolThatIsNotInstalledIsNotFound) {
  auto result = RunTool({"/nonexistent/tool"}, {}, 1s);
  EXPECT_EQ(result.status().code(), Code::kNotFound);
  EXPECT_EQ(result.status().message(), "/nonexistent/tool is not installed");
}

TEST_F(RunToolTest, MegabytesGoThroughInBothDirectionsAtOnce) {
  std::string input(8u << 20, 'x');
  for (std::size_t i = 0; i < input.size(); i += 4096) input[i] = static_cast<char>('a' + i % 26);
  auto result = RunTool({"/bin/cat"}, input, 60s);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_TRUE(result->out == input);
}

TEST_F(RunToolTest, AToolThatReadsNothingIsNoError) {
  const std::string input(1u << 20, 'x');
  auto result = Script("exec 0<&-; echo done", input);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->out, "done\n");
  sigset_t pending;
  ::sigpending(&pending);
  EXPECT_EQ(::sigismember(&pending, SIGPIPE), 0) << "no SIGPIPE is left for the caller";
}

TEST_F(RunToolTest, EmptyInputIsAnEndOfFileNotAWait) {
  auto result = Script("cat; echo end");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "end\n");
}

TEST_F(RunToolTest, TooMuchOutputKillsTheTool) {
  const std::size_t before = LimitOutputInTests(100'000);
  auto result = Script("while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done");
  EXPECT_EQ(result.status().code(), Code::kResourceExhausted);
  // A tool that ends by itself having printed too much is no better.
  auto ended = Script("head -c 200000 /dev/zero");
  EXPECT_EQ(ended.status().code(), Code::kResourceExhausted);
  auto fits = Script("head -c 100000 /dev/zero");
  ASSERT_TRUE(fits.ok());
  EXPECT_EQ(fits->out.size(), 100'000u);
  LimitOutputInTests(before);
}

TEST_F(RunToolTest, OfStandardErrorTheFirst64KibAreKept) {
  auto result = Script("head -c 200000 /dev/zero >&2; exit 1");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->err.size(), 65536u);
  EXPECT_EQ(result->exit_code, 1);
}

TEST_F(RunToolTest, TheDeadlineKillsTheWholeGroup) {
  const auto start = Steady::now();
  auto result = Script("sleep 600 & echo $! >&2; wait", {}, 300ms);
  ASSERT_EQ(result.status().code(), Code::kDeadlineExceeded);
  EXPECT_LT(Steady::now() - start, 10s);
  // The message carries what the tool had said: here the pid of its child, which must be gone.
  const std::string message = result.status().message();
  const auto at = message.find("it had said: ");
  ASSERT_NE(at, std::string::npos) << message;
  const int child = std::stoi(message.substr(at + 13));
  for (int i = 0; i < 500 && ::kill(child, 0) == 0; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_NE(::kill(child, 0), 0);
}

TEST_F(RunToolTest, AToolThatIgnoresSigtermIsKilledAMomentLater) {
  const auto start = Steady::now();
  auto result = Script("trap '' TERM; while :; do sleep 600; done", {}, 200ms);
  EXPECT_EQ(result.status().code(), Code::kDeadlineExceeded);
  EXPECT_GT(Steady::now() - start, 1s);
  EXPECT_LT(Steady::now() - start, 15s);
}

TEST_F(RunToolTest, AChildThatHoldsTheOutputOpenIsNotWaitedFor) {
  const auto start = Steady::now();
  auto result = Script("sleep 600 & echo started");
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->out, "started\n");
  EXPECT_LT(Steady::now() - start, 10s);
}

TEST_F(RunToolTest, NothingOfTheCallerIsInherited) {
  ::setenv("RAILWRIGHT_TEST_SECRET", "x", 1);
  const int fd = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC, as a careless library would
  ASSERT_GT(fd, 2);
  auto result = Script("ls /proc/self/fd | wc -l; env; pwd; ps -o pgid= -p $$ >/dev/null 2>&1; echo $$");
  ::close(fd);
  ::unsetenv("RAILWRIGHT_TEST_SECRET");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out.find("RAILWRIGHT_TEST_SECRET"), std::string::npos);
  EXPECT_EQ(result->out.substr(0, 2), "4\n") << "three, and the one that ls itself has open";
  EXPECT_NE(result->out.find("\n/\n"), std::string::npos);
  EXPECT_NE(result->out.find("LC_ALL=C"), std::string::npos);
}

TEST_F(RunToolTest, ClosedStandardDescriptorsOfTheCallerDoNoHarm) {
  const int saved = ::fcntl(0, F_DUPFD_CLOEXEC, 10);
  ::close(0);
  auto result = RunTool({"/bin/cat"}, "through", 20s);
  ::dup2(saved, 0);
  ::close(saved);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "through");
}

TEST_F(RunToolTest, OurToolsAreCountedAndKnownByPid) {
  const auto before = ProgramsSpawned();
  auto result = Script("echo $$");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(ProgramsSpawned(), before + 1);
  EXPECT_TRUE(IsOurTool(std::stoi(result->out)));
  EXPECT_FALSE(IsOurTool(::getpid()));
}

TEST_F(RunToolTest, SeveralThreadsMayRunTools) {
  std::vector<std::thread> threads;
  std::vector<std::string> outputs(6);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    threads.emplace_back([&, i] {
      auto result = RunTool({"/bin/cat"}, std::to_string(i), 60s);
      if (result.ok()) outputs[i] = result->out;
    });
  for (std::thread& one : threads) one.join();
  for (std::size_t i = 0; i < outputs.size(); ++i) EXPECT_EQ(outputs[i], std::to_string(i));
}

}  // namespace
}  // namespace railwright
