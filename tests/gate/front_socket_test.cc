// The socket to which a front comes that somebody else keeps running.
#include "agent/gate/front_socket.h"

#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "agent/gate/passage.h"
#include "tests/agent/temporary_directory.h"
#include "tests/gate/gate_fixture.h"

namespace railwright::gate {
namespace {

class FrontSocketTest : public testing::Test {
 protected:
  std::string path() const { return directory_.path() + "/front.sock"; }
  void Listen(const FrontUser& user, std::chrono::milliseconds first = 50ms) {
    auto door =
        ListenForFront(path(), user, {.first = first}, [this](const std::string& line) { told_ += line; });
    ASSERT_TRUE(door.ok()) << door.status().ToString();
    door_ = std::move(*door);
  }
  std::optional<Descriptor> Look() { return door_->Look(std::chrono::steady_clock::now()); }

  TemporaryDirectory directory_;
  std::unique_ptr<Door> door_;
  std::string told_;
};

FrontUser Self() { return {geteuid(), getegid(), "self"}; }

TEST_F(FrontSocketTest, IsForItsGroupAndNobodyElse) {
  Listen(Self());
  struct stat info {};
  ASSERT_EQ(stat(path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0660U);
  const auto front = ConnectToGate(path());
  ASSERT_TRUE(front.ok()) << front.status().ToString();
  EXPECT_TRUE(Look().has_value());
  EXPECT_FALSE(Look().has_value());
}

TEST_F(FrontSocketTest, GoesWithTheDoorAndTakesThePlaceOfOneLeftBehind) {
  Listen(Self());
  door_.reset();
  EXPECT_FALSE(ConnectToGate(path()).ok());
  // As kill -9 leaves it.
  const Descriptor left(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(left.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  Listen(Self());
  EXPECT_TRUE(ConnectToGate(path()).ok());
}

TEST_F(FrontSocketTest, AnythingElseInItsPlaceIsLeftAlone) {
  ASSERT_TRUE(Descriptor(open(path().c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)));
  EXPECT_FALSE(ListenForFront(path(), Self(), {}).ok());
  EXPECT_EQ(access(path().c_str(), F_OK), 0);
}

TEST_F(FrontSocketTest, AStrangerIsSentAwayByTheKernelsWord) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to be somebody else";
  Listen({12345, 12345, "the front"});
  ASSERT_EQ(chmod(path().c_str(), 0666), 0);  // whatever the mode says
  ASSERT_EQ(chmod(directory_.path().c_str(), 0711), 0);
  const auto come_as = [this](uid_t uid) {
    const pid_t child = fork();
    if (child == 0) {
      const bool may = setresuid(uid, uid, uid) == 0;
      const auto front = ConnectToGate(path());
      char byte = 0;
      // Sent away: the end of the stream. Taken: nothing comes within the time.
      pollfd ready{front.ok() ? front->get() : -1, POLLIN, 0};
      const bool away = !front.ok() || (poll(&ready, 1, 700) == 1 && read(ready.fd, &byte, 1) <= 0);
      _exit(!may ? 3 : away ? 2 : 0);
    }
    std::optional<Descriptor> taken;
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
      if (auto one = Look()) taken = std::move(one);
      std::this_thread::sleep_for(1ms);
    }
    EXPECT_EQ(taken.has_value(), WEXITSTATUS(status) == 0);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(come_as(54321), 2);
  EXPECT_NE(told_.find("user 54321 is not the front's"), std::string::npos) << told_;
  EXPECT_EQ(come_as(12345), 0);
}

TEST_F(FrontSocketTest, AfterOneThatWasCutOffNobodyIsTakenForAWhileThatGrows) {
  Listen(Self(), 100ms);
  auto now = std::chrono::steady_clock::now();
  EXPECT_FALSE(door_->due().has_value());
  for (const auto wait : {100ms, 200ms, 400ms}) {
    door_->Lost(true, now);
    EXPECT_EQ(door_->fd(), -1);
    ASSERT_TRUE(door_->due().has_value());
    EXPECT_EQ(*door_->due(), now + wait);
    now += wait;
    EXPECT_FALSE(door_->Look(now - 1ms).has_value());
    const auto front = ConnectToGate(path());
    EXPECT_TRUE(door_->Look(now).has_value());
  }
  door_->Lost(false, now);
  EXPECT_FALSE(door_->due().has_value()) << "one that went by itself may come again at once";
}

}  // namespace
}  // namespace railwright::gate
