// The operators' side of a real controller.
#include <algorithm>
#include <thread>

#include "tests/rpc/controller_fixture.h"

namespace railwright {
namespace {

using Body = v1::ControllerMessage;
using Stub = v1::AdminService::Stub;

class AdminTest : public ControllerTest {
 protected:
  /// An agent that answers every dry run, and reports against every state, until it is cancelled.
  class Willing {
   public:
    Willing(const std::string& address, const std::string& node) : agent_(address, node) {
      agent_.Hello();
      thread_ = std::thread([this] {
        std::uint64_t sequence = 0;
        while (true) {
          const auto message = agent_.Any();
          if (message.body_case() == Body::BODY_NOT_SET) return;
          if (message.has_command()) agent_.Answer(message.command());
          if (message.has_desired()) agent_.Report(++sequence, Verdict::kCompliant);
        }
      });
    }
    ~Willing() {
      agent_.Cancel();
      thread_.join();
    }

   private:
    FakeAgent agent_;
    std::thread thread_;
  };
  void AwaitConnected(const std::string& node) {
    ASSERT_TRUE(Eventually([&] {
      const auto view = controller_->core().view();
      const NodeView* found = view->Find(node);
      return found && found->connected;
    }));
  }
};

TEST_F(AdminTest, ProblemsOfDocumentsAreAllToldWithTheirPlacesAndNothingIsStored) {
  const auto applied =
      Admin().Apply("kind: Cluster\nname: pod-a\nnoodles: 1\n---\nkind: Profile\nname: x\nprecedense: 2\n");
  EXPECT_EQ(applied.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_NE(applied.status.error_message().find("site.yaml:3:1: unknown field \"noodles\""),
            std::string::npos)
      << applied.status.error_message();
  EXPECT_NE(applied.status.error_message().find("site.yaml:7:1: unknown field \"precedense\""),
            std::string::npos);
  EXPECT_EQ(Admin().Status().generation(), 0u);
}

TEST_F(AdminTest, MoreProblemsThanAStatusHoldsAreAllToldBeforeIt) {
  std::string yaml = SiteYaml();
  for (int i = 0; i < 300; ++i) yaml += "  no.such.key" + std::to_string(i) + ": 1\n";
  const auto applied = Admin().Apply(yaml);
  EXPECT_EQ(applied.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT)
      << applied.status.error_message();
  EXPECT_NE(applied.status.error_message().find("site.yaml:14:3: unknown"), std::string::npos)
      << applied.status.error_message();
  EXPECT_NE(applied.status.error_message().find("more lines"), std::string::npos);
  ASSERT_EQ(applied.events.size(), 1u);
  EXPECT_GE(applied.events[0].problems().problems_size(), 100);
  const auto planned = Admin().Plan(yaml);
  EXPECT_EQ(planned.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  ASSERT_EQ(planned.events.size(), 1u);
  EXPECT_GE(planned.events[0].problems().problems_size(), 100);
}

TEST_F(AdminTest, AnEmptyInventoryAndNoDocumentsAreRefused) {
  EXPECT_EQ(Admin().Apply("").status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Admin().Apply(v1::ApplyRequest()).status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Admin().Apply("kind: Cluster\nname: pod-a\n").status.error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(AdminTest, DocumentsOver8MebibytesAreRefusedByName) {
  const auto applied = Admin().Apply(std::string(9 << 20, '#'));
  EXPECT_EQ(applied.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(Admin().Apply(SiteYaml()).status.ok());
}

TEST_F(AdminTest, UnchangedDocumentsMakeNoGeneration) {
  EXPECT_EQ(Admin().Apply(SiteYaml()).last().generation(), 1u);
  const auto again = Admin().Apply(SiteYaml());
  EXPECT_TRUE(again.last().unchanged());
  EXPECT_EQ(again.last().generation(), 1u);
  EXPECT_EQ(Admin().Apply(SiteYaml(9000)).last().generation(), 2u);
}

TEST_F(AdminTest, TheSameFileIsUnchangedAlsoAfterARestartAndAfterARollback) {
  // Two documents that do not begin at the first line of the file.
  const auto site = [](int mtu) { return "# the pod\n...\n\n\n" + SiteYaml(mtu) + "\n"; };
  ASSERT_TRUE(Admin().Apply(site(4200)).status.ok());
  EXPECT_TRUE(Admin().Apply(site(4200)).last().unchanged());
  const std::string hash = Admin().Plan(site(9000)).last().result().plan_hash();
  Restart();
  EXPECT_EQ(Admin().Plan(site(9000)).last().result().plan_hash(), hash) << "a saved plan outlives a restart";
  EXPECT_TRUE(Admin().Apply(site(4200)).last().unchanged());
  const auto planned = Admin().Plan(site(9000)).last().result();
  ASSERT_EQ(planned.documents_changed_size(), 1);
  EXPECT_EQ(planned.documents_changed(0), "Profile/base");
  ASSERT_TRUE(Admin().Apply(site(9000)).status.ok());
  EXPECT_EQ(Admin().Rollback(0).last().generation(), 3u);
  EXPECT_TRUE(Admin().Apply(site(4200)).last().unchanged());
  EXPECT_TRUE(Admin().Apply("\n" + SiteYaml()).last().unchanged()) << "moved, not changed";
}

TEST_F(AdminTest, ATryIsAGenerationEvenOfUnchangedDocumentsAndOutlivesARestart) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  v1::ApplyRequest request;
  auto* file = request.add_files();
  file->set_name("site.yaml");
  file->set_text(SiteYaml());
  for (const std::uint32_t wrong : {1u, 29'999u, 900'001u}) {
    request.set_try_ms(wrong);
    EXPECT_EQ(Admin().Apply(request).status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << wrong;
  }
  request.set_try_ms(30'000);
  EXPECT_EQ(Admin().Apply(request).last().generation(), 2u);
  const auto tried = [&] {
    v1::GroupPayload group;
    const auto view = controller_->core().view();
    EXPECT_TRUE(group.ParseFromString(*view->state->desired.begin()->second.group));
    return group.try_ms();
  };
  EXPECT_EQ(tried(), 30'000u);
  Restart();
  EXPECT_EQ(tried(), 30'000u) << "the same bytes, or every node would be sent the generation again";
  EXPECT_EQ(Admin().Apply(SiteYaml()).last().generation(), 3u) << "takes the word back";
  EXPECT_EQ(tried(), 0u);
  EXPECT_TRUE(Admin().Apply(SiteYaml()).last().unchanged());
}

TEST_F(AdminTest, ApplyWithoutWaitListsNodesThatAreNewInThisVeryApply) {
  const auto first = Admin().Apply(SiteYaml(4200, "gpu-[001-002]"));
  EXPECT_EQ(first.last().nodes(), 2u);
  EXPECT_EQ(first.last().unreachable_size(), 2);
  const auto second = Admin().Apply(SiteYaml(4200, "gpu-[001-003]"));
  EXPECT_EQ(second.last().nodes(), 3u);
  ASSERT_EQ(second.last().unreachable_size(), 3);
  EXPECT_EQ(second.last().unreachable(2), "gpu-003");
}

TEST_F(AdminTest, ApplyReplacesWhatItNamesAndPruneRemovesTheRest) {
  ASSERT_TRUE(Admin()
                  .Apply(SiteYaml() + "---\nkind: Profile\nname: extra\nfor: {role: gpu}\nsettings:\n"
                                      "  sysctl.net.ipv4.conf.all.arp_ignore: 1\n")
                  .status.ok());
  ASSERT_TRUE(Admin()
                  .Apply("kind: Profile\nname: base\nfor: {role: gpu}\nmode: enforce\nsettings:\n"
                         "  link.mtu: {fabric: 9000}\n")
                  .status.ok());
  v1::GenerationsResponse generations;
  ASSERT_TRUE(Admin().Ask(&Stub::Generations, v1::GenerationsRequest(), &generations).ok());
  ASSERT_EQ(generations.generations_size(), 2);
  EXPECT_EQ(generations.generations(0).documents_size(), 3);
  EXPECT_EQ(generations.generations(0).author(), "ann");
  EXPECT_EQ(generations.generations(0).settings(), 8u);
  v1::ApplyRequest prune;
  auto* file = prune.add_files();
  file->set_name("site.yaml");
  file->set_text(SiteYaml(9000));
  prune.set_prune(true);
  prune.set_restore(true);
  ASSERT_TRUE(Admin().Apply(prune).status.ok());
  v1::DesiredRequest request;
  request.set_node("gpu-001");
  v1::DesiredResponse desired;
  ASSERT_TRUE(Admin().Ask(&Stub::Desired, request, &desired).ok());
  EXPECT_EQ(desired.group().settings_size(), 1);
  ASSERT_EQ(desired.overlay().restore_size(), 1);
  EXPECT_EQ(desired.overlay().restore(0).key(), "sysctl.net.ipv4.conf.all.arp_ignore");
  request.set_generation(1);
  ASSERT_TRUE(Admin().Ask(&Stub::Desired, request, &desired).ok());
  EXPECT_EQ(desired.group().settings_size(), 2);
  request.set_node("gpu-01");
  request.set_generation(0);
  const auto missing = Admin().Ask(&Stub::Desired, request, &desired);
  EXPECT_EQ(missing.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_NE(missing.error_message().find("did you mean \"gpu-001\""), std::string::npos);
}

TEST_F(AdminTest, APlanAsksTheConnectedNodesAndNamesTheSilentOnes) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  Willing one(controller_->agents(), "gpu-001");
  auto silent = Agent("gpu-002");  // connected, and never answers
  ASSERT_TRUE(silent->Join());
  AwaitConnected("gpu-001");
  const auto planned = Admin().Plan(SiteYaml(9000), 1500);
  ASSERT_TRUE(planned.status.ok()) << planned.status.error_message();
  ASSERT_GE(planned.events.size(), 2u);
  bool named = false;
  for (const auto& event : planned.events)
    named = named || (event.progress().waiting_size() == 1 && event.progress().waiting(0) == "gpu-002");
  EXPECT_TRUE(named);
  const auto& result = planned.last().result();
  ASSERT_EQ(result.nodes_size(), 1);
  EXPECT_EQ(result.nodes(0).node(), "gpu-001");
  EXPECT_EQ(result.base_generation(), 1u);
  EXPECT_EQ(result.next_generation(), 2u);
  ASSERT_EQ(result.documents_changed_size(), 1);
  EXPECT_EQ(result.documents_changed(0), "Profile/base");
  EXPECT_EQ(result.not_answered_size(), 3);
  EXPECT_EQ(result.plan_hash().size(), 64u);
  EXPECT_EQ(result.plan_id(), result.plan_hash().substr(0, 12));
  EXPECT_EQ(Admin().Status().generation(), 1u) << "a plan stores nothing";
}

TEST_F(AdminTest, ObserveGivesEachNodesAnswerAndTheDocumentsInForce) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  auto agent = Agent("gpu-001");
  ASSERT_TRUE(agent->Join());
  AwaitConnected("gpu-001");
  std::thread answers([&] {
    v1::AgentMessage message;
    message.mutable_result()->set_id(agent->Await(FakeAgent::Body::kCommand).command().id());
    message.mutable_result()->mutable_observed()->add_values()->set_key("link.mtu");
    agent->Say(message);
  });
  v1::ObserveRequest request;
  request.add_nodes("gpu-[001-002]");
  const auto seen = Admin().Run(&v1::AdminService::Stub::Observe, request);
  answers.join();
  ASSERT_TRUE(seen.status.ok()) << seen.status.error_message();
  int nodes = 0;
  for (const auto& event : seen.events) {
    if (!event.has_node()) continue;
    ++nodes;
    EXPECT_EQ(event.node().node(), "gpu-001");
    EXPECT_EQ(event.node().values(0).key(), "link.mtu");
  }
  EXPECT_EQ(nodes, 1);
  const v1::ObserveResult& result = seen.last().result();
  EXPECT_EQ(result.generation(), 1U);
  ASSERT_EQ(result.not_answered_size(), 1);
  EXPECT_EQ(result.not_answered(0).node(), "gpu-002");
  ASSERT_EQ(result.documents_size(), 2);
  EXPECT_NE(result.documents(0).text().find("kind: Cluster"), std::string::npos);

  request.add_nodes("gpu-01");
  EXPECT_EQ(Admin().Run(&v1::AdminService::Stub::Observe, request).status.error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(AdminTest, ASavedPlanAppliesExactlyThatPlanOrSaysItIsStale) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  auto one = std::make_unique<Willing>(controller_->agents(), "gpu-001");
  AwaitConnected("gpu-001");
  const auto result = Admin().Plan(SiteYaml(9000)).last().result();
  v1::ApplyRequest request;
  auto* file = request.add_files();
  file->set_name("site.yaml");
  file->set_text(SiteYaml(9000));
  request.set_expect_plan_hash(result.plan_hash());
  request.set_expect_base_generation(result.base_generation());

  one.reset();  // the node would answer otherwise now: not at all
  ASSERT_TRUE(Eventually([&] { return !controller_->core().view()->Find("gpu-001")->connected; }));
  auto stale = Admin().Apply(request);
  EXPECT_EQ(stale.status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_NE(stale.status.error_message().find("stale plan"), std::string::npos);
  EXPECT_NE(stale.status.error_message().find("gpu-001"), std::string::npos);
  EXPECT_EQ(Admin().Status().generation(), 1u);

  one = std::make_unique<Willing>(controller_->agents(), "gpu-001");
  AwaitConnected("gpu-001");
  EXPECT_EQ(Admin().Apply(request).last().generation(), 2u);

  const auto again = Admin().Apply(request);
  EXPECT_EQ(again.status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_NE(again.status.error_message().find("made on generation 1, now generation 2"), std::string::npos)
      << again.status.error_message();
}

TEST_F(AdminTest, ApplyWithWaitEndsWhenTheConnectedHaveSettledAndNamesTheUnreachable) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  Willing one(controller_->agents(), "gpu-001"), two(controller_->agents(), "gpu-002");
  AwaitConnected("gpu-001");
  AwaitConnected("gpu-002");
  const auto applied = Admin().Apply(SiteYaml(9000), true);
  ASSERT_TRUE(applied.status.ok()) << applied.status.error_message();
  EXPECT_TRUE(applied.last().finished());
  EXPECT_FALSE(applied.last().timed_out());
  EXPECT_EQ(applied.last().unreachable_size(), 2);
  std::set<std::string> done;
  for (const auto& event : applied.events)
    for (const auto& outcome : event.done()) done.insert(outcome.node());
  EXPECT_EQ(done, (std::set<std::string>{"gpu-001", "gpu-002"}));
  const auto node = Admin().Node("gpu-001");
  EXPECT_EQ(node.generation(), 2u);
  EXPECT_TRUE(node.settled());
}

TEST_F(AdminTest, ApplyWithWaitTimesOutByNamingWhomItWaitsFor) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  auto silent = Agent("gpu-001");
  ASSERT_TRUE(silent->Join());
  v1::ApplyRequest request;
  auto* file = request.add_files();
  file->set_name("site.yaml");
  file->set_text(SiteYaml(9000));
  request.set_wait(true);
  request.set_timeout_ms(300);
  const auto applied = Admin().Apply(request);
  ASSERT_TRUE(applied.status.ok());
  EXPECT_TRUE(applied.last().timed_out());
  EXPECT_EQ(applied.last().waiting(0), "gpu-001");
}

TEST_F(AdminTest, ARollbackIsANewGenerationWithOldContent) {
  EXPECT_EQ(Admin().Rollback(0).status.error_code(), grpc::StatusCode::NOT_FOUND);
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  ASSERT_TRUE(Admin().Apply(SiteYaml(9000)).status.ok());
  auto agent = Agent("gpu-001");
  ASSERT_TRUE(agent->Join());
  EXPECT_EQ(FromWire(agent->AwaitState())->settings[0].value, "9000");
  EXPECT_EQ(Admin().Rollback(0).last().generation(), 3u);
  const auto state = agent->AwaitState();
  EXPECT_EQ(state.generation(), 3u);
  EXPECT_EQ(FromWire(state)->settings[0].value, "4200");
  v1::GenerationsResponse generations;
  ASSERT_TRUE(Admin().Ask(&Stub::Generations, v1::GenerationsRequest(), &generations).ok());
  EXPECT_EQ(generations.generations(0).rolled_back_from(), 1u);
  const auto missing = Admin().Rollback(77);
  EXPECT_EQ(missing.status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_NE(missing.status.error_message().find("1 to 3"), std::string::npos)
      << missing.status.error_message();
}

TEST_F(AdminTest, APauseReachesTheNodeAtOnceAndOutlivesARestart) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  auto agent = Agent("gpu-001");
  ASSERT_TRUE(agent->Join());
  EXPECT_EQ(agent->Await(Body::kPauses).pauses().pauses_size(), 0);
  v1::SetPauseRequest request;
  request.mutable_pause()->set_node("gpu-001");
  request.mutable_pause()->set_key("link.mtu");
  request.mutable_pause()->set_by("ann");
  v1::SetPauseResponse response;
  ASSERT_TRUE(Admin().Ask(&Stub::SetPause, request, &response).ok());
  EXPECT_EQ(response.told_size(), 1);
  EXPECT_EQ(agent->Await(Body::kPauses).pauses().pauses(0).key(), "link.mtu");
  request.mutable_pause()->set_key("link.mut");
  const auto typo = Admin().Ask(&Stub::SetPause, request, &response);
  EXPECT_EQ(typo.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_NE(typo.error_message().find("link.mtu"), std::string::npos) << typo.error_message();
  agent.reset();
  Restart();
  EXPECT_EQ(Admin().Node("gpu-001").pauses(0).by(), "ann");
  request.mutable_pause()->set_key("link.mtu");
  request.set_resume(true);
  ASSERT_TRUE(Admin().Ask(&Stub::SetPause, request, &response).ok());
  EXPECT_EQ(Admin().Node("gpu-001").pauses_size(), 0);
}

TEST_F(AdminTest, ForgettingIsRefusedInTheInventoryAndEndsTheStreamAfterwards) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  auto agent = Agent("gpu-004");
  ASSERT_TRUE(agent->Join());
  agent->AwaitState();
  ASSERT_TRUE(agent->Report(1, Verdict::kCompliant));
  ASSERT_TRUE(agent->Await(Body::kReportAck).has_report_ack());
  v1::ForgetNodeRequest request;
  request.set_node("gpu-004");
  request.set_author("ann");
  v1::ForgetNodeResponse response;
  EXPECT_EQ(Admin().Ask(&Stub::ForgetNode, request, &response).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  ASSERT_TRUE(Admin().Apply(SiteYaml(4200, "gpu-[001-003]")).status.ok());
  EXPECT_EQ(Admin().Status().retired(0), "gpu-004");
  ASSERT_TRUE(Admin().Ask(&Stub::ForgetNode, request, &response).ok());
  EXPECT_EQ(agent->Await(Body::kRefusal).refusal().reason(), v1::Refusal::REASON_FORGOTTEN);
  EXPECT_EQ(Admin().Ask(&Stub::ForgetNode, request, &response).error_code(), grpc::StatusCode::NOT_FOUND);
  v1::AuditResponse audit;
  ASSERT_TRUE(Admin().Ask(&Stub::Audit, v1::AuditRequest(), &audit).ok());
  ASSERT_EQ(audit.entries_size(), 5);
  EXPECT_EQ(audit.entries(0).outcome().find("refused: node \"gpu-004\" is not known"), 0u);
  EXPECT_EQ(audit.entries(1).action(), "forget");
  EXPECT_EQ(audit.entries(1).outcome(), "done");
  EXPECT_EQ(audit.entries(1).who(), "ann");
  EXPECT_NE(audit.entries(3).outcome().find("is in the inventory"), std::string::npos);
  EXPECT_EQ(audit.entries(4).action(), "apply");
  EXPECT_EQ(audit.entries(4).detail(), "added Cluster/pod-a, Profile/base; test");
}

TEST_F(AdminTest, WhyTellsTheLayersTheFindingTheHistoryAndSinceWhen) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  ASSERT_TRUE(Admin()
                  .Apply(SiteYaml() +
                         "---\nkind: Profile\nname: big\nfor: {nodes: [gpu-001]}\nprecedence: 5\n"
                         "mode: enforce\nsettings:\n  link.mtu: {fabric: 9000}\n")
                  .status.ok());
  ASSERT_TRUE(Admin()
                  .Apply("kind: Profile\nname: other\nfor: {role: gpu}\nsettings:\n"
                         "  sysctl.net.ipv4.conf.all.arp_ignore: 1\n")
                  .status.ok());
  auto agent = Agent("gpu-001");
  ASSERT_TRUE(agent->Join());
  agent->AwaitState();
  ASSERT_TRUE(agent->Report(1, Verdict::kDrifted, 1));
  ASSERT_TRUE(agent->Await(Body::kReportAck).has_report_ack());
  v1::WhyRequest request;
  request.set_node("gpu-001");
  request.set_key("link.mtu");
  v1::WhyResponse why;
  ASSERT_TRUE(Admin().Ask(&Stub::Why, request, &why).ok());
  ASSERT_EQ(why.targets_size(), 1);
  const auto& target = why.targets(0);
  EXPECT_EQ(target.value(), "9000");
  ASSERT_EQ(target.layers_size(), 2);
  EXPECT_TRUE(target.layers(0).won());
  EXPECT_EQ(target.layers(0).origin().document(), "Profile/big");
  EXPECT_FALSE(target.layers(1).won());
  EXPECT_EQ(target.finding().observed(), "1500");
  EXPECT_EQ(target.changes_size(), 1);
  EXPECT_EQ(target.since_generation(), 2u);
  request.set_key("link.mtoo");
  EXPECT_EQ(Admin().Ask(&Stub::Why, request, &why).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(AdminTest, AnAliasIsSpelledOutInThePlanAndWhyPointsAtItsRegister) {
  const std::string aliases =
      "---\nkind: Profile\nname: cc\nfor: {nodes: [gpu-001]}\nmode: enforce\nsettings:\n"
      "  dcqcn.alias_profile: initial_alpha+ai_rate\n  dcqcn.alpha: 200\n";
  const auto planned = Admin().Plan(SiteYaml() + aliases, 500);
  ASSERT_TRUE(planned.status.ok()) << planned.status.error_message();
  const auto& warnings = planned.last().result().warnings();
  EXPECT_TRUE(std::any_of(warnings.begin(), warnings.end(), [](const std::string& warning) {
    return warning.find("dcqcn.initial_alpha_value 200") != std::string::npos &&
           warning.find("alias dcqcn.alpha") != std::string::npos &&
           warning.find("9.8 %") != std::string::npos;
  }));
  ASSERT_TRUE(Admin().Apply(SiteYaml() + aliases).status.ok());
  v1::WhyRequest request;
  request.set_node("gpu-001");
  request.set_key("dcqcn.alpha");
  v1::WhyResponse why;
  const auto status = Admin().Ask(&Stub::Why, request, &why);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_NE(status.error_message().find("railctl why gpu-001 dcqcn.initial_alpha_value"), std::string::npos)
      << status.error_message();
  request.set_key("dcqcn.initial_alpha_value");
  ASSERT_TRUE(Admin().Ask(&Stub::Why, request, &why).ok());
  ASSERT_EQ(why.targets_size(), 1);
  EXPECT_EQ(why.targets(0).value(), "200");
}

TEST_F(AdminTest, WhyListsANodesChangesInTheNodesOwnOrderWhateverItsClockDid) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  auto agent = Agent("gpu-001");
  ASSERT_TRUE(agent->Join());
  const auto state = agent->AwaitState();
  auto report = ReportOf(1, 1, state.hash(), Verdict::kDrifted, 1);
  report.mutable_report()->mutable_changes(0)->set_at_unix_us(1'796'040'000'700'000);
  auto* second = report.mutable_report()->add_changes();
  *second = report.report().changes(0);
  second->set_sequence(2);
  second->set_at_unix_us(1'796'040'000'300'000);  // set back by 0.4 s
  ASSERT_TRUE(agent->Say(report));
  ASSERT_TRUE(agent->Await(Body::kReportAck).has_report_ack());
  v1::WhyRequest request;
  request.set_node("gpu-001");
  request.set_key("link.mtu");
  v1::WhyResponse why;
  ASSERT_TRUE(Admin().Ask(&Stub::Why, request, &why).ok());
  ASSERT_EQ(why.targets(0).changes_size(), 2);
  EXPECT_EQ(why.targets(0).changes(0).sequence(), 2u) << "the newest first";
}

TEST_F(AdminTest, WatchShowsThePresentAndThenWhatChanges) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  FakeAdmin admin(address());
  grpc::ClientContext context;
  FakeAdmin::Prepare(context);
  v1::WatchRequest request;
  request.add_nodes("gpu-[001-002]");
  auto reader = admin.stub().Watch(&context, request);
  std::set<std::string> present;
  v1::WatchEvent event;
  while (present.size() < 2 && reader->Read(&event)) present.insert(event.node().node());
  EXPECT_EQ(present, (std::set<std::string>{"gpu-001", "gpu-002"}));
  auto other = Agent("gpu-003");
  ASSERT_TRUE(other->Join());
  auto agent = Agent("gpu-001");
  ASSERT_TRUE(agent->Join());
  agent->AwaitState();
  ASSERT_TRUE(agent->Report(1, Verdict::kDrifted, 1));
  bool changed = false, drifted = false;
  while ((!changed || !drifted) && reader->Read(&event)) {
    EXPECT_NE(event.node().node(), "gpu-003") << "not selected";
    changed = changed || event.change().change().sequence() == 1;
    drifted = drifted || event.node().verdict() == v1::VERDICT_DRIFTED;
  }
  EXPECT_TRUE(changed && drifted);
  context.TryCancel();
  reader->Finish();
  v1::WatchRequest unknown;
  unknown.add_nodes("nobody");
  EXPECT_EQ(admin.Run(&Stub::Watch, unknown).status.error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(AdminTest, ACancelledApplyStillStoresAndLeavesNothingBehind) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  auto silent = Agent("gpu-001");
  ASSERT_TRUE(silent->Join());
  for (int i = 0; i < 20; ++i) {
    FakeAdmin admin(address());
    grpc::ClientContext context;
    FakeAdmin::Prepare(context);
    v1::ApplyRequest request;
    auto* file = request.add_files();
    file->set_name("site.yaml");
    file->set_text(SiteYaml(5000 + i));
    request.set_wait(true);
    auto reader = admin.stub().Apply(&context, request);
    v1::ApplyEvent event;
    if (i % 2) reader->Read(&event);
    context.TryCancel();
    reader->Finish();
  }
  const auto begin = std::chrono::steady_clock::now();
  controller_->Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
}

TEST_F(AdminTest, TwoAppliesAtOnceBothGetIn) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  std::vector<std::thread> threads;
  std::atomic<int> stored{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const auto applied =
          Admin().Apply("kind: Profile\nname: p" + std::to_string(t) +
                        "\nfor: {role: gpu}\nsettings:\n  nccl.NCCL_P" + std::to_string(t) + ": 1\n");
      if (applied.status.ok() && !applied.last().unchanged()) ++stored;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(stored, 4);
  EXPECT_EQ(Admin().Status().generation(), 5u);
  v1::DesiredRequest request;
  request.set_node("gpu-001");
  v1::DesiredResponse desired;
  ASSERT_TRUE(Admin().Ask(&Stub::Desired, request, &desired).ok());
  EXPECT_EQ(desired.group().settings_size(), 5) << "none of the four was lost";
}

TEST_F(AdminTest, VersionAndSummary) {
  v1::VersionResponse version;
  ASSERT_TRUE(Admin().Ask(&Stub::Version, v1::VersionRequest(), &version).ok());
  EXPECT_EQ(version.version(), RAILWRIGHT_VERSION);
  EXPECT_EQ(version.wire(), kWire);
  EXPECT_EQ(version.read_only(), "");
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  v1::StatusRequest request;
  request.set_summary_only(true);
  v1::StatusResponse status;
  ASSERT_TRUE(Admin().Ask(&Stub::Status, request, &status).ok());
  ASSERT_EQ(status.nodes_size(), 4);
  EXPECT_EQ(status.nodes(0).verdict(), v1::VERDICT_UNKNOWN);
  EXPECT_EQ(status.nodes(0).role(), "gpu");
}

}  // namespace
}  // namespace railwright
