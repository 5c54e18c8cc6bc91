// How a generation spreads over a fleet: what each node is sent, when, and what people see and order.
#include "tests/rpc/fleet_model_fixture.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

class FleetRolloutTest : public FleetModelTest {
 protected:
  void SetUp() override {
    Restart();
    for (const char* name : {"gpu-001", "gpu-002", "gpu-003", "gpu-004"}) order_.emplace_back(name);
  }
  FleetOptions Waves() {
    FleetOptions options = Options();
    options.built_in = RolloutPolicy{};
    return options;
  }
  void Restart() {
    model_ = std::make_unique<FleetModel>(store_, clock_, catalog_, Waves());
    ASSERT_TRUE(model_->Load().ok());
  }
  void ConnectAll() {
    for (const std::string& name : order_) Dial(name);
  }
  void Dial(const std::string& name) {
    auto hello = HelloOf(name);
    hello.mutable_hello()->set_generation(held_[name].generation());
    hello.mutable_hello()->set_state_hash(held_[name].hash());
    links_[name] = Connect(hello);
  }
  void Hang(const std::string& name) {
    model_->OnGone(links_[name]);
    model_->EndBatch();
  }
  int Sent(const std::string& name) { return links_[name]->Count(Body::kDesired); }
  /// The agent takes what it was sent last, and reports.
  void Settle(const std::string& name, Verdict verdict = Verdict::kCompliant) {
    const v1::DesiredState state = links_[name]->Last(Body::kDesired).desired();
    ASSERT_NE(state.hash(), "") << name << " was sent nothing";
    held_[name] = state;
    v1::AgentMessage ack;
    ack.mutable_ack()->set_generation(state.generation());
    ack.mutable_ack()->set_hash(state.hash());
    Say(links_[name], ack);
    auto report = ReportOf(++sequence_, state.generation(), state.hash(), verdict);
    report.mutable_report()->mutable_findings(0)->set_mode(v1::MODE_ENFORCE);
    Say(links_[name], report);
  }
  void Refuse(const std::string& name, const std::string& why) {
    v1::AgentMessage message;
    message.mutable_nack()->set_generation(model_->view()->state->number());
    message.mutable_nack()->set_hash(links_[name]->Last(Body::kDesired).desired().hash());
    message.mutable_nack()->set_message(why);
    Say(links_[name], message);
  }
  void Tick(std::chrono::milliseconds time) {
    clock_.Advance(time);
    // The streams are alive meanwhile.
    for (auto& [name, link] : links_) {
      v1::AgentMessage beat;
      beat.mutable_heartbeat();
      model_->OnMessage(link, beat);
    }
    model_->EndBatch();
  }
  /// Settles whoever was sent something until all have the present generation.
  void RunThrough() {
    for (int i = 0; i < 60; ++i) {
      for (const std::string& name : order_) {
        const std::string sent = links_[name]->Last(Body::kDesired).desired().hash();
        if (!sent.empty() && sent != held_[name].hash()) Settle(name);
      }
      Tick(1s);
    }
  }
  v1::RolloutInfo Rollout() {
    v1::RolloutsResponse answer;
    model_->Ask(RolloutQuestion{"", [&](v1::RolloutsResponse r) { answer = std::move(r); }});
    model_->EndBatch();
    brakes_ = {answer.brakes().begin(), answer.brakes().end()};
    return answer.rollouts().empty() ? v1::RolloutInfo() : answer.rollouts(0);
  }
  Status Do(RolloutCommand::What what, const std::string& person = "bob", const std::string& scope = "*") {
    RolloutCommand command;
    command.what = what;
    command.person = person;
    command.reason = "because";
    command.caller.kind = Caller::Kind::kOperator;
    command.caller.name = person;
    command.caller.scope = scope;
    command.by.who = person;
    Status answer(Code::kInternal, "no answer");
    command.done = [&](const Status& status, const v1::RolloutsResponse&) { answer = status; };
    model_->Do(std::move(command));
    model_->EndBatch();
    return answer;
  }
  std::vector<std::string> Audited(const std::string& action) {
    std::vector<std::string> rows;
    for (const AuditRow& row : *store_.Audit(100))
      if (row.action == action) rows.push_back(row.who + ": " + row.outcome + " (" + row.detail + ")");
    return rows;
  }

