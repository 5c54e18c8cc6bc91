// What is signed is sent, and nothing else.
#include "core/identity/floor.h"
#include "tests/rpc/fleet_model_fixture.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;
using identity::StatementNumber;

class FleetSignTest : public FleetModelTest {
 protected:
  static StatementNumber NumberOf(const v1::DesiredState& state) {
    const auto said = identity::Statement::Decode(*identity::StatementOf(state.envelope()));
    return StatementNumber::Of(said->generation);
  }
  static v1::DesiredState LastState(const FakeLink& link) { return link.Last(Body::kDesired).desired(); }
  /// The agent's word that it took the newest state.
  void Acknowledge(const std::shared_ptr<FakeLink>& link) {
    v1::AgentMessage message;
    message.mutable_ack()->set_generation(LastState(*link).generation());
    message.mutable_ack()->set_hash(LastState(*link).hash());
    message.mutable_ack()->set_statement(NumberOf(LastState(*link)).Packed());
    Say(link, message);
  }
  /// The Hello of an agent that has accepted and enforces `state`.
  static v1::AgentMessage Holding(const std::string& node, const v1::DesiredState& state) {
    auto hello = HelloOf(node);
    hello.mutable_hello()->set_generation(state.generation());
    hello.mutable_hello()->set_state_hash(state.hash());
    hello.mutable_hello()->set_statement(NumberOf(state).Packed());
    const auto digest = *identity::Sha256(*identity::StatementOf(state.envelope()));
    hello.mutable_hello()->set_statement_digest(std::string(identity::Bytes(digest)));
    return hello;
  }
};

TEST_F(FleetSignTest, AStateComesWithAnEnvelopeThatItsNodeOpens) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  const v1::DesiredState state = LastState(*link);
  const auto opened = identity::Open(state.envelope(), endorser_.key.Trust().signers,
                                     {.cluster = endorser_.key.cluster,
                                      .node = *identity::NodeUuid::Parse(TestUuidOf("gpu-001")),
                                      .groups = {}},
                                     clock_.WallNow());
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_TRUE(opened->CheckPayload(state.group() + state.overlay()).ok());
  EXPECT_EQ(NumberOf(state), (StatementNumber{1, 0}));
  EXPECT_EQ(identity::Hex(opened->statement.payload_sha256), state.hash());
}

TEST_F(FleetSignTest, WhoIsNotSignedForIsSentNothingAndTheStatusSaysWhy) {
  model_ = std::make_unique<FleetModel>(store_, clock_, catalog_, FleetOptions());
  ASSERT_TRUE(model_->Load().ok());
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  EXPECT_EQ(link->Count(Body::kDesired), 0);
  EXPECT_NE(StatusOf("gpu-001").waits().find("nobody who signs"), std::string::npos);
}

TEST_F(FleetSignTest, ARenewalIsSentThoughTheContentIsTheSame) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  Acknowledge(link);
  clock_.Advance(2h);
  model_->EndBatch();
  EXPECT_EQ(link->Count(Body::kDesired), 1);
  clock_.Advance(11 * 24h);
  model_->EndBatch();
  ASSERT_EQ(link->Count(Body::kDesired), 2);
  EXPECT_EQ(NumberOf(LastState(*link)), (StatementNumber{1, 1}));
  Acknowledge(link);
  clock_.Advance(2h);
  model_->EndBatch();
  EXPECT_EQ(link->Count(Body::kDesired), 2);
}

TEST_F(FleetSignTest, ANodeThatMissedARenewalGetsItWhenItComesBack) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  const v1::DesiredState held = LastState(*link);
  model_->OnGone(link);
  EXPECT_EQ(Connect(Holding("gpu-001", held))->Count(Body::kDesired), 0) << "it has it";
  clock_.Advance(11 * 24h);
  const auto back = Connect(Holding("gpu-001", held));
  ASSERT_EQ(back->Count(Body::kDesired), 1);
  EXPECT_EQ(LastState(*back).hash(), held.hash());
}

