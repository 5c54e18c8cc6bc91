// AdminService: gRPC in front of the admin desk; it decides nothing.
#pragma once

#include <condition_variable>
#include <mutex>
#include <set>

#include "controller/rpc/admin_desk.h"
#include "controller/rpc/door.h"
#include "controller/rpc/event_stream.h"
#include "controller/rpc/members.h"
#include "railwright/v1/admin.grpc.pb.h"

namespace railwright {

class AdminService final : public v1::AdminService::CallbackService {
 public:
  AdminService(AdminDesk& desk, FleetCore& core, railwright::Members& members, Door& door)
      : desk_(desk), core_(core), members_(members), door_(door) {}
  /// Ends the streams of an operator.
  void Cut(const std::string& name, const railwright::Status& why);
  /// Ends the streams of those whose certificates end before `now`.
  void EndExpired(std::chrono::system_clock::time_point now);
  /// Ends the streams that would go on for ever, and refuses new ones.
  void Stop();
  bool WaitForStreams(std::chrono::milliseconds timeout);

 private:
  using Context = grpc::CallbackServerContext;
  using Unary = grpc::ServerUnaryReactor;

  Unary* Version(Context*, const v1::VersionRequest*, v1::VersionResponse*) override;
  Unary* Status(Context*, const v1::StatusRequest*, v1::StatusResponse*) override;
  Unary* Changes(Context*, const v1::ChangesRequest*, v1::ChangesResponse*) override;
  Unary* Generations(Context*, const v1::GenerationsRequest*, v1::GenerationsResponse*) override;
  Unary* Desired(Context*, const v1::DesiredRequest*, v1::DesiredResponse*) override;
  Unary* Why(Context*, const v1::WhyRequest*, v1::WhyResponse*) override;
  Unary* Audit(Context*, const v1::AuditRequest*, v1::AuditResponse*) override;
  Unary* SetPause(Context*, const v1::SetPauseRequest*, v1::SetPauseResponse*) override;
  Unary* ForgetNode(Context*, const v1::ForgetNodeRequest*, v1::ForgetNodeResponse*) override;
  grpc::ServerWriteReactor<v1::PlanEvent>* Plan(Context*, const v1::PlanRequest*) override;
  grpc::ServerWriteReactor<v1::ObserveEvent>* Observe(Context*, const v1::ObserveRequest*) override;
  grpc::ServerWriteReactor<v1::ApplyEvent>* Apply(Context*, const v1::ApplyRequest*) override;
  grpc::ServerWriteReactor<v1::ApplyEvent>* Rollback(Context*, const v1::RollbackRequest*) override;
  grpc::ServerWriteReactor<v1::WatchEvent>* Watch(Context*, const v1::WatchRequest*) override;
  Unary* CreateToken(Context*, const v1::CreateTokenRequest*, v1::CreateTokenResponse*) override;
  Unary* Tokens(Context*, const v1::TokensRequest*, v1::TokensResponse*) override;
  Unary* DropToken(Context*, const v1::DropTokenRequest*, v1::DropTokenResponse*) override;
  Unary* Members(Context*, const v1::MembersRequest*, v1::MembersResponse*) override;
  Unary* SetStanding(Context*, const v1::SetStandingRequest*, v1::SetStandingResponse*) override;
  Unary* RenewOperator(Context*, const v1::RenewRequest*, v1::RenewResponse*) override;
  grpc::ServerWriteReactor<v1::StatementsToSignEvent>* StatementsToSign(
      Context*, const v1::StatementsToSignRequest*) override;
  Unary* Rollouts(Context*, const v1::RolloutsRequest*, v1::RolloutsResponse*) override;
  Unary* OrderRollout(Context*, const v1::OrderRolloutRequest*, v1::OrderRolloutResponse*) override;
  Unary* ApproveRollout(Context*, const v1::ApproveRolloutRequest*, v1::OrderRolloutResponse*) override;
  Unary* ResetBreaker(Context*, const v1::ResetBreakerRequest*, v1::ResetBreakerResponse*) override;
  Unary* PutSignatures(Context*, const v1::PutSignaturesRequest*, v1::PutSignaturesResponse*) override;
  grpc::ServerWriteReactor<v1::AuditChainEvent>* AuditChain(Context*, const v1::AuditChainRequest*) override;

  template <class Request, class Response>
  Unary* Read(const char* method, Context*, const Request*, Response*,
              railwright::Status (AdminDesk::*read)(const Request&, Response&) const);
  template <class Event>
  grpc::ServerWriteReactor<Event>* Open(const char* method, Context*, bool (*merge)(Event&, Event&),
                                        std::function<void(const Caller&, Sink<Event>)> begin);
  template <class Event>
  std::shared_ptr<EventStream<Event>> Enroll(const Caller& caller,
                                             std::function<std::optional<Event>()> next);
  /// A call whose answer comes later, for a caller who may.
  template <class Response>
  Unary* Ask(
      const char* method, Context*, Response*,
      std::function<void(const Caller&, std::function<void(const railwright::Status&, Response)>)> begin);
  void EndThose(const std::function<bool(const Caller&)>& which, const railwright::Status& why);

  struct OpenStream {
    Caller caller;
    std::function<void(const grpc::Status&)> end;
  };

  AdminDesk& desk_;
  FleetCore& core_;
  railwright::Members& members_;
  Door& door_;
  std::mutex mutex_;
  std::condition_variable none_left_;
  bool stopping_ = false;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, OpenStream> open_;
};

}  // namespace railwright
