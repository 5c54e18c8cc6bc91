// Statements for nodes: numbers, chains, renewals, signatures of others, and what is never signed.
#include "controller/sign/state_signer.h"

#include <gtest/gtest.h>

#include "core/identity/floor.h"
#include "tests/support/memory_statements.h"
#include "tests/support/sim_clock.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;
using identity::Floor;
using identity::KeyKind;
using identity::OpenedEnvelope;
using identity::PrivateKey;
using identity::StatementNumber;

std::string UuidOf(int n) {
  char text[40];
  std::snprintf(text, sizeof text, "0f8fad5b-d9cb-469f-a165-%012d", n);
  return text;
}
PrivateKey NewKey() { return std::move(PrivateKey::Generate(KeyKind::kEd25519)).value(); }
const PrivateKey& Key(std::size_t which) {
  static const std::vector<PrivateKey> keys = [] {
    std::vector<PrivateKey> made;
    for (int i = 0; i < 3; ++i) made.push_back(NewKey());
    return made;
  }();
  return keys[which];
}

class StateSignerTest : public testing::Test {
 protected:
  /// A new life of the controller over the same store.
  void Start(bool on_host = true, std::size_t keys = 1, std::size_t threshold = 1) {
    trusted = {};
    for (std::size_t i = 0; i < keys; ++i) trusted.keys.push_back(Key(i).public_key());
    trusted.threshold = threshold;
    signer = std::make_unique<StateSigner>(SigningTerms{.cluster = *identity::ClusterName::Parse("pod-a"),
                                                        .signers = trusted,
                                                        .key = on_host ? &Key(0) : nullptr},
                                           store, clock);
    ASSERT_TRUE(signer->Load().ok());
  }
  void SetUp() override { Start(); }

  static ToEndorse Wanted(std::uint64_t generation, const std::string& content = "payload", int node = 1) {
    return {.node = "gpu-00" + std::to_string(node),
            .uuid = UuidOf(node),
            .generation = generation,
            .author = "ann",
            .hash = identity::Hex(*identity::Sha256(content)),
            .bytes = content.size()};
  }
  Result<Endorsed> Endorse(const ToEndorse& wanted) { return signer->Endorse({wanted}).front(); }
  /// What a node that has accepted `opened` says.
  static ToEndorse Holding(ToEndorse wanted, const OpenedEnvelope& opened, bool holds_hash = false) {
    wanted.held_number = opened.statement.generation;
    wanted.held_digest = identity::Bytes(opened.digest);
    wanted.holds_hash = holds_hash;
    return wanted;
  }
  /// Endorsed, opened and taken by a node, as a node does.
  OpenedEnvelope Taken(const ToEndorse& wanted, Floor& of_node) {
    const auto endorsed = Endorse(wanted);
    EXPECT_TRUE(endorsed.ok()) << endorsed.status().message();
    auto opened = identity::Open(endorsed->envelope, trusted,
                                 {.cluster = *identity::ClusterName::Parse("pod-a"),
                                  .node = *identity::NodeUuid::Parse(wanted.uuid),
                                  .groups = {}},
                                 clock.WallNow());
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    const auto next = of_node.Judge(*opened, trusted);
    EXPECT_TRUE(next.ok()) << next.status().message();
    of_node.Raise(*opened);
    EXPECT_EQ(StatementNumber::Of(opened->statement.generation), endorsed->number);
    return std::move(*opened);
  }
  void ExpectRefused(const ToEndorse& wanted, Code code, const std::string& words) {
    const auto endorsed = Endorse(wanted);
    ASSERT_FALSE(endorsed.ok()) << words;
    EXPECT_EQ(endorsed.status().code(), code);
    EXPECT_NE(endorsed.status().message().find(words), std::string::npos) << endorsed.status().message();
  }
  SignatureOffer Offer(const Unsigned& one, std::size_t key, bool own_line) const {
    identity::Statement said = *identity::Statement::Decode(one.statement);
    if (own_line) said.line = Key(key).public_key().pin();
    const std::string bytes = *said.Encode();
    return {one.node, bytes, *identity::SignStatement(bytes, Key(key))};
  }

  MemoryStatements store;
  SimClock clock;
  identity::TrustedSigners trusted;
  std::unique_ptr<StateSigner> signer;
  Floor floor;
};

TEST_F(StateSignerTest, GenerationsOfANodeAreNumberedAndChained) {
  const OpenedEnvelope first = Taken(Wanted(1), floor), second = Taken(Wanted(2, "other"), floor);
  EXPECT_EQ(first.statement.previous, identity::Digest());
  EXPECT_EQ(second.statement.previous, first.digest);
  EXPECT_EQ(StatementNumber::Of(second.statement.generation), (StatementNumber{2, 0}));
  EXPECT_EQ(second.statement.created_by, "ann");
  EXPECT_EQ(second.statement.not_after - second.statement.not_before, SigningTerms::kValidity);
}

