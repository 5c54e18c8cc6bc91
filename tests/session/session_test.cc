#include "agent/session/session.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <future>
#include <thread>

#include "agent/session/renewal.h"
#include "tests/session/fake_controller.h"
#include "tests/session/session_fixture.h"
#include "tests/store/temp_dir.h"
#include "tests/support/test_ca.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

ToController Beat(std::uint64_t connection, const std::string& hash8 = "12345678") {
  v1::Heartbeat beat;
  beat.set_report_hash8(hash8);
  return {beat, connection};
}

TEST(Session, SaysHelloAndIsWelcomed) {
  FakeController controller;
  controller.Listen();
  Queue<FromController> inbox;
  Told told;
  Session session(Options(controller), State, inbox, told.Bell());
  session.Start();
  const auto welcome = Next<v1::Welcome>(inbox);
  ASSERT_TRUE(welcome.has_value());
  EXPECT_EQ(welcome->connection, 1U);
  told.Until(session, "connected");
  const v1::Hello hello = controller.Hellos().at(0);
  EXPECT_EQ(hello.node(), "gpu-001");
  EXPECT_EQ(hello.state_hash(), "5747e");
  EXPECT_EQ(hello.generation(), 4U);
  EXPECT_EQ(hello.wire(), 1U);
  EXPECT_GT(hello.features_size(), 0);
  EXPECT_LE(hello.ByteSizeLong(), 256U);
}

