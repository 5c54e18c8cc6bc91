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

TEST_F(FleetModelTest, AGenerationThatThisBuildCannotResolveThrowsNobodyOut) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  Say(Connect(HelloOf("gpu-001")), ReportOf(1, 1, HashOf("gpu-001"), Verdict::kCompliant));
  StoredGeneration broken;
  broken.generation = {2};
  broken.documents = {
      {"Profile", "x", "site.yaml", 5, "kind: Profile\nname: x\nsettings:\n  no.such.key: 1\n"}};
  ASSERT_TRUE(store_.AddGeneration(broken, {}, {}).ok());
  Restart();
  const auto view = model_->view();
  EXPECT_NE(view->state->problem.find("site.yaml:8:"), std::string::npos) << view->state->problem;
  const auto link = Connect(HelloOf("gpu-001"));
  EXPECT_FALSE(link->refused);
  EXPECT_EQ(link->Count(Body::kDesired), 0);
}

}  // namespace
}  // namespace railwright