  std::vector<std::string> order_;
  std::map<std::string, std::shared_ptr<FakeLink>> links_;
  std::map<std::string, v1::DesiredState> held_;
  std::vector<v1::Brake> brakes_;
  std::uint64_t sequence_ = 0;
};

TEST_F(FleetRolloutTest, OneNodeIsSentItAndTheOthersKeepWhatTheyHaveAndSayWhy) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  ConnectAll();
  EXPECT_EQ(Sent("gpu-001"), 1);
  EXPECT_EQ(Sent("gpu-002"), 0);
  EXPECT_NE(StatusOf("gpu-002").waits().find("has not come to it yet"), std::string::npos)
      << StatusOf("gpu-002").waits();
  Settle("gpu-001");
  Tick(4s);
  EXPECT_EQ(Sent("gpu-002"), 0) << "it must hold first";
  Tick(2s);
  EXPECT_EQ(Sent("gpu-002"), 1);
  EXPECT_EQ(Sent("gpu-003"), 0) << "a quarter of four at a time";
  EXPECT_EQ(StatusOf("gpu-002").waits(), "");
  RunThrough();
  EXPECT_EQ(Rollout().state(), v1::ROLLOUT_STATE_DONE);
  for (const std::string& name : order_) EXPECT_EQ(Sent(name), 1) << name;
}

TEST_F(FleetRolloutTest, ARefusalHaltsItIsAuditedAndAnApplyThatWaitsIsTold) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  ConnectAll();
  v1::ApplyEvent last;
  model_->Follow(1, clock_.Now() + 10min, [&](v1::ApplyEvent event) {
    last = std::move(event);
    return true;
  });
  model_->EndBatch();
  EXPECT_FALSE(last.finished());
  EXPECT_EQ(last.rollout(), "wave 1 of 3");
  Refuse("gpu-001", "unknown key");
  Tick(1s);
  EXPECT_TRUE(last.finished());
  EXPECT_NE(last.stopped().find("gpu-001 refused it: unknown key"), std::string::npos) << last.stopped();
  EXPECT_EQ(last.waiting_size(), 3);
  ASSERT_EQ(Audited("halt").size(), 1u);
  const v1::RolloutInfo info = Rollout();
  EXPECT_EQ(info.state(), v1::ROLLOUT_STATE_HALTED);
  ASSERT_EQ(info.members_size(), 1);
  EXPECT_EQ(info.members(0).node(), "gpu-001");
  Tick(10min);
  for (const char* name : {"gpu-002", "gpu-003", "gpu-004"}) EXPECT_EQ(Sent(name), 0);
}

TEST_F(FleetRolloutTest, ANodeThatIsWorseThanBeforeHaltsIt) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  ConnectAll();
  Settle("gpu-001", Verdict::kDrifted);
  Tick(1s);
  EXPECT_EQ(Rollout().state(), v1::ROLLOUT_STATE_RUNNING) << "it may be passing";
  Tick(Rollout::kAilingFor);
  EXPECT_EQ(Rollout().state(), v1::ROLLOUT_STATE_HALTED);
}

TEST_F(FleetRolloutTest, AfterARestartItGoesOnWhereItWasAndSendsNobodyAnotherStatement) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  ConnectAll();
  Settle("gpu-001");
  Tick(6s);
  ASSERT_EQ(Sent("gpu-002"), 1);
  const std::string envelope = links_["gpu-002"]->Last(Body::kDesired).desired().envelope();
  Restart();
  ConnectAll();
  EXPECT_EQ(Sent("gpu-001"), 0) << "it holds it";
  EXPECT_EQ(Sent("gpu-002"), 1);
  EXPECT_EQ(links_["gpu-002"]->Last(Body::kDesired).desired().envelope(), envelope);
  EXPECT_EQ(Sent("gpu-003"), 0);
  RunThrough();
  EXPECT_EQ(Rollout().state(), v1::ROLLOUT_STATE_DONE);
}

TEST_F(FleetRolloutTest, WhatIsNotDurableIsNotSent) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  store_.SetFailure(Status(Code::kResourceExhausted, "no space left"));
  ConnectAll();
  for (const std::string& name : order_) EXPECT_EQ(Sent(name), 0);
  store_.SetFailure(Ok());
  Tick(3s);
  EXPECT_EQ(Sent("gpu-001"), 1);
}

