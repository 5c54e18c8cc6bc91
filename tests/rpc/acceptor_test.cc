#include "controller/rpc/acceptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "tests/store/temp_dir.h"

namespace railwright {
namespace {

int DialUnix(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

TEST(AcceptorTest, AConnectionIsHandedOn) {
  TempDir directory;
  Acceptor acceptor;
  ASSERT_TRUE(acceptor.Listen(*ParseAddress("unix:" + directory / "s")).ok());
  std::atomic<int> accepted{0};
  acceptor.Start([&](int fd, int, bool) {
    ++accepted;  // before the close, which is what the other end waits for
    close(fd);
  });
  const int fd = DialUnix(directory / "s");
  ASSERT_GE(fd, 0);
  char byte = 0;
  EXPECT_EQ(read(fd, &byte, 1), 0) << "the other end was closed";
  EXPECT_EQ(accepted, 1);
  close(fd);
  acceptor.Stop();
  EXPECT_FALSE(std::filesystem::exists(directory / "s")) << "our socket is removed at the end";
}

TEST(AcceptorTest, OnlyTheOwnerMayTalk) {
  TempDir directory;
  Acceptor acceptor;
  ASSERT_TRUE(acceptor.Listen(*ParseAddress("unix:" + directory / "s")).ok());
  struct stat info {};
  ASSERT_EQ(stat((directory / "s").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST(AcceptorTest, ASocketThatSomebodyListensOnIsLeftAlone) {
  TempDir directory;
  Acceptor first, second;
  const auto address = *ParseAddress("unix:" + directory / "s");
  ASSERT_TRUE(first.Listen(address).ok());
  const auto status = second.Listen(address).status();
  EXPECT_EQ(status.code(), Code::kAlreadyExists);
  EXPECT_NE(status.message().find("another program listens there"), std::string::npos);
  const int fd = DialUnix(directory / "s");
  EXPECT_GE(fd, 0);
  close(fd);
}

TEST(AcceptorTest, ASocketLeftOverByAKilledControllerIsReplaced) {
  TempDir directory;
  const pid_t child = fork();
  if (child == 0) {
    auto* acceptor = new Acceptor;  // killed before its destructor could remove the socket
    _exit(acceptor->Listen(*ParseAddress("unix:" + directory / "s")).ok() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_EQ(WEXITSTATUS(status), 0);
  ASSERT_TRUE(std::filesystem::exists(directory / "s"));
  Acceptor acceptor;
  EXPECT_TRUE(acceptor.Listen(*ParseAddress("unix:" + directory / "s")).ok());
}

TEST(AcceptorTest, AFileThatIsNoSocketIsNeverRemoved) {
  TempDir directory;
  WriteFile(directory / "s", "precious");
  Acceptor acceptor;
  const auto status = acceptor.Listen(*ParseAddress("unix:" + directory / "s")).status();
  EXPECT_EQ(status.code(), Code::kAlreadyExists);
  EXPECT_EQ(ReadFile(directory / "s"), "precious");
  EXPECT_FALSE(acceptor.Listen(*ParseAddress("unix:" + directory / "no/such/s")).ok());
}

TEST(AcceptorTest, APortInUseIsNamedWithTheNextStep) {
  Acceptor first, second;
  const auto bound = first.Listen(*ParseAddress("127.0.0.1:0"));
  ASSERT_TRUE(bound.ok());
  EXPECT_NE(bound->port, 0);
  const auto status = second.Listen(*bound).status();
  EXPECT_EQ(status.code(), Code::kAlreadyExists);
  EXPECT_NE(status.message().find(bound->ToString() + ": Address already in use"), std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("--listen"), std::string::npos);
}

TEST(AcceptorTest, WhenDescriptorsRunOutPeersAreHungUpOnAndServiceComesBack) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer's own start of a thread needs descriptors that this test takes away";
#endif
  TempDir directory;
  // A child, so that its limit is its own.
  int ready[2], tell[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(tell), 0);
  const pid_t child = fork();
  if (child == 0) {
    Acceptor acceptor;
    if (!acceptor.Listen(*ParseAddress("unix:" + directory / "s")).ok()) _exit(1);
    const rlimit few{32, 32};
    setrlimit(RLIMIT_NOFILE, &few);
    std::mutex mutex;
    std::vector<int> held;
    acceptor.Start([&](int fd, int, bool) {
      std::lock_guard lock(mutex);
      held.push_back(fd);
    });
    (void)!write(ready[1], "r", 1);
    char command = 0;
    while (read(tell[0], &command, 1) == 1 && command == 'f') {  // free all
      std::lock_guard lock(mutex);
      for (const int fd : held) close(fd);
      held.clear();
      (void)!write(ready[1], "r", 1);
    }
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  std::vector<int> flood;
  for (int i = 0; i < 100; ++i) flood.push_back(DialUnix(directory / "s"));
  // The last one was accepted and closed at once instead of waiting for ever.
  EXPECT_EQ(read(flood.back(), &byte, 1), 0);
  for (const int fd : flood) close(fd);
  ASSERT_EQ(write(tell[1], "f", 1), 1);
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const int after = DialUnix(directory / "s");
  ASSERT_GE(after, 0);
  ASSERT_EQ(fcntl(after, F_SETFL, O_NONBLOCK), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(read(after, &byte, 1), -1) << "it is held, not hung up on";
  EXPECT_EQ(errno, EAGAIN);
  ASSERT_EQ(write(tell[1], "q", 1), 1);
  int status = 0;
  waitpid(child, &status, 0);
  for (const int fd : {ready[0], ready[1], tell[0], tell[1], after}) close(fd);
}

}  // namespace
}  // namespace railwright
