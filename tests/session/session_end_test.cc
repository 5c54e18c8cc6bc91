// The end of a session at every point of its life: it must come at once, from any state, and join everything.
// Run under ThreadSanitizer and AddressSanitizer too.
#include <gtest/gtest.h>

#include <chrono>

#include "agent/session/session.h"
#include "tests/session/fake_controller.h"
#include "tests/session/session_fixture.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

grpc::Status Hang(AgentStream& stream) {
  v1::AgentMessage message;
  while (stream.Read(&message)) {
  }
  return grpc::Status::OK;
}

v1::ControllerMessage Refusal() {
  v1::ControllerMessage message;
  message.mutable_refusal()->set_reason(v1::Refusal::REASON_UNKNOWN_NODE);
  return message;
}

// Ends the session after `age` against a controller that behaves as `script` says.
void EndAfter(std::chrono::microseconds age, const FakeController::Script& script, bool listens, bool sends) {
  FakeController controller;
  if (script) controller.SetScript(script);
  if (listens) controller.Listen();
  Queue<FromController> inbox;
  SessionOptions options;
  options.way = To(controller.Address());
  options.node = "gpu-001";
  options.backoff_first = 1ms;
  options.backoff_max = 4ms;
  options.seed = 3;
  const auto begin = std::chrono::steady_clock::now();
  {
    Session session(
        options, [] { return v1::Hello(); }, inbox);
    session.Start();
    const auto end = begin + age;
    do {
      if (sends)
        for (std::uint64_t connection = 1; connection < 3; ++connection)
          session.Send({v1::Heartbeat(), connection});
    } while (std::chrono::steady_clock::now() < end);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin - age, 10s) << "it hung";
}

class SessionEnd : public testing::TestWithParam<int> {};

// Steps of a third of a millisecond reach each phase: before the dial, during it, before and after the
// welcome.
TEST_P(SessionEnd, IsCleanWhileTheControllerWelcomes) { EndAfter(GetParam() * 333us, nullptr, true, true); }
TEST_P(SessionEnd, IsCleanWhileNobodyListens) { EndAfter(GetParam() * 333us, nullptr, false, true); }
TEST_P(SessionEnd, IsCleanWhileTheControllerIsSilent) {
  EndAfter(
      GetParam() * 333us, [](AgentStream& stream, const v1::Hello&) { return Hang(stream); }, true, false);
}
TEST_P(SessionEnd, IsCleanWhileTheControllerRefuses) {
  EndAfter(
      GetParam() * 333us,
      [](AgentStream& stream, const v1::Hello&) {
        stream.Write(Refusal());
        return grpc::Status::OK;
      },
      true, false);
}
TEST_P(SessionEnd, IsCleanWhileTheControllerBreaksOff) {
  EndAfter(
      GetParam() * 333us,
      [](AgentStream& stream, const v1::Hello&) {
        stream.Write(FakeController::Welcome());
        return grpc::Status(grpc::StatusCode::UNAVAILABLE, "going away");
      },
      true, true);
}
TEST_P(SessionEnd, IsCleanWhileTheControllerFloods) {
  EndAfter(
      GetParam() * 333us,
      [](AgentStream& stream, const v1::Hello&) {
        stream.Write(FakeController::Welcome());
        v1::ControllerMessage message;
        message.mutable_command()->set_id(1);
        while (stream.Write(message)) {
        }
        return grpc::Status::OK;
      },
      true, true);
}
INSTANTIATE_TEST_SUITE_P(After, SessionEnd, testing::Range(0, 24, 2));

TEST(SessionGoodbye, WhatWasSentLastStillArrives) {
  FakeController controller;
  controller.Listen();
  Queue<FromController> inbox;
  SessionOptions options;
  options.way = To(controller.Address());
  options.node = "gpu-001";
  options.backoff_first = 1ms;
  {
    Session session(
        options, [] { return v1::Hello(); }, inbox);
    session.Start();
    bool welcomed = false;
    for (int i = 0; i < 100 && !welcomed; ++i) welcomed = !inbox.WaitAllFor(100ms).empty();
    ASSERT_TRUE(welcomed);
    for (std::uint64_t i = 0; i < 50; ++i) {
      v1::Report report;
      report.set_sequence(i);
      session.Send({report, 1});
    }
  }
  ASSERT_TRUE(controller.WaitReceived(50));
  EXPECT_EQ(controller.Received().back().report().sequence(), 49U);
}

TEST(SessionGoodbye, AControllerThatNeverEndsTheStreamDoesNotHoldUs) {
  FakeController controller;
  std::atomic<bool> over{false};
  controller.SetScript([&](AgentStream& stream, const v1::Hello&) {
    stream.Write(FakeController::Welcome());
    while (!over) std::this_thread::sleep_for(5ms);
    return grpc::Status::OK;
  });
  controller.Listen();
  Queue<FromController> inbox;
  SessionOptions options;
  options.way = To(controller.Address());
  options.backoff_first = 1ms;
  auto session = std::make_unique<Session>(
      options, [] { return v1::Hello(); }, inbox);
  session->Start();
  bool welcomed = false;
  for (int i = 0; i < 100 && !welcomed; ++i) welcomed = !inbox.WaitAllFor(100ms).empty();
  ASSERT_TRUE(welcomed);
  const auto begin = std::chrono::steady_clock::now();
  session.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  over = true;
}

}  // namespace
}  // namespace railwright