TEST_F(FleetSignTest, ARestoredControllerSendsNothingBelowWhatWasAcceptedAndGoesOnAboveIt) {
  // Nine generations, then a backup from before the first of them.
  for (int mtu = 4200; mtu < 4209; ++mtu) ASSERT_TRUE(Install(SiteYaml(mtu)).ok());
  const v1::DesiredState ninth = LastState(*Connect(HelloOf("gpu-001")));
  ASSERT_EQ(ninth.generation(), 9u);
  MemoryStore restored;
  TestEndorser signer(clock_);
  FleetOptions options;
  options.built_in = AtOnce();
  options.endorser = signer.get();
  model_ = std::make_unique<FleetModel>(restored, clock_, catalog_, options);
  ASSERT_TRUE(model_->Load().ok());
  ASSERT_TRUE(Install(SiteYaml(1500)).ok());
  auto crashed = Holding("gpu-001", ninth);
  crashed.mutable_hello()->set_generation(8);  // it accepted 9, and died before it was in force
  crashed.mutable_hello()->set_state_hash("of 8");
  const auto link = Connect(crashed);
  EXPECT_EQ(link->Count(Body::kDesired), 0);
  EXPECT_NE(StatusOf("gpu-001").nack().find("restored from an older backup"), std::string::npos);
  clock_.Advance(2h);
  model_->EndBatch();
  EXPECT_EQ(link->Count(Body::kDesired), 0);
  ASSERT_TRUE(Install(SiteYaml(1501)).ok());
  ASSERT_EQ(link->Count(Body::kDesired), 1);
  EXPECT_EQ(NumberOf(LastState(*link)), (StatementNumber{10, 0}));
  EXPECT_EQ(StatusOf("gpu-001").waits(), "");
}

TEST_F(FleetSignTest, WhatTwoControllersSignedUnderOneNumberIsNotReplaced) {
  ASSERT_TRUE(Install(SiteYaml(4200)).ok());
  const v1::DesiredState theirs = LastState(*Connect(HelloOf("gpu-001")));
  MemoryStore other_store;
  TestEndorser other_signer(clock_);
  FleetOptions options;
  options.built_in = AtOnce();
  options.endorser = other_signer.get();
  model_ = std::make_unique<FleetModel>(other_store, clock_, catalog_, options);
  ASSERT_TRUE(model_->Load().ok());
  ASSERT_TRUE(Install(SiteYaml(9000)).ok());
  const auto link = Connect(Holding("gpu-001", theirs));
  EXPECT_EQ(link->Count(Body::kDesired), 0);
  EXPECT_NE(StatusOf("gpu-001").waits().find("two controllers serve this cluster"), std::string::npos)
      << StatusOf("gpu-001").waits();
}

TEST_F(FleetSignTest, WithTheKeyElsewhereAGenerationIsStoredAndSentWhenItIsSigned) {
  MemoryStatements statements;
  StateSigner signer(
      {.cluster = endorser_.key.cluster, .signers = endorser_.key.Trust().signers, .key = nullptr},
      statements, clock_, TestUuidOf);
  FleetOptions options;
  options.built_in = AtOnce();
  options.endorser = &signer;
  model_ = std::make_unique<FleetModel>(store_, clock_, catalog_, options);
  ASSERT_TRUE(model_->Load().ok());
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  EXPECT_EQ(link->Count(Body::kDesired), 0);
  EXPECT_NE(StatusOf("gpu-001").waits().find("0 of 1 signatures"), std::string::npos);

  std::vector<Unsigned> waiting;
  model_->Ask(UnsignedQuestion{[&](const auto& state, std::vector<Unsigned> list) {
    EXPECT_EQ(state->number(), 1u);
    waiting = std::move(list);
  }});
  model_->EndBatch();
  ASSERT_EQ(waiting.size(), 4u) << "also the nodes that are away";
  SignatureOrder order;
  order.by.who = "ann";
  for (const Unsigned& one : waiting)
    order.offers.push_back(
        {one.node, one.statement, *identity::SignStatement(one.statement, endorser_.key.key)});
  Status answered(Code::kInternal, "no answer");
  order.done = [&](const Status& status, std::uint64_t taken) {
    answered = status;
    EXPECT_EQ(taken, 4u);
  };
  model_->Sign(std::move(order));
  model_->EndBatch();
  ASSERT_TRUE(answered.ok()) << answered.message();
  EXPECT_EQ(link->Count(Body::kDesired), 1);
  EXPECT_EQ(StatusOf("gpu-001").waits(), "");
  EXPECT_EQ(StatusOf("gpu-004").waits(), "");
  EXPECT_EQ(store_.Audit(1)->front().action, "sign");
  EXPECT_EQ(Connect(HelloOf("gpu-004"))->Count(Body::kDesired), 1);
}

}  // namespace
}  // namespace railwright
