#include "core/identity/envelope.h"

#include <algorithm>

#include "tests/identity/world.h"

namespace railwright::identity {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const PrivateKey& Key(std::size_t which) {
  static const std::vector<PrivateKey> keys = [] {
    std::vector<PrivateKey> made;
    for (int i = 0; i < 4; ++i) made.push_back(NewKey(KeyKind::kEd25519));
    return made;
  }();
  return keys[which];
}
Pin PinOf(std::size_t which) { return Key(which).public_key().pin(); }

constexpr std::string_view kPayload = "kind: Profile\n";

Statement Said() {
  return {.schema = 3,
          .cluster = Cluster(),
          .audience = Audience::Node(Uuid()),
          .line = PinOf(0),
          .generation = 7,
          .previous = Must(Sha256("generation 6")),
          .not_before = Noon(),
          .not_after = Noon() + hours(24),
          .created_by = "spiffe://pod-a/operator/ada",
          .payload_bytes = static_cast<std::uint32_t>(kPayload.size()),
          .payload_sha256 = Must(Sha256(kPayload))};
}

std::string Sealed(const Statement& said, const std::vector<std::size_t>& signers = {0}) {
  const std::string bytes = Must(said.Encode());
  std::vector<StatementSignature> signatures;
  for (const std::size_t one : signers) signatures.push_back(Must(SignStatement(bytes, Key(one))));
  return Must(MakeEnvelope(bytes, signatures));
}

TrustedSigners Trusted(const std::vector<std::size_t>& keys = {0}, std::size_t threshold = 1) {
  TrustedSigners trusted{.keys = {}, .revoked = {}, .threshold = threshold};
  for (const std::size_t one : keys) trusted.keys.push_back(Key(one).public_key());
  return trusted;
}

Addressee Me(int node = 1) { return {.cluster = Cluster(), .node = Uuid(node), .groups = {}}; }

std::string Flipped(std::string bytes, std::size_t bit) {
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
  return bytes;
}

TEST(Envelope, OpensAsItWasSaid) {
  const Statement said = Said();
  const OpenedEnvelope opened = Must(Open(Sealed(said), Trusted(), Me(), Noon()));
  EXPECT_EQ(opened.statement, said);
  EXPECT_EQ(opened.digest, Must(Sha256(Must(said.Encode()))));
  EXPECT_EQ(opened.signers, std::vector<Pin>{PinOf(0)});
  EXPECT_TRUE(opened.CheckPayload(kPayload).ok());
}

TEST(Envelope, EveryFlippedBitIsRefused) {
  for (const auto& [signers, threshold] :
       std::vector<std::pair<std::vector<std::size_t>, std::size_t>>{{{0}, 1}, {{0, 1}, 2}}) {
    const std::string bytes = Sealed(Said(), signers);
    const TrustedSigners trusted = Trusted({0, 1, 2}, threshold);
    ASSERT_TRUE(Open(bytes, trusted, Me(), Noon()).ok());
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit)
      ASSERT_FALSE(Open(Flipped(bytes, bit), trusted, Me(), Noon()).ok())
          << "bit " << bit % 8 << " of byte " << bit / 8;
  }
}

TEST(Envelope, AFlippedBitOfAnEnvelopeWithMoreSignaturesThanNeededChangesNothingThatWasSaid) {
  const std::string bytes = Sealed(Said(), {0, 1, 2});
  const TrustedSigners trusted = Trusted({0, 1, 2}, 2);
  int opened = 0;
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const auto one = Open(Flipped(bytes, bit), trusted, Me(), Noon());
    if (!one.ok()) continue;
    ++opened;
    ASSERT_EQ(one->statement, Said());
    ASSERT_EQ(one->signers.size(), 2U) << "the flipped name of a key must not count";
  }
  EXPECT_GT(opened, 0) << "a signature whose key became unknown adds nothing, and takes nothing away";
}

