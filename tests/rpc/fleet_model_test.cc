// The rules about the fleet, without gRPC, threads or waiting.
#include "tests/rpc/fleet_model_fixture.h"

namespace railwright {
namespace {

TEST_F(FleetModelTest, AnUnknownNodeIsRefusedWithTheNearestNameAndTheNextStep) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-01"));
  ASSERT_TRUE(link->refused);
  EXPECT_EQ(link->refused->reason(), v1::Refusal::REASON_UNKNOWN_NODE);
  EXPECT_NE(link->refused->message().find("did you mean \"gpu-001\"?"), std::string::npos)
      << link->refused->message();
  EXPECT_NE(link->refused->message().find("railctl apply"), std::string::npos);
}

TEST_F(FleetModelTest, WelcomeThenPausesThenTheWholeState) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  ASSERT_GE(link->sent.size(), 3u);
  EXPECT_EQ(link->sent[0].body_case(), Body::kWelcome);
  EXPECT_EQ(link->sent[0].welcome().wire(), kWire);
  EXPECT_EQ(link->sent[1].body_case(), Body::kPauses);
  EXPECT_EQ(link->sent[2].body_case(), Body::kDesired);
  const auto state = FromWire(link->sent[2].desired());
  ASSERT_TRUE(state.ok()) << state.status().ToString();
  EXPECT_EQ(state->node, "gpu-001");
  EXPECT_EQ(state->generation.value, 1u);
  ASSERT_EQ(state->ports.size(), 1u);
  EXPECT_EQ(state->ports[0].addresses, std::vector<std::string>{"10.10.0.1/24"});
  ASSERT_EQ(state->settings.size(), 1u);
  EXPECT_EQ(state->settings[0].key, "link.mtu");
  EXPECT_EQ(state->settings[0].mode, Mode::kEnforce);
}

TEST_F(FleetModelTest, AGroupsBytesAreSharedByAllItsNodes) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto one = Connect(HelloOf("gpu-001")), two = Connect(HelloOf("gpu-002"));
  ASSERT_EQ(one->groups.size(), 1u);
  EXPECT_EQ(one->groups[0].get(), two->groups[0].get());
  EXPECT_NE(HashOf("gpu-001"), HashOf("gpu-002"));
}

TEST_F(FleetModelTest, ANodeWhoseHashMatchesIsSentNoState) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  auto hello = HelloOf("gpu-001");
  hello.mutable_hello()->set_state_hash(HashOf("gpu-001"));
  hello.mutable_hello()->set_generation(1);
  EXPECT_EQ(Connect(hello)->Count(Body::kDesired), 0);
}

TEST_F(FleetModelTest, OnlyNodesWhoseStateChangedAreSentANewGeneration) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  ASSERT_EQ(link->Count(Body::kDesired), 1);
  ASSERT_TRUE(Install(SiteYaml() + "---\nkind: Profile\nname: other\nfor: {nodes: [gpu-002]}\nsettings:\n"
                                   "  sysctl.net.ipv4.conf.all.arp_ignore: 1\n")
                  .ok());
  EXPECT_EQ(link->Count(Body::kDesired), 1);
  // It has that generation all the same, once it has reported against its state.
  Say(link, ReportOf(1, 1, HashOf("gpu-001"), Verdict::kCompliant));
  EXPECT_EQ(StatusOf("gpu-001").generation(), 2u);
  EXPECT_TRUE(StatusOf("gpu-001").settled());
}

TEST_F(FleetModelTest, NoCommonWireRevisionNamesBoth) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  auto newer = HelloOf("gpu-001");
  newer.mutable_hello()->set_wire(9);
  newer.mutable_hello()->set_wire_min(8);
  newer.mutable_hello()->set_version("7.0.0");
  const auto link = Connect(newer);
  ASSERT_TRUE(link->refused);
  EXPECT_EQ(link->refused->reason(), v1::Refusal::REASON_WIRE_VERSION);
  EXPECT_NE(link->refused->message().find("7.0.0 speaks wire revisions 8 to 9"), std::string::npos)
      << link->refused->message();
  EXPECT_NE(link->refused->message().find("update the controller"), std::string::npos);
}

TEST(NegotiateWire, TheHighestCommonRevisionIsSpoken) {
  const auto negotiate = [](unsigned wire, unsigned wire_min, unsigned newest, unsigned oldest) {
    v1::Hello hello;
    hello.set_wire(wire);
    hello.set_wire_min(wire_min);
    return NegotiateWire(hello, newest, oldest);
  };
  EXPECT_EQ(*negotiate(1, 1, 1, 1), 1u);
  EXPECT_EQ(*negotiate(2, 1, 1, 1), 1u);  // a newer agent that still speaks ours
  EXPECT_EQ(*negotiate(1, 1, 3, 1), 1u);  // an older one that we still speak
  EXPECT_EQ(*negotiate(4, 2, 3, 1), 3u);
  EXPECT_FALSE(negotiate(3, 2, 1, 1).ok());
  EXPECT_FALSE(negotiate(1, 1, 3, 2).ok());
  EXPECT_NE(negotiate(1, 1, 3, 2).status().message().find("update the agent"), std::string::npos);
  EXPECT_FALSE(negotiate(0, 0, 1, 1).ok());  // told nothing
  EXPECT_FALSE(negotiate(1, 2, 2, 1).ok());  // nonsense
}

