// FakeAdmin: a controller's AdminService in this process, on a Unix socket; it remembers what it was asked.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "railwright/result.h"
#include "railwright/v1/admin.pb.h"

namespace railwright::cli {

/// What the next calls are answered with, and what came. The answers are set before the program runs and the
/// requests read after it.
struct Script {
  v1::VersionResponse version;
  v1::StatusResponse status;
  v1::ChangesResponse changes;
  v1::GenerationsResponse generations;
  v1::DesiredResponse desired;
  v1::WhyResponse why;
  v1::AuditResponse audit;
  v1::SetPauseResponse pause;
  v1::ForgetNodeResponse forget;
  std::vector<v1::PlanEvent> plan;
  std::vector<v1::ObserveEvent> observe;
  std::vector<v1::ApplyEvent> apply;  // of Rollback too
  std::vector<v1::WatchEvent> watch;
  std::vector<v1::AuditChainEvent> audit_chain;
  std::vector<v1::StatementsToSignEvent> to_sign;
  v1::PutSignaturesResponse taken;
  std::vector<v1::RolloutsResponse> rollouts;  // one a question; the last for all that follow
  v1::OrderRolloutResponse ordered;            // of ApproveRollout too
  v1::ResetBreakerResponse reset;
  /// Every call fails with it when it is set. Code::kUnknown is UNAUTHENTICATED on the wire.
  railwright::Status failure;
  /// Streams stay open after their events until they are cancelled.
  bool hold = false;
  /// Other calls are not answered until they are cancelled.
  bool stall = false;
  std::atomic<int> events_sent{0};

  std::mutex mutex;  // guards what follows
  std::vector<v1::PlanRequest> plans;
  std::vector<v1::PutSignaturesRequest> signatures;
  std::vector<v1::ObserveRequest> observes;
  std::vector<v1::ApplyRequest> applies;
  std::vector<v1::RollbackRequest> rollbacks;
  std::vector<v1::SetPauseRequest> pauses;
  std::vector<v1::ChangesRequest> change_requests;
  std::vector<std::string> forgotten;
  std::vector<v1::RolloutsRequest> rollout_questions;
  std::vector<v1::OrderRolloutRequest> rollout_orders;
  std::vector<v1::ApproveRolloutRequest> approvals;
  std::vector<v1::ResetBreakerRequest> resets;
};

class FakeAdmin {
 public:
  FakeAdmin();   ///< listens
  ~FakeAdmin();  ///< cancels what is open
  Script& script() { return *script_; }
  /// "unix:/tmp/…/admin.sock"
  const std::string& address() const { return address_; }
  /// Stops listening; the socket's file stays or goes as a killed controller would leave it.
  void Stop();

 private:
  struct Impl;
  std::unique_ptr<Script> script_;
  std::string directory_, address_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace railwright::cli
