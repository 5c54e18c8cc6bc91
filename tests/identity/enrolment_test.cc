#include "core/identity/enrolment.h"

#include <gtest/gtest.h>

#include "core/identity/request.h"
#include "tests/identity/world.h"

namespace railwright::identity {
namespace {

JoinToken Token() { return Must(JoinToken::Generate()); }
std::string Csr() { return Must(MakeCertificateRequest(NewKey())); }
Endpoint At(std::string_view text) { return Must(Endpoint::Parse(text)); }

JoinRequest AJoin() {
  JoinRequest request{.token = Token(),
                      .name = "gpu-001",
                      .boot_id = "0f8fad5b-d9cb-469f-a165-708677289501",
                      .machine = {},
                      .csr = Csr()};
  request.machine[0] = 7;
  return request;
}

IssuedAnswer AnIssued() {
  return {.party = Party::kNode,
          .cluster = Cluster(),
          .uuid = Uuid().text(),
          .name = "gpu-001",
          .renewals = 3,
          .chain = {NodeLeaf()},
          .roots = {Root().certificate()},
          .signers = {.keys = {NewKey(KeyKind::kEd25519).public_key()}, .revoked = {}, .threshold = 1},
          .controllers = {At("ctl.example:7443")},
          .enrolment = {At("[2001:db8::1]:7444")}};
}

// The body of a whole frame.
std::string_view BodyOf(std::string_view frame) {
  const auto size = Must(BodyBytes(frame.substr(0, kFrameHeadBytes)));
  EXPECT_EQ(frame.size(), kFrameHeadBytes + size);
  return frame.substr(kFrameHeadBytes);
}

TEST(EnrolmentMessage, AJoinIsReadAsItWasWritten) {
  const auto request = AJoin();
  const auto frame = Must(Encode(request));
  const auto read = std::get<JoinRequest>(Must(DecodeRequest(BodyOf(frame.Reveal()))));
  EXPECT_TRUE(Must(Must(request.token.Stored()).Matches(read.token)));
  EXPECT_EQ(read.name, request.name);
  EXPECT_EQ(read.boot_id, request.boot_id);
  EXPECT_EQ(read.machine, request.machine);
  EXPECT_EQ(read.csr, request.csr);
}

TEST(EnrolmentMessage, ARecoveryAndAQuestionAreReadAsTheyWereWritten) {
  const RecoverRequest recover{
      .party = Party::kOperator, .id = "alice", .renewals = 0x0102030405060708, .csr = Csr()};
  const auto recover_frame = Must(Encode(recover));
  const auto read = std::get<RecoverRequest>(Must(DecodeRequest(BodyOf(recover_frame))));
  EXPECT_EQ(read.party, recover.party);
  EXPECT_EQ(read.id, recover.id);
  EXPECT_EQ(read.renewals, recover.renewals);
  EXPECT_EQ(read.csr, recover.csr);
  const WhyRequest why{.chain = {NodeLeaf(), Root().certificate()}, .clock = Noon()};
  const auto why_frame = Must(Encode(why));
  const auto read_why = std::get<WhyRequest>(Must(DecodeRequest(BodyOf(why_frame))));
  EXPECT_EQ(read_why.chain, why.chain);
  EXPECT_EQ(read_why.clock, why.clock);
}

TEST(EnrolmentMessage, AnswersAreReadAsTheyWereWritten) {
  const auto issued = AnIssued();
  const auto frame = Must(Encode(EnrolmentAnswer(issued)));
  const auto read = std::get<IssuedAnswer>(Must(DecodeAnswer(BodyOf(frame))));
  EXPECT_EQ(read.party, issued.party);
  EXPECT_EQ(read.cluster, issued.cluster);
  EXPECT_EQ(read.uuid, issued.uuid);
  EXPECT_EQ(read.name, issued.name);
  EXPECT_EQ(read.renewals, issued.renewals);
  EXPECT_EQ(read.chain, issued.chain);
  EXPECT_EQ(read.roots, issued.roots);
  EXPECT_EQ(read.signers.keys, issued.signers.keys);
  EXPECT_EQ(read.controllers, issued.controllers);
  EXPECT_EQ(read.enrolment, issued.enrolment);

  const auto judged_frame = Must(Encode(EnrolmentAnswer(JudgedAnswer{Noon(), true, "fine"})));
  const auto judged = std::get<JudgedAnswer>(Must(DecodeAnswer(BodyOf(judged_frame))));
  EXPECT_EQ(judged.clock, Noon());
  EXPECT_TRUE(judged.admitted);
  EXPECT_EQ(judged.sentence, "fine");

  const auto refused_frame =
      Must(Encode(EnrolmentAnswer(RefusedAnswer{Code::kPermissionDenied, "no: \"\n\xff\xe2\x80\xa6\""})));
  const auto refused = std::get<RefusedAnswer>(Must(DecodeAnswer(BodyOf(refused_frame))));
  EXPECT_EQ(refused.code, Code::kPermissionDenied);
  EXPECT_EQ(refused.sentence.find('\n'), std::string::npos);
  EXPECT_EQ(refused.sentence.substr(0, 3), "no:");
}

TEST(EnrolmentMessage, AnyCutAndAnyByteBehindIsRefused) {
  const auto join = Must(Encode(AJoin()));
  const auto why = Must(Encode(WhyRequest{.chain = {NodeLeaf()}, .clock = Noon()}));
  const auto recover = Must(Encode(RecoverRequest{.id = "gpu-001", .csr = Csr()}));
  for (const std::string_view frame : {join.Reveal(), std::string_view(why), std::string_view(recover)}) {
    const std::string_view body = BodyOf(frame);
    for (std::size_t size = 0; size < body.size(); ++size)
      EXPECT_FALSE(DecodeRequest(body.substr(0, size)).ok()) << size;
    ExpectRefused(DecodeRequest(std::string(body) + "x"), Code::kInvalidArgument, "behind it");
  }
  const auto issued = Must(Encode(EnrolmentAnswer(AnIssued())));
  const std::string_view body = BodyOf(issued);
  for (std::size_t size = 0; size < body.size(); ++size)
    EXPECT_FALSE(DecodeAnswer(body.substr(0, size)).ok()) << size;
  ExpectRefused(DecodeAnswer(std::string(body) + "x"), Code::kInvalidArgument, "behind it");
}

TEST(EnrolmentMessage, OtherProtocolsVersionsAndSizesAreNamed) {
  using namespace std::string_view_literals;
  ExpectRefused(BodyBytes("GET / H"), Code::kInvalidArgument, "another protocol");
  ExpectRefused(BodyBytes("RWEN\x02\x00\x01"sv), Code::kInvalidArgument, "its version is 2");
  ExpectRefused(BodyBytes("RWEN\x01\x00\x00"sv), Code::kInvalidArgument, "a body of 0 bytes");
  ExpectRefused(BodyBytes("RWEN\x01\xff\xff"sv), Code::kInvalidArgument, "a body of 65535 bytes");
  ExpectRefused(BodyBytes("RWEN\x01\x00"sv), Code::kInvalidArgument, "cut short");
  EXPECT_EQ(Must(BodyBytes("RWEN\x01\x3f\xf9"sv)), kMostFrameBytes - kFrameHeadBytes);
  ExpectRefused(BodyBytes("RWEN\x01\x3f\xfa"sv), Code::kInvalidArgument, "allowed: 1 to 16377");
}

TEST(EnrolmentMessage, WhatIsOutOfItsRangeIsNotWritten) {
  auto join = AJoin();
  join.name = std::string(65, 'x');
  EXPECT_EQ(Encode(join).status().code(), Code::kInvalidArgument);
  join.name = "gpu\n1";
  EXPECT_EQ(Encode(join).status().code(), Code::kInvalidArgument);
  EXPECT_FALSE(Encode(RecoverRequest{.party = Party::kController, .id = "x", .csr = "x"}).ok());
  EXPECT_FALSE(Encode(WhyRequest{.chain = {}, .clock = Noon()}).ok());
  EXPECT_FALSE(Encode(WhyRequest{.chain = {NodeLeaf()}, .clock = Time(std::chrono::seconds(-1))}).ok());
  auto issued = AnIssued();
  issued.uuid = "";
  EXPECT_FALSE(Encode(EnrolmentAnswer(issued)).ok());
  issued = AnIssued();
  issued.signers.threshold = 2;
  EXPECT_FALSE(Encode(EnrolmentAnswer(issued)).ok());
}

TEST(EnrolmentMessage, NoErrorSaysAWordOfTheToken) {
  const auto request = AJoin();
  const auto frame = Must(Encode(request));
  const std::string_view body = BodyOf(frame.Reveal());
  const auto text = request.token.Text();
  for (std::size_t at = 0; at < 60; ++at) {
    std::string changed(body);
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    const auto read = DecodeRequest(changed);
    if (read.ok()) continue;
    EXPECT_EQ(read.status().message().find(std::string(text.Reveal().substr(20, 8))), std::string::npos)
        << read.status().message();
  }
}

}  // namespace
}  // namespace railwright::identity
