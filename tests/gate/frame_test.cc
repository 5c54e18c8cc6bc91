// Frames out of bytes, however those come.
#include "agent/gate/frame.h"

#include <gtest/gtest.h>

#include <vector>

namespace railwright::gate {
namespace {

Frame Of(FrameKind kind, std::uint64_t connection, std::string body) {
  return {kind, connection, std::move(body)};
}

Status ReadAll(FrameReader& reader, std::string_view bytes, std::vector<Frame>& frames) {
  return reader.Feed(bytes, [&frames](Frame frame) {
    frames.push_back(std::move(frame));
    return Ok();
  });
}

TEST(FrameReader, GivesBackWhatWasEncodedHoweverItIsCut) {
  const std::vector<Frame> sent{
      Of(FrameKind::kWelcome, 1, "abc"), Of(FrameKind::kAskHello, 0xfedcba9876543210, ""),
      Of(FrameKind::kDesired, 1, std::string(100'000, 'x')), Of(FrameKind::kStateText, 0, "connected")};
  std::string bytes;
  for (const Frame& frame : sent) bytes += Encode(frame);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, bytes.size()}) {
    FrameReader reader(Side::kFront);
    std::vector<Frame> got;
    for (std::size_t at = 0; at < bytes.size(); at += piece)
      ASSERT_TRUE(ReadAll(reader, std::string_view(bytes).substr(at, piece), got).ok());
    EXPECT_EQ(got, sent) << "in pieces of " << piece;
    EXPECT_FALSE(reader.within());
  }
}

TEST(FrameReader, KnowsThatAFrameHasBegun) {
  FrameReader reader(Side::kFront);
  std::vector<Frame> got;
  const std::string bytes = Encode(Of(FrameKind::kPauses, 1, "1234"));
  for (std::size_t at = 0; at + 1 < bytes.size(); ++at) {
    ASSERT_TRUE(ReadAll(reader, bytes.substr(at, 1), got).ok());
    EXPECT_TRUE(reader.within()) << at;
  }
  EXPECT_TRUE(got.empty());
}

TEST(FrameReader, RefusesALengthAboveTheKindsMostBeforeAByteOfItHasCome) {
  for (const FrameKind kind :
       {FrameKind::kWelcome, FrameKind::kDesired, FrameKind::kReportAck, FrameKind::kAskHello}) {
    const std::size_t most = MostBytes(kind, Side::kFront);
    Frame frame = Of(kind, 1, std::string(most + 1, 'x'));
    FrameReader reader(Side::kFront);
    std::vector<Frame> got;
    const Status status = ReadAll(reader, std::string_view(Encode(frame)).substr(0, kFrameHeader), got);
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_NE(status.message().find(std::to_string(most) + " are the most"), std::string::npos)
        << status.message();
    frame.body.pop_back();
    FrameReader another(Side::kFront);
    EXPECT_TRUE(ReadAll(another, Encode(frame), got).ok());
    EXPECT_EQ(got.size(), 1U);
  }
}

TEST(FrameReader, TakesNothingFromTheFrontThatOnlyThePrivilegedHalfSays) {
  for (int kind = 0; kind < 256; ++kind) {
    const auto one = static_cast<FrameKind>(kind);
    std::vector<Frame> got;
    FrameReader from_front(Side::kFront), from_privileged(Side::kPrivileged);
    const std::string bytes = Encode(Of(one, 0, ""));
    const bool up = kind == 1 || (kind >= 16 && kind <= 24), down = kind == 1 || (kind >= 32 && kind <= 40);
    EXPECT_EQ(ReadAll(from_front, bytes, got).ok(), up) << kind;
    EXPECT_EQ(ReadAll(from_privileged, bytes, got).ok(), down) << kind;
  }
}

TEST(FrameReader, NothingThatTheFrontMaySayIsAboveFourMebibytes) {
  for (int kind = 0; kind < 256; ++kind)
    EXPECT_LE(MostBytes(static_cast<FrameKind>(kind), Side::kFront), std::size_t{4} << 20) << kind;
}

TEST(FrameReader, RefusesReservedBytesThatAreNotZero) {
  for (std::size_t at = 5; at < 8; ++at) {
    std::string bytes = Encode(Of(FrameKind::kStateText, 0, ""));
    bytes[at] = 1;
    FrameReader reader(Side::kFront);
    std::vector<Frame> got;
    EXPECT_EQ(ReadAll(reader, bytes, got).code(), Code::kInvalidArgument) << at;
  }
}

TEST(FrameReader, StopsAtTheFirstFrameThatIsNotTaken) {
  FrameReader reader(Side::kFront);
  int taken = 0;
  const std::string one = Encode(Of(FrameKind::kStateText, 0, "x"));
  const Status status = reader.Feed(one + one + one, [&taken](const Frame&) {
    return ++taken == 2 ? Status(Code::kAborted, "enough") : Ok();
  });
  EXPECT_EQ(status.code(), Code::kAborted);
  EXPECT_EQ(taken, 2);
}

}  // namespace
}  // namespace railwright::gate
