#include "controller/identity/registry.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <set>
#include <thread>

#include "tests/enrol/memory_identity_store.h"
#include "tests/identity/world.h"
#include "tests/support/rounds.h"
#include "tests/support/sim_clock.h"

namespace railwright {
namespace {

using identity::ExpectRefused, identity::Must, identity::NewKey, identity::PublicKey;
using namespace std::chrono_literals;

const Caller kAlice{.kind = Caller::Kind::kOperator, .name = "alice", .roles = {"admin"}};

identity::Authority Roles(std::vector<std::string> roles) {
  return {.roles = std::move(roles), .scope = "*"};
}

class RegistryTest : public testing::Test {
 protected:
  RegistryTest() {
    EXPECT_TRUE(registry_.Load().ok());
    registry_.OnCut([this](MemberKind, const std::string& name, const std::string& why) {
      cut_.push_back(name + ": " + why);
    });
    registry_.OnRefused([this](const AuditRow& row) { store_.Write(row); });
  }
  identity::JoinToken Token(Registry::TokenTerms terms = {}) {
    return Must(registry_.CreateToken(terms, kAlice));
  }
  Issued JoinAs(const std::string& name, const PublicKey& key) {
    return Must(registry_.Join(Token(), key, name, "10.0.0.7"));
  }
  Issued LogInAs(const std::string& name, const PublicKey& key, std::vector<std::string> roles = {"viewer"}) {
    const auto token =
        Token({.kind = MemberKind::kOperator, .name = name, .authority = Roles(std::move(roles))});
    return Must(registry_.Join(token, key, "", "10.0.0.8"));
  }
  identity::Peer PeerOf(const identity::Certificate& certificate) const {
    return Must(
        identity::Verify({certificate}, {issuer_.certificate()}, identity::Clients(), clock_.WallNow()));
  }
  Result<Caller> Judge(const Issued& issued) const { return registry_.Judge(PeerOf(issued.certificate)); }

