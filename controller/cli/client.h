// AdminClient: railctl's calls to the controller. No gRPC type is seen here.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "controller/cli/logins.h"
#include "railwright/result.h"
#include "railwright/v1/admin.pb.h"

namespace railwright::cli {

/// How long to wait, and what to do meanwhile.
struct CallOptions {
  std::chrono::milliseconds deadline{10'000};  ///< 0 = none
  std::function<void()> tick = [] {};          ///< about ten times a second, on the caller's thread
};

/// One controller, dialled at the first call. All calls run on the caller's thread and return early, with
/// Unknown "interrupted", once `interrupted` is set. Errors:
///   Unavailable        the controller cannot be reached or does not answer in time (reading calls); the
///   message
///                      names the address and the next step
///   PermissionDenied   the socket may not be opened, or the controller refuses
///   DeadlineExceeded   an ordering call was not answered in time; it may still be carried out
///   Unimplemented      the controller is older than this railctl and lacks the call
///   the rest           as the controller said
class AdminClient {
 public:
  /// Over a Unix socket without a login, over TCP with one, whose certificate is shown.
  AdminClient(std::string address, std::shared_ptr<const Login> login, const std::atomic<bool>& interrupted);
  ~AdminClient();
  AdminClient(const AdminClient&) = delete;
  AdminClient& operator=(const AdminClient&) = delete;

  Result<v1::VersionResponse> Version(const v1::VersionRequest&, const CallOptions&);
  Result<v1::StatusResponse> Status(const v1::StatusRequest&, const CallOptions&);
  Result<v1::ChangesResponse> Changes(const v1::ChangesRequest&, const CallOptions&);
  Result<v1::GenerationsResponse> Generations(const v1::GenerationsRequest&, const CallOptions&);
  Result<v1::DesiredResponse> Desired(const v1::DesiredRequest&, const CallOptions&);
  Result<v1::WhyResponse> Why(const v1::WhyRequest&, const CallOptions&);
  Result<v1::AuditResponse> Audit(const v1::AuditRequest&, const CallOptions&);
  Result<v1::SetPauseResponse> SetPause(const v1::SetPauseRequest&, const CallOptions&);
  Result<v1::ForgetNodeResponse> ForgetNode(const v1::ForgetNodeRequest&, const CallOptions&);
  Result<v1::CreateTokenResponse> CreateToken(const v1::CreateTokenRequest&, const CallOptions&);
  Result<v1::TokensResponse> Tokens(const v1::TokensRequest&, const CallOptions&);
  Result<v1::DropTokenResponse> DropToken(const v1::DropTokenRequest&, const CallOptions&);
  Result<v1::MembersResponse> Members(const v1::MembersRequest&, const CallOptions&);
  Result<v1::SetStandingResponse> SetStanding(const v1::SetStandingRequest&, const CallOptions&);
  Result<v1::RenewResponse> RenewOperator(const v1::RenewRequest&, const CallOptions&);

  Result<v1::RolloutsResponse> Rollouts(const v1::RolloutsRequest&, const CallOptions&);
  Result<v1::OrderRolloutResponse> OrderRollout(const v1::OrderRolloutRequest&, const CallOptions&);
  Result<v1::OrderRolloutResponse> ApproveRollout(const v1::ApproveRolloutRequest&, const CallOptions&);
  Result<v1::ResetBreakerResponse> ResetBreaker(const v1::ResetBreakerRequest&, const CallOptions&);

  Result<v1::PutSignaturesResponse> PutSignatures(const v1::PutSignaturesRequest&, const CallOptions&);

  /// Streams: `each` sees every event; returns when the controller ended the stream.
  railwright::Status Plan(const v1::PlanRequest&, const CallOptions&,
                          const std::function<void(const v1::PlanEvent&)>& each);
  railwright::Status StatementsToSign(const v1::StatementsToSignRequest&, const CallOptions&,
                                      const std::function<void(v1::StatementsToSignEvent&)>& each);
  railwright::Status Observe(const v1::ObserveRequest&, const CallOptions&,
                             const std::function<void(v1::ObserveEvent&)>& each);
  railwright::Status Apply(const v1::ApplyRequest&, const CallOptions&,
                           const std::function<void(const v1::ApplyEvent&)>& each);
  railwright::Status Rollback(const v1::RollbackRequest&, const CallOptions&,
                              const std::function<void(const v1::ApplyEvent&)>& each);
  railwright::Status Watch(const v1::WatchRequest&, const CallOptions&,
                           const std::function<void(const v1::WatchEvent&)>& each);

  railwright::Status AuditChain(const v1::AuditChainRequest&, const CallOptions&,
                                const std::function<void(const v1::AuditChainEvent&)>& each);

  /// As the operator wrote it.
  const std::string& address() const;
  /// By which it speaks; null over a Unix socket.
  const std::shared_ptr<const Login>& login() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace railwright::cli