TEST(Envelope, CutOrExtendedItIsRefused) {
  const std::string bytes = Sealed(Said());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    ASSERT_EQ(Open(bytes.substr(0, size), Trusted(), Me(), Noon()).status().code(), Code::kInvalidArgument)
        << size;
  ExpectRefused(Open(bytes + '\0', Trusted(), Me(), Noon()), Code::kInvalidArgument,
                "1 bytes too many at its end");
}

TEST(Envelope, TooLargeItIsNotLookedAt) {
  std::string bytes = Sealed(Said());
  bytes.resize(kMostEnvelopeBytes, '\0');
  ExpectRefused(Open(bytes, Trusted(), Me(), Noon()), Code::kInvalidArgument, "too many at its end");
  ExpectRefused(Open(bytes + '\0', Trusted(), Me(), Noon()), Code::kInvalidArgument,
                "65537 bytes; at most 65536");
}

TEST(Envelope, UnknownVersionsAreNamed) {
  std::string bytes = Sealed(Said());
  bytes[4] = 2;
  ExpectRefused(Open(bytes, Trusted(), Me(), Noon()), Code::kInvalidArgument,
                "envelope: version 2 is not known");
  bytes[4] = 1;
  bytes[9] = 9;
  ExpectRefused(Open(bytes, Trusted(), Me(), Noon()), Code::kInvalidArgument,
                "statement: version 9 is not known");
}

TEST(Envelope, AnUnknownKeyIsNamed) {
  ExpectRefused(Open(Sealed(Said()), Trusted({1}), Me(), Noon()), Code::kUnauthenticated,
                "0 of 1 signatures that it needs; signed by unknown key " + PinOf(0).Text());
}

TEST(Envelope, ARevokedKeyIsNamed) {
  TrustedSigners trusted = Trusted({0, 1});
  trusted.revoked.insert(PinOf(0));
  ExpectRefused(Open(Sealed(Said()), trusted, Me(), Noon()), Code::kUnauthenticated,
                "signed by revoked key " + PinOf(0).Text());
  ExpectRefused(Open(Sealed(Said(), {0, 1}), trusted, Me(), Noon()), Code::kUnauthenticated,
                "in the line of the revoked key " + PinOf(0).Text());
  Statement other = Said();
  other.line = PinOf(1);
  EXPECT_EQ(Must(Open(Sealed(other, {0, 1}), trusted, Me(), Noon())).signers, std::vector<Pin>{PinOf(1)});
}

TEST(Envelope, ABadSignatureIsNeverOutvoted) {
  const std::string bytes = Must(Said().Encode());
  Statement other = Said();
  other.generation = 8;
  std::vector<StatementSignature> signatures = {Must(SignStatement(bytes, Key(0))),
                                                Must(SignStatement(bytes, Key(1))),
                                                Must(SignStatement(Must(other.Encode()), Key(2)))};
  ExpectRefused(Open(Must(MakeEnvelope(bytes, signatures)), Trusted({0, 1, 2}, 1), Me(), Noon()),
                Code::kUnauthenticated, "bad signature of the key " + PinOf(2).Text());
}

TEST(Envelope, MOfNMustHaveSigned) {
  const TrustedSigners two_of_three = Trusted({0, 1, 2}, 2);
  EXPECT_TRUE(Open(Sealed(Said(), {0, 1}), two_of_three, Me(), Noon()).ok());
  EXPECT_EQ(Must(Open(Sealed(Said(), {2, 1, 0}), two_of_three, Me(), Noon())).signers.size(), 3U);
  ExpectRefused(Open(Sealed(Said(), {0}), two_of_three, Me(), Noon()), Code::kUnauthenticated,
                "1 of 2 signatures");
  ExpectRefused(Open(Sealed(Said(), {0, 3}), two_of_three, Me(), Noon()), Code::kUnauthenticated,
                "signed by unknown key " + PinOf(3).Text());
}

TEST(Envelope, OneKeyCountsOnce) {
  const std::string bytes = Must(Said().Encode());
  const StatementSignature one = Must(SignStatement(bytes, Key(0)));
  ExpectRefused(MakeEnvelope(bytes, {one, one}), Code::kInvalidArgument, "ascending order");
  // The same key listed twice among the trusted is one key as well.
  ExpectRefused(Open(Sealed(Said()), Trusted({0, 0}, 2), Me(), Noon()), Code::kFailedPrecondition,
                "1 keys may give one");
}