TEST_F(FleetModelTest, MissingFeaturesAreNamedBothWays) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  auto hello = HelloOf("gpu-001");
  hello.mutable_hello()->clear_features();
  hello.mutable_hello()->add_features("pause");
  hello.mutable_hello()->add_features("teleport");
  const auto link = Connect(hello);
  const auto& missing = link->sent[0].welcome().missing();
  const std::string all = [&] {
    std::string text;
    for (const auto& one : missing) text += one + "\n";
    return text;
  }();
  EXPECT_NE(all.find("the controller lacks \"teleport\""), std::string::npos) << all;
  EXPECT_NE(all.find("the agent lacks \"plan\""), std::string::npos) << all;
  EXPECT_EQ(StatusOf("gpu-001").missing_features_size(), missing.size());
}

TEST_F(FleetModelTest, ACatalogIsAskedForOnceWhenItIsUnknown) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  auto hello = HelloOf("gpu-001");
  hello.mutable_hello()->set_catalog_hash("feedface");
  const auto link = Connect(hello);
  EXPECT_TRUE(link->sent[0].welcome().send_catalog());
  v1::AgentMessage catalog;
  catalog.mutable_catalog()->set_hash("feedface");
  Say(link, catalog);
  hello.mutable_hello()->set_node("gpu-002");
  EXPECT_FALSE(Connect(hello)->sent[0].welcome().send_catalog());
}

TEST_F(FleetModelTest, TheSameMachineDiallingAgainReplacesItsOldStream) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto old = Connect(HelloOf("gpu-001", "boot-1"));
  const auto fresh = Connect(HelloOf("gpu-001", "boot-1"));
  EXPECT_FALSE(old->ended.ok());
  EXPECT_FALSE(fresh->refused);
  // The old stream's end must not take the new one with it, nor may what it still says count.
  Say(old, ReportOf(1, 1, HashOf("gpu-001"), Verdict::kDrifted));
  model_->OnGone(old);
  model_->EndBatch();
  EXPECT_TRUE(StatusOf("gpu-001").connected());
  EXPECT_EQ(StatusOf("gpu-001").verdict(), v1::VERDICT_UNKNOWN);
}

TEST_F(FleetModelTest, AnotherMachineOfTheSameNameIsRefusedUntilTheFirstIsSilent) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto first = Connect(HelloOf("gpu-001", "boot-1"));
  clock_.Advance(seconds(29));
  auto second = Connect(HelloOf("gpu-001", "boot-2"));
  ASSERT_TRUE(second->refused);
  EXPECT_EQ(second->refused->reason(), v1::Refusal::REASON_DUPLICATE);
  EXPECT_NE(second->refused->message().find("boot-1"), std::string::npos);
  clock_.Advance(seconds(2));
  second = Connect(HelloOf("gpu-001", "boot-2"));
  EXPECT_FALSE(second->refused);
  EXPECT_FALSE(first->ended.ok());
}

TEST_F(FleetModelTest, AReportIsAcknowledgedOnlyWhenItIsStored) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  model_->OnMessage(
      link, *std::make_unique<v1::AgentMessage>(ReportOf(7, 1, HashOf("gpu-001"), Verdict::kDrifted, 3)));
  EXPECT_EQ(link->Count(Body::kReportAck), 0);
  model_->EndBatch();
  const auto ack = link->Last(Body::kReportAck).report_ack();
  EXPECT_EQ(ack.sequence(), 7u);
  EXPECT_EQ(ack.stored_change(), 3u);
  EXPECT_FALSE(ack.need_full());
  EXPECT_EQ(ack.hash(), (*store_.Reports())[0].report_hash);
  EXPECT_EQ((*store_.Changes({}))[0].second.sequence, 3u);
  EXPECT_EQ(StatusOf("gpu-001").verdict(), v1::VERDICT_DRIFTED);
  EXPECT_EQ(StatusOf("gpu-001").corrected(), 1u);
}

TEST_F(FleetModelTest, ReportsThatWaitTogetherAreOneCommit) {
  ASSERT_TRUE(Install(SiteYaml(4200, "gpu-[001-250]")).ok());
  std::vector<std::shared_ptr<FakeLink>> links;
  for (int i = 1; i <= 250; ++i) {
    char name[40];
    std::snprintf(name, sizeof name, "gpu-%03d", i);
    links.push_back(Connect(HelloOf(name)));
    v1::AgentMessage report = ReportOf(1, 1, HashOf(name), Verdict::kCompliant);
    model_->OnMessage(links.back(), report);
  }
  // 250 Hellos ended a batch each, so reports went out in between; the last ones wait.
  model_->EndBatch();
  const std::size_t before = store_.commits();
  for (std::size_t i = 0; i < links.size(); ++i) {
    char name[40];
    std::snprintf(name, sizeof name, "gpu-%03zu", i + 1);
    v1::AgentMessage report = ReportOf(2, 1, HashOf(name), Verdict::kDrifted);
    model_->OnMessage(links[i], report);
  }
  model_->EndBatch();
  EXPECT_EQ(store_.commits() - before, 3u);  // 100 + 100 + 50
  for (const auto& link : links) EXPECT_EQ(link->Last(Body::kReportAck).report_ack().sequence(), 2u);
}