TEST_F(FleetRolloutTest, ANewGenerationReachesAlsoThoseThatTheOneBeforeHadNotReached) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  ConnectAll();
  RunThrough();
  ASSERT_TRUE(Install(SiteYaml(9000)).ok());
  ASSERT_EQ(Sent("gpu-001"), 2);
  ASSERT_TRUE(Install(SiteYaml(9000) + "# a word\n").ok()) << "nothing differs, and three have not got it";
  EXPECT_EQ(Rollout().nodes(), 4u);
  EXPECT_EQ(Sent("gpu-002"), 1);
  RunThrough();
  for (const std::string& name : order_) EXPECT_EQ(held_[name].hash(), HashOf(name)) << name;
}

TEST_F(FleetRolloutTest, OneThatIsStillChangingIsTheFirstToGetTheNextState) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  ConnectAll();
  RunThrough();
  ASSERT_TRUE(Install(SiteYaml(9000)).ok());
  Refuse("gpu-001", "the driver says no");
  Tick(1s);
  ASSERT_TRUE(Install(SiteYaml(8000)).ok());
  EXPECT_EQ(Sent("gpu-001"), 3);
  EXPECT_EQ(Sent("gpu-002"), 1);
}

TEST_F(FleetRolloutTest, BackToTheContentBeforeDoesNotCountAnOldReportOfANodeThatWasSentAnother) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  ConnectAll();
  RunThrough();
  ASSERT_TRUE(Install(SiteYaml(9000)).ok());
  ASSERT_EQ(Sent("gpu-001"), 2);
  ASSERT_TRUE(Install(SiteYaml()).ok());
  EXPECT_EQ(Sent("gpu-001"), 3) << "its last report fits, but it was sent another state since";
  EXPECT_EQ(Rollout().done(), 3u) << "the others have it, and are not sent it";
}

TEST_F(FleetRolloutTest, PauseResumeAndAbortAreAuditedAndHold) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  ConnectAll();
  ASSERT_TRUE(Do(RolloutCommand::What::kPause).ok());
  Settle("gpu-001");
  Tick(1min);
  EXPECT_EQ(Sent("gpu-002"), 0);
  EXPECT_EQ(Rollout().state(), v1::ROLLOUT_STATE_PAUSED);
  Restart();
  ConnectAll();
  Tick(1min);
  EXPECT_EQ(Rollout().state(), v1::ROLLOUT_STATE_PAUSED) << "it survives a restart";
  ASSERT_TRUE(Do(RolloutCommand::What::kResume).ok());
  Tick(6s);
  EXPECT_EQ(Sent("gpu-002"), 1);
  EXPECT_EQ(Do(RolloutCommand::What::kResume).code(), Code::kFailedPrecondition);
  ASSERT_TRUE(Do(RolloutCommand::What::kAbort).ok());
  Settle("gpu-002");
  Tick(1min);
  EXPECT_EQ(Sent("gpu-003"), 0);
  EXPECT_EQ(Audited("rollout pause"), std::vector<std::string>{"bob: done (because)"});
  ASSERT_EQ(Audited("rollout resume").size(), 2u);
  EXPECT_EQ(Audited("rollout resume")[0].find("bob: refused: "), 0u);
  EXPECT_EQ(Audited("rollout abort").size(), 1u);
}

TEST_F(FleetRolloutTest, WhoseScopeDoesNotHoldItsNodesMayNotOrderIt) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  EXPECT_EQ(Do(RolloutCommand::What::kPause, "bob", "gpu-[001-002]").code(), Code::kPermissionDenied);
  EXPECT_EQ(Do(RolloutCommand::What::kResetBreaker, "bob", "gpu-[001-004]").code(), Code::kPermissionDenied);
  EXPECT_TRUE(Do(RolloutCommand::What::kPause, "bob", "gpu-[001-004]").ok());
}

const char* const kCareful =
    "---\nkind: RolloutPolicy\nname: careful\nwaves: [\"1\", all]\nsoak: 1s\nmax_unavailable: 50%\n"
    "approve_above: \"1\"\napprove_twice_above: \"3\"\n";