TEST(Envelope, SignersWhoCanNeverBeEnoughAreAMistake) {
  ExpectRefused(Open(Sealed(Said()), Trusted({0}, 0), Me(), Noon()), Code::kFailedPrecondition,
                "0 signatures");
  ExpectRefused(Open(Sealed(Said()), Trusted({0, 1}, 3), Me(), Noon()), Code::kFailedPrecondition,
                "3 signatures");
  ExpectRefused(Open(Sealed(Said()), Trusted({}, 1), Me(), Noon()), Code::kFailedPrecondition, "0 keys");
  TrustedSigners tls{.keys = {NodeKey()}, .revoked = {}, .threshold = 1};
  ExpectRefused(Open(Sealed(Said()), tls, Me(), Noon()), Code::kFailedPrecondition, "0 keys");
}

TEST(Envelope, TheLinesKeyMustHaveSigned) {
  const std::string bytes = Must(Said().Encode());
  ExpectRefused(MakeEnvelope(bytes, {Must(SignStatement(bytes, Key(1)))}), Code::kInvalidArgument,
                "has not signed");
  Statement other = Said();
  other.line = PinOf(3);
  ExpectRefused(Open(Sealed(other, {0, 3}), Trusted({0, 1}), Me(), Noon()), Code::kUnauthenticated,
                "in the line of the unknown key");
}

TEST(Envelope, IsForItsClusterAndNode) {
  const std::string bytes = Sealed(Said());
  ExpectRefused(Open(bytes, Trusted(), Me(2), Noon()), Code::kPermissionDenied, "not addressed to this node");
  Addressee elsewhere = Me();
  elsewhere.cluster = Cluster("pod-b");
  ExpectRefused(Open(bytes, Trusted(), elsewhere, Noon()), Code::kPermissionDenied,
                "for the cluster pod-a, this is pod-b");
}

TEST(Envelope, IsForTheMembersOfItsGroup) {
  const Digest group = Must(Sha256("rack r1"));
  Statement said = Said();
  said.audience = Audience::Group(group);
  const std::string bytes = Sealed(said);
  Addressee member = Me(2);
  ExpectRefused(Open(bytes, Trusted(), member, Noon()), Code::kPermissionDenied, "group " + Hex(group));
  member.groups.insert(group);
  EXPECT_TRUE(Open(bytes, Trusted(), member, Noon()).ok());
}

TEST(Envelope, TimesHaveEdgesWithTheSkew) {
  const std::string bytes = Sealed(Said());
  const auto at = [&](Time now) { return Open(bytes, Trusted(), Me(), now); };
  EXPECT_TRUE(at(Noon() - minutes(5)).ok());
  ExpectRefused(
      at(Noon() - minutes(5) - seconds(1)), Code::kFailedPrecondition,
      "not yet valid: it begins at 2026-12-01T10:00:00Z, in 5 min 1 s; this clock says 2026-12-01T09:54:59Z");
  EXPECT_TRUE(at(Noon() + hours(24) + minutes(5)).ok());
  ExpectRefused(at(Noon() + hours(24) + minutes(5) + seconds(1)), Code::kFailedPrecondition, "expired");
  ExpectRefused(at(Time::max()), Code::kFailedPrecondition, "expired");
  ExpectRefused(at(Time()), Code::kFailedPrecondition, "not yet valid");
}

TEST(Envelope, WhatWasAcceptedIsOpenedAlsoWhenItHasExpired) {
  const OpenedEnvelope opened = Must(OpenAccepted(Sealed(Said()), Trusted(), Me()));
  EXPECT_EQ(opened.CheckTime(Noon() + hours(48)).code(), Code::kFailedPrecondition);
  EXPECT_EQ(OpenAccepted(Flipped(Sealed(Said()), 999), Trusted(), Me()).ok(), false);
}