  SimClock clock_;
  MemoryIdentityStore store_;
  const identity::Issuer issuer_ = identity::NewRoot(clock_.WallNow());
  Registry registry_{store_, issuer_, clock_};
  std::vector<std::string> cut_;
};

TEST_F(RegistryTest, WhoJoinsIsKnownByItsCertificate) {
  const auto key = NewKey().public_key();
  const auto issued = JoinAs("gpu-001", key);
  const auto peer = PeerOf(issued.certificate);
  EXPECT_EQ(peer.id.name(), issued.member.uuid);
  EXPECT_EQ(peer.pin, key.pin());
  const auto caller = Must(Judge(issued));
  EXPECT_EQ(caller.Text(), "node gpu-001");
  EXPECT_EQ(caller.uuid, issued.member.uuid);
  EXPECT_EQ(caller.serial, issued.certificate.serial());
  EXPECT_TRUE(caller.Has(Role::kNode));
  EXPECT_EQ(store_.Count("identity.join"), 1u);
}

TEST_F(RegistryTest, AnOperatorHasTheRolesOfHisToken) {
  const auto issued = LogInAs("bob", NewKey().public_key(), {"operator"});
  const auto caller = Must(Judge(issued));
  EXPECT_EQ(caller.Text(), "operator bob");
  EXPECT_TRUE(caller.Has(Role::kOperator));
  EXPECT_TRUE(caller.Has(Role::kViewer));
  EXPECT_FALSE(caller.Has(Role::kApprover));
  EXPECT_FALSE(caller.Has(Role::kAdmin));
  EXPECT_FALSE(caller.Has(Role::kNode));
}

TEST_F(RegistryTest, UnknownUsedUpAndExpiredTokensGetOneSentence) {
  const auto used = Token();
  Must(registry_.Join(used, NewKey().public_key(), "gpu-001", "10.0.0.7"));
  const auto expired = Token({.ttl = 60s});
  const auto dropped = Token();
  ASSERT_TRUE(registry_.DropToken(dropped.id(), kAlice).ok());
  clock_.Advance(60s);
  std::set<std::string> sentences;
  const auto unknown = Must(identity::JoinToken::Generate());
  for (const auto* token : {&used, &expired, &dropped, &unknown}) {
    const auto refused = registry_.Join(*token, NewKey().public_key(), "gpu-002", "10.0.0.7");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.status().code(), Code::kUnauthenticated);
    sentences.insert(refused.status().message());
  }
  EXPECT_EQ(sentences.size(), 1u) << *sentences.begin();
  EXPECT_EQ(store_.Count("identity.join.refused"), 4u);
}

TEST_F(RegistryTest, ATokensOwnIdWithAnotherSecretIsUnknown) {
  const auto token = Token();
  const auto other = Must(identity::JoinToken::Generate());
  const std::string mixed = token.id() + "." + std::string(other.Text().Reveal().substr(14));
  ExpectRefused(
      registry_.Join(Must(identity::JoinToken::Parse(mixed)), NewKey().public_key(), "gpu-001", "10.0.0.7"),
      Code::kUnauthenticated, "unknown, used up or expired");
  Must(registry_.Join(token, NewKey().public_key(), "gpu-001", "10.0.0.7"));
}

TEST_F(RegistryTest, ABoundTokenIsForThatNameAndThoseAddresses) {
  const auto token = Token({.name = "gpu-001", .from = "10.1.0.0/16"});
  const auto key = NewKey().public_key();
  ExpectRefused(registry_.Join(token, key, "gpu-002", "10.1.0.7"), Code::kPermissionDenied,
                "this token is for gpu-001");
  ExpectRefused(registry_.Join(token, key, "gpu-001", "10.2.0.7"), Code::kPermissionDenied,
                "may be used from 10.1.0.0/16, and you come from 10.2.0.7");
  EXPECT_EQ(Must(registry_.Join(token, key, "", "::ffff:10.1.0.7")).member.name, "gpu-001");
}

TEST_F(RegistryTest, ASuggestedNameGivesWayToTheTokens) {
  const auto key = NewKey().public_key();
  EXPECT_EQ(Must(registry_.Join(Token(), key, "?gpu-007", "10.0.0.7")).member.name, "gpu-007");
  const auto bound = Token({.name = "gpu-001"});
  EXPECT_EQ(Must(registry_.Join(bound, NewKey().public_key(), "?debian", "10.0.0.7")).member.name, "gpu-001");
}

TEST_F(RegistryTest, ATokenOfSeveralUsesEndsWithTheLast) {
  const auto token = Token({.uses = 2});
  Must(registry_.Join(token, NewKey().public_key(), "gpu-001", "10.0.0.7"));
  Must(registry_.Join(token, NewKey().public_key(), "gpu-002", "10.0.0.7"));
  ExpectRefused(registry_.Join(token, NewKey().public_key(), "gpu-003", "10.0.0.7"), Code::kUnauthenticated,
                "used up");
  EXPECT_TRUE(Must(registry_.Tokens()).empty());
}

TEST_F(RegistryTest, TermsOutOfTheirRangeAreNamed) {
  const auto refused = [&](Registry::TokenTerms terms, std::string_view words) {
    ExpectRefused(registry_.CreateToken(terms, kAlice), Code::kInvalidArgument, words);
  };
  refused({.ttl = 59s}, "60 s to 24 h");
  refused({.ttl = 24h + 1s}, "60 s to 24 h");
  refused({.uses = 0}, "1 to 10000");
  refused({.uses = 10001}, "1 to 10000");
  refused({.name = "gpu 1"}, "no node's name");
  refused({.name = "gpu-1", .uses = 2}, "one use");
  refused({.authority = Roles({"admin"})}, "no roles");
  refused({.from = "10.0.0.1/8"}, "bits behind the prefix");
  refused({.from = "10.0.0.0/33"}, "0…32");
  refused({.kind = MemberKind::kOperator, .name = "bob"}, "roles and a scope");
  refused({.kind = MemberKind::kOperator, .name = "Bob", .authority = Roles({"viewer"})}, "operator's name");
}

TEST_F(RegistryTest, ANameThatHasJoinedIsTakenUntilItIsEvicted) {
  const auto first = JoinAs("gpu-001", NewKey().public_key());
  const auto token = Token();
  const auto key = NewKey().public_key();
  ExpectRefused(registry_.Join(token, key, "gpu-001", "10.0.0.9"), Code::kPermissionDenied,
                "has joined already");
  ASSERT_TRUE(
      registry_.SetStanding(MemberKind::kNode, "gpu-001", Standing::kEvicted, "new board", kAlice).ok());
  ASSERT_EQ(cut_.size(), 1u);
  EXPECT_NE(cut_[0].find("evicted by operator alice"), std::string::npos) << cut_[0];
  ExpectRefused(Judge(first), Code::kUnauthenticated, "new board");
  const auto second = Must(registry_.Join(token, key, "gpu-001", "10.0.0.9"));
  EXPECT_NE(second.member.uuid, first.member.uuid);
  Must(Judge(second));
  ExpectRefused(Judge(first), Code::kUnauthenticated, "no node with the UUID");
}

TEST_F(RegistryTest, TheBannedCannotComeBackByNameOrByKey) {
  const auto key = NewKey().public_key();
  const auto issued = JoinAs("gpu-001", key);
  ASSERT_TRUE(
      registry_.SetStanding(MemberKind::kNode, "gpu-001", Standing::kBanned, "laptop stolen", kAlice).ok());
  ExpectRefused(Judge(issued), Code::kUnauthenticated, "banned by operator alice");
  ExpectRefused(Judge(issued), Code::kUnauthenticated, "laptop stolen");
  ExpectRefused(registry_.Renew(MemberKind::kNode, "gpu-001", key, 1), Code::kPermissionDenied, "banned");
  const auto token = Token();
  ExpectRefused(registry_.Join(token, NewKey().public_key(), "gpu-001", "10.0.0.7"), Code::kPermissionDenied,
                "banned");
  ExpectRefused(registry_.Join(token, key, "gpu-002", "10.0.0.7"), Code::kPermissionDenied, "banned");
  EXPECT_EQ(registry_.SetStanding(MemberKind::kNode, "gpu-001", Standing::kActive, "", kAlice).code(),
            Code::kFailedPrecondition);
  ASSERT_TRUE(registry_.SetStanding(MemberKind::kNode, "gpu-001", Standing::kEvicted, "found", kAlice).ok());
  Must(registry_.Join(token, NewKey().public_key(), "gpu-001", "10.0.0.7"));
}

TEST_F(RegistryTest, TheCertificateBeforeTheNewestCountsUntilItExpires) {
  const auto key = NewKey().public_key();
  const auto first = JoinAs("gpu-001", key);
  Must(Judge(first));
  clock_.Advance(16h);
  const auto second = Must(registry_.Renew(MemberKind::kNode, "gpu-001", key, 1));
  EXPECT_EQ(second.member.renewals, 2u);
  Must(Judge(first));
  Must(Judge(second));
  const auto third = Must(registry_.Renew(MemberKind::kNode, "gpu-001", key, 2));
  Must(Judge(second));
  ExpectRefused(Judge(first), Code::kUnauthenticated, "was replaced by a newer one");
  const auto peer = PeerOf(second.certificate);
  clock_.Advance(24h);
  ExpectRefused(registry_.Judge(peer), Code::kUnauthenticated, "expired at");
}

TEST_F(RegistryTest, AfterARestartOneOlderCertificateCounts) {
  const auto key = NewKey().public_key();
  const auto first = JoinAs("gpu-001", key);
  Must(Judge(first));
  const auto second = Must(registry_.Renew(MemberKind::kNode, "gpu-001", key, 1));
  Must(Judge(second));
  clock_.Advance(1min);
  const auto third = Must(registry_.Renew(MemberKind::kNode, "gpu-001", key, 2));
  Registry again(store_, issuer_, clock_);
  ASSERT_TRUE(again.Load().ok());
  Must(again.Judge(PeerOf(third.certificate)));
  Must(again.Judge(PeerOf(second.certificate)));
  Must(again.Judge(PeerOf(second.certificate)));
  ExpectRefused(again.Judge(PeerOf(first.certificate)), Code::kUnauthenticated, "was replaced");
}

TEST_F(RegistryTest, AnotherKeysCertificateOfTheSameNameIsRefused) {
  const auto issued = JoinAs("gpu-001", NewKey().public_key());
  const auto uuid = Must(identity::NodeUuid::Parse(issued.member.uuid));
  const auto forged = Must(issuer_.Node(NewKey().public_key(), uuid, clock_.WallNow()));
  ExpectRefused(registry_.Judge(PeerOf(forged)), Code::kUnauthenticated, "another key");
}

TEST_F(RegistryTest, ACopiedIdentityIsHeldWhenBothHaveBeenSeen) {
  const auto key = NewKey().public_key();
  Must(Judge(JoinAs("gpu-001", key)));
  const auto copy = Must(registry_.Renew(MemberKind::kNode, "gpu-001", key, 1));
  Must(Judge(copy));
  ExpectRefused(registry_.Renew(MemberKind::kNode, "gpu-001", key, 1), Code::kAborted, "two machines");
  ASSERT_EQ(cut_.size(), 1u);
  ExpectRefused(Judge(copy), Code::kUnauthenticated, "held by the controller");
  ExpectRefused(registry_.Renew(MemberKind::kNode, "gpu-001", key, 2), Code::kPermissionDenied, "held");
  EXPECT_EQ(store_.Count("identity.hold"), 1u);
  // A person lets it go on: the next renewal sets the counter, once.
  ASSERT_TRUE(
      registry_.SetStanding(MemberKind::kNode, "gpu-001", Standing::kActive, "it was a restore", kAlice)
          .ok());
  const auto next = Must(registry_.Renew(MemberKind::kNode, "gpu-001", key, 1));
  Must(Judge(next));
  ExpectRefused(registry_.Renew(MemberKind::kNode, "gpu-001", key, 1), Code::kAborted, "two machines");
}

TEST_F(RegistryTest, ALostAnswerIsNoSecondHolder) {
  const auto key = NewKey().public_key();
  const auto first = JoinAs("gpu-001", key);
  Must(Judge(first));
  Must(registry_.Renew(MemberKind::kNode, "gpu-001", key, 1));  // lost
  const auto third = Must(registry_.Renew(MemberKind::kNode, "gpu-001", key, 1));
  EXPECT_EQ(third.member.renewals, 3u);
  Must(Judge(third));
  EXPECT_TRUE(cut_.empty());
}

TEST_F(RegistryTest, AnOlderCounterIsHeldAlthoughNobodyWasSeen) {
  const auto key = NewKey().public_key();
  JoinAs("gpu-001", key);
  Must(registry_.Renew(MemberKind::kNode, "gpu-001", key, 1));
  Must(registry_.Renew(MemberKind::kNode, "gpu-001", key, 2));
  ExpectRefused(registry_.Renew(MemberKind::kNode, "gpu-001", key, 1), Code::kAborted, "two machines");
}

TEST_F(RegistryTest, ACounterAheadIsHeld) {
  const auto key = NewKey().public_key();
  JoinAs("gpu-001", key);
  ExpectRefused(registry_.Renew(MemberKind::kNode, "gpu-001", key, 2), Code::kAborted, "two machines");
}

TEST_F(RegistryTest, OneWhoIsHeldStaysHeldAlthoughTheStoreCannotSaySo) {
  const auto key = NewKey().public_key();
  const auto issued = JoinAs("gpu-001", key);
  store_.Fail(Status(Code::kResourceExhausted, "disk full"));
  ExpectRefused(registry_.Renew(MemberKind::kNode, "gpu-001", key, 9), Code::kAborted, "disk full");
  ExpectRefused(Judge(issued), Code::kUnauthenticated, "held");
}

TEST_F(RegistryTest, AStoreThatCannotBeWrittenRefusesTheNewAndKeepsTheKnown) {
  const auto key = NewKey().public_key();
  const auto issued = JoinAs("gpu-001", key);
  const auto token = Token();
  store_.Fail(Status(Code::kResourceExhausted, "disk full"));
  ExpectRefused(registry_.Join(token, NewKey().public_key(), "gpu-002", "10.0.0.7"), Code::kUnavailable,
                "disk full");
  ExpectRefused(registry_.Renew(MemberKind::kNode, "gpu-001", key, 1), Code::kUnavailable, "disk full");
  Must(Judge(issued));
  store_.Fail(Ok());
  Must(registry_.Join(token, NewKey().public_key(), "gpu-002", "10.0.0.7"));
}

TEST_F(RegistryTest, AnOperatorsKeyIsGoodForAWeek) {
  const auto key = NewKey().public_key();
  LogInAs("bob", key);
  std::uint64_t counter = 1;
  for (int day = 1; day < 7; ++day) {
    clock_.Advance(24h);
    counter = Must(registry_.Renew(MemberKind::kOperator, "bob", key, counter)).member.renewals;
  }
  clock_.Advance(24h);
  ExpectRefused(registry_.Renew(MemberKind::kOperator, "bob", key, counter), Code::kPermissionDenied,
                "log in again");
}

TEST_F(RegistryTest, ANewLoginReplacesTheOldOne) {
  const auto old = LogInAs("bob", NewKey().public_key(), {"admin"});
  const auto now = LogInAs("bob", NewKey().public_key(), {"viewer"});
  ASSERT_EQ(cut_.size(), 1u);
  ExpectRefused(Judge(old), Code::kUnauthenticated, "another key");
  EXPECT_FALSE(Must(Judge(now)).Has(Role::kAdmin));
}

TEST_F(RegistryTest, RolesThatWereTakenBackDoNotCount) {
  const auto key = NewKey().public_key();
  const auto admin = LogInAs("bob", key, {"admin"});
  LogInAs("bob", key, {"viewer"});
  ExpectRefused(Judge(admin), Code::kUnauthenticated, "roles of operator bob were changed");
}

TEST_F(RegistryTest, OfRacersWithOneTokenOneGetsACertificate) {
  const int kRaces = Rounds(1000, 10'000);
  constexpr int kRacers = 2;
  std::array<PublicKey, kRacers> keys{NewKey().public_key(), NewKey().public_key()};
  std::atomic<int> won = 0, lost = 0;
  for (int race = 0; race < kRaces; ++race) {
    const auto token = Token();
    const std::string name = "gpu-" + std::to_string(race);
    std::array<std::thread, kRacers> racers;
    for (int i = 0; i < kRacers; ++i)
      racers[static_cast<std::size_t>(i)] = std::thread([&, i] {
        const auto issued = registry_.Join(token, keys[static_cast<std::size_t>(i)], name, "10.0.0.7");
        ++(issued.ok() ? won : lost);
      });
    for (auto& racer : racers) racer.join();
    ASSERT_EQ(won, race + 1);
    ASSERT_TRUE(registry_.SetStanding(MemberKind::kNode, name, Standing::kEvicted, "", kAlice).ok());
    ASSERT_TRUE(registry_.Forget(MemberKind::kNode, name, kAlice).ok());
  }
  EXPECT_EQ(lost, kRaces);
}

TEST_F(RegistryTest, OneWhoWasForgottenIsUnknown) {
  const auto issued = JoinAs("gpu-001", NewKey().public_key());
  ASSERT_TRUE(registry_.Forget(MemberKind::kNode, "gpu-001", kAlice).ok());
  ExpectRefused(Judge(issued), Code::kUnauthenticated, "no node with the UUID");
  EXPECT_EQ(cut_.size(), 1u);
  EXPECT_EQ(registry_.Forget(MemberKind::kNode, "gpu-001", kAlice).code(), Code::kNotFound);
}

TEST_F(RegistryTest, EnrolmentIsAwaitedWhileSomebodyMayCome) {
  EXPECT_FALSE(registry_.EnrolmentAwaited());
  const auto token = Token({.ttl = 60s});
  EXPECT_TRUE(registry_.EnrolmentAwaited());
  clock_.Advance(60s);
  EXPECT_FALSE(registry_.EnrolmentAwaited());
  const auto key = NewKey().public_key();
  JoinAs("gpu-001", key);
  EXPECT_FALSE(registry_.EnrolmentAwaited());
  clock_.Advance(21h);
  EXPECT_TRUE(registry_.EnrolmentAwaited()) << "about to expire";
  clock_.Advance(30 * 24h);
  EXPECT_TRUE(registry_.EnrolmentAwaited()) << "expired long ago";
  Must(registry_.Renew(MemberKind::kNode, "gpu-001", key, 1));
  EXPECT_FALSE(registry_.EnrolmentAwaited());
  ASSERT_TRUE(registry_.SetStanding(MemberKind::kNode, "gpu-001", Standing::kBanned, "x", kAlice).ok());
  EXPECT_TRUE(registry_.EnrolmentAwaited()) << "it will ask why";
  clock_.Advance(24h);
  EXPECT_FALSE(registry_.EnrolmentAwaited());
}

TEST_F(RegistryTest, AGuesserDoesNotFillTheAudit) {
  for (int i = 0; i < 5000; ++i)
    (void)registry_.Join(Must(identity::JoinToken::Generate()), identity::NodeKey(), "gpu-001", "10.0.0.7");
  EXPECT_EQ(store_.Count("identity.join.refused"), 20u);
  clock_.Advance(10s);
  (void)registry_.Join(Must(identity::JoinToken::Generate()), identity::NodeKey(), "gpu-001", "10.0.0.7");
  ASSERT_EQ(store_.Count("identity.join.refused"), 21u);
  EXPECT_NE(store_.audit().back().detail.find("4980 refusals"), std::string::npos);
}

TEST_F(RegistryTest, NoSecretOfATokenIsInAnyRowOrSentence) {
  std::string everything;
  std::vector<identity::Secret> secrets;
  for (int i = 0; i < 3; ++i) {
    const auto token = Token({.name = "gpu-00" + std::to_string(i)});
    secrets.emplace_back(token.Text().Reveal().substr(14));
    const auto refused = registry_.Join(token, NewKey().public_key(), "other", "10.0.0.7");
    everything += refused.status().ToString();
    if (i > 0) Must(registry_.Join(token, NewKey().public_key(), "", "10.0.0.7"));
    everything += registry_.Join(token, NewKey().public_key(), "", "10.0.0.7").status().ToString();
  }
  for (const AuditRow& row : store_.audit()) everything += row.who + row.action + row.subject + row.detail;
  for (const auto& member : registry_.Members()) everything += member.by + member.reason + member.name;
  ASSERT_FALSE(everything.empty());
  for (const auto& secret : secrets) EXPECT_EQ(everything.find(secret.Reveal()), std::string::npos);
}

TEST_F(RegistryTest, ThreeLivesOfRenewalsMissNone) {
  std::vector<identity::PrivateKey> keys;
  std::vector<Issued> held;
  for (int i = 0; i < 20; ++i) {
    keys.push_back(NewKey());
    held.push_back(JoinAs("gpu-" + std::to_string(i), keys.back().public_key()));
  }
  for (int hour = 0; hour < 3 * 24; ++hour) {
    clock_.Advance(1h);
    for (std::size_t i = 0; i < held.size(); ++i) {
      Must(Judge(held[i]));
      const auto& certificate = held[i].certificate;
      const auto life = certificate.not_after() - certificate.not_before();
      // Two thirds, a tenth earlier or later, and not the same for all.
      const auto due = certificate.not_before() + life * (600 + 7 * static_cast<int>(i)) / 1000;
      if (clock_.WallNow() >= due)
        held[i] = Must(registry_.Renew(MemberKind::kNode, held[i].member.name, keys[i].public_key(),
                                       held[i].member.renewals));
    }
  }
  for (const auto& one : held) EXPECT_GE(one.member.renewals, 4u);
  EXPECT_TRUE(cut_.empty());
}

TEST(CallerTest, EachKindHasItsRolesAndNoOther) {
  using Kind = Caller::Kind;
  constexpr std::array kAll{Role::kViewer, Role::kOperator, Role::kApprover, Role::kAdmin, Role::kNode};
  const auto has = [&](Kind kind, std::vector<std::string> roles) {
    std::string text;
    for (const Role role : kAll)
      if (Caller{.kind = kind, .roles = roles}.Has(role)) text += std::string(Name(role)) + " ";
    return text;
  };
  EXPECT_EQ(has(Kind::kNobody, {"admin"}), "");
  EXPECT_EQ(has(Kind::kNode, {"admin"}), "node ");
  EXPECT_EQ(has(Kind::kLocal, {}), "viewer operator approver admin ");
  EXPECT_EQ(has(Kind::kOperator, {}), "");
  EXPECT_EQ(has(Kind::kOperator, {"root"}), "");
  EXPECT_EQ(has(Kind::kOperator, {"node"}), "");
  EXPECT_EQ(has(Kind::kOperator, {"viewer"}), "viewer ");
  EXPECT_EQ(has(Kind::kOperator, {"operator"}), "viewer operator ");
  EXPECT_EQ(has(Kind::kOperator, {"approver"}), "viewer approver ");
  EXPECT_EQ(has(Kind::kOperator, {"admin"}), "viewer operator approver admin ");
}

}  // namespace
}  // namespace railwright