TEST_F(FleetModelTest, ADeltaIsMergedIntoTheReportItIsBasedOn) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  auto first = ReportOf(1, 1, HashOf("gpu-001"), Verdict::kCompliant);
  Say(link, first);
  v1::AgentMessage delta;
  auto* report = delta.mutable_report();
  report->set_sequence(2);
  report->set_generation(1);
  report->set_state_hash(HashOf("gpu-001"));
  report->set_base_hash(first.report().hash());
  report->set_verdict(v1::VERDICT_DRIFTED);
  report->set_settled(true);
  NodeReport whole;
  whole.findings = {FindingOf(Verdict::kCompliant), FindingOf(Verdict::kDrifted, "rail1")};
  *report->add_findings() = ToWire(whole.findings[1]);
  report->set_hash(ReportHash(whole));
  Say(link, delta);
  EXPECT_FALSE(link->Last(Body::kReportAck).report_ack().need_full());
  EXPECT_EQ(StatusOf("gpu-001").findings_size(), 2);
  // And one that takes a finding away again.
  v1::AgentMessage removal;
  report = removal.mutable_report();
  report->set_sequence(3);
  report->set_base_hash(delta.report().hash());
  report->set_verdict(v1::VERDICT_COMPLIANT);
  auto* gone = report->add_removed();
  gone->set_key("link.mtu");
  gone->set_target("rail1");
  whole.findings.pop_back();
  report->set_hash(ReportHash(whole));
  Say(link, removal);
  EXPECT_FALSE(link->Last(Body::kReportAck).report_ack().need_full());
  EXPECT_EQ(StatusOf("gpu-001").findings_size(), 1);
}

TEST_F(FleetModelTest, ADeltaOnAnUnknownReportAsksForAFullOneAndKeepsTheHistory) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  Say(link, ReportOf(1, 1, HashOf("gpu-001"), Verdict::kCompliant));
  auto delta = ReportOf(2, 1, HashOf("gpu-001"), Verdict::kDrifted, 9);
  delta.mutable_report()->set_full(false);
  delta.mutable_report()->set_base_hash("something else");
  Say(link, delta);
  const auto ack = link->Last(Body::kReportAck).report_ack();
  EXPECT_TRUE(ack.need_full());
  EXPECT_EQ(ack.stored_change(), 9u);
  EXPECT_EQ(StatusOf("gpu-001").verdict(), v1::VERDICT_COMPLIANT);
  EXPECT_EQ(store_.Changes({})->size(), 1u);
}

TEST_F(FleetModelTest, ADeltaThatGivesAnotherHashThanTheAgentsIsNotBelieved) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  auto first = ReportOf(1, 1, HashOf("gpu-001"), Verdict::kCompliant);
  Say(link, first);
  auto delta = ReportOf(2, 1, HashOf("gpu-001"), Verdict::kDrifted);
  delta.mutable_report()->set_full(false);
  delta.mutable_report()->set_base_hash(first.report().hash());
  delta.mutable_report()->set_hash(std::string(64, 'a'));
  Say(link, delta);
  EXPECT_TRUE(link->Last(Body::kReportAck).report_ack().need_full());
  EXPECT_EQ(StatusOf("gpu-001").verdict(), v1::VERDICT_COMPLIANT);
}

TEST_F(FleetModelTest, AHeartbeatWritesNothingAndNoticesALostReport) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  auto report = ReportOf(1, 1, HashOf("gpu-001"), Verdict::kCompliant);
  Say(link, report);
  const std::size_t rows = store_.rows();
  const int acks = link->Count(Body::kReportAck);
  v1::AgentMessage beat;
  beat.mutable_heartbeat()->set_report_hash8(HashPrefix8(report.report().hash()));
  Say(link, beat);
  EXPECT_EQ(store_.rows(), rows);
  EXPECT_EQ(link->Count(Body::kReportAck), acks);
  beat.mutable_heartbeat()->set_report_hash8("12345678");
  Say(link, beat);
  EXPECT_TRUE(link->Last(Body::kReportAck).report_ack().need_full());
}

TEST_F(FleetModelTest, ThreeHeartbeatsOfSilenceMakeANodeStale) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  EXPECT_FALSE(StatusOf("gpu-001").stale());
  clock_.Advance(seconds(31));
  EXPECT_TRUE(StatusOf("gpu-001").stale());
  v1::AgentMessage beat;
  beat.mutable_heartbeat();
  Say(link, beat);
  EXPECT_FALSE(StatusOf("gpu-001").stale());
  EXPECT_TRUE(StatusOf("gpu-002").stale()) << "never seen";
}

TEST_F(FleetModelTest, ADisconnectedNodeIsStaleOnlyAfterThreeHeartbeatsWithoutAWord) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  Say(link, ReportOf(1, 1, HashOf("gpu-001"), Verdict::kCompliant));
  clock_.Advance(seconds(10));
  model_->OnGone(link);
  model_->EndBatch();
  EXPECT_FALSE(StatusOf("gpu-001").connected());
  EXPECT_FALSE(StatusOf("gpu-001").stale()) << "it may be dialling";
  EXPECT_EQ(StatusOf("gpu-001").verdict(), v1::VERDICT_COMPLIANT);
  clock_.Advance(seconds(20));
  EXPECT_FALSE(StatusOf("gpu-001").stale());
  clock_.Advance(milliseconds(1));
  EXPECT_TRUE(StatusOf("gpu-001").stale()) << "30 s after its last word, not after the end of its stream";
}

