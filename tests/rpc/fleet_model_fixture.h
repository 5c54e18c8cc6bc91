// A fleet model without gRPC, threads or waiting: links that remember, a clock that tests own.
#pragma once

#include <gtest/gtest.h>

#include "controller/rpc/fleet_model.h"
#include "controller/rpc/stored_state.h"
#include "tests/rpc/memory_store.h"
#include "tests/rpc/site.h"
#include "tests/support/at_once.h"
#include "tests/support/sim_clock.h"
#include "tests/support/test_endorser.h"

namespace railwright {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Remembers what it was sent.
class FakeLink final : public AgentLink {
 public:
  /// Of a stream whose certificate is that node's.
  explicit FakeLink(std::string node = "gpu-001") {
    caller_.kind = Caller::Kind::kNode;
    caller_.uuid = TestUuidOf(node);
    caller_.name = std::move(node);
  }
  const Caller& caller() const override { return caller_; }
  bool Send(Outbound message) override {
    v1::ControllerMessage parsed;
    EXPECT_TRUE(
        parsed.ParseFromString(message.head + (message.shared ? *message.shared : "") + message.tail));
    if (message.kind == Outbound::Kind::kCommand && full) return false;
    if (message.shared) groups.push_back(message.shared);
    sent.push_back(std::move(parsed));
    return true;
  }
  void Refuse(const v1::Refusal& refusal) override { refused = refusal; }
  void End(const Status& why) override { ended = why; }
  void Consumed() override { ++consumed; }
  std::string peer() const override { return "test"; }

  /// The newest message of a kind, or an empty one.
  v1::ControllerMessage Last(v1::ControllerMessage::BodyCase body) const {
    for (auto it = sent.rbegin(); it != sent.rend(); ++it)
      if (it->body_case() == body) return *it;
    return {};
  }
  int Count(v1::ControllerMessage::BodyCase body) const {
    int count = 0;
    for (const auto& message : sent) count += message.body_case() == body;
    return count;
  }

  std::vector<v1::ControllerMessage> sent;
  std::vector<std::shared_ptr<const std::string>> groups;
  std::optional<v1::Refusal> refused;
  Status ended;
  int consumed = 0;
  bool full = false;
  Caller caller_;
};

using Body = v1::ControllerMessage;

class FleetModelTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(model_->Load().ok()); }

  /// As an apply does, without the desk.
  Status Install(const std::string& yaml) {
    StoredGeneration stored;
    stored.generation = {std::max(model_->view()->state->number(), model_->view()->highest_generation) + 1};
    for (const Document& d : LoadDocuments("site.yaml", yaml).documents)
      stored.documents.push_back({d.kind, d.name, d.file, d.line, d.text});
    Installation order;
    order.base = model_->view()->state->number();
    order.state = ResolveStored(stored, catalog_);
    EXPECT_EQ(order.state->problem, "");
    Status result(Code::kInternal, "no answer");
    order.done = [&](const Status& status) { result = status; };
    model_->Install(std::move(order));
    model_->EndBatch();
    return result;
  }
  std::shared_ptr<FakeLink> Connect(v1::AgentMessage hello) {
    auto link = std::make_shared<FakeLink>(hello.hello().node());
    model_->OnOpened(link);
    model_->OnMessage(link, hello);
    model_->EndBatch();
    return link;
  }
  void Say(const std::shared_ptr<FakeLink>& link, v1::AgentMessage message) {
    model_->OnMessage(link, message);
    model_->EndBatch();
  }
  std::string HashOf(const std::string& node) const { return model_->view()->state->desired.at(node).hash; }
  v1::NodeStatus StatusOf(const std::string& node) const {
    const auto view = model_->view();
    return view->StatusOf(*view->Find(node), clock_.Now());
  }
  /// A restart: a new model on the same store.
  void Restart() {
    model_ = std::make_unique<FleetModel>(store_, clock_, catalog_, Options());
    ASSERT_TRUE(model_->Load().ok());
  }

  FleetOptions Options() {
    FleetOptions options;
    options.endorser = endorser_.get();
    options.built_in = AtOnce();
    return options;
  }

  MemoryStore store_;
  SimClock clock_;
  const CatalogDeclarations catalog_;
  TestEndorser endorser_{clock_};
  std::unique_ptr<FleetModel> model_ = std::make_unique<FleetModel>(store_, clock_, catalog_, Options());
};

}  // namespace railwright
