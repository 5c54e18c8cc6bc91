// What the session does when the loop is busy and messages wait for it.
#include <gtest/gtest.h>

#include <atomic>

#include "agent/session/session.h"
#include "tests/session/fake_controller.h"
#include "tests/session/session_fixture.h"

namespace railwright {
namespace {

// Counts what is posted, so that a test knows when something has come without taking it.
class Posted {
 public:
  std::function<void()> OnPost() {
    return [this] {
      const std::lock_guard lock(mutex_);
      ++count_;
      changed_.notify_all();
    };
  }
  bool Wait(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 10s, [&] { return count_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

TEST(SessionInbox, ACommandThatFindsTheInboxFullIsAnsweredAsBusy) {
  FakeController controller;
  controller.SetScript([&](AgentStream& stream, const v1::Hello&) {
    stream.Write(FakeController::Welcome());
    for (std::uint64_t id = 1; id <= 10; ++id) {
      v1::ControllerMessage message;
      message.mutable_command()->set_id(id);
      stream.Write(message);
    }
    return controller.ReadAll(stream);
  });
  controller.Listen();
  Queue<FromController> inbox({}, InboxBound(4));  // the Welcome and three commands
  Session session(Options(controller), State, inbox);
  session.Start();
  ASSERT_TRUE(controller.WaitReceived(7));
  const auto received = controller.Received();
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(received[i].result().id(), i + 4);
    EXPECT_NE(received[i].result().error().find("busy"), std::string::npos);
  }
  EXPECT_EQ(inbox.TakeAll().size(), 4U);
}

TEST(SessionInbox, DryRunsThatAreTooLargeTogetherAreAnsweredAsBusy) {
  FakeController controller;
  controller.SetScript([&](AgentStream& stream, const v1::Hello&) {
    stream.Write(FakeController::Welcome());
    for (std::uint64_t id = 1; id <= 3; ++id) {
      v1::ControllerMessage message;
      message.mutable_command()->set_id(id);
      message.mutable_command()->mutable_plan()->set_group(std::string(40'000, 'x'));
      stream.Write(message);
    }
    return controller.ReadAll(stream);
  });
  controller.Listen();
  Queue<FromController> inbox({}, InboxBound(100, 100'000));
  Session session(Options(controller), State, inbox);
  session.Start();
  ASSERT_TRUE(controller.WaitReceived(1));
  EXPECT_EQ(controller.Received()[0].result().id(), 3U);
}

TEST(SessionInbox, TheNewestStateAndPausesAreHandedOnHoweverMuchWaits) {
  FakeController controller;
  controller.SetScript([&](AgentStream& stream, const v1::Hello&) {
    stream.Write(FakeController::Welcome());
    for (std::uint64_t i = 1; i <= 100; ++i) {
      v1::ControllerMessage desired, pauses;
      desired.mutable_desired()->set_generation(i);
      stream.Write(desired);
      pauses.mutable_pauses()->add_pauses()->set_reason(std::to_string(i));
      stream.Write(pauses);
    }
    return controller.ReadAll(stream);
  });
  controller.Listen();
  Posted posted;
  Queue<FromController> inbox(posted.OnPost(), InboxBound(1));
  Session session(Options(controller), State, inbox);
  session.Start();
  ASSERT_TRUE(posted.Wait(201));
  const auto waiting = inbox.TakeAll();
  ASSERT_EQ(waiting.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<v1::Welcome>(waiting[0].body));
  EXPECT_EQ(std::get<v1::DesiredState>(waiting[1].body).generation(), 100U);
  EXPECT_EQ(std::get<v1::PauseList>(waiting[2].body).pauses(0).reason(), "100");
}

TEST(SessionInbox, AControllerThatFloodsWithAcknowledgementsIsDropped) {
  FakeController controller;
  controller.SetScript([&](AgentStream& stream, const v1::Hello&) {
    stream.Write(FakeController::Welcome());
    v1::ControllerMessage message;
    message.mutable_report_ack()->set_sequence(1);
    for (int i = 0; i < 10; ++i) stream.Write(message);
    return controller.ReadAll(stream);
  });
  controller.Listen();
  Queue<FromController> inbox({}, InboxBound(4));
  Told told;
  Session session(Options(controller), State, inbox, told.Bell());
  session.Start();
  EXPECT_TRUE(told.Until(session, "sends faster than this agent can take it in"));
}

TEST(SessionInbox, AWelcomeTakesThePlaceOfWhatAnEarlierConnectionLeft) {
  FakeController controller;
  std::atomic<int> connections{0};
  controller.SetScript([&](AgentStream& stream, const v1::Hello&) {
    stream.Write(FakeController::Welcome());
    v1::ControllerMessage message;
    message.mutable_command()->set_id(1);
    stream.Write(message);
    if (connections++ == 0) return grpc::Status(grpc::StatusCode::UNAVAILABLE, "going away");
    return controller.ReadAll(stream);
  });
  controller.Listen();
  Posted posted;
  Queue<FromController> inbox(posted.OnPost(), InboxBound());
  Session session(Options(controller), State, inbox);
  session.Start();
  ASSERT_TRUE(posted.Wait(4));
  const auto waiting = inbox.TakeAll();
  ASSERT_EQ(waiting.size(), 2U);
  for (const FromController& message : waiting) EXPECT_EQ(message.connection, 2U);
}

}  // namespace
}  // namespace railwright