TEST_F(FleetModelTest, WatchersAreToldThatANodeFellSilentAndThatItSpeaksAgain) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  std::vector<std::string> told;
  model_->Watch([&](const FleetNews& news) {
    told.insert(told.end(), news.nodes.begin(), news.nodes.end());
    return true;
  });
  told.clear();
  clock_.Advance(seconds(29));
  model_->EndBatch();
  EXPECT_TRUE(told.empty());
  clock_.Advance(seconds(2));
  model_->EndBatch();
  model_->EndBatch();
  EXPECT_EQ(told, std::vector<std::string>{"gpu-001"}) << "once, and nobody who was never heard";
  v1::AgentMessage beat;
  beat.mutable_heartbeat();
  Say(link, beat);
  clock_.Advance(seconds(1));
  model_->EndBatch();
  EXPECT_EQ(told, (std::vector<std::string>{"gpu-001", "gpu-001"}));
}

TEST_F(FleetModelTest, ANackIsShownUntilAnotherStateIsInForce) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  v1::AgentMessage nack;
  nack.mutable_nack()->set_generation(1);
  nack.mutable_nack()->set_hash(HashOf("gpu-001"));
  nack.mutable_nack()->set_message("setting link.mtu: no port rail0");
  Say(link, nack);
  EXPECT_EQ(StatusOf("gpu-001").nack(), "setting link.mtu: no port rail0");
  ASSERT_TRUE(Install(SiteYaml(9000)).ok());
  EXPECT_EQ(StatusOf("gpu-001").nack(), "");
}

TEST_F(FleetModelTest, AfterARestartEverythingIsThereAndEverybodyIsStale) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  Say(Connect(HelloOf("gpu-001")), ReportOf(1, 1, HashOf("gpu-001"), Verdict::kDrifted, 4));
  Restart();
  EXPECT_EQ(model_->view()->state->number(), 1u);
  const auto status = StatusOf("gpu-001");
  EXPECT_FALSE(status.connected());
  EXPECT_TRUE(status.stale());
  EXPECT_EQ(status.verdict(), v1::VERDICT_DRIFTED);
  EXPECT_EQ(status.findings_size(), 1);
  EXPECT_GT(status.last_seen_unix_us(), 0);
  auto hello = HelloOf("gpu-001");
  hello.mutable_hello()->set_report_hash((*store_.Reports())[0].report_hash);
  const auto link = Connect(hello);
  EXPECT_EQ(link->sent[0].welcome().stored_change(), 4u);
  EXPECT_EQ(link->Count(Body::kReportAck), 0) << "its report is known";
}

TEST_F(FleetModelTest, TheWelcomeSaysWhichReportIsDurableHere) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto first = Connect(HelloOf("gpu-001"));
  EXPECT_FALSE(first->sent[0].welcome().has_held());
  const auto report = ReportOf(1, 1, HashOf("gpu-001"), Verdict::kDrifted, 4);
  Say(first, report);
  Restart();
  const v1::HeldReport held = Connect(HelloOf("gpu-001"))->sent[0].welcome().held();
  EXPECT_EQ(held.hash(), report.report().hash());
  EXPECT_EQ(held.generation(), 1u);
  EXPECT_EQ(held.state_hash(), HashOf("gpu-001"));
  EXPECT_EQ(held.verdict(), v1::VERDICT_DRIFTED);
  EXPECT_EQ(held.settled(), report.report().settled());
  EXPECT_EQ(held.agent_version(), HelloOf("gpu-001").hello().version());
  EXPECT_EQ(held.boot_id(), HelloOf("gpu-001").hello().boot_id());
}

TEST_F(FleetModelTest, AReportThatIsNotDurableYetIsNotSaidToBeHeld) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  store_.SetFailure(Status(Code::kResourceExhausted, "full"));
  Say(link, ReportOf(1, 1, HashOf("gpu-001"), Verdict::kDrifted, 1));
  EXPECT_FALSE(Connect(HelloOf("gpu-001"))->sent[0].welcome().has_held());
}

TEST_F(FleetModelTest, AFullDiskKeepsReportsUnacknowledgedAndHeals) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  store_.SetFailure(Status(Code::kResourceExhausted, "railwright.db: No space left on device"));
  Say(link, ReportOf(1, 1, HashOf("gpu-001"), Verdict::kDrifted, 1));
  Say(link, ReportOf(2, 1, HashOf("gpu-001"), Verdict::kCompliant, 2));
  EXPECT_EQ(link->Count(Body::kReportAck), 0);
  EXPECT_NE(model_->view()->read_only.find("No space left"), std::string::npos);
  EXPECT_EQ(StatusOf("gpu-001").verdict(), v1::VERDICT_COMPLIANT) << "what was heard is shown";
  EXPECT_EQ(Install(SiteYaml(9000)).code(), Code::kResourceExhausted);
  EXPECT_EQ(model_->view()->state->number(), 1u);

  store_.SetFailure(Ok());
  clock_.Advance(milliseconds(1000));
  model_->EndBatch();
  EXPECT_EQ(link->Count(Body::kReportAck), 0) << "the probe is paced";
  clock_.Advance(milliseconds(1500));
  model_->EndBatch();
  EXPECT_EQ(model_->view()->read_only, "");
  const auto ack = link->Last(Body::kReportAck).report_ack();
  EXPECT_EQ(ack.sequence(), 2u);
  EXPECT_EQ(ack.stored_change(), 2u);
  EXPECT_EQ(store_.Changes({})->size(), 2u) << "the history of both reports";
}

