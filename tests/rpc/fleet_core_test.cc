// What the core's thread promises to others: who has been told of something finds it in the view.
#include "controller/rpc/fleet_core.h"

#include <gtest/gtest.h>

#include <future>

#include "controller/rpc/intake.h"
#include "controller/rpc/stored_state.h"
#include "tests/rpc/memory_store.h"
#include "tests/rpc/site.h"
#include "tests/support/sim_clock.h"
#include "tests/support/test_endorser.h"

namespace railwright {
namespace {

/// Runs `on_ack` whenever it is sent an acknowledgement.
class AckedLink final : public AgentLink {
 public:
  explicit AckedLink(std::function<void()> on_ack = [] {}) : on_ack_(std::move(on_ack)) {
    caller_.kind = Caller::Kind::kNode;
    caller_.name = "gpu-001";
    caller_.uuid = TestUuidOf("gpu-001");
  }
  const Caller& caller() const override { return caller_; }
  bool Send(Outbound message) override {
    if (message.kind == Outbound::Kind::kReportAck) on_ack_();
    return true;
  }
  void Refuse(const v1::Refusal&) override {}
  void End(const Status&) override {}
  void Consumed() override {}
  std::string peer() const override { return "test"; }

 private:
  const std::function<void()> on_ack_;
  Caller caller_;
};

class FleetCoreTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(core_.Load().ok());
    core_.Start();
  }
  /// Stores `yaml` as the next generation; what `look` sees when the order is answered.
  template <class Look>
  auto Install(const std::string& yaml, Look look) {
    StoredGeneration stored;
    stored.generation = {core_.view()->state->number() + 1};
    for (const Document& d : LoadDocuments("site.yaml", yaml).documents)
      stored.documents.push_back({d.kind, d.name, d.file, d.line, d.text});
    Installation order;
    order.base = core_.view()->state->number();
    order.state = ResolveStored(stored, catalog_);
    std::promise<decltype(look())> seen;
    order.done = [&](const Status& status) {
      EXPECT_TRUE(status.ok()) << status.ToString();
      seen.set_value(look());
    };
    core_.Install(std::move(order));
    return seen.get_future().get();
  }
  /// gpu-001, connected.
  std::shared_ptr<AckedLink> Connect(std::function<void()> on_ack = [] {}) {
    auto link = std::make_shared<AckedLink>(std::move(on_ack));
    core_.Opened(link);
    EXPECT_TRUE(core_.Said(link, std::make_unique<v1::AgentMessage>(HelloOf("gpu-001"))));
    return link;
  }
  std::uint64_t Number() const { return core_.view()->state->number(); }

  MemoryStore store_;
  SimClock clock_;
  const CatalogDeclarations catalog_;
  TestEndorser endorser_{clock_};
  FleetCore core_{store_, clock_, catalog_, {.endorser = endorser_.get()}};
};

TEST_F(FleetCoreTest, AnInstalledGenerationIsInTheViewWhenItsOrderIsAnswered) {
  EXPECT_EQ(Install(SiteYaml(), [&] { return Number(); }), 1u);
  EXPECT_EQ(Install(SiteYaml(9000), [&] { return Number(); }), 2u);
  EXPECT_EQ(Install(SiteYaml(9000, "gpu-[001-007]"), [&] { return core_.view()->nodes.size(); }), 7u);
}

TEST_F(FleetCoreTest, WhoIsRefusedBecauseOfANewerGenerationFindsThatGeneration) {
  // Both are in the queue before the first is answered, so that they may well share a batch.
  std::vector<Installation> orders(2);
  std::promise<std::uint64_t> seen;
  for (Installation& order : orders) {
    StoredGeneration stored;
    stored.generation = {1};
    order.state = ResolveStored(stored, catalog_);
    order.done = [](const Status&) {};
  }
  orders[1].done = [&](const Status& status) {
    EXPECT_EQ(status.code(), Code::kAborted);
    seen.set_value(Number());
  };
  for (Installation& order : orders) core_.Install(std::move(order));
  EXPECT_EQ(seen.get_future().get(), 1u);
}

