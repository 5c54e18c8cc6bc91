// FakeAgent: a node that speaks raw gRPC, one message at a time, as the test says.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "railwright/v1/admin.grpc.pb.h"
#include "railwright/v1/agent.grpc.pb.h"
#include "tests/rpc/fleet_pki.h"
#include "tests/rpc/site.h"

namespace railwright {

inline std::shared_ptr<grpc::Channel> DialTest(
    const std::string& address,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials = grpc::InsecureChannelCredentials()) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own for everybody
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE,
                   0);  // a window of 64 KiB, so that a slow reader holds the writer up
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 20);
  return grpc::CreateCustomChannel(address, credentials, arguments);
}

class FakeAgent {
 public:
  using Body = v1::ControllerMessage;

  /// Every wait ends after `patience`, by which the call is cancelled and the test fails. It shows the
  /// certificate of `proved`, or its own.
  FakeAgent(const std::string& address, std::string node,
            std::chrono::seconds patience = std::chrono::seconds(30), const std::string& proved = "")
      : FakeAgent(address, node, patience,
                  FleetPki::Get().ca().Credentials(FleetPki::Get().Node(proved.empty() ? node : proved))) {}
  FakeAgent(const std::string& address, std::string node, std::chrono::seconds patience,
            const std::shared_ptr<grpc::ChannelCredentials>& credentials)
      : node_(std::move(node)), stub_(v1::AgentService::NewStub(DialTest(address, credentials))) {
    context_.set_deadline(std::chrono::system_clock::now() + patience);
    context_.set_wait_for_ready(true);
    stream_ = stub_->Connect(&context_);
  }
  ~FakeAgent() { Cancel(); }

  bool Say(const v1::AgentMessage& message) { return stream_->Write(message); }
  bool Hello(const std::string& boot_id = "boot-1") { return Say(HelloOf(node_, boot_id)); }
  /// The next message of that kind; others before it are dropped. An empty one: the stream ended.
  v1::ControllerMessage Await(Body::BodyCase body) {
    v1::ControllerMessage message;
    while (stream_->Read(&message)) {
      if (message.body_case() == Body::kDesired) state_ = message.desired();
      if (message.body_case() == body) return message;
    }
    return {};
  }
  /// The next message, whatever it is.
  v1::ControllerMessage Any() {
    v1::ControllerMessage message;
    if (!stream_->Read(&message)) return {};
    if (message.body_case() == Body::kDesired) state_ = message.desired();
    return message;
  }
  /// Hello … Welcome and the state, if one comes.
  bool Join() { return Hello() && Await(Body::kWelcome).has_welcome(); }
  v1::DesiredState AwaitState() { return Await(Body::kDesired).desired(); }
  /// Reports against the newest state that was read.
  bool Report(std::uint64_t sequence, Verdict verdict, std::uint64_t change = 0) {
    return Say(ReportOf(sequence, state_.generation(), state_.hash(), verdict, change));
  }
  bool Answer(const v1::Command& command, const std::string& to = "4200") {
    v1::AgentMessage message;
    message.mutable_result()->set_id(command.id());
    auto* step = message.mutable_result()->mutable_plan()->add_steps();
    step->set_key("link.mtu");
    step->set_target("rail0");
    step->set_from("1500");
    step->set_to(to);
    return Say(message);
  }
  void HalfClose() { stream_->WritesDone(); }
  void Cancel() { context_.TryCancel(); }
  grpc::Status Finish() {
    v1::ControllerMessage message;
    while (stream_->Read(&message)) {
    }
    return stream_->Finish();
  }

 private:
  const std::string node_;
  std::unique_ptr<v1::AgentService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AgentMessage, v1::ControllerMessage>> stream_;
  v1::DesiredState state_;
};

/// railctl's side.
class FakeAdmin {
 public:
  /// `patient`: a call waits for a controller that does not listen yet; else it fails when that has gone.
  explicit FakeAdmin(const std::string& address, bool patient = true)
      : patient_(patient), stub_(v1::AdminService::NewStub(DialTest(address))) {}

  template <class Event>
  struct Streamed {
    grpc::Status status;
    std::vector<Event> events;
    const Event& last() const { return events.back(); }
  };
  template <class Event, class Request>
  Streamed<Event> Run(std::unique_ptr<grpc::ClientReader<Event>> (v1::AdminService::Stub::*call)(
                          grpc::ClientContext*, const Request&),
                      const Request& request) {
    grpc::ClientContext context;
    Prepare(context);
    context.set_wait_for_ready(patient_);
    Streamed<Event> result;
    auto reader = (stub_.get()->*call)(&context, request);
    Event event;
    while (reader->Read(&event)) result.events.push_back(event);
    result.status = reader->Finish();
    return result;
  }
  Streamed<v1::ApplyEvent> Apply(const v1::ApplyRequest& request) {
    return Run(&v1::AdminService::Stub::Apply, request);
  }
  Streamed<v1::ApplyEvent> Apply(const std::string& yaml, bool wait = false) {
    v1::ApplyRequest request;
    auto* file = request.add_files();
    file->set_name("site.yaml");
    file->set_text(yaml);
    request.set_wait(wait);
    request.set_author("ann");
    request.set_comment("test");
    return Apply(request);
  }
  Streamed<v1::ApplyEvent> Rollback(std::uint64_t to) {
    v1::RollbackRequest request;
    request.set_to_generation(to);
    request.set_author("bob");
    return Run(&v1::AdminService::Stub::Rollback, request);
  }
  Streamed<v1::PlanEvent> Plan(const std::string& yaml, int timeout_ms = 10'000) {
    v1::PlanRequest request;
    auto* file = request.add_files();
    file->set_name("site.yaml");
    file->set_text(yaml);
    request.set_timeout_ms(timeout_ms);
    return Run(&v1::AdminService::Stub::Plan, request);
  }
  template <class Request, class Response>
  grpc::Status Ask(grpc::Status (v1::AdminService::Stub::*call)(grpc::ClientContext*, const Request&,
                                                                Response*),
                   const Request& request, Response* response) {
    grpc::ClientContext context;
    Prepare(context);
    context.set_wait_for_ready(patient_);
    return (stub_.get()->*call)(&context, request, response);
  }
  v1::StatusResponse Status() {
    v1::StatusResponse response;
    const auto status = Ask(&v1::AdminService::Stub::Status, v1::StatusRequest(), &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  v1::NodeStatus Node(const std::string& name) {
    const v1::StatusResponse status = Status();
    for (const auto& node : status.nodes())
      if (node.node() == name) return node;
    return {};
  }
  v1::AdminService::Stub& stub() { return *stub_; }
  static void Prepare(grpc::ClientContext& context) {
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  }

 private:
  const bool patient_;
  std::unique_ptr<v1::AdminService::Stub> stub_;
};

/// Waits for something that other threads bring about; false after 20 s.
template <class Condition>
bool Eventually(Condition condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace railwright