TEST_F(FleetModelTest, WithAFullDiskDeltasUponTheLastAcknowledgedReportAreStillShown) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  const auto first = ReportOf(1, 1, HashOf("gpu-001"), Verdict::kCompliant);
  Say(link, first);
  store_.SetFailure(Status(Code::kResourceExhausted, "full"));
  // No acknowledgement comes, so both deltas have the first report as their base.
  for (const Verdict verdict : {Verdict::kDrifted, Verdict::kPending}) {
    auto delta = ReportOf(2, 1, HashOf("gpu-001"), verdict);
    delta.mutable_report()->set_full(false);
    delta.mutable_report()->set_base_hash(first.report().hash());
    Say(link, delta);
    EXPECT_EQ(StatusOf("gpu-001").verdict(), ToWire(verdict));
  }
  store_.SetFailure(Ok());
  clock_.Advance(seconds(3));
  model_->EndBatch();
  EXPECT_FALSE(link->Last(Body::kReportAck).report_ack().need_full());
}

TEST_F(FleetModelTest, AnApplyTriesTheDiskAtOnceInsteadOfWaitingForTheProbe) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  store_.SetFailure(Status(Code::kResourceExhausted, "full"));
  Say(link, ReportOf(1, 1, HashOf("gpu-001"), Verdict::kDrifted));
  store_.SetFailure(Ok());
  EXPECT_TRUE(Install(SiteYaml(9000)).ok());
}

TEST_F(FleetModelTest, WithAFullDiskOneNodesHistoryIsBoundedByItsStream) {
  FleetOptions options;
  options.unsaved_changes = 10;
  model_ = std::make_unique<FleetModel>(store_, clock_, catalog_, options);
  ASSERT_TRUE(model_->Load().ok());
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  store_.SetFailure(Status(Code::kResourceExhausted, "full"));
  const int before = link->consumed;
  for (std::uint64_t n = 1; n <= 11; ++n) Say(link, ReportOf(n, 1, HashOf("gpu-001"), Verdict::kDrifted, n));
  EXPECT_EQ(link->consumed - before, 10) << "the eleventh is not done with, so the stream is read no further";
  store_.SetFailure(Ok());
  clock_.Advance(seconds(3));
  model_->EndBatch();
  EXPECT_EQ(link->consumed - before, 11);
  EXPECT_EQ(store_.Changes({})->size(), 11u);
}

TEST_F(FleetModelTest, AStreamWithoutHelloIsEnded) {
  auto link = std::make_shared<FakeLink>();
  model_->OnOpened(link);
  clock_.Advance(seconds(11));
  model_->EndBatch();
  EXPECT_EQ(link->ended.code(), Code::kDeadlineExceeded);
  link = std::make_shared<FakeLink>();
  model_->OnOpened(link);
  v1::AgentMessage beat;
  beat.mutable_heartbeat();
  Say(link, beat);
  EXPECT_EQ(link->ended.code(), Code::kInvalidArgument);
  EXPECT_EQ(link->consumed, 1);
}

TEST_F(FleetModelTest, ANodeThatLeavesTheInventoryStopsEnforcingAndIsKnownUntilForgotten) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-004"));
  const auto never_reported = Connect(HelloOf("gpu-003"));
  Say(link, ReportOf(1, 1, HashOf("gpu-004"), Verdict::kCompliant));
  ASSERT_TRUE(Install(SiteYaml(4200, "gpu-[001-002]")).ok());
  const auto state = FromWire(link->Last(Body::kDesired).desired());
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(state->generation.value, 2u);
  EXPECT_TRUE(state->settings.empty());
  EXPECT_TRUE(StatusOf("gpu-004").retired());
  ASSERT_TRUE(never_reported->refused);
  EXPECT_EQ(never_reported->refused->reason(), v1::Refusal::REASON_UNKNOWN_NODE);
  EXPECT_EQ(model_->view()->Select({})->size(), 2u);

  Status result;
  const auto answered = [&](const Status& status, const std::vector<Pause>&) { result = status; };
  model_->Forget("gpu-001", "ann", answered);
  model_->EndBatch();
  EXPECT_EQ(result.code(), Code::kFailedPrecondition) << "still in the inventory";
  model_->Forget("gpu-004", "ann", answered);
  model_->EndBatch();
  EXPECT_TRUE(result.ok());
  ASSERT_TRUE(link->refused);
  EXPECT_EQ(link->refused->reason(), v1::Refusal::REASON_FORGOTTEN);
  EXPECT_TRUE(store_.Reports()->empty());
  EXPECT_EQ(model_->view()->Find("gpu-004"), nullptr);
  model_->OnGone(link);  // its end comes later and finds nothing
  EXPECT_EQ((*store_.Audit(1))[0].action, "forget");
}