TEST_F(StateSignerTest, TheSameContentIsNotSignedAgainWithANewGenerationOrAfterARestart) {
  const std::string envelope = Endorse(Wanted(1))->envelope;
  EXPECT_EQ(Endorse(Wanted(5))->envelope, envelope);
  Start();
  EXPECT_EQ(Endorse(Wanted(5))->envelope, envelope);
  EXPECT_EQ(Endorse(Wanted(5))->number.generation, 1U);
  EXPECT_EQ(store.commits, 1);
}

TEST_F(StateSignerTest, AThirdOfTheValidityLaterItIsRenewedWithTheNextIssue) {
  const OpenedEnvelope first = Taken(Wanted(3), floor);
  clock.Advance(9 * 24h);
  EXPECT_EQ(Endorse(Wanted(3))->number.issue, 0U);
  clock.Advance(2 * 24h);
  const OpenedEnvelope second = Taken(Holding(Wanted(3), first, true), floor);
  EXPECT_EQ(StatementNumber::Of(second.statement.generation), (StatementNumber{3, 1}));
  EXPECT_EQ(second.statement.previous, first.digest);
  EXPECT_EQ(second.statement.payload_sha256, first.statement.payload_sha256);
  // A node that missed one renewal takes the one after it.
  clock.Advance(11 * 24h);
  (void)Endorse(Wanted(3));
  clock.Advance(11 * 24h);
  EXPECT_EQ(StatementNumber::Of(Taken(Holding(Wanted(3), second, true), floor).statement.generation).issue,
            3U);
  Taken(Wanted(4, "other"), floor);
}

TEST_F(StateSignerTest, OtherBytesOfTheSameGenerationAreItsNextIssue) {
  // A newer build of the controller makes other bytes of the same documents.
  const OpenedEnvelope first = Taken(Wanted(3), floor);
  const OpenedEnvelope second = Taken(Holding(Wanted(3, "as a newer build says it"), first), floor);
  EXPECT_EQ(StatementNumber::Of(second.statement.generation), (StatementNumber{3, 1}));
}

TEST_F(StateSignerTest, NothingIsSignedBelowWhatANodeHolds) {
  const OpenedEnvelope newest = Taken(Wanted(9), floor);
  store = {};  // a backup from before
  Start();
  ExpectRefused(Holding(Wanted(4, "old"), newest), Code::kFailedPrecondition,
                "the node holds generation 9, this controller only has generation 4");
  ExpectRefused(Holding(Wanted(9, "another nine"), newest), Code::kFailedPrecondition,
                "which this controller did not sign");
  const OpenedEnvelope next = Taken(Holding(Wanted(10, "new"), newest), floor);
  EXPECT_EQ(next.statement.previous, newest.digest) << "it goes on from what the node holds";
}

TEST_F(StateSignerTest, AStoreThatWasLostCostsANumberAndNothingElse) {
  const OpenedEnvelope held = Taken(Wanted(9), floor);
  store = {};
  Start();
  const OpenedEnvelope again = Taken(Holding(Wanted(9), held, true), floor);
  EXPECT_EQ(StatementNumber::Of(again.statement.generation), (StatementNumber{9, 1}));
  Taken(Wanted(10, "new"), floor);
}

TEST_F(StateSignerTest, ANodeThatJoinedAnewIsSignedForAnew) {
  (void)Endorse(Wanted(3));
  ToEndorse wanted = Wanted(3);
  wanted.uuid = UuidOf(77);
  Floor fresh;
  EXPECT_EQ(Taken(wanted, fresh).statement.audience.node(), UuidOf(77));
}

TEST_F(StateSignerTest, WhoHasNotJoinedIsNotSignedFor) {
  ToEndorse wanted = Wanted(3);
  wanted.uuid.clear();
  ExpectRefused(wanted, Code::kFailedPrecondition, "gpu-001 has not joined");
}

TEST_F(StateSignerTest, WhatCannotBeRememberedIsNotHandedOut) {
  store.failure = Status(Code::kResourceExhausted, "disk full");
  ExpectRefused(Wanted(3), Code::kResourceExhausted, "disk full");
  store.failure = Ok();
  EXPECT_TRUE(Endorse(Wanted(3)).ok());
}

TEST_F(StateSignerTest, ARevokedKeysStatementsAreMadeAnewByTheOther) {
  const OpenedEnvelope first = Taken(Wanted(3), floor);
  trusted = {.keys = {Key(0).public_key(), Key(1).public_key()},
             .revoked = {Key(0).public_key().pin()},
             .threshold = 1};
  signer = std::make_unique<StateSigner>(
      SigningTerms{.cluster = *identity::ClusterName::Parse("pod-a"), .signers = trusted, .key = &Key(1)},
      store, clock);
  ASSERT_TRUE(signer->Load().ok());
  const OpenedEnvelope second = Taken(Holding(Wanted(3), first, true), floor);
  EXPECT_EQ(second.statement.line, Key(1).public_key().pin());
}

