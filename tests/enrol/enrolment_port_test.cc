// Joining and coming back over a real socket.
#include "tests/enrol/enrolment_fixture.h"
#include "tests/support/rounds.h"

namespace railwright {
namespace {

using identity::ExpectRefused, identity::Must, identity::NewKey, identity::Party;

class EnrolmentPortTest : public EnrolmentFixture {};

TEST_F(EnrolmentPortTest, ANodeJoinsAndIsKnownByWhatItGot) {
  Open();
  const auto key = NewKey();
  const auto issued = Must(Join(Line(), "gpu-001", key));
  EXPECT_EQ(issued.party, Party::kNode);
  EXPECT_EQ(issued.name, "gpu-001");
  EXPECT_EQ(issued.cluster, identity::Cluster());
  EXPECT_EQ(issued.renewals, 1u);
  EXPECT_EQ(issued.roots, identity_.roots());
  EXPECT_EQ(issued.signers.keys, identity_.signers().keys);
  EXPECT_EQ(issued.controllers, std::vector{At(7443)});
  EXPECT_EQ(issued.enrolment, std::vector{Here()});
  const auto caller = Must(Judge(issued.chain));
  EXPECT_EQ(caller.Text(), "node gpu-001");
  EXPECT_EQ(caller.uuid, issued.uuid);
}

TEST_F(EnrolmentPortTest, AnOperatorLogsInWithTheRolesOfHisToken) {
  Open();
  const auto keep_open = Token();
  const auto key = NewKey();
  const auto issued =
      Must(Join(Line({.kind = MemberKind::kOperator,
                      .name = "bob",
                      .authority = identity::Authority{.roles = {"operator"}, .scope = "rack=r1"}}),
                "", key));
  EXPECT_EQ(issued.party, Party::kOperator);
  EXPECT_EQ(issued.uuid, "");
  const auto caller = Must(Judge(issued.chain));
  EXPECT_EQ(caller.Text(), "operator bob");
  EXPECT_TRUE(caller.Has(Role::kOperator));
  EXPECT_EQ(caller.scope, "rack=r1");
  const auto again = Must(enrol::Recover(Known(), Party::kOperator, "bob", 1, key, clock_.WallNow()));
  EXPECT_EQ(again.renewals, 2u);
}

TEST_F(EnrolmentPortTest, IsClosedUntilSomebodyIsExpectedAndOpensWithinASecond) {
  Open();
  EXPECT_FALSE(port_->listening());
  ExpectRefused(enrol::Why(Known(), {identity::NodeLeaf()}, clock_.WallNow()), Code::kUnavailable,
                "Connection refused");
  const auto token = Token({.ttl = 60s});
  EXPECT_TRUE(Becomes(true, 1s));
  clock_.Move(61s);
  EXPECT_TRUE(Becomes(false, 1s));
  ExpectRefused(enrol::Why(Known(), {identity::NodeLeaf()}, clock_.WallNow()), Code::kUnavailable,
                "Connection refused");
}

TEST_F(EnrolmentPortTest, UnknownUsedAndExpiredTokensGetOneSentence) {
  Open();
  const auto used = Line();
  Must(Join(used, "gpu-001", NewKey()));
  auto line = Line();  // keeps the port open
  line.token = Must(identity::JoinToken::Generate());
  const auto expired = Line({.ttl = 60s});
  clock_.Move(61s);
  const auto one = Join(used, "gpu-002", NewKey()), two = Join(line, "gpu-002", NewKey()),
             three = Join(expired, "gpu-002", NewKey());
  for (const auto* refused : {&one, &two, &three}) {
    ExpectRefused(*refused, Code::kUnauthenticated, "unknown, used up or expired");
    EXPECT_EQ(refused->status().message(), one.status().message());
  }
}

TEST_F(EnrolmentPortTest, TheTruthIsToldToWhoHasAToken) {
  Open();
  const auto bound = Line({.name = "gpu-001", .from = "127.0.0.0/8"});
  ExpectRefused(Join(bound, "gpu-002", NewKey()), Code::kPermissionDenied, "this token is for gpu-001");
  const auto elsewhere = Line({.from = "10.0.0.0/8"});
  ExpectRefused(Join(elsewhere, "gpu-003", NewKey()), Code::kPermissionDenied, "you come from 127.0.0.1");
  EXPECT_EQ(Must(Join(bound, "", NewKey())).name, "gpu-001");
  ExpectRefused(Join(Line(), "gpu-001", NewKey()), Code::kPermissionDenied, "railctl node evict gpu-001");
  ExpectRefused(Join(Line(), "gpu 004", NewKey()), Code::kInvalidArgument, "no node's name");
}

TEST_F(EnrolmentPortTest, OneWhoseCertificateHasExpiredComesBackByItsKey) {
  Open();
  const auto key = NewKey();
  auto issued = Must(Join(Line(), "gpu-001", key));
  clock_.Move(40 * 24h);
  ASSERT_TRUE(Must(identity_.RenewIfDue(clock_.WallNow())));
  ASSERT_TRUE(port_->Show(identity_).ok());
  ASSERT_TRUE(Becomes(true));
  ExpectRefused(Judge(issued.chain), Code::kUnauthenticated, "expired 39 d");
  issued = Must(enrol::Recover(Known(), Party::kNode, issued.uuid, issued.renewals, key, clock_.WallNow()));
  EXPECT_EQ(issued.renewals, 2u);
  EXPECT_EQ(Must(Judge(issued.chain)).name, "gpu-001");
  EXPECT_TRUE(Becomes(false)) << "nobody else is expected";
}

TEST_F(EnrolmentPortTest, AJoinWhoseAnswerWasLostIsMadeGoodByTheKey) {
  Open();
  const auto line = Line();
  const auto keep_open = Token();
  const auto key = NewKey();
  // As the controller did when its answer got lost.
  Must(registry_.Join(line.token, key.public_key(), "gpu-001", "127.0.0.1"));
  ExpectRefused(Join(line, "gpu-001", key), Code::kUnauthenticated, "used up");
  const auto issued =
      Must(enrol::RecoverByPin(Here(), line.ca, Party::kNode, "gpu-001", 1, key, clock_.WallNow()));
  EXPECT_EQ(Must(Judge(issued.chain)).name, "gpu-001");
}

TEST_F(EnrolmentPortTest, AStrangersKeyLearnsNothingOfWhoHasJoined) {
  Open();
  const auto keep_open = Token();
  const auto issued = Must(Join(Line(), "gpu-001", NewKey()));
  const auto stranger = NewKey();
  const auto sentence = [&](const std::string& id) {
    const auto refused = enrol::Recover(Known(), Party::kNode, id, 1, stranger, clock_.WallNow());
    EXPECT_EQ(refused.status().code(), Code::kUnauthenticated);
    std::string text = refused.status().message();
    if (const auto at = text.find(id); at != std::string::npos) text.erase(at, id.size());
    return text;
  };
  EXPECT_EQ(sentence("gpu-001"), sentence("gpu-999"));
  EXPECT_EQ(sentence(issued.uuid), sentence("gpu-999"));
}

TEST_F(EnrolmentPortTest, AnotherCounterIsHeldAndABannedOneDoesNotComeBack) {
  Open();
  const auto key = NewKey();
  const auto keep_open = Token();
  const auto issued = Must(Join(Line(), "gpu-001", key));
  ExpectRefused(enrol::Recover(Known(), Party::kNode, issued.uuid, 7, key, clock_.WallNow()), Code::kAborted,
                "two machines hold its key");
  const auto judged = Must(enrol::Why(Known(), issued.chain, clock_.WallNow()));
  EXPECT_FALSE(judged.admitted);
  EXPECT_NE(judged.sentence.find("held"), std::string::npos) << judged.sentence;
  ASSERT_TRUE(registry_.SetStanding(MemberKind::kNode, "gpu-001", Standing::kBanned, "stolen", alice_).ok());
  ExpectRefused(enrol::Recover(Known(), Party::kNode, issued.uuid, 1, key, clock_.WallNow()),
                Code::kPermissionDenied, "banned by operator alice");
}

TEST_F(EnrolmentPortTest, WhyTellsTheReasonAndTheControllersClock) {
  Open();
  const auto key = NewKey();
  const auto keep_open = Token();
  const auto issued = Must(Join(Line(), "gpu-001", key));
  const auto known = Must(enrol::Why(Known(), issued.chain, clock_.WallNow()));
  EXPECT_TRUE(known.admitted) << known.sentence;
  EXPECT_LT(std::chrono::abs(known.clock - clock_.WallNow()), 60s);
  ASSERT_TRUE(
      registry_.SetStanding(MemberKind::kNode, "gpu-001", Standing::kEvicted, "laptop stolen", alice_).ok());
  // Also to one whose clock is 40 d ahead, to whom the controller's certificate looks expired.
  const auto judged = Must(enrol::Why(Known(), issued.chain, clock_.WallNow() + 40 * 24h));
  EXPECT_FALSE(judged.admitted);
  EXPECT_NE(judged.sentence.find("evicted by operator alice"), std::string::npos) << judged.sentence;
  EXPECT_NE(judged.sentence.find("laptop stolen"), std::string::npos) << judged.sentence;
}

TEST_F(EnrolmentPortTest, OfRacersWithOneTokenOneGetsACertificate) {
  Open();
  const auto keep_open = Token();
  const std::array keys{NewKey(), NewKey()};
  int won = 0;
  const int kRaces = Rounds(100, 1000);
  for (int race = 0; race < kRaces; ++race) {
    const auto line = Line();
    std::array<std::optional<Result<identity::IssuedAnswer>>, 2> got;
    std::array<std::thread, 2> racers;
    for (std::size_t i = 0; i < 2; ++i)
      racers[i] = std::thread(
          [&, i] { got[i] = Join(line, "gpu-" + std::to_string(race) + "-" + std::to_string(i), keys[i]); });
    for (auto& racer : racers) racer.join();
    for (std::size_t i = 0; i < 2; ++i) {
      if (got[i]->ok())
        ++won;
      else
        EXPECT_EQ(got[i]->status().code(), Code::kUnauthenticated) << got[i]->status().ToString();
      const std::string name = "gpu-" + std::to_string(race) + "-" + std::to_string(i);
      if (got[i]->ok()) {
        EXPECT_TRUE(registry_.Forget(MemberKind::kNode, name, alice_).ok());
      }
    }
    ASSERT_EQ(won, race + 1);
  }
}

TEST_F(EnrolmentPortTest, AnAddressInUseIsToldAtTheStart) {
  Open();
  const auto line = Line();
  EnrolmentPort second(registry_, clock_, {.listen = {Here()}, .controllers = {At(7443)}});
  ASSERT_TRUE(second.Show(identity_).ok());
  const Status started = second.Start();
  EXPECT_EQ(started.code(), Code::kAlreadyExists) << started.ToString();
}

}  // namespace
}  // namespace railwright
