// The agents' side of a real controller.
#include <thread>

#include "tests/rpc/controller_fixture.h"

namespace railwright {
namespace {

using Body = v1::ControllerMessage;

class AgentStreamTest : public ControllerTest {};

TEST_F(AgentStreamTest, HelloStateAckReportAndItsAcknowledgementAfterItIsDurable) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  auto agent = Agent("gpu-001");
  ASSERT_TRUE(agent->Join());
  const auto state = agent->AwaitState();
  ASSERT_TRUE(FromWire(state).ok());
  v1::AgentMessage ack;
  ack.mutable_ack()->set_generation(state.generation());
  ack.mutable_ack()->set_hash(state.hash());
  ASSERT_TRUE(agent->Say(ack));
  ASSERT_TRUE(agent->Report(1, Verdict::kDrifted, 5));
  const auto answer = agent->Await(Body::kReportAck).report_ack();
  EXPECT_EQ(answer.sequence(), 1u);
  EXPECT_EQ(answer.stored_change(), 5u);
  // Durable by now: seen through another connection to the same file.
  EXPECT_EQ((*controller_->store().Reports())[0].stored_change, 5u);
  EXPECT_EQ(Admin().Node("gpu-001").verdict(), v1::VERDICT_DRIFTED);
}

TEST_F(AgentStreamTest, AnUnknownNodeIsRefusedAndTheStreamEnds) {
  auto agent = Agent("gpu-001");
  ASSERT_TRUE(agent->Hello());
  const auto refusal = agent->Await(Body::kRefusal).refusal();
  EXPECT_EQ(refusal.reason(), v1::Refusal::REASON_UNKNOWN_NODE);
  EXPECT_TRUE(agent->Finish().ok());
}

// Bytes as other versions send them: recorded, not made with the messages of this build.
TEST_F(AgentStreamTest, AnOlderHelloIsWelcomed) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  // Hello{node "gpu-001", version "0.0.9", wire 1, wire_min 1}: no features, no boot id, no hashes.
  const std::string recorded(
      "\x0a\x14\x0a\x07gpu-001\x12\x05"
      "0.0.9\x18\x01\x20\x01",
      22);
  v1::AgentMessage hello;
  ASSERT_TRUE(hello.ParseFromString(recorded));
  auto agent = Agent("gpu-001");
  ASSERT_TRUE(agent->Say(hello));
  const auto welcome = agent->Await(Body::kWelcome).welcome();
  EXPECT_EQ(welcome.wire(), 1u);
  EXPECT_GE(welcome.missing_size(), 1);
  EXPECT_TRUE(FromWire(agent->AwaitState()).ok());
}

TEST_F(AgentStreamTest, ANewerHelloWithFieldsAndMessagesUnknownHereIsWelcomedAtOurRevision) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  // Hello{node, version "9.1.0", wire 7, wire_min 1, features "plan" "antigravity", field 99 "future"}.
  std::string body(
      "\x0a\x07gpu-001\x12\x05"
      "9.1.0\x18\x07\x20\x01\x2a\x04plan\x2a\x0b"
      "antigravity\x9a\x06\x06"
      "future",
      48);
  std::string recorded("\x0a");
  recorded += static_cast<char>(body.size());
  recorded += body;
  v1::AgentMessage hello;
  ASSERT_TRUE(hello.ParseFromString(recorded));
  auto agent = Agent("gpu-001");
  ASSERT_TRUE(agent->Say(hello));
  const auto welcome = agent->Await(Body::kWelcome).welcome();
  EXPECT_EQ(welcome.wire(), kWire);
  // A message of a kind that is not known here is passed over, and the stream lives on.
  v1::AgentMessage unknown;
  ASSERT_TRUE(unknown.ParseFromString(std::string("\x92\x03\x02hi", 5)));  // field 50
  ASSERT_EQ(unknown.body_case(), v1::AgentMessage::BODY_NOT_SET);
  agent->AwaitState();
  ASSERT_TRUE(agent->Say(unknown));
  ASSERT_TRUE(agent->Report(1, Verdict::kCompliant));
  EXPECT_EQ(agent->Await(Body::kReportAck).report_ack().sequence(), 1u);
}

TEST_F(AgentStreamTest, AMessageOverOneMebibyteEndsTheStreamAndHurtsNobodyElse) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  auto other = Agent("gpu-002");
  ASSERT_TRUE(other->Join());
  auto agent = Agent("gpu-001");
  ASSERT_TRUE(agent->Join());
  auto report = ReportOf(1, 1, "x", Verdict::kCompliant);
  report.mutable_report()->mutable_findings(0)->set_message(std::string(2 << 20, 'x'));
  agent->Say(report);
  EXPECT_EQ(agent->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  other->AwaitState();
  ASSERT_TRUE(other->Report(1, Verdict::kCompliant));
  EXPECT_EQ(other->Await(Body::kReportAck).report_ack().sequence(), 1u);
}

