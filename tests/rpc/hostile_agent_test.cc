// An agent that is broken, or lies: it may spoil its own line and nothing else.
#include "tests/rpc/fleet_model_fixture.h"

namespace railwright {
namespace {

using HostileAgentTest = FleetModelTest;

TEST_F(HostileAgentTest, AGenerationThatNoControllerCanHaveGivenIsNotBelievedAndWedgesNothing) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  for (const std::uint64_t claimed : {UINT64_MAX, std::uint64_t{1} << 53, kGenerationsAheadMost + 2}) {
    auto hello = HelloOf("gpu-001");
    hello.mutable_hello()->set_generation(claimed);
    hello.mutable_hello()->set_state_hash("whatever");
    const auto link = Connect(hello);
    EXPECT_EQ(link->Count(Body::kDesired), 0);
    EXPECT_NE(StatusOf("gpu-001").nack().find("claims generation " + std::to_string(claimed)),
              std::string::npos)
        << StatusOf("gpu-001").nack();
    EXPECT_NE(StatusOf("gpu-001").nack().find("desired.bin"), std::string::npos) << "the way out";
    EXPECT_EQ(model_->view()->highest_generation, 1u);
  }
  ASSERT_TRUE(Install(SiteYaml(9000)).ok());
  EXPECT_EQ(model_->view()->state->number(), 2u) << "the next number is one more, whatever was claimed";
  auto honest = HelloOf("gpu-002");
  honest.mutable_hello()->set_generation(2 + kGenerationsAheadMost);
  honest.mutable_hello()->set_state_hash("of the future");
  Connect(honest);
  EXPECT_EQ(model_->view()->highest_generation, 2 + kGenerationsAheadMost);
}

TEST_F(HostileAgentTest, AChangeWithAnImpossibleNumberOrTimeDoesNotHideThoseThatFollow) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  Say(link, ReportOf(1, 1, HashOf("gpu-001"), Verdict::kDrifted, UINT64_MAX));
  auto late = ReportOf(2, 1, HashOf("gpu-001"), Verdict::kDrifted, 5);
  late.mutable_report()->mutable_changes(0)->set_at_unix_us(INT64_MAX);
  Say(link, late);
  const auto changes = *store_.Changes({});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].second.sequence, 5u);
  EXPECT_EQ(changes[0].second.at, clock_.WallNow());
  EXPECT_EQ(link->Last(Body::kReportAck).report_ack().stored_change(), 5u);
}

TEST_F(HostileAgentTest, TheFindingsOfOneNodeAreBoundedTogetherToo) {
  FleetOptions options = Options();
  options.findings_bytes_most = 10'000;
  model_ = std::make_unique<FleetModel>(store_, clock_, catalog_, options);
  ASSERT_TRUE(model_->Load().ok());
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("gpu-001"));
  auto report = ReportOf(1, 1, HashOf("gpu-001"), Verdict::kDrifted);
  Say(link, report);
  EXPECT_TRUE(link->ended.ok());
  for (int i = 0; i < 3; ++i) {
    auto* finding = report.mutable_report()->add_findings();
    finding->set_key("file.x" + std::to_string(i));
    finding->set_observed(std::string(4000, 'x'));
  }
  Say(link, report);
  EXPECT_EQ(link->ended.code(), Code::kResourceExhausted);
  EXPECT_EQ(StatusOf("gpu-001").findings_size(), 1);
}

TEST_F(HostileAgentTest, CataloguesThatWereNotAnnouncedOrAreTooManyAreNotRemembered) {
  FleetOptions options = Options();
  options.catalogs_most = 2;  // ours is one
  model_ = std::make_unique<FleetModel>(store_, clock_, catalog_, options);
  ASSERT_TRUE(model_->Load().ok());
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto asked_for = [&](const std::string& hash) {
    auto hello = HelloOf("gpu-001");
    hello.mutable_hello()->set_catalog_hash(hash);
    return Connect(hello)->sent[0].welcome().send_catalog();
  };
  const auto say = [&](const std::string& announced, const std::string& said) {
    auto hello = HelloOf("gpu-001");
    hello.mutable_hello()->set_catalog_hash(announced);
    const auto link = Connect(hello);
    v1::AgentMessage catalog;
    catalog.mutable_catalog()->set_hash(said);
    Say(link, catalog);
  };
  say("aa", "bb");
  EXPECT_TRUE(asked_for("bb")) << "not the one that it announced";
  say("aa", "aa");
  EXPECT_FALSE(asked_for("aa"));
  say("cc", "cc");
  EXPECT_TRUE(asked_for("cc")) << "no room";
}

TEST_F(HostileAgentTest, AHostileNameCannotSpoilTheMessage) {
  ASSERT_TRUE(Install(SiteYaml()).ok());
  const auto link = Connect(HelloOf("\x1b[2J" + std::string(100'000, 'x')));
  ASSERT_TRUE(link->refused);
  EXPECT_LT(link->refused->message().size(), 300u);
  EXPECT_EQ(link->refused->message().find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace railwright
