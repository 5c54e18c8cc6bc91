#include "controller/rpc/admin_service.h"

#include "controller/rpc/audit_stream.h"
#include "controller/rpc/event_stream.h"
#include "controller/rpc/grpc_status.h"
#include "core/wire/wire.h"

namespace railwright {
namespace {

const grpc::Status& Stopping() {
  static const grpc::Status kStatus(grpc::StatusCode::UNAVAILABLE, "the controller is stopping");
  return kStatus;
}

/// Only the newest progress matters; what is told is never replaced.
template <class Event>
bool MergeProgress(Event& queued, Event& next) {
  if (!queued.has_progress() || !next.has_progress()) return false;
  queued = std::move(next);
  return true;
}

/// The newest state, and everybody who got done meanwhile.
bool MergeApply(v1::ApplyEvent& queued, v1::ApplyEvent& next) {
  for (v1::NodeOutcome& done : *next.mutable_done()) *queued.add_done() = std::move(done);
  next.mutable_done()->Swap(queued.mutable_done());
  queued = std::move(next);
  return true;
}

/// What a watcher has not been sent yet: names, not events, so that a slow reader costs a bounded memory and
/// sees the newest state of each.
class WatchBoard {
 public:
  WatchBoard(AdminDesk& desk, std::set<std::string> selected) : desk_(desk), selected_(std::move(selected)) {}

  void Note(const FleetNews& news) {
    std::lock_guard lock(mutex_);
    if (news.generation) generation_ = news.generation;
    for (const std::string& name : news.nodes)
      if (Wanted(name)) dirty_.insert(name);
    for (const v1::NodeChange& change : news.changes) {
      if (!Wanted(change.node())) continue;
      if (changes_.size() >= kChangesMost) changes_.pop_front();  // they are in the history
      changes_.push_back(change);
    }
  }