TEST_F(AgentStreamTest, WhatTheFirstMessageIsNotHelloEndsTheStream) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  auto agent = Agent("gpu-001");
  ASSERT_TRUE(agent->Say(ReportOf(1, 1, "x", Verdict::kCompliant)));
  EXPECT_EQ(agent->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(AgentStreamTest, ASlowReaderGetsTheNewestStateNotAllOfThem) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  auto agent = Agent("gpu-001");
  ASSERT_TRUE(agent->Join());
  // Larger than the flow-control window, so that the writer has to stop.
  std::string big = SiteYaml();
  for (int i = 0; i < 200; ++i)
    big += "  nccl.NCCL_TEST_" + std::to_string(i) + ": " + std::string(900, 'x') + "\n";
  constexpr int kApplies = 8;
  for (int i = 0; i < kApplies; ++i) {
    const auto applied =
        Admin().Apply(big + "  sysctl.net.core.somaxconn: " + std::to_string(4096 + i) + "\n");
    if (!applied.status.ok()) GTEST_FAIL() << applied.status.error_message();
  }
  int states = 0;
  std::uint64_t newest = 0;
  while (newest < kApplies + 1) {
    const auto state = agent->AwaitState();
    ASSERT_NE(state.generation(), 0u) << "the stream ended";
    ASSERT_TRUE(FromWire(state).ok());
    newest = state.generation();
    ++states;
  }
  EXPECT_LT(states, kApplies) << "states that were overtaken should not have been sent";
}

TEST_F(AgentStreamTest, ARestartedControllerHasLostNoAcknowledgedReport) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  std::map<std::string, std::uint64_t> acknowledged;
  for (const char* node : {"gpu-001", "gpu-002"}) {
    auto agent = Agent(node);
    ASSERT_TRUE(agent->Join());
    agent->AwaitState();
    for (std::uint64_t n = 1; n <= 20; ++n) ASSERT_TRUE(agent->Report(n, Verdict::kDrifted, n));
    while (acknowledged[node] < 20)
      acknowledged[node] = agent->Await(Body::kReportAck).report_ack().stored_change();
  }
  Restart();
  const auto node = Admin().Node("gpu-001");
  EXPECT_FALSE(node.connected());
  EXPECT_TRUE(node.stale());
  EXPECT_EQ(node.verdict(), v1::VERDICT_DRIFTED);
  auto agent = Agent("gpu-001");
  ASSERT_TRUE(agent->Hello());
  EXPECT_EQ(agent->Await(Body::kWelcome).welcome().stored_change(), 20u);
  v1::ChangesRequest request;
  v1::ChangesResponse changes;
  ASSERT_TRUE(Admin().Ask(&v1::AdminService::Stub::Changes, request, &changes).ok());
  EXPECT_EQ(changes.changes_size(), 40);
}

// A stream may be cancelled at any moment of its life; the server must neither hang, crash nor keep anything.
TEST_F(AgentStreamTest, CancellingAtEachPointOfALifeLeavesNothingBehind) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  using Step = void (*)(FakeAgent&);
  const Step kLife[] = {
      [](FakeAgent& agent) { agent.Hello(); },
      [](FakeAgent& agent) { agent.Await(Body::kWelcome); },
      [](FakeAgent& agent) { agent.AwaitState(); },
      [](FakeAgent& agent) { agent.Report(1, Verdict::kCompliant, 1); },
      [](FakeAgent& agent) { agent.Await(Body::kReportAck); },
      [](FakeAgent& agent) {
        for (std::uint64_t n = 2; n < 60; ++n) agent.Report(n, Verdict::kDrifted, n);
      },
      [](FakeAgent& agent) { agent.HalfClose(); },
  };
  for (int round = 0; round < 6; ++round)
    for (std::size_t steps = 0; steps <= std::size(kLife); ++steps) {
      FakeAgent agent(controller_->agents(), "gpu-001");
      for (std::size_t i = 0; i < steps; ++i) kLife[i](agent);
      if (round % 3 == 1) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      agent.Cancel();
      if (round % 3 == 2) (void)agent.Finish();
    }
  ASSERT_TRUE(Eventually([&] { return !controller_->core().view()->Find("gpu-001")->connected; }));
  // A stream that was cancelled in its handshake may arrive late, and the newest one wins.
  std::unique_ptr<FakeAgent> agent;
  ASSERT_TRUE(Eventually([&] {
    agent = Agent("gpu-001");
    return agent->Join();
  }));
  const auto begin = std::chrono::steady_clock::now();
  controller_->Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
}

TEST_F(AgentStreamTest, ManyAgentsThatComeAndGoAtOnceAreAllServed) {
  ASSERT_TRUE(Admin().Apply(SiteYaml(4200, "gpu-[001-008]")).status.ok());
  std::vector<std::thread> threads;
  std::atomic<int> acknowledged{0};
  for (int t = 1; t <= 8; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 5; ++round) {
        FakeAgent agent(controller_->agents(), "gpu-00" + std::to_string(t));
        if (!agent.Join()) continue;
        if (round % 2) continue;  // the destructor cancels
        agent.AwaitState();
        agent.Report(1, Verdict::kCompliant);
        if (agent.Await(Body::kReportAck).has_report_ack()) ++acknowledged;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(acknowledged, 24);
}

TEST_F(AgentStreamTest, StoppingTellsTheAgentsAndIsQuickEvenWithOnesThatHang) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  auto polite = Agent("gpu-001");
  ASSERT_TRUE(polite->Join());
  auto hanging = Agent("gpu-002");  // never reads
  ASSERT_TRUE(hanging->Hello());
  auto silent = Agent("gpu-003");  // never even says Hello
  std::thread reader([&] { EXPECT_EQ(polite->Finish().error_code(), grpc::StatusCode::UNAVAILABLE); });
  const auto begin = std::chrono::steady_clock::now();
  controller_->Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  reader.join();
}

}  // namespace
}  // namespace railwright