TEST_F(FleetModelTest, AnAgentThatIsAheadIsNotAskedToGoBack) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  auto hello = HelloOf("gpu-001");
  hello.mutable_hello()->set_generation(40);
  hello.mutable_hello()->set_state_hash("of generation 40");
  const auto link = Connect(hello);
  EXPECT_EQ(link->Count(Body::kDesired), 0);
  EXPECT_NE(StatusOf("gpu-001").nack().find("generation 40"), std::string::npos);
  ASSERT_TRUE(Install(SiteYaml()).ok());  // takes 41
  EXPECT_EQ(link->Last(Body::kDesired).desired().generation(), 41u);
  EXPECT_EQ(StatusOf("gpu-001").nack(), "");
}

TEST_F(FleetModelTest, APauseIsStoredAndPushedToThoseItConcerns) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto one = Connect(HelloOf("gpu-001")), two = Connect(HelloOf("gpu-002"));
  v1::SetPauseResponse response;
  const auto order = [&](Pause pause, bool resume) {
    Status result;
    model_->SetPause({std::move(pause), resume, [&](const Status& status, v1::SetPauseResponse answer) {
                        result = status;
                        response = std::move(answer);
                      }});
    model_->EndBatch();
    return result;
  };
  ASSERT_TRUE(order({"gpu-001", "link.mtu", "ann", "cable work"}, false).ok());
  EXPECT_EQ(response.told_size(), 1);
  EXPECT_EQ(one->Last(Body::kPauses).pauses().pauses_size(), 1);
  EXPECT_EQ(two->Last(Body::kPauses).pauses().pauses_size(), 0);
  ASSERT_TRUE(order({"", "", "bob", "everything"}, false).ok());
  EXPECT_EQ(response.told_size(), 2);
  EXPECT_EQ(response.not_reached_size(), 2);
  EXPECT_EQ(one->Last(Body::kPauses).pauses().pauses_size(), 2);
  EXPECT_EQ(store_.Pauses()->size(), 2u);
  // A node that comes later learns of it before its state.
  const auto three = Connect(HelloOf("gpu-003"));
  EXPECT_EQ(three->Last(Body::kPauses).pauses().pauses_size(), 1);
  ASSERT_TRUE(order({"gpu-001", "link.mtu", "ann", ""}, true).ok());
  EXPECT_EQ(one->Last(Body::kPauses).pauses().pauses_size(), 1);
  EXPECT_EQ(order({"gpu-001", "link.mtu", "ann", ""}, true).code(), Code::kNotFound);
  EXPECT_EQ(order({"gpu-999", "", "ann", ""}, false).code(), Code::kNotFound);
}

TEST_F(FleetModelTest, APauseOfANodeThatIsGoneCanBeEnded) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto order = [&](Pause pause, bool resume) {
    Status result;
    model_->SetPause({std::move(pause), resume,
                      [&](const Status& status, const v1::SetPauseResponse&) { result = status; }});
    model_->EndBatch();
    return result;
  };
  ASSERT_TRUE(order({"gpu-004", "link.mtu", "ann", ""}, false).ok());
  ASSERT_TRUE(Install(SiteYaml(4200, "gpu-[001-003]")).ok());
  ASSERT_EQ(model_->view()->Find("gpu-004"), nullptr) << "it never reported";
  const Status slip = order({"gpu-04", "link.mtu", "ann", ""}, true);
  EXPECT_EQ(slip.code(), Code::kNotFound);
  EXPECT_NE(slip.message().find("did you mean \"gpu-004\"?"), std::string::npos) << slip.message();
  const Status anew = order({"gpu-004", "", "ann", ""}, false);
  EXPECT_EQ(anew.code(), Code::kNotFound);
  EXPECT_NE(anew.message().find("railctl pause --resume --node gpu-004"), std::string::npos)
      << anew.message();
  const Status other = order({"gpu-004", "", "ann", ""}, true);
  EXPECT_NE(other.message().find("there is one of node gpu-004, key link.mtu"), std::string::npos)
      << other.message();
  EXPECT_TRUE(order({"gpu-004", "link.mtu", "ann", ""}, true).ok());
  EXPECT_TRUE(model_->view()->pauses.empty());
  EXPECT_TRUE(store_.Pauses()->empty());
  EXPECT_EQ(order({"gpu-004", "link.mtu", "ann", ""}, true).code(), Code::kNotFound);
}

TEST_F(FleetModelTest, ForgettingANodeDropsItsPausesAndNamesThem) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  Say(Connect(HelloOf("gpu-004")), ReportOf(1, 1, HashOf("gpu-004"), Verdict::kCompliant));
  for (const char* node : {"gpu-004", "gpu-001"})
    model_->SetPause(
        {{node, "link.mtu", "ann", ""}, false, [](const Status&, const v1::SetPauseResponse&) {}});
  ASSERT_TRUE(Install(SiteYaml(4200, "gpu-[001-003]")).ok());
  Status result;
  std::vector<Pause> dropped;
  model_->Forget("gpu-004", "ann", [&](const Status& status, std::vector<Pause> pauses) {
    result = status;
    dropped = std::move(pauses);
  });
  model_->EndBatch();
  EXPECT_TRUE(result.ok()) << result.ToString();
  ASSERT_EQ(dropped.size(), 1u);
  EXPECT_EQ(dropped[0].node, "gpu-004");
  ASSERT_EQ(store_.Pauses()->size(), 1u);
  EXPECT_EQ((*store_.Pauses())[0].node, "gpu-001");
  EXPECT_EQ(model_->view()->pauses.size(), 1u);
  EXPECT_NE((*store_.Audit(1))[0].detail.find("link.mtu"), std::string::npos);
}

