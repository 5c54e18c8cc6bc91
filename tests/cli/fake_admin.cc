#include "tests/cli/fake_admin.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "controller/fleet/resolve.h"
#include "railwright/v1/admin.grpc.pb.h"

namespace railwright::cli {
namespace {

class Service final : public v1::AdminService::Service {
 public:
  explicit Service(Script& script) : script_(script) {}

  grpc::Status Version(grpc::ServerContext* context, const v1::VersionRequest*,
                       v1::VersionResponse* out) override {
    return Answer(*context, script_.version, out);
  }
  grpc::Status Status(grpc::ServerContext* context, const v1::StatusRequest* request,
                      v1::StatusResponse* out) override {
    v1::StatusResponse answer = script_.status;
    if (request->nodes_size() > 0) answer.clear_nodes();
    for (const std::string& pattern : request->nodes()) {
      const auto names = ExpandNames(pattern);
      if (!names.ok()) return {grpc::StatusCode::INVALID_ARGUMENT, names.status().message()};
      for (const std::string& name : *names) {
        const auto node = std::find_if(script_.status.nodes().begin(), script_.status.nodes().end(),
                                       [&](const v1::NodeStatus& one) { return one.node() == name; });
        if (node == script_.status.nodes().end())
          return {grpc::StatusCode::NOT_FOUND,
                  "node \"" + name + "\" is not known; did you mean \"gpu-001\"?"};
        *answer.add_nodes() = *node;
      }
    }
    return Answer(*context, answer, out);
  }
  grpc::Status Changes(grpc::ServerContext* context, const v1::ChangesRequest* request,
                       v1::ChangesResponse* out) override {
    Remember(script_.change_requests, *request);
    return Answer(*context, script_.changes, out);
  }
  grpc::Status Generations(grpc::ServerContext* context, const v1::GenerationsRequest*,
                           v1::GenerationsResponse* out) override {
    return Answer(*context, script_.generations, out);
  }
  grpc::Status Desired(grpc::ServerContext* context, const v1::DesiredRequest*,
                       v1::DesiredResponse* out) override {
    return Answer(*context, script_.desired, out);
  }
  grpc::Status Why(grpc::ServerContext* context, const v1::WhyRequest*, v1::WhyResponse* out) override {
    return Answer(*context, script_.why, out);
  }
  grpc::Status Audit(grpc::ServerContext* context, const v1::AuditRequest*, v1::AuditResponse* out) override {
    return Answer(*context, script_.audit, out);
  }
  grpc::Status SetPause(grpc::ServerContext* context, const v1::SetPauseRequest* request,
                        v1::SetPauseResponse* out) override {
    Remember(script_.pauses, *request);
    return Answer(*context, script_.pause, out);
  }
  grpc::Status ForgetNode(grpc::ServerContext* context, const v1::ForgetNodeRequest* request,
                          v1::ForgetNodeResponse* out) override {
    Remember(script_.forgotten, request->node());
    return Answer(*context, script_.forget, out);
  }
  grpc::Status Plan(grpc::ServerContext* context, const v1::PlanRequest* request,
                    grpc::ServerWriter<v1::PlanEvent>* out) override {
    Remember(script_.plans, *request);
    return Stream(*context, script_.plan, *out);
  }
  grpc::Status Observe(grpc::ServerContext* context, const v1::ObserveRequest* request,
                       grpc::ServerWriter<v1::ObserveEvent>* out) override {
    Remember(script_.observes, *request);
    return Stream(*context, script_.observe, *out);
  }
  grpc::Status Apply(grpc::ServerContext* context, const v1::ApplyRequest* request,
                     grpc::ServerWriter<v1::ApplyEvent>* out) override {
    Remember(script_.applies, *request);
    return Stream(*context, script_.apply, *out);
  }
  grpc::Status Rollback(grpc::ServerContext* context, const v1::RollbackRequest* request,
                        grpc::ServerWriter<v1::ApplyEvent>* out) override {
    Remember(script_.rollbacks, *request);
    return Stream(*context, script_.apply, *out);
  }
  grpc::Status StatementsToSign(grpc::ServerContext* context, const v1::StatementsToSignRequest*,
                                grpc::ServerWriter<v1::StatementsToSignEvent>* out) override {
    return Stream(*context, script_.to_sign, *out);
  }
  grpc::Status PutSignatures(grpc::ServerContext* context, const v1::PutSignaturesRequest* request,
                             v1::PutSignaturesResponse* out) override {
    Remember(script_.signatures, *request);
    return Answer(*context, script_.taken, out);
  }
  grpc::Status Rollouts(grpc::ServerContext* context, const v1::RolloutsRequest* request,
                        v1::RolloutsResponse* out) override {
    Remember(script_.rollout_questions, *request);
    std::size_t asked = 0;
    {
      std::lock_guard lock(script_.mutex);
      asked = script_.rollout_questions.size();
    }
    ++script_.events_sent;
    const auto& answers = script_.rollouts;
    return Answer(*context,
                  answers.empty() ? v1::RolloutsResponse() : answers[std::min(asked, answers.size()) - 1],
                  out);
  }
  grpc::Status OrderRollout(grpc::ServerContext* context, const v1::OrderRolloutRequest* request,
                            v1::OrderRolloutResponse* out) override {
    Remember(script_.rollout_orders, *request);
    return Answer(*context, script_.ordered, out);
  }
  grpc::Status ApproveRollout(grpc::ServerContext* context, const v1::ApproveRolloutRequest* request,
                              v1::OrderRolloutResponse* out) override {
    Remember(script_.approvals, *request);
    return Answer(*context, script_.ordered, out);
  }
  grpc::Status ResetBreaker(grpc::ServerContext* context, const v1::ResetBreakerRequest* request,
                            v1::ResetBreakerResponse* out) override {
    Remember(script_.resets, *request);
    return Answer(*context, script_.reset, out);
  }
  grpc::Status Watch(grpc::ServerContext* context, const v1::WatchRequest*,
                     grpc::ServerWriter<v1::WatchEvent>* out) override {
    return Stream(*context, script_.watch, *out);
  }
  grpc::Status AuditChain(grpc::ServerContext* context, const v1::AuditChainRequest*,
                          grpc::ServerWriter<v1::AuditChainEvent>* out) override {
    return Stream(*context, script_.audit_chain, *out);
  }

