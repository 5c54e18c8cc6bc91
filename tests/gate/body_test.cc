// What may be in a frame of a half that is not trusted.
#include "agent/gate/body.h"

#include <gtest/gtest.h>

#include "agent/gate/shape.h"

namespace railwright::gate {
namespace {

// A field of a message: its number, wire type 2, these bytes.
std::string Field(int number, const std::string& bytes) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  for (std::size_t left = bytes.size();; left >>= 7) {
    out += static_cast<char>((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
    if (left <= 0x7f) return out + bytes;
  }
}

std::string Many(const std::string& bytes, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += bytes;
  return out;
}

v1::DesiredState State(const std::string& group, const std::string& overlay = "") {
  v1::DesiredState state;
  state.set_generation(7);
  state.set_group(group);
  state.set_overlay(overlay);
  return state;
}

TEST(FrameOf, EveryMessageOfTheControllerComesBackAsItWas) {
  v1::Command command;
  command.set_id(9);
  *command.mutable_plan() = State("\xff\xfe");
  v1::PauseList pauses;
  pauses.add_pauses()->set_key("link.mtu");
  v1::ReportAck ack;
  ack.set_sequence(3);
  v1::Welcome welcome;
  welcome.set_version("0.1.0");
  for (const FromController& message :
       {FromController{State("a group"), 5}, FromController{command, 6}, FromController{pauses, 7},
        FromController{ack, 8}, FromController{welcome, 9, "2001:db8::7"}, FromController{welcome, 10}}) {
    const auto back = ReadFromController(FrameOf(message));
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    EXPECT_EQ(back->body.index(), message.body.index());
    EXPECT_EQ(back->connection, message.connection);
    EXPECT_EQ(back->host, message.host);
    const auto text = [](const FromController& one) {
      return std::visit([](const auto& body) { return body.SerializeAsString(); }, one.body);
    };
    EXPECT_EQ(text(*back), text(message));
  }
}

TEST(FrameOf, EveryMessageToTheControllerComesBackAsItWas) {
  v1::Report report;
  report.set_hash("abc");
  v1::CommandResult result;
  result.set_id(4);
  for (const ToController& message :
       {ToController{v1::Ack(), 1}, ToController{v1::Nack(), 2}, ToController{report, 3},
        ToController{v1::Heartbeat(), 4}, ToController{result, 5}, ToController{v1::Catalog(), 6}}) {
    const auto back = ReadToController(FrameOf(message));
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    EXPECT_EQ(back->body.index(), message.body.index());
    EXPECT_EQ(back->connection, message.connection);
  }
}

TEST(ReadFromController, RefusesMoreFieldsThanSuchAMessageCanHave) {
  const std::string pause = Field(1, "");  // of two bytes; an object of some hundred
  EXPECT_TRUE(ReadFromController({FrameKind::kPauses, 1, Many(pause, 65'536)}).ok());
  const auto refused = ReadFromController({FrameKind::kPauses, 1, Many(pause, 65'537)});
  EXPECT_EQ(refused.status().code(), Code::kResourceExhausted);
  EXPECT_EQ(refused.status().message(), "a pauses: more than 65536 fields");
  // Fields that nobody knows count as well: they are kept, too.
  EXPECT_FALSE(ReadFromController({FrameKind::kReportAck, 1, Many("\x78\x01", 257)}).ok());
  EXPECT_FALSE(ReadFromController({FrameKind::kCommand, 1, Many("\x78\x01", 257)}).ok());
  EXPECT_FALSE(
      ReadFromController({FrameKind::kWelcome, 1, std::string(1, '\0') + Many("\x78\x01", 257)}).ok());
}

TEST(ReadFromController, MeasuresTheUnsignedStatesThatItCarriesAsBytes) {
  const std::string setting = Field(3, "");
  const auto over = [](const v1::DesiredState& state) {
    v1::Command command;
    *command.mutable_plan() = state;
    // What is signed is measured by whoever has seen that the signature holds.
    EXPECT_TRUE(ReadFromController(FrameOf(FromController{state, 1})).ok());
    return ReadFromController(FrameOf(FromController{command, 1})).status();
  };
  EXPECT_TRUE(over(State(Many(setting, 262'144))).ok());
  EXPECT_EQ(over(State(Many(setting, 262'145))).message(), "a command: more than 262144 fields");
  EXPECT_EQ(over(State("", Many(setting, 262'145))).message(), "a command: more than 262144 fields");
  // A group hides what follows it from a count that stops there.
  EXPECT_FALSE(over(State("\x0b\x0c" + Many(setting, 10))).ok());
  // Bytes that are no state at all are the loop's to refuse, with a Nack.
  EXPECT_TRUE(over(State("\xff\xff\xff", "\x1a\x7f")).ok());
}

TEST(ReadFromController, RefusesBytesThatAreNoMessage) {
  for (const FrameKind kind :
       {FrameKind::kDesired, FrameKind::kCommand, FrameKind::kPauses, FrameKind::kReportAck})
    for (const std::string& bytes :
         {std::string("\xff"), std::string("\x0a\x7f"), std::string("\x0b\x0c"), std::string(1, '\0')})
      EXPECT_FALSE(ReadFromController({kind, 1, bytes}).ok()) << static_cast<int>(kind);
}

TEST(ReadFromController, TakesAHostOnlyWhereItCanBeAnAddress) {
  const auto host = [](const std::string& name) {
    return ReadFromController({FrameKind::kWelcome, 1, static_cast<char>(name.size()) + name});
  };
  EXPECT_EQ(host("fe80::1%eth0")->host, "fe80::1%eth0");
  EXPECT_FALSE(host("../../etc").ok());
  EXPECT_FALSE(host("a b").ok());
  EXPECT_FALSE(host(std::string(65, 'a')).ok());
  EXPECT_FALSE(ReadFromController({FrameKind::kWelcome, 1, ""}).ok());
  EXPECT_FALSE(ReadFromController({FrameKind::kWelcome, 1,
                                   "\x05"
                                   "ab"})
                   .ok());
}

TEST(ReadFromController, KnowsNoOtherKind) {
  for (const FrameKind kind :
       {FrameKind::kVersion, FrameKind::kStateText, FrameKind::kAskHello, FrameKind::kReport})
    EXPECT_FALSE(ReadFromController({kind, 1, ""}).ok());
}

TEST(CheckShape, CountsTheLevels) {
  // Plan in a CommandResult, steps and findings in it: three levels.
  v1::CommandResult result;
  result.mutable_plan()->add_findings()->set_key("x");
  const std::string bytes = result.SerializeAsString();
  EXPECT_TRUE(CheckShape(bytes, *v1::CommandResult::descriptor(), {.fields = 9, .levels = 3}).ok());
  const Status refused = CheckShape(bytes, *v1::CommandResult::descriptor(), {.fields = 9, .levels = 2});
  EXPECT_EQ(refused.code(), Code::kResourceExhausted);
  EXPECT_EQ(refused.message(), "more than 2 levels");
}

TEST(ReadHeard, BothWaysComeBackAsTheyWere) {
  const auto question = ReadAskPeers(AskPeersFrame(7, {"rail0", {"10.10.0.2", "fd00:10::2"}}));
  ASSERT_TRUE(question.ok()) << question.status().ToString();
  EXPECT_EQ(question->netdev, "rail0");
  EXPECT_EQ(question->addresses, (std::vector<std::string>{"10.10.0.2", "fd00:10::2"}));
  for (const PeerAnswer& answer :
       {PeerAnswer{}, PeerAnswer{"not allowed", {}}, PeerAnswer{"", {"10.10.0.2"}}}) {
    const Frame frame = HeardFrame(7, answer);
    const auto back = ReadHeard(frame);
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    EXPECT_EQ(frame.connection, 7U);
    EXPECT_EQ(back->obstacle, answer.obstacle);
    EXPECT_EQ(back->answered, answer.answered);
  }
}

TEST(ReadHeard, TakesNothingElse) {
  std::string many;
  for (int i = 0; i < 17; ++i) many += "\n10.0.0.1";
  for (const std::string& bytes :
       {many, std::string("\nno address"), std::string("\n\n"), std::string("\n") + std::string(46, '1')})
    EXPECT_FALSE(ReadHeard({FrameKind::kHeard, 1, bytes}).ok()) << bytes;
  EXPECT_FALSE(ReadAskPeers({FrameKind::kAskPeers, 1, ""}).ok());
  EXPECT_FALSE(ReadAskPeers({FrameKind::kAskPeers, 1, "an interface of 16"}).ok());
  const std::string obstacle =
      ReadHeard({FrameKind::kHeard, 1, "\x1b[2J" + std::string(2000, 'x')})->obstacle;
  EXPECT_LE(obstacle.size(), 512U);
  for (const unsigned char c : obstacle) EXPECT_TRUE(c >= 0x20 && c != 0x7f);
}

TEST(ReadStateText, IsOneLineAndNotLong) {
  const std::string text = ReadStateText({FrameKind::kStateText, 0, "\x1b[2J\n" + std::string(4000, 'x')});
  EXPECT_LE(text.size(), 1024U);
  for (const unsigned char c : text) EXPECT_TRUE(c >= 0x20 && c != 0x7f);
}

TEST(CheckVersion, WantsThisRevisionAndNothingBeforeIt) {
  EXPECT_TRUE(CheckVersion(VersionFrame()).ok());
  Frame other = VersionFrame();
  other.body[3] = 99;
  EXPECT_EQ(CheckVersion(other).code(), Code::kFailedPrecondition);
  EXPECT_EQ(CheckVersion({FrameKind::kWelcome, 1, ""}).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace railwright::gate
