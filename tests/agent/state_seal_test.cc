// The seal alone: what is refused before anything of a state is parsed, and why.
#include "agent/loop/state_seal.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/files/whole_file.h"
#include "tests/agent/temporary_directory.h"
#include "tests/support/rounds.h"
#include "tests/support/test_signer.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;
using identity::KeyKind;
using identity::PrivateKey;
using identity::Statement;
using identity::Time;

constexpr Time kNow{std::chrono::seconds(1'796'119'200)};  // 2026-12-01T10:00:00Z

PrivateKey NewKey() { return std::move(PrivateKey::Generate(KeyKind::kEd25519)).value(); }

class StateSealTest : public testing::Test {
 protected:
  void Reopen() {
    seal = std::make_unique<StateSeal>(directory.path(), [this] { return trust; });
    (void)seal->Open();
  }
  void SetUp() override { Reopen(); }

  v1::DesiredState State(std::uint64_t generation, const std::string& group = "group") const {
    return signer.Signed(generation, group, "overlay of gpu-001");
  }
  /// A state whose statement is changed before it is signed.
  v1::DesiredState Said(const std::function<void(Statement&)>& change, std::uint64_t generation = 7) const {
    v1::DesiredState message = State(generation);
    Statement said = signer.Said(message);
    change(said);
    message.set_envelope(signer.Envelope(said));
    return message;
  }
  void Accept(const v1::DesiredState& message) {
    const auto opened = seal->Check(message, kNow);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    ASSERT_TRUE(seal->Raise(*opened).ok());
  }
  void ExpectRefused(const v1::DesiredState& message, Code code, const std::string& words) {
    const auto opened = seal->Check(message, kNow);
    ASSERT_FALSE(opened.ok()) << "accepted; expected: " << words;
    EXPECT_EQ(opened.status().code(), code) << opened.status().message();
    EXPECT_NE(opened.status().message().find(words), std::string::npos) << opened.status().message();
  }

  TemporaryDirectory directory;
  TestSigner signer;
  Result<NodeTrust> trust = signer.Trust();
  std::unique_ptr<StateSeal> seal;
};

TEST_F(StateSealTest, ASignedStateIsTakenAndItsNumberIsTheFloorAlsoAfterARestart) {
  Accept(State(7));
  EXPECT_EQ(identity::StatementNumber::Of(seal->newest().generation).Text(), "generation 7");
  const auto before = seal->newest();
  Reopen();
  EXPECT_EQ(seal->newest(), before);
  EXPECT_TRUE(seal->Check(State(7), kNow).ok()) << "the same again is no replay";
  Accept(State(9));
}

TEST_F(StateSealTest, NoneOfAHundredThousandOlderStatesIsEverTaken) {
  // Slow machines check some thousand signatures a second, so the fast run takes fewer.
  const int tries = Rounds(4'000, 100'000);
  Accept(State(static_cast<std::uint64_t>(tries) + 1));
  int taken = 0;
  for (int generation = 1; generation <= tries; ++generation) {
    const auto opened = seal->Check(State(static_cast<std::uint64_t>(generation)), kNow);
    taken += opened.ok();
    if (!opened.ok() && opened.status().message().find("is older than") == std::string::npos)
      FAIL() << opened.status().message();
  }
  EXPECT_EQ(taken, 0);
}

TEST_F(StateSealTest, NoFlippedBitOfEnvelopePayloadGenerationOrHashIsTaken) {
  const v1::DesiredState good = State(7);
  ASSERT_TRUE(seal->Check(good, kNow).ok());
  int taken = 0;
  const auto flip = [&](std::string* (v1::DesiredState::*field)()) {
    v1::DesiredState message = good;
    std::string& bytes = *(message.*field)();
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      const char was = bytes[bit / 8];
      bytes[bit / 8] = static_cast<char>(was ^ 1 << bit % 8);
      taken += seal->Check(message, kNow).ok();
      bytes[bit / 8] = was;
    }
    EXPECT_TRUE(seal->Check(message, kNow).ok()) << "put back it is the good one";
  };
  flip(&v1::DesiredState::mutable_envelope);
  flip(&v1::DesiredState::mutable_group);
  flip(&v1::DesiredState::mutable_overlay);
  flip(&v1::DesiredState::mutable_hash);
  for (int bit = 0; bit < 64; ++bit) {
    v1::DesiredState message = good;
    message.set_generation(good.generation() ^ std::uint64_t{1} << bit);
    taken += seal->Check(message, kNow).ok();
  }
  EXPECT_EQ(taken, 0);
}

TEST_F(StateSealTest, ABytePassedFromGroupToOverlayKeepsTheHashButIsCaughtByTheParserAlone) {
  // Said so that nobody is surprised: signed are the bytes of both in a row, as the hash always was. Where
  // one ends is protobuf's to judge, and a node is named in the overlay.
  v1::DesiredState message = State(7);
  message.set_overlay("p" + message.overlay());
  message.set_group("grou");
  EXPECT_TRUE(seal->Check(message, kNow).ok());
}

TEST_F(StateSealTest, AStateOfAnotherNodeOrClusterIsRefused) {
  const TestSigner other("gpu-002", "0f8fad5b-d9cb-469f-a165-708677289502");
  ExpectRefused(other.Signed(7, "group", "overlay of gpu-001"), Code::kPermissionDenied,
                "not addressed to this node");
  ExpectRefused(Said([](Statement& said) { said.cluster = *identity::ClusterName::Parse("pod-b"); }),
                Code::kPermissionDenied, "it is for the cluster pod-b, this is pod-a");
  ExpectRefused(Said([](Statement& said) { said.audience = identity::Audience::Group({}); }),
                Code::kPermissionDenied, "not addressed to this node");
}

TEST_F(StateSealTest, OutsideItsValidityItIsRefusedAndTheKeptOneIsNot) {
  const auto expired = Said([](Statement& said) { said.not_after = kNow - 1h; });
  ExpectRefused(expired, Code::kFailedPrecondition, "expired");
  ExpectRefused(Said([](Statement& said) { said.not_before = kNow + 1h; }), Code::kFailedPrecondition,
                "not yet valid");
  EXPECT_TRUE(seal->CheckKept(expired).ok());
}

TEST_F(StateSealTest, SizesEndAtTheirBounds) {
  const auto sized = [&](std::size_t payload) {
    return signer.Signed(7, std::string(payload - 3, 'g'), "ovl");
  };
  constexpr std::size_t kMost = Statement::kMostPayloadBytes;
  EXPECT_TRUE(seal->Check(sized(kMost - 1), kNow).ok());
  EXPECT_TRUE(seal->Check(sized(kMost), kNow).ok());
  ExpectRefused(sized(kMost + 1), Code::kInvalidArgument, "at most 1048576 are taken");
  v1::DesiredState message = State(7);
  message.mutable_envelope()->resize(identity::kMostEnvelopeBytes + 1);
  ExpectRefused(message, Code::kInvalidArgument, "at most 65536 are taken");
  message.mutable_envelope()->resize(identity::kMostEnvelopeBytes);
  ExpectRefused(message, Code::kInvalidArgument, "bytes too many at its end");
}

TEST_F(StateSealTest, UnsignedUnknownAndRevokedSignersAreToldApart) {
  v1::DesiredState message = State(7);
  message.clear_envelope();
  ExpectRefused(message, Code::kUnauthenticated, "it is not signed");
  TestSigner stranger;
  stranger.key = NewKey();
  ExpectRefused(stranger.Signed(7, "group", "overlay"), Code::kUnauthenticated, "unknown key");
  trust->signers.keys.push_back(stranger.key.public_key());
  trust->signers.revoked.insert(signer.key.public_key().pin());
  ExpectRefused(State(7), Code::kUnauthenticated, "revoked key");
  EXPECT_TRUE(seal->Check(stranger.Signed(7, "group", "overlay"), kNow).ok());
}

TEST_F(StateSealTest, WithoutTrustEveryStateIsRefusedWithTheNextStep) {
  trust = Status(Code::kNotFound, "this node has not joined: railwright-agent join …");
  ExpectRefused(State(7), Code::kFailedPrecondition, "railwright-agent join");
  EXPECT_FALSE(seal->CheckKept(State(7)).ok());
  EXPECT_FALSE(seal->CheckDryRun(State(7)).ok());
  StateSeal nobody(directory.path(), {});
  EXPECT_FALSE(nobody.Check(State(7), kNow).ok());
}

TEST_F(StateSealTest, ASchemaOfANewerBuildSaysUpdate) {
  ExpectRefused(Said([](Statement& said) { said.schema = 2; }), Code::kFailedPrecondition,
                "update railwright-agent");
}

TEST_F(StateSealTest, TwoOfThreeSignaturesAreEnoughAndOneIsNot) {
  const PrivateKey second = NewKey(), third = NewKey();
  trust->signers.keys = {signer.key.public_key(), second.public_key(), third.public_key()};
  trust->signers.threshold = 2;
  v1::DesiredState message = State(7);
  const std::string statement = *signer.Said(message).Encode();
  const auto sealed = [&](std::vector<const PrivateKey*> keys) {
    std::vector<identity::StatementSignature> signatures;
    for (const PrivateKey* key : keys) signatures.push_back(*identity::SignStatement(statement, *key));
    message.set_envelope(identity::MakeEnvelope(statement, signatures).value_or(""));
    return message;
  };
  ExpectRefused(sealed({&signer.key}), Code::kUnauthenticated, "1 of 2 signatures");
  EXPECT_TRUE(seal->Check(sealed({&signer.key, &second}), kNow).ok());
  EXPECT_TRUE(seal->Check(sealed({&signer.key, &third}), kNow).ok());
  EXPECT_TRUE(seal->Check(sealed({&signer.key, &second, &third}), kNow).ok());
  trust->signers.revoked.insert(third.public_key().pin());
  ExpectRefused(sealed({&signer.key, &third}), Code::kUnauthenticated, "1 of 2 signatures");
}

TEST_F(StateSealTest, ARenewalOfTheSameContentIsTakenAndWhatItRenewedIsNotAgain) {
  Accept(State(7));
  v1::DesiredState renewed = State(7);
  Statement said = signer.Said(renewed, 1);
  said.not_after += 1h;
  said.previous = seal->newest().digest;
  renewed.set_envelope(signer.Envelope(said));
  Accept(renewed);
  ExpectRefused(State(7), Code::kFailedPrecondition, "is older than generation 7 (renewed once)");
  v1::DesiredState fork = State(7);
  signer.Sign(fork, 2);  // follows nothing
  ExpectRefused(fork, Code::kFailedPrecondition, "what was accepted before it is");
  Accept(State(8));
}

TEST_F(StateSealTest, AnotherStateOfTheSameNumberIsRefused) {
  Accept(State(7));
  ExpectRefused(State(7, "another group"), Code::kFailedPrecondition,
                "generation 7 was accepted here as another statement");
}

TEST_F(StateSealTest, AStolenKeysGreatestNumberBlocksOnlyUntilItIsRevoked) {
  TestSigner thief;
  thief.key = NewKey();
  trust->signers.keys.push_back(thief.key.public_key());
  Accept(State(7));
  Accept(thief.Signed(identity::StatementNumber::kMostGeneration, "group", "overlay"));
  ExpectRefused(State(8), Code::kFailedPrecondition, "is older than");
  trust->signers.revoked.insert(thief.key.public_key().pin());
  ExpectRefused(State(6), Code::kFailedPrecondition, "generation 6 is older than generation 7");
  Accept(State(8));
  EXPECT_EQ(identity::StatementNumber::Of(seal->newest().generation).generation, 8U);
}

// The floor's files, damaged in each way.

class FloorFilesTest : public StateSealTest {
 protected:
  void SetUp() override {
    StateSealTest::SetUp();
    Accept(State(7));
    Accept(State(8));
  }
  std::string First() const { return directory.path() + "/trust/floor"; }
  std::string Second() const { return directory.path() + "/trust/floor.2"; }
  static void Put(const std::string& path, const std::string& bytes) {
    ASSERT_TRUE(WriteWholeFile(path, bytes, {.sync = Sync::kNone}).ok());
  }
};

TEST_F(FloorFilesTest, OneWholeFileIsEnoughAndMendsTheOther) {
  const std::string whole = *ReadWhole(First());
  ASSERT_EQ(*ReadWhole(Second()), whole);
  for (const std::string& path : {First(), Second()}) {
    for (const std::string& damaged : {std::string(), std::string("railwright-floor 1 "), whole.substr(0, 60),
                                       whole + whole, std::string(64 * 1024, 'x')}) {
      Put(path, damaged);
      Reopen();
      ExpectRefused(State(7), Code::kFailedPrecondition, "is older than generation 8");
      EXPECT_EQ(*ReadWhole(path), whole) << "it was mended";
    }
    std::filesystem::remove(path);
    Reopen();
    ExpectRefused(State(7), Code::kFailedPrecondition, "is older than generation 8");
    EXPECT_EQ(*ReadWhole(path), whole);
  }
}

TEST_F(FloorFilesTest, NoFlippedBitReadsAsAFloor) {
  const std::string whole = *ReadWhole(First());
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    EXPECT_FALSE(FloorFiles::Parse(damaged).ok()) << bit;
  }
}

