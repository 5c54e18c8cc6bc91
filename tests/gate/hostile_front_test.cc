// A front that is somebody else's by now. Whatever it sends, or does not: the gate goes on, and the next
// front is served.
#include <malloc.h>

#include <random>

#include "tests/gate/gate_fixture.h"

namespace railwright::gate {
namespace {

class HostileFront : public GateTest {
 protected:
  // The gate still does what it is for.
  void ExpectNextIsServed() {
    inbox_.TakeAll();  // of the one before
    TestFront next = Come();
    next.Greet();
    std::vector<FromController> taken;
    EXPECT_TRUE(Within([&] {
      for (FromController& message : inbox_.TakeAll()) taken.push_back(std::move(message));
      return !taken.empty() && std::holds_alternative<v1::Welcome>(taken.back().body);
    }));
    if (taken.empty()) return;
    gate_->Send({v1::Ack(), taken.back().connection});
    EXPECT_TRUE(next.Hear(FrameKind::kAck).has_value());
  }
  // What it is cut off with.
  void ExpectCutOff(const std::string& why) {
    EXPECT_TRUE(Within([&] { return Told(why); })) << "not told: " << why;
    EXPECT_EQ(door_->cut, 1);
    ExpectNextIsServed();
  }
};

TEST_F(HostileFront, GarbageEndsItWithAReason) {
  Begin();
  std::mt19937 random(7);
  for (int round = 1; round <= 200; ++round) {
    TestFront front = Come();
    if (round % 2 == 0) front.Greet();
    std::string bytes(random() % 4096 + 16, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    bytes[4] = 0;  // no such kind: garbage of which each is noticed
    front.Say(bytes);
    ASSERT_TRUE(Within([&] { return door_->cut == round; })) << round;
  }
  EXPECT_TRUE(Told("which may not come"));
  ExpectNextIsServed();
}

TEST_F(HostileFront, AnOversizeFrameEndsItBeforeItIsTaken) {
  Begin();
  TestFront front = Come();
  front.Greet();
  front.Say(Encode({FrameKind::kDesired, 1, std::string((4 << 20) + 1, 'x')}).substr(0, kFrameHeader));
  ExpectCutOff("4194304 are the most");
}

TEST_F(HostileFront, AFrameThatOnlyThePrivilegedHalfSaysEndsIt) {
  Begin();
  TestFront front = Come();
  front.Greet();
  front.Say({FrameKind::kReport, 1, ""});
  ExpectCutOff("a frame of kind 35, which may not come");
}

TEST_F(HostileFront, AMessageBeforeTheVersionEndsIt) {
  Begin();
  TestFront front = Come();
  front.Say(FromController{v1::Welcome(), 1});
  ExpectCutOff("a welcome before the version");
}

TEST_F(HostileFront, AnotherVersionIsNamedAsSuch) {
  Begin();
  TestFront front = Come();
  Frame version = VersionFrame();
  version.body[0] = 1;
  front.Say(version);
  ExpectCutOff("different versions");
}

TEST_F(HostileFront, AWelcomeThatGoesBackEndsIt) {
  Begin();
  TestFront front = Come();
  front.Greet(5);
  front.Say(FromController{v1::Welcome(), 5});
  ExpectCutOff("a welcome for connection 5 after one for 5");
}

TEST_F(HostileFront, MillionsOfObjectsInFewBytesAreNotMade) {
  Begin();
  TestFront front = Come();
  front.Greet();
  std::string pauses;
  for (int i = 0; i < 500'000; ++i) pauses += std::string("\x0a\x00", 2);
  front.Say({FrameKind::kPauses, 1, pauses});
  ExpectCutOff("more than 65536 fields");
}

TEST_F(HostileFront, HalfAFrameEndsItAfterAWhile) {
  Begin({.stuck = 300ms});
  TestFront front = Come();
  front.Greet();
  front.Say(Encode({FrameKind::kDesired, 1, std::string(1000, 'x')}).substr(0, 500));
  ExpectCutOff("half a frame has come");
}

TEST_F(HostileFront, SilenceAtTheBeginningEndsIt) {
  Begin({.version_within = 300ms});
  TestFront front = Come();
  ExpectCutOff("it said nothing");
}

TEST_F(HostileFront, AFloodOfFramesEndsIt) {
  Begin({.frames_at_once = 100, .frames_a_second = 1});
  TestFront front = Come();
  front.Greet();
  for (int i = 0; i < 200; ++i)
    if (!front.Say({FrameKind::kStateText, 0, std::to_string(i)})) break;
  ExpectCutOff("more than a controller does");
}

TEST_F(HostileFront, AFloodOfCommandsLeavesRoomForAState) {
  Begin();
  TestFront front = Come();
  front.Greet();
  for (std::uint64_t id = 1; id <= 500; ++id) front.Say(FromController{Asking(id), 1});
  v1::DesiredState state;
  state.set_generation(9);
  front.Say(FromController{state, 1});
  std::vector<FromController> taken;
  ASSERT_TRUE(Within([&] {
    for (FromController& message : inbox_.TakeAll()) taken.push_back(std::move(message));
    return !taken.empty() && std::holds_alternative<v1::DesiredState>(taken.back().body);
  }));
  EXPECT_LE(taken.size(), 100U) << "the others were answered as busy";
  EXPECT_EQ(door_->cut, 0);
}

TEST_F(HostileFront, AFloodThatTheLoopDoesNotTakeIsBounded) {
  Begin({.frames_at_once = 1e9, .frames_a_second = 1e9, .commands_at_once = 1e9, .commands_a_second = 1e9});
  TestFront front = Come();
  front.Greet();
  v1::Command large = Asking(1);
  large.mutable_plan()->set_hash(std::string(1 << 20, 'x'));
  const auto before = mallinfo2().uordblks + mallinfo2().hblkhd;
  for (int i = 0; i < 200; ++i)
    if (!front.Say(FromController{large, 1})) break;
  front.Say({FrameKind::kAskHello, 1, ""});
  ASSERT_TRUE(Within([&] {
    const auto hello = front.Hear(FrameKind::kHello);
    return hello && hello->connection == 1;
  })) << "all of them have been read";
  const auto after = mallinfo2().uordblks + mallinfo2().hblkhd;
  EXPECT_LT(static_cast<double>(after) - static_cast<double>(before), 40e6) << "200 MB were sent";
  EXPECT_LE(inbox_.TakeAll().size(), kInboxMessages);
}

TEST_F(HostileFront, OneThatDoesNotReadNeverHoldsUpTheLoop) {
  Begin({.stuck = 60s});
  TestFront front = Come();
  front.Greet();
  ASSERT_EQ(Taken(1).size(), 1U);
  v1::CommandResult result;
  result.set_error(std::string(1 << 20, 'x'));
  const auto begin = std::chrono::steady_clock::now();
  auto longest = 0ns;
  for (int i = 0; i < 100; ++i) {
    const auto before = std::chrono::steady_clock::now();
    gate_->Send({result, 1});
    longest = std::max(longest, std::chrono::nanoseconds(std::chrono::steady_clock::now() - before));
  }
  EXPECT_LT(longest, 2s);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 8s);
  ExpectCutOff("it does not read");
}

TEST_F(HostileFront, OneThatReadsNothingOfAFrameIsCutOff) {
  Begin({.stuck = 300ms});
  TestFront front = Come();
  front.Greet();
  ASSERT_EQ(Taken(1).size(), 1U);
  v1::CommandResult result;
  result.set_error(std::string(4 << 20, 'x'));
  gate_->Send({result, 1});
  ExpectCutOff("it has not read for 300 ms");
}

TEST_F(HostileFront, HundredsThatComeAndGoLeaveNothingBehind) {
  Begin();
  const auto descriptors = [] {
    int open = 0;
    for (int fd = 0; fd < 1024; ++fd) open += fcntl(fd, F_GETFD) != -1 ? 1 : 0;
    return open;
  };
  const int before = descriptors();
  for (int i = 1; i <= 300; ++i) {
    TestFront front = Come();
    front.Greet();
    front.Go();
    ASSERT_TRUE(Within([&] { return door_->gone == i; }));
  }
  EXPECT_LE(descriptors(), before + 1);
  ExpectNextIsServed();
}

TEST_F(HostileFront, TheGateEndsInTimeThoughTheFrontHangs) {
  Begin({.goodbye = 200ms});
  TestFront front = Come();
  front.Greet();
  ASSERT_EQ(Taken(1).size(), 1U);
  v1::CommandResult result;
  result.set_error(std::string(8 << 20, 'x'));
  gate_->Send({result, 1});
  const auto begin = std::chrono::steady_clock::now();
  gate_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
}

}  // namespace
}  // namespace railwright::gate