 private:
  grpc::Status Failure() const {
    const railwright::Status& failure = script_.failure;
    if (failure.ok()) return grpc::Status::OK;
    const auto code = failure.code() == Code::kUnknown ? grpc::StatusCode::UNAUTHENTICATED
                                                       : static_cast<grpc::StatusCode>(failure.code());
    return {code, failure.message()};
  }
  template <class T>
  grpc::Status Answer(grpc::ServerContext& context, const T& answer, T* out) {
    while (script_.stall && !context.IsCancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    *out = answer;
    return Failure();
  }
  template <class T>
  void Remember(std::vector<T>& list, const T& one) {
    std::lock_guard lock(script_.mutex);
    list.push_back(one);
  }
  template <class T>
  grpc::Status Stream(grpc::ServerContext& context, const std::vector<T>& events,
                      grpc::ServerWriter<T>& out) {
    for (const T& event : events) {
      out.Write(event);
      ++script_.events_sent;
    }
    while (script_.hold && !context.IsCancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return Failure();
  }

  Script& script_;
};

}  // namespace

struct FakeAdmin::Impl {
  Service service;
  std::unique_ptr<grpc::Server> server;
  explicit Impl(Script& script) : service(script) {}
};

FakeAdmin::FakeAdmin() : script_(std::make_unique<Script>()) {
  std::string name = (std::filesystem::temp_directory_path() / "railctl-XXXXXX").string();
  directory_ = mkdtemp(name.data());
  address_ = "unix:" + directory_ + "/admin.sock";
  impl_ = std::make_unique<Impl>(*script_);
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
  builder.RegisterService(&impl_->service);
  impl_->server = builder.BuildAndStart();
}

FakeAdmin::~FakeAdmin() {
  Stop();
  std::filesystem::remove_all(directory_);
}

void FakeAdmin::Stop() {
  if (!impl_->server) return;
  impl_->server->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(100));
  impl_->server->Wait();
  impl_->server.reset();
}

}  // namespace railwright::cli