TEST_F(FleetModelTest, APauseIsPulledAlsoWithAFullDisk) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  store_.SetFailure(Status(Code::kResourceExhausted, "full"));
  Status result;
  model_->SetPause({{"gpu-001", "", "ann", ""}, false, [&](const Status& status, v1::SetPauseResponse) {
                      result = status;
                    }});
  model_->EndBatch();
  EXPECT_EQ(result.code(), Code::kResourceExhausted);
  EXPECT_NE(result.message().find("were told to pause"), std::string::npos);
  EXPECT_EQ(link->Last(Body::kPauses).pauses().pauses_size(), 1);
}

class PlanTest : public FleetModelTest {
 protected:
  void Ask(milliseconds timeout = milliseconds(10'000)) {
    PlanQuestion question;
    question.generation = 2;
    question.states = model_->view()->state->desired;
    question.timeout = timeout;
    question.progress = [&](const v1::PlanProgress& progress) {
      progress_.push_back(progress);
      return true;
    };
    question.done = [&](std::vector<v1::Plan> plans, std::vector<v1::NotAnswered> missing) {
      done_ = true;
      plans_ = std::move(plans);
      missing_ = std::move(missing);
    };
    model_->Ask(std::move(question));
    model_->EndBatch();
  }
  void Answer(const std::shared_ptr<FakeLink>& link, const std::string& error = "") {
    v1::AgentMessage message;
    message.mutable_result()->set_id(link->Last(Body::kCommand).command().id());
    message.mutable_result()->set_error(error);
    if (error.empty()) message.mutable_result()->mutable_plan()->add_steps()->set_key("link.mtu");
    Say(link, message);
  }
  std::vector<v1::PlanProgress> progress_;
  bool done_ = false;
  std::vector<v1::Plan> plans_;
  std::vector<v1::NotAnswered> missing_;
};

TEST_F(PlanTest, SilentUnknownAndUnableNodesAreNamedWithTheirReasons) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto one = Connect(HelloOf("gpu-001")), two = Connect(HelloOf("gpu-002"));
  auto old = HelloOf("gpu-003");
  old.mutable_hello()->clear_features();
  Connect(old);
  Ask();
  ASSERT_FALSE(done_);
  ASSERT_EQ(progress_.size(), 1u);
  EXPECT_EQ(progress_[0].asked(), 2u);
  EXPECT_EQ(progress_[0].waiting_size(), 2);
  const auto asked = FromWire(one->Last(Body::kCommand).command().plan());
  ASSERT_TRUE(asked.ok()) << asked.status().ToString();
  EXPECT_EQ(asked->generation.value, 2u);
  Answer(one);
  clock_.Advance(milliseconds(200));
  model_->EndBatch();
  EXPECT_EQ(progress_.back().waiting(0), "gpu-002");
  clock_.Advance(seconds(10));
  model_->EndBatch();
  ASSERT_TRUE(done_);
  ASSERT_EQ(plans_.size(), 1u);
  EXPECT_EQ(plans_[0].node(), "gpu-001");
  ASSERT_EQ(missing_.size(), 3u);
  EXPECT_EQ(missing_[0].reason(), "no answer within 10000 ms");
  EXPECT_NE(missing_[1].reason().find("lacks the feature \"plan\""), std::string::npos);
  EXPECT_EQ(missing_[2].reason(), "never connected");
}

TEST_F(PlanTest, ANodeThatIsLostMeanwhileIsNotWaitedFor) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto one = Connect(HelloOf("gpu-001")), two = Connect(HelloOf("gpu-002"));
  Ask();
  Answer(one, "the kernel said no");
  model_->OnGone(two);
  model_->EndBatch();
  ASSERT_TRUE(done_);
  EXPECT_EQ(missing_[0].reason(), "the kernel said no");
  EXPECT_EQ(missing_[1].reason(), "connection lost while it was asked");
}

TEST_F(PlanTest, AnAnswerOfAnotherNodeOrTwiceCountsForNothing) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto one = Connect(HelloOf("gpu-001")), two = Connect(HelloOf("gpu-002"));
  Ask();
  v1::AgentMessage forged;
  forged.mutable_result()->set_id(two->Last(Body::kCommand).command().id());
  forged.mutable_result()->mutable_plan();
  Say(one, forged);
  Answer(one);
  Answer(one);
  ASSERT_FALSE(done_);
  Answer(two);
  ASSERT_TRUE(done_);
  EXPECT_EQ(plans_.size(), 2u);
}

class FollowTest : public FleetModelTest {
 protected:
  void Follow(std::uint64_t generation, seconds within = seconds(600)) {
    model_->Follow(generation, clock_.Now() + within, [&](v1::ApplyEvent event) {
      events_.push_back(std::move(event));
      return true;
    });
    model_->EndBatch();
  }
  std::vector<v1::ApplyEvent> events_;
};