TEST(Session, ItIsConnectedWhenTheLoopHearsOfTheWelcome) {
  FakeController controller;
  controller.Listen();
  Session* asked = nullptr;
  std::promise<std::string> heard;
  Queue<FromController> inbox([&] {
    if (asked != nullptr) heard.set_value(std::exchange(asked, nullptr)->StateText());
  });
  Session session(Options(controller), State, inbox);
  asked = &session;
  session.Start();
  auto text = heard.get_future();
  ASSERT_EQ(text.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(text.get(), "connected");
}

TEST(Session, TheWelcomeSaysFromWhichAddressItCame) {
  struct Case {
    const char* listen;
    const char* host;
  };
  for (const Case& one : {Case{"", ""}, Case{"127.0.0.1", "127.0.0.1"}, Case{"[::1]", "::1"}}) {
    FakeController controller;
    if (*one.listen == '\0') {
      controller.Listen();
    } else {
      ASSERT_TRUE(controller.ListenOn(one.listen)) << one.listen;
    }
    Queue<FromController> inbox;
    Session session(Options(controller), State, inbox);
    session.Start();
    const auto welcome = Next<v1::Welcome>(inbox);
    ASSERT_TRUE(welcome.has_value());
    EXPECT_EQ(welcome->host, one.host);
  }
}

TEST(Session, AHeartbeatTakesAtMost64Bytes) {
  v1::AgentMessage message;
  message.mutable_heartbeat()->set_report_hash8("12345678");
  EXPECT_LE(message.ByteSizeLong() + 5, 64U);  // with gRPC's own five bytes before each message
}

TEST(Session, MessagesGoOutInOrderAndComeInInOrder) {
  FakeController controller;
  controller.SetScript([&](AgentStream& stream, const v1::Hello&) {
    stream.Write(FakeController::Welcome());
    for (int i = 1; i <= 200; ++i) {
      v1::ControllerMessage message;
      message.mutable_command()->set_id(static_cast<std::uint64_t>(i));
      stream.Write(message);
    }
    return controller.ReadAll(stream);
  });
  controller.Listen();
  Queue<FromController> inbox;
  Session session(Options(controller), State, inbox);
  session.Start();
  ASSERT_TRUE(Next<v1::Welcome>(inbox).has_value());
  for (std::uint64_t i = 0; i < 200; ++i) {
    v1::Ack ack;
    ack.set_generation(i);
    session.Send({ack, 1});
  }
  ASSERT_TRUE(controller.WaitReceived(200));
  const auto received = controller.Received();
  for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(received[i].ack().generation(), i);
}

TEST(Session, ARestartedControllerIsDialledAgainWithPresentHashes) {
  FakeController controller;
  controller.Listen();
  Queue<FromController> inbox;
  std::atomic<std::uint64_t> generation{4};
  const auto hello = [&] {
    v1::Hello message;
    message.set_generation(generation);
    return message;
  };
  Told told;
  Session session(Options(controller), hello, inbox, told.Bell());
  session.Start();
  ASSERT_TRUE(Next<v1::Welcome>(inbox).has_value());
  generation = 5;
  controller.Stop();
  ASSERT_TRUE(told.Until(session, "connecting: "));
  controller.Listen();
  const auto welcome = Next<v1::Welcome>(inbox);
  ASSERT_TRUE(welcome.has_value());
  EXPECT_GT(welcome->connection, 1U);
  EXPECT_EQ(controller.Hellos().back().generation(), 5U);
}

TEST(Session, DialledAnewItIsWelcomedOverALaterConnection) {
  FakeController controller;
  controller.Listen();
  Queue<FromController> inbox;
  Told told;
  Session session(Options(controller), State, inbox, told.Bell());
  session.Start();
  ASSERT_TRUE(Next<v1::Welcome>(inbox).has_value());
  EXPECT_EQ(session.Redial(), 1U);
  const auto welcome = Next<v1::Welcome>(inbox);
  ASSERT_TRUE(welcome.has_value());
  EXPECT_GT(welcome->connection, 1U);
}

TEST(Session, DialledAnewItDoesNotWaitOutItsBackOff) {
  FakeController controller;
  Queue<FromController> inbox;
  SessionOptions options = Options(controller);
  options.backoff_first = 50ms;
  options.backoff_max = 60'000ms;
  options.seed = 11;
  Told told;
  Session session(options, State, inbox, told.Bell());
  session.Start();
  // Some failures in vain: the waits have grown to many seconds by chance, if not by rule.
  ASSERT_TRUE(told.Until(session, "connecting: unix:"));
  std::this_thread::sleep_for(500ms);
  controller.Listen();
  const auto asked = std::chrono::steady_clock::now();
  session.Redial();
  ASSERT_TRUE(Next<v1::Welcome>(inbox).has_value());
  EXPECT_LT(std::chrono::steady_clock::now() - asked, 5s);
}

TEST(Session, WhatWasMeantForAnEarlierConnectionIsDropped) {
  FakeController controller;
  controller.Listen();
  Queue<FromController> inbox;
  Session session(Options(controller), State, inbox);
  session.Start();
  ASSERT_TRUE(Next<v1::Welcome>(inbox).has_value());
  controller.Stop();
  controller.Listen();
  const auto welcome = Next<v1::Welcome>(inbox);
  ASSERT_TRUE(welcome.has_value());
  session.Send(Beat(1, "old"));
  session.Send(Beat(welcome->connection, "new"));
  ASSERT_TRUE(controller.WaitReceived(1));
  EXPECT_EQ(controller.Received().at(0).heartbeat().report_hash8(), "new");
}

TEST(Session, AnUnknownNodeKeepsTryingAndIsTakenWhenItIsKnown) {
  FakeController controller;
  std::atomic<bool> known{false};
  controller.SetScript([&](AgentStream& stream, const v1::Hello&) {
    if (known) {
      stream.Write(FakeController::Welcome());
      return controller.ReadAll(stream);
    }
    v1::ControllerMessage message;
    message.mutable_refusal()->set_reason(v1::Refusal::REASON_UNKNOWN_NODE);
    message.mutable_refusal()->set_message("gpu-001 is in no Cluster document; add it and apply");
    stream.Write(message);
    return grpc::Status::OK;
  });
  controller.Listen();
  Queue<FromController> inbox;
  Told told;
  Session session(Options(controller), State, inbox, told.Bell());
  session.Start();
  ASSERT_TRUE(told.Until(session, "refused: gpu-001 is in no Cluster document; add it and apply"));
  ASSERT_TRUE(controller.WaitHellos(3));
  known = true;
  EXPECT_TRUE(Next<v1::Welcome>(inbox).has_value());
  told.Until(session, "connected");
}

TEST(Session, ARefusalIsFollowedByASlowerAttempt) {
  FakeController controller;
  controller.SetScript([&](AgentStream& stream, const v1::Hello&) {
    v1::ControllerMessage message;
    message.mutable_refusal()->set_reason(v1::Refusal::REASON_DUPLICATE);
    stream.Write(message);
    return grpc::Status::OK;
  });
  controller.Listen();
  Queue<FromController> inbox;
  SessionOptions options = Options(controller);
  options.backoff_max = options.refusal_first = 10s;
  Told told;
  Session session(options, State, inbox, told.Bell());
  session.Start();
  ASSERT_TRUE(told.Until(session, "refused: REASON_DUPLICATE"));
  std::this_thread::sleep_for(200ms);  // forty times backoff_first: a session that did not wait would be back
  EXPECT_EQ(controller.Hellos().size(), 1U);
}

TEST(Session, NobodyThereIsSaidWithTheAddress) {
  FakeController controller;  // does not listen
  Queue<FromController> inbox;
  Told told;
  Session session(Options(controller), State, inbox, told.Bell());
  session.Start();
  told.Until(session, "connecting: " + controller.Address() + ": No such file or directory");
}

TEST(Session, AControllerThatNeverAnswersIsGivenUp) {
  FakeController controller;
  controller.SetScript([&](AgentStream& stream, const v1::Hello&) { return controller.ReadAll(stream); });
  controller.Listen();
  Queue<FromController> inbox;
  SessionOptions options = Options(controller);
  options.welcome_within = 50ms;
  Told told;
  Session session(options, State, inbox, told.Bell());
  session.Start();
  told.Until(session, "no answer within 50 ms");
  EXPECT_TRUE(controller.WaitHellos(2));
}

TEST(Session, AStateBeforeTheWelcomeIsAProtocolErrorAndNotPassedOn) {
  FakeController controller;
  controller.SetScript([&](AgentStream& stream, const v1::Hello&) {
    v1::ControllerMessage message;
    message.mutable_desired()->set_generation(9);
    stream.Write(message);
    return controller.ReadAll(stream);
  });
  controller.Listen();
  Queue<FromController> inbox;
  Told told;
  Session session(Options(controller), State, inbox, told.Bell());
  session.Start();
  told.Until(session, "neither a welcome nor a refusal");
  EXPECT_TRUE(inbox.TakeAll().empty());
}

TEST(Session, AWireThatIsNotSpokenHereIsNamed) {
  FakeController controller;
  controller.SetScript([&](AgentStream& stream, const v1::Hello&) {
    v1::ControllerMessage message = FakeController::Welcome();
    message.mutable_welcome()->set_wire(9);
    stream.Write(message);
    return controller.ReadAll(stream);
  });
  controller.Listen();
  Queue<FromController> inbox;
  Told told;
  Session session(Options(controller), State, inbox, told.Bell());
  session.Start();
  told.Until(session, "chose wire 9, this agent speaks 1");
  EXPECT_TRUE(inbox.TakeAll().empty());
}

TEST(Session, AMessageOfALaterWireIsPassedOver) {
  FakeController controller;
  controller.SetScript([&](AgentStream& stream, const v1::Hello&) {
    stream.Write(FakeController::Welcome());
    stream.Write(v1::ControllerMessage());  // a body that this build does not know
    v1::ControllerMessage message;
    message.mutable_pauses();
    stream.Write(message);
    return controller.ReadAll(stream);
  });
  controller.Listen();
  Queue<FromController> inbox;
  Session session(Options(controller), State, inbox);
  session.Start();
  EXPECT_TRUE(Next<v1::PauseList>(inbox).has_value());
}

TEST(Session, AControllerThatDoesNotReadIsDropped) {
  FakeController controller;
  std::atomic<bool> stuck{true};
  controller.SetScript([&](AgentStream& stream, const v1::Hello&) {
    stream.Write(FakeController::Welcome());
    while (stuck) std::this_thread::sleep_for(5ms);
    return grpc::Status::OK;
  });
  controller.Listen();
  Queue<FromController> inbox;
  SessionOptions options = Options(controller);
  options.queue_limit = 16;
  Told told;
  Session session(options, State, inbox, told.Bell());
  session.Start();
  ASSERT_TRUE(Next<v1::Welcome>(inbox).has_value());
  v1::CommandResult big;
  big.set_error(std::string(64 << 10, 'x'));
  for (int i = 0; i < 64; ++i) session.Send({big, 1});
  told.Until(session, "the controller does not read: 16 messages wait for it");
  stuck = false;
}

TEST(Session, WithoutAWayItSaysWhyAndGoesOnTrying) {
  FakeController controller;
  controller.Listen();
  Queue<FromController> inbox;
  SessionOptions options = Options(controller);
  std::atomic<bool> joined{false};
  options.way = [&, there = options.way]() -> Result<Way> {
    if (!joined) return Status(Code::kNotFound, "this node has not joined; railwright-agent join");
    return there();
  };
  Told told;
  Session session(options, State, inbox, told.Bell());
  session.Start();
  told.Until(session, "not connected: this node has not joined; railwright-agent join");
  joined = true;
  told.Until(session, "connected");
}

TEST(Session, WhoHangsUpInTheHandshakeIsAskedWhyElsewhere) {
  // A server that wants certificates of another CA.
  TempDir directory;
  const TestCa ours, theirs;
  FakeController controller;
  const tls::ServerFiles files = ours.Files(ours.Server(), directory.path());
  std::ofstream(files.roots) << theirs.roots_pem();
  ASSERT_TRUE(
      controller.ListenOn("127.0.0.1", tls::ServerCredentials(files, [](const auto&) { return Ok(); })));
  Queue<FromController> inbox;
  SessionOptions options = Options(controller);
  const auto node = ours.Node("0f2a7c1e-6b1d-4c55-9a57-2f1f6d8a9b01");
  options.way = [&]() -> Result<Way> {
    Way way{.controller = controller.Address(), .credentials = nullptr, .node = {}};
    way.credentials = Must(tls::ClientCredentials(ours.Terms(node), way.verdict));
    return way;
  };
  std::atomic<int> asked{0};
  options.why_hung_up = [&] {
    ++asked;
    return std::string("revoked by ada: stolen");
  };
  Told told;
  Session session(options, State, inbox, told.Bell());
  session.Start();
  told.Until(session, "(revoked by ada: stolen)");
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(asked, 1) << "it is asked once in a while, not at each attempt";
}

TEST(Session, AControllerThatIsAnotherIsNamedByWhatItShows) {
  TempDir directory;
  const TestCa ours, theirs;
  FakeController controller;
  ASSERT_TRUE(
      controller.ListenOn("127.0.0.1", tls::ServerCredentials(theirs.Files(theirs.Server(), directory.path()),
                                                              [](const auto&) { return Ok(); })));
  Queue<FromController> inbox;
  SessionOptions options = Options(controller);
  const auto node = ours.Node("0f2a7c1e-6b1d-4c55-9a57-2f1f6d8a9b01");
  options.way = [&]() -> Result<Way> {
    Way way{.controller = controller.Address(), .credentials = nullptr, .node = {}};
    way.credentials = Must(tls::ClientCredentials(ours.Terms(node), way.verdict));
    return way;
  };
  Told told;
  Session session(options, State, inbox, told.Bell());
  session.Start();
  told.Until(session, "wrong CA");
  EXPECT_TRUE(controller.Hellos().empty());
}

TEST(RenewalTime, IsAboutTwoThirdsOfTheLife) {
  const auto from = std::chrono::system_clock::now();
  const auto at = [&](double chance) {
    return std::chrono::duration_cast<std::chrono::minutes>(RenewalTime(from, from + 30h, chance) - from)
        .count();
  };
  EXPECT_EQ(at(0.5), 20 * 60);
  EXPECT_EQ(at(0), 17 * 60);
  EXPECT_EQ(at(1), 23 * 60);
}

TEST(RenewalPause, GrowsToAQuarterOfAnHourAndIsNeverTheSameForAll) {
  EXPECT_EQ(RenewalPause(1, 0), 15s);
  EXPECT_EQ(RenewalPause(1, 1), 30s);
  EXPECT_EQ(RenewalPause(3, 1), 120s);
  EXPECT_EQ(RenewalPause(60, 1), 900s);
  EXPECT_EQ(RenewalPause(60, 0), 450s);
}

}  // namespace
}  // namespace railwright