TEST_F(FleetRolloutTest, APolicyGovernsTheGenerationsAfterTheOneThatBringsIt) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  ConnectAll();
  RunThrough();
  ASSERT_TRUE(Install(SiteYaml(9000) + kCareful).ok());
  EXPECT_EQ(Rollout().policy(), "");
  EXPECT_EQ(Rollout().approvals_needed(), 0u);
  RunThrough();
  ASSERT_TRUE(Install(SiteYaml(8000)).ok()) << "which takes the policy away again";
  EXPECT_EQ(Rollout().policy(), "RolloutPolicy/careful");
  EXPECT_EQ(Rollout().approvals_needed(), 2u);
}

TEST_F(FleetRolloutTest, NothingIsSentBeforeTheApprovalsAndTheAuthorCannotGiveOne) {
  ASSERT_TRUE(Install(SiteYaml() + kCareful).ok()) << "the first of all: its own policy counts";
  ConnectAll();
  Tick(1min);
  for (const std::string& name : order_) EXPECT_EQ(Sent(name), 0);
  EXPECT_EQ(Rollout().state(), v1::ROLLOUT_STATE_WAITING);
  ASSERT_TRUE(Do(RolloutCommand::What::kApprove, "bob").ok());
  EXPECT_EQ(Sent("gpu-001"), 0);
  Restart();
  ConnectAll();
  ASSERT_TRUE(Do(RolloutCommand::What::kApprove, "carol").ok());
  EXPECT_EQ(Sent("gpu-001"), 1);
  EXPECT_EQ(Audited("rollout approve").size(), 2u);
}

TEST_F(FleetRolloutTest, NobodyLoosensTheTermsAndUsesThatInTheNextGeneration) {
  ASSERT_TRUE(Install(SiteYaml() + kCareful).ok());
  ConnectAll();
  ASSERT_TRUE(Do(RolloutCommand::What::kApprove, "bob").ok());
  ASSERT_TRUE(Do(RolloutCommand::What::kApprove, "carol").ok());
  RunThrough();
  ASSERT_EQ(Rollout().state(), v1::ROLLOUT_STATE_DONE);
  ASSERT_TRUE(Install(SiteYaml()).ok()) << "which changes no node, and takes the policy away";
  EXPECT_EQ(Rollout().approvals_needed(), 2u);
  EXPECT_EQ(Rollout().state(), v1::ROLLOUT_STATE_WAITING);
  ASSERT_GE(Rollout().waits_for_size(), 1);
  EXPECT_NE(Rollout().waits_for(0).find("how generations spread"), std::string::npos);
  // Nobody agreed, so what follows still runs by the terms of before, also when that one needs nobody.
  ASSERT_TRUE(Install(SiteYaml() + "# a word\n").ok());
  ASSERT_TRUE(Install(SiteYaml(9000)).ok());
  EXPECT_EQ(Rollout().policy(), "RolloutPolicy/careful");
  EXPECT_EQ(Rollout().approvals_needed(), 2u);
  Tick(1min);
  EXPECT_EQ(Sent("gpu-001"), 1);
  ASSERT_TRUE(Do(RolloutCommand::What::kApprove, "bob").ok());
  ASSERT_TRUE(Do(RolloutCommand::What::kApprove, "carol").ok());
  RunThrough();
  ASSERT_TRUE(Install(SiteYaml(8000)).ok());
  EXPECT_EQ(Rollout().policy(), "") << "two persons agreed to that, with the generation that had none";
}

TEST_F(FleetRolloutTest, GoingBackFromWhatOneNodeHasSeenNeedsNoApprovalOfTheMany) {
  ASSERT_TRUE(Install(SiteYaml() + kCareful).ok());
  ConnectAll();
  const auto approve = [&] {
    ASSERT_TRUE(Do(RolloutCommand::What::kApprove, "bob").ok());
    ASSERT_TRUE(Do(RolloutCommand::What::kApprove, "carol").ok());
  };
  approve();
  RunThrough();
  ASSERT_TRUE(Install(SiteYaml(9000) + kCareful).ok());
  approve();
  Refuse("gpu-001", "no");
  Tick(1s);
  ASSERT_EQ(Rollout().state(), v1::ROLLOUT_STATE_HALTED);
  ASSERT_TRUE(Install(SiteYaml() + kCareful).ok());
  EXPECT_EQ(Rollout().approvals_needed(), 0u) << "three of the four have it";
  EXPECT_EQ(Sent("gpu-001"), 3);
}