  std::optional<v1::WatchEvent> Next() {
    std::lock_guard lock(mutex_);
    v1::WatchEvent event;
    if (generation_) {
      event.set_generation(std::exchange(generation_, 0));
      return event;
    }
    if (!changes_.empty()) {
      *event.mutable_change() = std::move(changes_.front());
      changes_.pop_front();
      return event;
    }
    const auto view = desk_.view();
    while (!dirty_.empty()) {
      const NodeView* node = view->Find(*dirty_.begin());
      dirty_.erase(dirty_.begin());
      if (!node || (!node->declared && selected_.empty())) continue;
      *event.mutable_node() = view->StatusOf(*node, desk_.clock().Now());
      return event;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kChangesMost = 1000;
  bool Wanted(const std::string& name) const { return selected_.empty() || selected_.contains(name); }

  AdminDesk& desk_;
  const std::set<std::string> selected_;
  std::mutex mutex_;
  std::set<std::string> dirty_;
  std::deque<v1::NodeChange> changes_;
  std::uint64_t generation_ = 0;
};

}  // namespace

template <class Request, class Response>
grpc::ServerUnaryReactor* AdminService::Read(const char* method, Context* context, const Request* request,
                                             Response* response,
                                             railwright::Status (AdminDesk::*read)(const Request&, Response&)
                                                 const) {
  auto* reactor = context->DefaultReactor();
  if (const auto caller = door_.Enter(*context, method); !caller.ok()) {
    reactor->Finish(ToGrpc(caller.status()));
    return reactor;
  }
  // Request and response live until the reactor is done.
  const bool posted = desk_.reads().Post([this, reactor, request, response, read] {
    reactor->Finish(ToGrpc((desk_.*read)(*request, *response)));
  });
  if (!posted) reactor->Finish(Stopping());
  return reactor;
}

template <class Response>
grpc::ServerUnaryReactor* AdminService::Ask(
    const char* method, Context* context, Response* response,
    std::function<void(const Caller&, std::function<void(const railwright::Status&, Response)>)> begin) {
  auto* reactor = context->DefaultReactor();
  const auto caller = door_.Enter(*context, method);
  if (!caller.ok()) {
    reactor->Finish(ToGrpc(caller.status()));
    return reactor;
  }
  begin(*caller, [reactor, response](const railwright::Status& status, Response answer) {
    *response = std::move(answer);
    reactor->Finish(ToGrpc(status));
  });
  return reactor;
}

grpc::ServerUnaryReactor* AdminService::Version(Context* c, const v1::VersionRequest* q,
                                                v1::VersionResponse* r) {
  return Read("railwright.v1.AdminService/Version", c, q, r, &AdminDesk::Version);
}
grpc::ServerUnaryReactor* AdminService::Status(Context* c, const v1::StatusRequest* q,
                                               v1::StatusResponse* r) {
  return Read("railwright.v1.AdminService/Status", c, q, r, &AdminDesk::GetStatus);
}
grpc::ServerUnaryReactor* AdminService::Changes(Context* c, const v1::ChangesRequest* q,
                                                v1::ChangesResponse* r) {
  return Read("railwright.v1.AdminService/Changes", c, q, r, &AdminDesk::Changes);
}
grpc::ServerUnaryReactor* AdminService::Generations(Context* c, const v1::GenerationsRequest* q,
                                                    v1::GenerationsResponse* r) {
  return Read("railwright.v1.AdminService/Generations", c, q, r, &AdminDesk::Generations);
}
grpc::ServerUnaryReactor* AdminService::Desired(Context* c, const v1::DesiredRequest* q,
                                                v1::DesiredResponse* r) {
  return Read("railwright.v1.AdminService/Desired", c, q, r, &AdminDesk::Desired);
}
grpc::ServerUnaryReactor* AdminService::Why(Context* c, const v1::WhyRequest* q, v1::WhyResponse* r) {
  return Read("railwright.v1.AdminService/Why", c, q, r, &AdminDesk::Why);
}
grpc::ServerUnaryReactor* AdminService::Audit(Context* c, const v1::AuditRequest* q, v1::AuditResponse* r) {
  return Read("railwright.v1.AdminService/Audit", c, q, r, &AdminDesk::Audit);
}

grpc::ServerUnaryReactor* AdminService::SetPause(Context* context, const v1::SetPauseRequest* request,
                                                 v1::SetPauseResponse* response) {
  return Ask<v1::SetPauseResponse>("railwright.v1.AdminService/SetPause", context, response,
                                   [this, request](const Caller& caller, auto done) {
                                     desk_.SetPause(caller, *request, std::move(done));
                                   });
}

grpc::ServerUnaryReactor* AdminService::ForgetNode(Context* context, const v1::ForgetNodeRequest* request,
                                                   v1::ForgetNodeResponse* response) {
  return Ask<v1::ForgetNodeResponse>("railwright.v1.AdminService/ForgetNode", context, response,
                                     [this, request](const Caller& caller, auto done) {
                                       desk_.ForgetNode(caller, *request, std::move(done));
                                     });
}

grpc::ServerUnaryReactor* AdminService::CreateToken(Context* context, const v1::CreateTokenRequest* request,
                                                    v1::CreateTokenResponse* response) {
  return Ask<v1::CreateTokenResponse>("railwright.v1.AdminService/CreateToken", context, response,
                                      [this, request](const Caller& caller, auto done) {
                                        members_.CreateToken(caller, *request, std::move(done));
                                      });
}
grpc::ServerUnaryReactor* AdminService::DropToken(Context* context, const v1::DropTokenRequest* request,
                                                  v1::DropTokenResponse* response) {
  return Ask<v1::DropTokenResponse>("railwright.v1.AdminService/DropToken", context, response,
                                    [this, request](const Caller& caller, auto done) {
                                      members_.DropToken(caller, *request, std::move(done));
                                    });
}
grpc::ServerUnaryReactor* AdminService::SetStanding(Context* context, const v1::SetStandingRequest* request,
                                                    v1::SetStandingResponse* response) {
  return Ask<v1::SetStandingResponse>("railwright.v1.AdminService/SetStanding", context, response,
                                      [this, request](const Caller& caller, auto done) {
                                        members_.SetStanding(caller, *request, std::move(done));
                                      });
}
grpc::ServerUnaryReactor* AdminService::Tokens(Context* context, const v1::TokensRequest*,
                                               v1::TokensResponse* response) {
  return Ask<v1::TokensResponse>("railwright.v1.AdminService/Tokens", context, response,
                                 [this](const Caller&, auto done) { members_.Tokens(std::move(done)); });
}
grpc::ServerUnaryReactor* AdminService::Members(Context* context, const v1::MembersRequest*,
                                                v1::MembersResponse* response) {
  return Ask<v1::MembersResponse>("railwright.v1.AdminService/Members", context, response,
                                  [this](const Caller&, auto done) { members_.List(std::move(done)); });
}
grpc::ServerUnaryReactor* AdminService::RenewOperator(Context* context, const v1::RenewRequest* request,
                                                      v1::RenewResponse* response) {
  return Ask<v1::RenewResponse>(
      "railwright.v1.AdminService/RenewOperator", context, response,
      [this, request](const Caller& caller, auto done) {
        if (caller.kind != Caller::Kind::kOperator)
          return done(
              railwright::Status(Code::kFailedPrecondition, "only an operator's certificate is renewed here"),
              {});
        members_.Renew(caller, *request, std::move(done));
      });
}

grpc::ServerUnaryReactor* AdminService::Rollouts(Context* context, const v1::RolloutsRequest* request,
                                                 v1::RolloutsResponse* response) {
  return Ask<v1::RolloutsResponse>(
      "railwright.v1.AdminService/Rollouts", context, response,
      [this, request](const Caller&, auto done) { desk_.Rollouts(*request, std::move(done)); });
}
grpc::ServerUnaryReactor* AdminService::OrderRollout(Context* context, const v1::OrderRolloutRequest* request,
                                                     v1::OrderRolloutResponse* response) {
  return Ask<v1::OrderRolloutResponse>("railwright.v1.AdminService/OrderRollout", context, response,
                                       [this, request](const Caller& caller, auto done) {
                                         desk_.OrderRollout(caller, *request, std::move(done));
                                       });
}
grpc::ServerUnaryReactor* AdminService::ApproveRollout(Context* context,
                                                       const v1::ApproveRolloutRequest* request,
                                                       v1::OrderRolloutResponse* response) {
  return Ask<v1::OrderRolloutResponse>("railwright.v1.AdminService/ApproveRollout", context, response,
                                       [this, request](const Caller& caller, auto done) {
                                         desk_.ApproveRollout(caller, *request, std::move(done));
                                       });
}
grpc::ServerUnaryReactor* AdminService::ResetBreaker(Context* context, const v1::ResetBreakerRequest* request,
                                                     v1::ResetBreakerResponse* response) {
  return Ask<v1::ResetBreakerResponse>("railwright.v1.AdminService/ResetBreaker", context, response,
                                       [this, request](const Caller& caller, auto done) {
                                         desk_.ResetBreaker(caller, *request, std::move(done));
                                       });
}

grpc::ServerUnaryReactor* AdminService::PutSignatures(Context* context,
                                                      const v1::PutSignaturesRequest* request,
                                                      v1::PutSignaturesResponse* response) {
  return Ask<v1::PutSignaturesResponse>("railwright.v1.AdminService/PutSignatures", context, response,
                                        [this, request](const Caller& caller, auto done) {
                                          desk_.PutSignatures(caller, *request, std::move(done));
                                        });
}

template <class Event>
std::shared_ptr<EventStream<Event>> AdminService::Enroll(const Caller& caller,
                                                         std::function<std::optional<Event>()> next) {
  std::unique_lock lock(mutex_);
  const std::uint64_t id = next_++;
  auto stream = EventStream<Event>::Make(std::move(next), [this, id] {
    std::lock_guard done(mutex_);
    open_.erase(id);
    if (open_.empty()) none_left_.notify_all();
  });
  open_[id] = {caller, [stream](const grpc::Status& why) { stream->End(why); }};
  const bool late = stopping_;
  lock.unlock();
  if (late) stream->End(Stopping());
  return stream;
}

template <class Event>
grpc::ServerWriteReactor<Event>* AdminService::Open(const char* method, Context* context,
                                                    bool (*merge)(Event&, Event&),
                                                    std::function<void(const Caller&, Sink<Event>)> begin) {
  const auto caller = door_.Enter(*context, method);
  auto queue = std::make_shared<MergingQueue<Event>>(merge);
  auto stream = Enroll<Event>(caller.value_or({}), [queue] { return queue->Next(); });
  if (!caller.ok()) {
    stream->End(ToGrpc(caller.status()));
    return stream.get();
  }
  begin(*caller, {[queue, stream](Event event) {
                    queue->Push(std::move(event));
                    return stream->Wake();
                  },
                  [stream](const railwright::Status& status) { stream->End(ToGrpc(status)); }});
  return stream.get();
}

grpc::ServerWriteReactor<v1::PlanEvent>* AdminService::Plan(Context* context,
                                                            const v1::PlanRequest* request) {
  return Open<v1::PlanEvent>(
      "railwright.v1.AdminService/Plan", context, &MergeProgress<v1::PlanEvent>,
      [this, request](const Caller&, Sink<v1::PlanEvent> sink) { desk_.Plan(*request, std::move(sink)); });
}

grpc::ServerWriteReactor<v1::ObserveEvent>* AdminService::Observe(Context* context,
                                                                  const v1::ObserveRequest* request) {
  return Open<v1::ObserveEvent>(
      "railwright.v1.AdminService/Observe", context, &MergeProgress<v1::ObserveEvent>,
      [this, request](const Caller&, const Sink<v1::ObserveEvent>& sink) { desk_.Observe(*request, sink); });
}

grpc::ServerWriteReactor<v1::ApplyEvent>* AdminService::Apply(Context* context,
                                                              const v1::ApplyRequest* request) {
  return Open<v1::ApplyEvent>("railwright.v1.AdminService/Apply", context, &MergeApply,
                              [this, request](const Caller& caller, Sink<v1::ApplyEvent> sink) {
                                desk_.Apply(caller, *request, std::move(sink));
                              });
}

grpc::ServerWriteReactor<v1::ApplyEvent>* AdminService::Rollback(Context* context,
                                                                 const v1::RollbackRequest* request) {
  return Open<v1::ApplyEvent>("railwright.v1.AdminService/Rollback", context, &MergeApply,
                              [this, request](const Caller& caller, Sink<v1::ApplyEvent> sink) {
                                desk_.Rollback(caller, *request, std::move(sink));
                              });
}

grpc::ServerWriteReactor<v1::StatementsToSignEvent>* AdminService::StatementsToSign(
    Context* context, const v1::StatementsToSignRequest* request) {
  return Open<v1::StatementsToSignEvent>(
      "railwright.v1.AdminService/StatementsToSign", context,
      [](v1::StatementsToSignEvent&, v1::StatementsToSignEvent&) { return false; },
      [this, request](const Caller&, Sink<v1::StatementsToSignEvent> sink) {
        desk_.StatementsToSign(*request, std::move(sink));
      });
}

grpc::ServerWriteReactor<v1::WatchEvent>* AdminService::Watch(Context* context,
                                                              const v1::WatchRequest* request) {
  const auto caller = door_.Enter(*context, "railwright.v1.AdminService/Watch");
  auto names = desk_.NamesOf(request->nodes());
  auto board = std::make_shared<WatchBoard>(desk_, names.ok() ? *names : std::set<std::string>());
  auto stream = Enroll<v1::WatchEvent>(caller.value_or({}), [board] { return board->Next(); });
  if (!caller.ok() || !names.ok()) {
    stream->End(ToGrpc(!caller.ok() ? caller.status() : names.status()));
    return stream.get();
  }
  core_.Watch([board, stream](const FleetNews& news) {
    board->Note(news);
    return stream->Wake();
  });
  return stream.get();
}

void AdminService::EndThose(const std::function<bool(const Caller&)>& which, const railwright::Status& why) {
  std::vector<std::function<void(const grpc::Status&)>> ends;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [id, open] : open_)
      if (which(open.caller)) ends.push_back(open.end);
  }
  for (const auto& end : ends) end(ToGrpc(why));
}

void AdminService::Cut(const std::string& name, const railwright::Status& why) {
  EndThose(
      [&](const Caller& caller) { return caller.kind == Caller::Kind::kOperator && caller.name == name; },
      why);
}

void AdminService::EndExpired(std::chrono::system_clock::time_point now) {
  EndThose([&](const Caller& caller) { return caller.not_after <= now; },
           railwright::Status(Code::kUnauthenticated, "your certificate has expired\nnext: railctl login"));
}

grpc::ServerWriteReactor<v1::AuditChainEvent>* AdminService::AuditChain(
    Context* context, const v1::AuditChainRequest* request) {
  const auto caller = door_.Enter(*context, "railwright.v1.AdminService/AuditChain");
  // Nothing to go on from: whatever lies first, also below 1.
  const std::uint64_t after = std::min<std::uint64_t>(request->after_id(), INT64_MAX - 1);
  auto pages =
      std::make_shared<AuditPages>(desk_, after == 0 ? kAuditBegin : static_cast<std::int64_t>(after) + 1);
  auto stream = Enroll<v1::AuditChainEvent>(caller.value_or({}), [pages] { return pages->Next(); });
  if (!caller.ok()) {
    stream->End(ToGrpc(caller.status()));
    return stream.get();
  }
  pages->Begin(stream);
  return stream.get();
}

void AdminService::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  EndThose([](const Caller&) { return true; },
           railwright::Status(Code::kUnavailable, Stopping().error_message()));
}

bool AdminService::WaitForStreams(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return none_left_.wait_for(lock, timeout, [this] { return open_.empty(); });
}

}  // namespace railwright
