// The gate with a front that behaves, and with several in a row.
#include "agent/gate/gate.h"

#include "tests/gate/gate_fixture.h"

namespace railwright::gate {
namespace {

ToController Acked(std::uint64_t generation, std::uint64_t connection) {
  v1::Ack ack;
  ack.set_generation(generation);
  return {ack, connection};
}

TEST_F(GateTest, SaysItsVersionAndHelloFirst) {
  Begin();
  TestFront front = Come();
  EXPECT_EQ(front.Hear(), VersionFrame());
  const auto hello = front.Hear();
  ASSERT_TRUE(hello.has_value());
  EXPECT_EQ(hello->kind, FrameKind::kHello);
  v1::Hello facts;
  ASSERT_TRUE(facts.ParseFromString(hello->body));
  EXPECT_EQ(facts.generation(), 4U);
}

TEST_F(GateTest, AnswersAQuestionForHelloWithItsNumber) {
  Begin();
  TestFront front = Come();
  front.Say(VersionFrame());
  front.Say({FrameKind::kAskHello, 77, ""});
  EXPECT_EQ(front.Hear(FrameKind::kHello)->connection, 0U);
  EXPECT_EQ(front.Hear(FrameKind::kHello)->connection, 77U);
}

TEST_F(GateTest, PassesEverythingInOrderUnderANumberOfItsOwn) {
  Begin();
  TestFront front = Come();
  front.Greet(41);
  for (std::uint64_t id = 1; id <= 40; ++id) front.Say(FromController{Asking(id), 41});
  const auto taken = Taken(41);
  ASSERT_EQ(taken.size(), 41U);
  EXPECT_EQ(taken[0].host, "10.0.0.7");
  for (const FromController& message : taken) EXPECT_EQ(message.connection, 1U);
  for (std::uint64_t id = 1; id <= 40; ++id) EXPECT_EQ(std::get<v1::Command>(taken[id].body).id(), id);
  for (std::uint64_t generation = 1; generation <= 100; ++generation) gate_->Send(Acked(generation, 1));
  for (std::uint64_t generation = 1; generation <= 100; ++generation) {
    const auto frame = front.Hear(FrameKind::kAck);
    ASSERT_TRUE(frame.has_value());
    EXPECT_EQ(frame->connection, 41U);
    EXPECT_EQ(std::get<v1::Ack>(ReadToController(*frame)->body).generation(), generation);
  }
}

TEST_F(GateTest, TheTextOfTheSessionIsTheFronts) {
  Begin();
  EXPECT_EQ(gate_->StateText(), "connecting: not tried yet");
  TestFront front = Come();
  front.Say(VersionFrame());
  front.Say({FrameKind::kStateText, 0, "refused: nobody declared \x1b[2J gpu-001"});
  EXPECT_TRUE(Within([&] { return gate_->StateText() == "refused: nobody declared \\x1b[2J gpu-001"; }))
      << gate_->StateText();
  EXPECT_GT(states_.load(), 0);
  front.Go();
  EXPECT_TRUE(Within([&] { return gate_->StateText().starts_with("connecting: the half that talks"); }));
  EXPECT_EQ(door_->gone, 1);
}

TEST_F(GateTest, WhatBelongsToAnOlderConnectionOfTheSameFrontIsDropped) {
  Begin();
  TestFront front = Come();
  front.Greet(1);
  front.Say(FromController{v1::Welcome(), 2});
  front.Say(FromController{Asking(1), 1});  // read before the second connection began
  front.Say(FromController{Asking(2), 2});
  Taken(1);
  ASSERT_TRUE(Within([&] {
    gate_->Send(Acked(1, 1));
    gate_->Send(Acked(2, 2));
    const auto heard = front.Hear(FrameKind::kAck, 100ms);
    return heard && std::get<v1::Ack>(ReadToController(*heard)->body).generation() == 2;
  }));
}

TEST_F(GateTest, NothingOfAnOlderFrontBelongsToTheNext) {
  Begin();
  TestFront first = Come();
  first.Greet(1);
  ASSERT_EQ(Taken(1).at(0).connection, 1U);
  first.Go();
  ASSERT_TRUE(Within([&] { return door_->gone == 1; }));
  gate_->Send(Acked(1, 1));  // nobody is there

  TestFront second = Come();
  second.Say(VersionFrame());
  second.Say(FromController{Asking(1), 1});  // before a welcome: it may be of anything
  second.Say(FromController{v1::Welcome(), 1});
  second.Say(FromController{Asking(2), 1});
  const auto taken = Taken(2);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].connection, 2U);
  EXPECT_EQ(std::get<v1::Command>(taken[1].body).id(), 2U);
  gate_->Send(Acked(2, 1));  // made for the first front's connection, which had the same number there
  gate_->Send(Acked(3, 2));
  const auto heard = second.Hear(FrameKind::kAck);
  ASSERT_TRUE(heard.has_value());
  EXPECT_EQ(std::get<v1::Ack>(ReadToController(*heard)->body).generation(), 3U);
  EXPECT_EQ(heard->connection, 1U);
}

TEST_F(GateTest, ANewFrontTakesThePlaceOfOneThatStillHolds) {
  Begin();
  TestFront first = Come();
  first.Greet();
  Taken(1);
  TestFront second = Come();
  second.Greet();
  EXPECT_EQ(Taken(1).at(0).connection, 2U);
  EXPECT_TRUE(first.Ended());
}

TEST_F(GateTest, WhatWasSentLastGoesOutBeforeItEnds) {
  Begin();
  TestFront front = Come();
  front.Greet();
  Taken(1);
  for (std::uint64_t generation = 1; generation <= 50; ++generation) gate_->Send(Acked(generation, 1));
  std::thread end([this] { gate_.reset(); });
  std::uint64_t last = 0;
  while (const auto frame = front.Hear())
    if (frame->kind == FrameKind::kAck) last = std::get<v1::Ack>(ReadToController(*frame)->body).generation();
  end.join();
  EXPECT_EQ(last, 50U);
}

TEST_F(GateTest, ACommandForWhichThereIsNoRoomIsAnsweredAsBusy) {
  Begin({.commands_at_once = 3, .commands_a_second = 0.001});
  TestFront front = Come();
  front.Greet();
  for (std::uint64_t id = 1; id <= 5; ++id) front.Say(FromController{Asking(id), 1});
  for (const std::uint64_t id : {4U, 5U}) {
    const auto frame = front.Hear(FrameKind::kResult);
    ASSERT_TRUE(frame.has_value());
    const auto result = ReadToController(*frame);
    EXPECT_EQ(std::get<v1::CommandResult>(result->body).id(), id);
    EXPECT_NE(std::get<v1::CommandResult>(result->body).error().find("busy"), std::string::npos);
  }
  EXPECT_EQ(Taken(4, 200ms).size(), 4U) << "the welcome and three commands";
}

}  // namespace
}  // namespace railwright::gate