TEST_F(FleetRolloutTest, ManyThatFailOpenTheBreakerWhichStopsEverythingUntilAPersonResetsIt) {
  FleetOptions options = Waves();
  options.built_in = AtOnce();
  options.built_in.breaker = {50, true};
  model_ = std::make_unique<FleetModel>(store_, clock_, catalog_, options);
  ASSERT_TRUE(model_->Load().ok());
  ASSERT_TRUE(Install(SiteYaml()).ok());
  ConnectAll();
  for (const char* name : {"gpu-001", "gpu-002"}) Refuse(name, "no");
  (void)Rollout();
  EXPECT_TRUE(brakes_.empty());
  Refuse("gpu-003", "no");
  Tick(1s);
  EXPECT_EQ(Rollout().state(), v1::ROLLOUT_STATE_HALTED);
  ASSERT_EQ(brakes_.size(), 1u);
  EXPECT_EQ(brakes_[0].rack(), "");
  EXPECT_EQ(Audited("breaker").size(), 1u);
  const auto paused = links_["gpu-004"]->Last(Body::kPauses).pauses();
  ASSERT_EQ(paused.pauses_size(), 1);
  EXPECT_EQ(paused.pauses(0).key() + paused.pauses(0).node(), "") << "everything, everywhere";
  EXPECT_EQ(StatusOf("gpu-004").pauses_size(), 1);

  Restart();
  ConnectAll();
  EXPECT_EQ(links_["gpu-004"]->Last(Body::kPauses).pauses().pauses_size(), 1) << "it survives a restart";
  const auto sent = [&] {
    int all = 0;
    for (const std::string& name : order_) all += Sent(name);
    return all;
  };
  const int before = sent();  // those in the middle of it
  ASSERT_TRUE(Install(SiteYaml(9000)).ok());
  Tick(10min);
  EXPECT_EQ(sent(), before) << "no generation is begun either";
  ASSERT_TRUE(Do(RolloutCommand::What::kResetBreaker).ok());
  EXPECT_EQ(links_["gpu-004"]->Last(Body::kPauses).pauses().pauses_size(), 0);
  Tick(1s);
  EXPECT_GT(sent(), before);
  EXPECT_EQ(Do(RolloutCommand::What::kResetBreaker).code(), Code::kFailedPrecondition);
}

TEST_F(FleetRolloutTest, ARackThatGoesSilentAtOnceIsFrozenUntilItIsBack) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  ConnectAll();
  RunThrough();
  for (const char* name : {"gpu-003", "gpu-004"}) {
    Hang(name);
    links_.erase(name);
  }
  for (int i = 0; i < 40; ++i) Tick(1s);
  (void)Rollout();
  ASSERT_EQ(brakes_.size(), 1u);
  EXPECT_EQ(brakes_[0].rack(), "r1");
  EXPECT_EQ(links_["gpu-001"]->Last(Body::kPauses).pauses().pauses_size(), 1) << "nothing is put right there";
  ASSERT_TRUE(Install(SiteYaml(9000)).ok());
  EXPECT_EQ(Sent("gpu-001"), 1) << "nor begun";
  Dial("gpu-003");
  Dial("gpu-004");
  EXPECT_EQ(links_["gpu-003"]->Last(Body::kPauses).pauses().pauses_size(), 1);
  for (int i = 0; i < 62; ++i) Tick(1s);
  (void)Rollout();
  EXPECT_TRUE(brakes_.empty());
  EXPECT_EQ(links_["gpu-003"]->Last(Body::kPauses).pauses().pauses_size(), 0);
  EXPECT_EQ(Sent("gpu-001"), 2);
}

TEST_F(FleetRolloutTest, ANodeThatNobodySignedForIsNotBegunAndTakesNobodysPlace) {
  FleetOptions options = Waves();
  options.endorser = nullptr;
  model_ = std::make_unique<FleetModel>(store_, clock_, catalog_, options);
  ASSERT_TRUE(model_->Load().ok());
  ASSERT_TRUE(Install(SiteYaml()).ok());
  ConnectAll();
  const v1::RolloutInfo info = Rollout();
  EXPECT_EQ(info.changing(), 0u);
  ASSERT_GE(info.waits_for_size(), 1);
  EXPECT_NE(info.waits_for(0).find("gpu-001: this controller has nobody who signs states"), std::string::npos)
      << info.waits_for(0);
}

}  // namespace
}  // namespace railwright
