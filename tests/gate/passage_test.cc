// Both ends together: a gate, a passage, and a session made of two functions.
#include "agent/gate/passage.h"

#include <sys/eventfd.h>

#include "tests/gate/gate_fixture.h"

namespace railwright::gate {
namespace {

class PassageTest : public GateTest {
 protected:
  void SetUp() override { Begin(); }
  // A front in a thread of its own, until Stop or the end of the gate.
  void RunFront() {
    passage_ = std::make_unique<Passage>(door_->Come(), *Bell::Make());
    front_ = std::thread([this] {
      const Status opened = passage_->Open(signals_);
      ASSERT_TRUE(opened.ok()) << opened.ToString();
      open_ = true;
      const auto end = passage_->Run(signals_, {[this](ToController message) {
                                                  const std::lock_guard lock(mutex_);
                                                  sent_.push_back(std::move(message));
                                                },
                                                [this] {
                                                  const std::lock_guard lock(mutex_);
                                                  return text_;
                                                }});
      ASSERT_TRUE(end.ok()) << end.status().ToString();
      ended_ = *end;
    });
    ASSERT_TRUE(Within([this] { return open_.load(); }));
  }
  void Stop() {
    const std::uint64_t one = 1;
    ASSERT_EQ(write(signals_, &one, sizeof one), static_cast<ssize_t>(sizeof one));
    front_.join();
  }
  void SetText(const std::string& text) {
    {
      const std::lock_guard lock(mutex_);
      text_ = text;
    }
    passage_->Ring();
  }
  std::size_t Sent() {
    const std::lock_guard lock(mutex_);
    return sent_.size();
  }
  void TearDown() override {
    if (front_.joinable()) Stop();
    passage_.reset();
    close(signals_);
  }

  const int signals_ = eventfd(0, EFD_CLOEXEC);
  std::unique_ptr<Passage> passage_;
  std::thread front_;
  std::atomic<bool> open_{false};
  std::vector<ToController> sent_;
  std::string text_ = "connecting: not tried yet";
  std::optional<Passage::End> ended_;
};

TEST_F(PassageTest, AHelloIsAskedAndAnswered) {
  RunFront();
  EXPECT_EQ(passage_->Hello().generation(), 4U);
  EXPECT_EQ(passage_->Hello().generation(), 4U);
}

TEST_F(PassageTest, ThousandsGoBothWaysInOrder) {
  RunFront();
  passage_->inbox().Post({v1::Welcome(), 1, "10.0.0.7"});
  ASSERT_EQ(Taken(1).size(), 1U);
  std::thread down([this] {
    for (std::uint64_t i = 1; i <= 1000; ++i) {
      v1::Ack ack;
      ack.set_generation(i);
      gate_->Send({ack, 1});
      if (i % 100 == 0) std::this_thread::sleep_for(1ms);
    }
  });
  std::uint64_t sequence = 0;
  for (std::uint64_t i = 1; i <= 500; ++i) {
    v1::ReportAck ack;
    ack.set_sequence(i);
    passage_->inbox().Post({ack, 1});
    if (i % 50 != 0) continue;
    for (const FromController& message : Taken(50))
      EXPECT_EQ(std::get<v1::ReportAck>(message.body).sequence(), ++sequence);
  }
  EXPECT_EQ(sequence, 500U);
  down.join();
  ASSERT_TRUE(Within([&] { return Sent() == 1000; })) << Sent();
  for (std::uint64_t i = 1; i <= 1000; ++i) EXPECT_EQ(std::get<v1::Ack>(sent_[i - 1].body).generation(), i);
}

TEST_F(PassageTest, TheTextIsThereBeforeTheWelcomeThatItTellsOf) {
  RunFront();
  std::string seen;
  for (int i = 1; i <= 50; ++i) {
    SetText("connected " + std::to_string(i));
    passage_->inbox().Post({v1::Welcome(), static_cast<std::uint64_t>(i)});
    ASSERT_EQ(Taken(1).size(), 1U);
    EXPECT_EQ(gate_->StateText(), "connected " + std::to_string(i));
  }
}

TEST_F(PassageTest, EndsWithThePrivilegedHalfAndCarriesItsLastWord) {
  RunFront();
  passage_->inbox().Post({v1::Welcome(), 1});
  ASSERT_EQ(Taken(1).size(), 1U);
  gate_->Send({v1::Ack(), 1});
  gate_.reset();
  front_.join();
  EXPECT_EQ(ended_, Passage::End::kPrivilegedHalf);
  EXPECT_EQ(Sent(), 1U);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(passage_->Hello().generation(), 4U) << "nobody answers: as it was last";
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
}

TEST_F(PassageTest, EndsAtASignal) {
  RunFront();
  Stop();
  EXPECT_EQ(ended_, Passage::End::kSignal);
  EXPECT_TRUE(Within([this] {
    passage_.reset();
    return door_->gone == 1;
  }));
}

TEST_F(PassageTest, AnotherVersionIsNotTalkedTo) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
  Passage passage{Descriptor(sockets[0]), *Bell::Make()};
  const Descriptor other(sockets[1]);
  Frame version = VersionFrame();
  version.body[3] = 77;
  const std::string bytes = Encode(version);
  ASSERT_EQ(write(other.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  EXPECT_EQ(passage.Open(-1).code(), Code::kFailedPrecondition);
}

TEST_F(PassageTest, AHalfThatSaysNothingIsNotWaitedForForever) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
  Passage passage{Descriptor(sockets[0]), *Bell::Make()};
  const Descriptor other(sockets[1]);
  EXPECT_EQ(passage.Open(-1, 100ms).code(), Code::kDeadlineExceeded);
}

}  // namespace
}  // namespace railwright::gate
