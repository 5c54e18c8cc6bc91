// A gate with a front of the test's own making: any bytes, at any time.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "agent/gate/body.h"
#include "agent/gate/gate.h"

namespace railwright::gate {

using namespace std::chrono_literals;

inline bool Within(const std::function<bool()>& is_so, std::chrono::milliseconds patience = 10s) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

// A door through which the test comes.
class TestDoor final : public Door {
 public:
  TestDoor() {
    int pipe[2];
    EXPECT_EQ(pipe2(pipe, O_CLOEXEC | O_NONBLOCK), 0);
    bell_ = Descriptor(pipe[0]);
    rings_ = Descriptor(pipe[1]);
  }
  // The front's end of a new connection.
  Descriptor Come() {
    int sockets[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    {
      const std::lock_guard lock(mutex_);
      coming_.emplace_back(sockets[0]);
    }
    EXPECT_EQ(write(rings_.get(), "x", 1), 1);
    return Descriptor(sockets[1]);
  }
  int fd() const override { return bell_.get(); }
  std::optional<Time> due() const override { return std::nullopt; }
  std::optional<Descriptor> Look(Time) override {
    char byte = 0;
    if (read(bell_.get(), &byte, 1) != 1) return std::nullopt;
    const std::lock_guard lock(mutex_);
    Descriptor next = std::move(coming_.front());
    coming_.erase(coming_.begin());
    return next;
  }
  void Lost(bool misbehaved, Time) override { ++(misbehaved ? cut : gone); }
  std::string text() const override { return {}; }
  void Close(std::chrono::milliseconds) override { closed = true; }

  std::atomic<int> cut{0}, gone{0};
  std::atomic<bool> closed{false};

 private:
  Descriptor bell_, rings_;
  std::mutex mutex_;
  std::vector<Descriptor> coming_;
};

// The other end, as a front may be: says what the test says.
class TestFront {
 public:
  explicit TestFront(Descriptor socket) : socket_(std::move(socket)) {}

  // False when the other end takes no more.
  bool Say(const std::string& bytes) const {
    std::size_t at = 0;
    while (at < bytes.size()) {
      const ssize_t put = send(socket_.get(), bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
      if (put <= 0) return false;
      at += static_cast<std::size_t>(put);
    }
    return true;
  }
  bool Say(const Frame& frame) const { return Say(Encode(frame)); }
  bool Say(const FromController& message) const { return Say(FrameOf(message)); }
  void Greet(std::uint64_t connection = 1) const {
    Say(VersionFrame());
    Say(FromController{v1::Welcome(), connection, "10.0.0.7"});
  }

  // The next frame of the privileged half; none when it has ended, or says nothing for `patience`.
  std::optional<Frame> Hear(std::chrono::milliseconds patience = 5s) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (heard_.empty()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
      pollfd ready{socket_.get(), POLLIN, 0};
      char buffer[65536];
      if (left <= 0ms || poll(&ready, 1, static_cast<int>(left.count())) <= 0) return std::nullopt;
      const ssize_t got = recv(socket_.get(), buffer, sizeof buffer, 0);
      if (got <= 0) return std::nullopt;
      EXPECT_TRUE(reader_
                      .Feed({buffer, static_cast<std::size_t>(got)},
                            [this](Frame frame) {
                              heard_.push_back(std::move(frame));
                              return Ok();
                            })
                      .ok());
    }
    Frame first = std::move(heard_.front());
    heard_.erase(heard_.begin());
    return first;
  }
  // Skips to the next frame of a kind.
  std::optional<Frame> Hear(FrameKind kind, std::chrono::milliseconds patience = 5s) {
    while (auto frame = Hear(patience))
      if (frame->kind == kind) return frame;
    return std::nullopt;
  }
  bool Ended() {
    while (Hear(200ms)) {
    }
    pollfd ready{socket_.get(), POLLIN, 0};
    char byte = 0;
    return poll(&ready, 1, 5000) == 1 && recv(socket_.get(), &byte, 1, MSG_PEEK) <= 0;
  }
  void Go() { socket_.Close(); }
  int fd() const { return socket_.get(); }

 private:
  Descriptor socket_;
  FrameReader reader_{Side::kPrivileged};
  std::vector<Frame> heard_;
};

class GateTest : public testing::Test {
 protected:
  void Begin(GateOptions options = {}) {
    auto door = std::make_unique<TestDoor>();
    door_ = door.get();
    gate_ = std::make_unique<Gate>(options, std::move(door),
                                   Gate::Parts{[] {
                                                 v1::Hello hello;
                                                 hello.set_generation(4);
                                                 return hello;
                                               },
                                               inbox_, [this] { ++states_; },
                                               [this](const std::string& line) {
                                                 const std::lock_guard lock(mutex_);
                                                 lines_.push_back(line);
                                               },
                                               &neighbours_});
    ASSERT_TRUE(gate_->Start().ok());
  }
  TestFront Come() { return TestFront(door_->Come()); }
  // Everything that has come for the loop, until there are so many.
  std::vector<FromController> Taken(std::size_t count, std::chrono::milliseconds patience = 5s) {
    std::vector<FromController> all;
    Within(
        [&] {
          for (FromController& message : inbox_.TakeAll()) all.push_back(std::move(message));
          return all.size() >= count;
        },
        patience);
    return all;
  }
  bool Told(const std::string& part) {
    const std::lock_guard lock(mutex_);
    for (const std::string& line : lines_)
      if (line.find(part) != std::string::npos) return true;
    return false;
  }
  static v1::Command Asking(std::uint64_t id) {
    v1::Command command;
    command.set_id(id);
    command.mutable_refresh();
    return command;
  }

  Queue<FromController> inbox_{{}, InboxBound()};
  std::atomic<int> states_{0};
  Neighbours neighbours_;
  TestDoor* door_ = nullptr;
  std::unique_ptr<Gate> gate_;
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace railwright::gate