TEST_F(FloorFilesTest, AnOlderFileDoesNotLowerTheNewer) {
  const std::string newest = *ReadWhole(First());
  for (const bool first : {true, false}) {
    TemporaryDirectory before;
    FloorFiles older(before.path());
    identity::Floor floor;
    floor.Raise(*seal->CheckKept(State(7)));
    ASSERT_TRUE(older.Write(floor).ok());
    Put(first ? First() : Second(), *ReadWhole(before.path() + "/floor"));
    Reopen();
    ExpectRefused(State(7), Code::kFailedPrecondition, "is older than generation 8");
    EXPECT_EQ(*ReadWhole(first ? First() : Second()), newest);
  }
}

TEST_F(FloorFilesTest, BothDamagedRefusesEveryNewStateAndSaysHowToResetThem) {
  Put(First(), "x");
  Put(Second(), "");
  Reopen();
  ExpectRefused(State(9), Code::kDataLoss, "to begin anew from the state that is in force");
  EXPECT_TRUE(seal->CheckKept(State(8)).ok()) << "what is in force stays so";
  ExpectRefused(State(9), Code::kDataLoss, "damaged");
  // The way that the sentence tells.
  std::filesystem::remove(First());
  std::filesystem::remove(Second());
  Reopen();
  ASSERT_TRUE(seal->CheckKept(State(8)).ok());
  ExpectRefused(State(7), Code::kFailedPrecondition, "is older than generation 8");
  Accept(State(9));
  EXPECT_TRUE(ReadWhole(First()).ok());
}

TEST_F(FloorFilesTest, TwoWholeFilesOfOneWriteThatDifferAreDamage) {
  TemporaryDirectory elsewhere;
  FloorFiles other(elsewhere.path());
  ASSERT_TRUE(other.Write(identity::Floor()).ok());
  ASSERT_TRUE(other.Write(identity::Floor()).ok());
  Put(Second(), *ReadWhole(elsewhere.path() + "/floor"));
  Reopen();
  ExpectRefused(State(9), Code::kDataLoss, "contradict each other");
}

TEST_F(FloorFilesTest, ACrashBetweenTheTwoWritesLeavesTheNewerOne) {
  const std::string before = *ReadWhole(Second());
  Accept(State(9));
  Put(Second(), before);
  Reopen();
  ExpectRefused(State(8), Code::kFailedPrecondition, "is older than generation 9");
}

}  // namespace
}  // namespace railwright