TEST_F(StateSignerTest, WithTheKeyElsewhereItWaitsForTheSignatureAlsoOverARestart) {
  Start(false);
  ExpectRefused(Wanted(3), Code::kUnavailable,
                "0 of 1 signatures that it needs; next, where the key is: railctl sign");
  Start(false);
  ASSERT_EQ(signer->Waiting().size(), 1U);
  const Unsigned one = signer->Waiting().front();
  ExpectRefused(Wanted(3), Code::kUnavailable, "railctl sign");
  EXPECT_EQ(signer->Waiting().front().statement, one.statement) << "the same is asked for";
  EXPECT_EQ(*signer->AddSignatures({Offer(one, 0, true)}), 1U);
  EXPECT_TRUE(signer->Waiting().empty());
  const OpenedEnvelope opened = Taken(Wanted(3), floor);
  EXPECT_EQ(opened.statement.not_after - opened.statement.not_before, SigningTerms::kValidityOffHost);
}

TEST_F(StateSignerTest, AnyTwoOfThreeSigners) {
  for (const auto& [first, second] :
       std::vector<std::pair<std::size_t, std::size_t>>{{0, 1}, {1, 2}, {2, 0}}) {
    store = {};
    floor = {};
    Start(false, 3, 2);
    ExpectRefused(Wanted(3), Code::kUnavailable, "0 of 2");
    ASSERT_TRUE(signer->AddSignatures({Offer(signer->Waiting().front(), first, true)}).ok());
    ExpectRefused(Wanted(3), Code::kUnavailable, "1 of 2");
    EXPECT_EQ(signer->Waiting().front().signed_by, std::vector{Key(first).public_key().pin()});
    ASSERT_TRUE(signer->AddSignatures({Offer(signer->Waiting().front(), first, false)}).ok());
    ExpectRefused(Wanted(3), Code::kUnavailable, "1 of 2");  // the same signer twice is one
    ASSERT_TRUE(signer->AddSignatures({Offer(signer->Waiting().front(), second, false)}).ok());
    EXPECT_EQ(Taken(Wanted(3), floor).signers.size(), 2U);
  }
}

TEST_F(StateSignerTest, ARenewalThatWaitsForSignaturesDoesNotTakeTheOldOneAway) {
  Start(false);
  (void)Endorse(Wanted(3));
  ASSERT_TRUE(signer->AddSignatures({Offer(signer->Waiting().front(), 0, true)}).ok());
  const OpenedEnvelope first = Taken(Wanted(3), floor);
  clock.Advance(61 * 24h);
  EXPECT_EQ(Endorse(Holding(Wanted(3), first, true))->number.issue, 0U);
  ASSERT_EQ(signer->Waiting().size(), 1U);
  const std::string statement = signer->Waiting().front().statement;
  (void)Endorse(Holding(Wanted(3), first, true));
  EXPECT_EQ(signer->Waiting().front().statement, statement);
  ASSERT_TRUE(signer->AddSignatures({Offer(signer->Waiting().front(), 0, true)}).ok());
  EXPECT_EQ(StatementNumber::Of(Taken(Holding(Wanted(3), first, true), floor).statement.generation).issue,
            1U);
}

TEST_F(StateSignerTest, WrongSignaturesAreRefusedAndNoneOfTheirLotIsTaken) {
  Start(false, 2);
  (void)signer->Endorse({Wanted(3), Wanted(3, "payload", 2)});
  const auto waiting = signer->Waiting();
  ASSERT_EQ(waiting.size(), 2U);
  const SignatureOffer good = Offer(waiting[0], 0, true);
  const auto refused = [&](const SignatureOffer& bad, Code code, const std::string& words) {
    const auto taken = signer->AddSignatures({good, bad});
    ASSERT_FALSE(taken.ok()) << words;
    EXPECT_EQ(taken.status().code(), code);
    EXPECT_NE(taken.status().message().find(words), std::string::npos) << taken.status().message();
    EXPECT_EQ(signer->Waiting().size(), 2U);
  };
  SignatureOffer flipped = Offer(waiting[1], 0, true);
  flipped.signature.bytes[5] ^= 1;
  refused(flipped, Code::kUnauthenticated, "node gpu-002: the signed state is refused: bad signature");
  refused(Offer(waiting[1], 2, true), Code::kUnauthenticated, "unknown key");
  SignatureOffer elsewhere = Offer(waiting[1], 0, true);
  elsewhere.node = "gpu-009";
  refused(elsewhere, Code::kNotFound, "gpu-009");
  SignatureOffer longer = Offer(waiting[1], 0, true);
  identity::Statement said = *identity::Statement::Decode(longer.statement);
  said.not_after += 1000h;
  longer.statement = *said.Encode();
  longer.signature = *identity::SignStatement(longer.statement, Key(0));
  refused(longer, Code::kInvalidArgument, "it is not the statement that waits");
}

}  // namespace
}  // namespace railwright
