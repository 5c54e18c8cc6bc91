// AdminService: gRPC in front of the admin desk; it decides nothing.
#pragma once

#include <condition_variable>
#include <mutex>
#include <set>

#include "controller/rpc/admin_desk.h"
#include "controller/rpc/event_stream.h"
#include "railwright/v1/admin.grpc.pb.h"

namespace railwright {

class AdminService final : public v1::AdminService::CallbackService {
 public:
  AdminService(AdminDesk& desk, FleetCore& core) : desk_(desk), core_(core) {}
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
  grpc::ServerWriteReactor<v1::AuditChainEvent>* AuditChain(Context*, const v1::AuditChainRequest*) override;

  template <class Request, class Response>
  Unary* Read(Context*, const Request*, Response*,
              railwright::Status (AdminDesk::*read)(const Request&, Response&) const);
  template <class Event>
  grpc::ServerWriteReactor<Event>* Open(bool (*merge)(Event&, Event&),
                                        std::function<void(Sink<Event>)> begin);
  template <class Event>
  std::shared_ptr<EventStream<Event>> Enroll(std::function<std::optional<Event>()> next);

  AdminDesk& desk_;
  FleetCore& core_;
  std::mutex mutex_;
  std::condition_variable none_left_;
  bool stopping_ = false;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, std::function<void()>> open_;  // how to end each stream
};

}  // namespace railwright