TEST_F(FleetCoreTest, APauseIsInTheViewWhenItIsAnswered) {
  std::promise<std::size_t> seen;
  PauseOrder order;
  order.pause = {"", "link.mtu", "ann", "cable work"};
  order.done = [&](const Status&, v1::SetPauseResponse) { seen.set_value(core_.view()->pauses.size()); };
  core_.SetPause(std::move(order));
  EXPECT_EQ(seen.get_future().get(), 1u);
}

TEST_F(FleetCoreTest, AReportIsInTheViewWhenItIsAcknowledgedAndAForgottenNodeIsNot) {
  Install(SiteYaml(4200, "gpu-[001-002]"), [] { return 0; });
  std::promise<Verdict> seen;
  const auto link = Connect([&] {
    const auto node = core_.view()->Find("gpu-001");
    seen.set_value(node->report ? node->report->report.verdict : Verdict::kUnknown);
  });
  const std::string hash = core_.view()->state->desired.at("gpu-001").hash;
  ASSERT_TRUE(core_.Said(link, std::make_unique<v1::AgentMessage>(ReportOf(1, 1, hash, Verdict::kDrifted))));
  EXPECT_EQ(seen.get_future().get(), Verdict::kDrifted);
  Install(SiteYaml(4200, "gpu-002"), [] { return 0; });
  std::promise<bool> known;
  core_.Forget("gpu-001", {.who = "ann"}, [&](const Status& status, const std::vector<Pause>&) {
    EXPECT_TRUE(status.ok()) << status.ToString();
    known.set_value(core_.view()->Find("gpu-001") != nullptr);
  });
  EXPECT_FALSE(known.get_future().get());
}

TEST_F(FleetCoreTest, WhatAnAgentSaysIsCutBeforeItIsKept) {
  Install(SiteYaml(), [] { return 0; });
  const auto link = std::make_shared<AckedLink>();
  auto hello = HelloOf("gpu-001", std::string(500'000, 'b'));
  hello.mutable_hello()->set_version(std::string(500'000, 'v'));
  core_.Opened(link);
  ASSERT_TRUE(core_.Said(link, std::make_unique<v1::AgentMessage>(hello)));
  v1::AgentMessage nack;
  nack.mutable_nack()->set_message(std::string(900'000, 'n'));
  ASSERT_TRUE(core_.Said(link, std::make_unique<v1::AgentMessage>(nack)));
  std::promise<void> answered;  // the core has gone on from there
  PauseOrder order;
  order.done = [&](const Status&, const v1::SetPauseResponse&) { answered.set_value(); };
  core_.SetPause(std::move(order));
  answered.get_future().get();
  const NodeView* node = core_.view()->Find("gpu-001");
  EXPECT_EQ(node->agent_version.size(), kIdentityMost);
  EXPECT_EQ(node->boot_id.size(), kIdentityMost);
  EXPECT_EQ(node->nack.size(), kTextMost);
}

TEST_F(FleetCoreTest, FollowersAndWatchersAreToldOfWhatTheViewAlreadyShows) {
  Install(SiteYaml(), [] { return 0; });
  const auto link = Connect();  // or there would be nobody to wait for
  std::promise<std::uint64_t> watched, followed;
  core_.Watch([&](const FleetNews& news) {
    if (news.generation == 2) watched.set_value(Number());
    return news.generation != 2;
  });
  core_.Follow(1, std::chrono::hours(1), [&](const v1::ApplyEvent& event) {
    if (event.superseded_by() == 2) followed.set_value(Number());
    return true;
  });
  Install(SiteYaml(9000), [] { return 0; });
  EXPECT_EQ(watched.get_future().get(), 2u);
  EXPECT_EQ(followed.get_future().get(), 2u);
}

}  // namespace
}  // namespace railwright
