// Reports, their history, and what a full disk does to them.
#include "tests/rpc/fleet_model_fixture.h"

namespace railwright {
namespace {

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
  FleetOptions options = Options();
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

}  // namespace
}  // namespace railwright