TEST(Envelope, ThePayloadIsTheOneThatWasSignedFor) {
  const OpenedEnvelope opened = Must(Open(Sealed(Said()), Trusted(), Me(), Noon()));
  for (std::size_t bit = 0; bit < kPayload.size() * 8; ++bit)
    EXPECT_EQ(opened.CheckPayload(Flipped(std::string(kPayload), bit)).code(), Code::kUnauthenticated);
  EXPECT_NE(opened.CheckPayload(std::string(kPayload) + "x").message().find("15 bytes, signed are 14"),
            std::string::npos);
  EXPECT_FALSE(opened.CheckPayload("").ok());
}

TEST(SignStatement, SignsStatementsOnly) {
  ExpectRefused(SignStatement("anything", Key(0)), Code::kInvalidArgument, "a statement");
  ExpectRefused(SignStatement(Must(Said().Encode()), NewKey()), Code::kFailedPrecondition, "Ed25519");
}

TEST(Statement, EveryFieldIsInItsBytes) {
  const Statement said = Said();
  const std::string bytes = Must(said.Encode());
  std::vector<Statement> others(10, said);
  others[0].schema = 4;
  others[1].cluster = Cluster("pod-b");
  others[2].audience = Audience::Node(Uuid(2));
  others[3].line = PinOf(1);
  others[4].generation = 8;
  others[5].previous[31] ^= 1;
  others[6].not_before += seconds(1);
  others[7].not_after += seconds(1);
  others[8].created_by = "ada";
  others[9].payload_sha256[0] ^= 1;
  for (const Statement& other : others) {
    EXPECT_NE(Must(other.Encode()), bytes);
    EXPECT_EQ(Must(Statement::Decode(Must(other.Encode()))), other);
  }
}

TEST(Statement, ItsBytesAreAsTheHeaderSays) {
  // Written by hand from the layout in statement.h.
  const std::string expected = std::string("\x01\x00\x00\x00\x03\x05pod-a\x01\x24", 13) + Uuid().text() +
                               std::string(Bytes(PinOf(0).digest())) + std::string("\0\0\0\0\0\0\0\x07", 8) +
                               std::string(Bytes(Must(Sha256("generation 6")))) +
                               std::string("\0\0\0\0\x6b\x0e\x9a\xa0\0\0\0\0\x6b\x0f\xec\x20", 16) +
                               "\x1bspiffe://pod-a/operator/ada" + std::string("\0\0\0\x0e", 4) +
                               std::string(Bytes(Must(Sha256(kPayload))));
  EXPECT_EQ(Hex(Must(Said().Encode())), Hex(expected));
}

TEST(Statement, FieldsHaveRanges) {
  const auto refused = [](auto change, std::string_view words) {
    Statement one = Said();
    change(one);
    ExpectRefused(one.Encode(), Code::kInvalidArgument, words);
  };
  refused([](Statement& one) { one.schema = 0; }, "schema 0");
  refused([](Statement& one) { one.generation = 0; }, "generation 0");
  refused([](Statement& one) { one.not_after = one.not_before; }, "ends before");
  refused([](Statement& one) { one.not_before += std::chrono::milliseconds(1); }, "whole seconds");
  refused([](Statement& one) { one.not_before = Time() - seconds(1); }, "whole seconds");
  refused([](Statement& one) { one.created_by = ""; }, "created_by");
  refused([](Statement& one) { one.created_by = "ada\n"; }, "created_by");
  refused([](Statement& one) { one.created_by = std::string(256, 'a'); }, "created_by");
  refused([](Statement& one) { one.payload_bytes = 0; }, "payload of 0 bytes");
  refused([](Statement& one) { one.payload_bytes = 1024 * 1024 + 1; }, "payload of 1048577 bytes");
  Statement most = Said();
  most.payload_bytes = 1024 * 1024;
  most.created_by = std::string(255, 'a');
  EXPECT_EQ(Must(Statement::Decode(Must(most.Encode()))), most);
}

}  // namespace
}  // namespace railwright::identity