TEST_F(FollowTest, ItEndsWhenEveryConnectedNodeHasSettledOnThatState) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto one = Connect(HelloOf("gpu-001")), two = Connect(HelloOf("gpu-002"));
  Say(one, ReportOf(1, 1, HashOf("gpu-001"), Verdict::kCompliant));
  ASSERT_TRUE(Install(SiteYaml(9000)).ok());
  Follow(2);
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_EQ(events_[0].nodes(), 4u);
  EXPECT_EQ(events_[0].waiting_size(), 2) << "a report against the old state settles nothing";
  EXPECT_EQ(events_[0].unreachable_size(), 2);
  Say(one, ReportOf(2, 2, HashOf("gpu-001"), Verdict::kCompliant));
  EXPECT_EQ(events_.back().done(0).node(), "gpu-001");
  EXPECT_FALSE(events_.back().finished());
  Say(two, ReportOf(1, 2, HashOf("gpu-002"), Verdict::kDrifted));
  const auto& last = events_.back();
  EXPECT_TRUE(last.finished());
  EXPECT_FALSE(last.timed_out());
  EXPECT_EQ(last.done(0).failed(0).key(), "link.mtu");
  EXPECT_EQ(last.unreachable_size(), 2);
}

TEST_F(FollowTest, ARefusingNodeIsDoneWithItsReason) {
  ASSERT_TRUE(Install(SiteYaml(4200, "gpu-001")).ok());
  const auto one = Connect(HelloOf("gpu-001"));
  Follow(1);
  v1::AgentMessage nack;
  nack.mutable_nack()->set_hash(HashOf("gpu-001"));
  nack.mutable_nack()->set_message("no port rail0");
  Say(one, nack);
  EXPECT_TRUE(events_.back().finished());
  EXPECT_EQ(events_.back().done(0).nack(), "no port rail0");
}

TEST_F(FollowTest, ANodeThatDropsOffIsWaitedForAWhileAndThenNamed) {
  ASSERT_TRUE(Install(SiteYaml(4200, "gpu-001")).ok());
  const auto one = Connect(HelloOf("gpu-001"));
  Follow(1);
  model_->OnGone(one);
  model_->EndBatch();
  EXPECT_FALSE(events_.back().finished());
  clock_.Advance(seconds(16));
  model_->EndBatch();
  EXPECT_TRUE(events_.back().finished());
  EXPECT_EQ(events_.back().unreachable(0), "gpu-001");
}

TEST_F(FollowTest, TheDeadlineEndsItAndSaysSo) {
  ASSERT_TRUE(Install(SiteYaml(4200, "gpu-001")).ok());
  Connect(HelloOf("gpu-001"));
  Follow(1, seconds(5));
  clock_.Advance(seconds(6));
  model_->EndBatch();
  EXPECT_TRUE(events_.back().finished());
  EXPECT_TRUE(events_.back().timed_out());
  EXPECT_EQ(events_.back().waiting(0), "gpu-001");
}

TEST_F(FollowTest, ANewerGenerationTakesItsPlace) {
  ASSERT_TRUE(Install(SiteYaml(4200, "gpu-001")).ok());
  Connect(HelloOf("gpu-001"));
  Follow(1);
  ASSERT_TRUE(Install(SiteYaml(9000, "gpu-001")).ok());
  EXPECT_TRUE(events_.back().finished());
  EXPECT_EQ(events_.back().superseded_by(), 2u);
}

TEST_F(FleetModelTest, WatchersSeeThePresentThenEveryChange) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  std::vector<FleetNews> news;
  bool open = true;
  model_->Watch([&](const FleetNews& one) {
    news.push_back(one);
    return open;
  });
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0].nodes.size(), 4u);
  const auto link = Connect(HelloOf("gpu-001"));
  EXPECT_EQ(news.back().nodes, std::vector<std::string>{"gpu-001"});
  Say(link, ReportOf(1, 1, HashOf("gpu-001"), Verdict::kCompliant, 1));
  EXPECT_EQ(news.back().changes.size(), 1u);
  ASSERT_TRUE(Install(SiteYaml(9000)).ok());
  EXPECT_EQ(news.back().generation, 2u);
  open = false;
  ASSERT_TRUE(Install(SiteYaml(4096)).ok());
  const std::size_t count = news.size();
  ASSERT_TRUE(Install(SiteYaml(4095)).ok());
  EXPECT_EQ(news.size(), count);
}

TEST_F(FleetModelTest, AGenerationThatThisBuildCannotResolveThrowsNobodyOut) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  Say(Connect(HelloOf("gpu-001")), ReportOf(1, 1, HashOf("gpu-001"), Verdict::kCompliant));
  StoredGeneration broken;
  broken.generation = {2};
  broken.documents = {
      {"Profile", "x", "site.yaml", 5, "kind: Profile\nname: x\nsettings:\n  no.such.key: 1\n"}};
  ASSERT_TRUE(store_.AddGeneration(broken).ok());
  Restart();
  const auto view = model_->view();
  EXPECT_NE(view->state->problem.find("site.yaml:8:"), std::string::npos) << view->state->problem;
  const auto link = Connect(HelloOf("gpu-001"));
  EXPECT_FALSE(link->refused);
  EXPECT_EQ(link->Count(Body::kDesired), 0);
}

}  // namespace
}  // namespace railwright
