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
grpc::ServerUnaryReactor* AdminService::Read(Context* context, const Request* request, Response* response,
                                             railwright::Status (AdminDesk::*read)(const Request&, Response&)
                                                 const) {
  auto* reactor = context->DefaultReactor();
  // Request and response live until the reactor is done.
  const bool posted = desk_.reads().Post([this, reactor, request, response, read] {
    reactor->Finish(ToGrpc((desk_.*read)(*request, *response)));
  });
  if (!posted) reactor->Finish(Stopping());
  return reactor;
}

grpc::ServerUnaryReactor* AdminService::Version(Context* c, const v1::VersionRequest* q,
                                                v1::VersionResponse* r) {
  return Read(c, q, r, &AdminDesk::Version);
}
grpc::ServerUnaryReactor* AdminService::Status(Context* c, const v1::StatusRequest* q,
                                               v1::StatusResponse* r) {
  return Read(c, q, r, &AdminDesk::GetStatus);
}
grpc::ServerUnaryReactor* AdminService::Changes(Context* c, const v1::ChangesRequest* q,
                                                v1::ChangesResponse* r) {
  return Read(c, q, r, &AdminDesk::Changes);
}
grpc::ServerUnaryReactor* AdminService::Generations(Context* c, const v1::GenerationsRequest* q,
                                                    v1::GenerationsResponse* r) {
  return Read(c, q, r, &AdminDesk::Generations);
}
grpc::ServerUnaryReactor* AdminService::Desired(Context* c, const v1::DesiredRequest* q,
                                                v1::DesiredResponse* r) {
  return Read(c, q, r, &AdminDesk::Desired);
}
grpc::ServerUnaryReactor* AdminService::Why(Context* c, const v1::WhyRequest* q, v1::WhyResponse* r) {
  return Read(c, q, r, &AdminDesk::Why);
}
grpc::ServerUnaryReactor* AdminService::Audit(Context* c, const v1::AuditRequest* q, v1::AuditResponse* r) {
  return Read(c, q, r, &AdminDesk::Audit);
}

grpc::ServerUnaryReactor* AdminService::SetPause(Context* context, const v1::SetPauseRequest* request,
                                                 v1::SetPauseResponse* response) {
  auto* reactor = context->DefaultReactor();
  desk_.SetPause(*request,
                 [reactor, response](const railwright::Status& status, v1::SetPauseResponse answer) {
                   *response = std::move(answer);
                   reactor->Finish(ToGrpc(status));
                 });
  return reactor;
}

grpc::ServerUnaryReactor* AdminService::ForgetNode(Context* context, const v1::ForgetNodeRequest* request,
                                                   v1::ForgetNodeResponse* response) {
  auto* reactor = context->DefaultReactor();
  core_.Forget(request->node(), request->author(),
               [reactor, response](const railwright::Status& status, const std::vector<Pause>& dropped) {
                 for (const Pause& pause : dropped) *response->add_pauses() = ToWire(pause);
                 reactor->Finish(ToGrpc(status));
               });
  return reactor;
}

template <class Event>
std::shared_ptr<EventStream<Event>> AdminService::Enroll(std::function<std::optional<Event>()> next) {
  std::unique_lock lock(mutex_);
  const std::uint64_t id = next_++;
  auto stream = EventStream<Event>::Make(std::move(next), [this, id] {
    std::lock_guard done(mutex_);
    open_.erase(id);
    if (open_.empty()) none_left_.notify_all();
  });
  open_[id] = [stream] { stream->End(Stopping()); };
  const bool late = stopping_;
  lock.unlock();
  if (late) stream->End(Stopping());
  return stream;
}

template <class Event>
grpc::ServerWriteReactor<Event>* AdminService::Open(bool (*merge)(Event&, Event&),
                                                    std::function<void(Sink<Event>)> begin) {
  auto queue = std::make_shared<MergingQueue<Event>>(merge);
  auto stream = Enroll<Event>([queue] { return queue->Next(); });
  begin({[queue, stream](Event event) {
           queue->Push(std::move(event));
           return stream->Wake();
         },
         [stream](const railwright::Status& status) { stream->End(ToGrpc(status)); }});
  return stream.get();
}

grpc::ServerWriteReactor<v1::PlanEvent>* AdminService::Plan(Context*, const v1::PlanRequest* request) {
  return Open<v1::PlanEvent>(&MergeProgress<v1::PlanEvent>, [this, request](Sink<v1::PlanEvent> sink) {
    desk_.Plan(*request, std::move(sink));
  });
}

grpc::ServerWriteReactor<v1::ObserveEvent>* AdminService::Observe(Context*,
                                                                  const v1::ObserveRequest* request) {
  return Open<v1::ObserveEvent>(
      &MergeProgress<v1::ObserveEvent>,
      [this, request](const Sink<v1::ObserveEvent>& sink) { desk_.Observe(*request, sink); });
}

grpc::ServerWriteReactor<v1::ApplyEvent>* AdminService::Apply(Context*, const v1::ApplyRequest* request) {
  return Open<v1::ApplyEvent>(
      &MergeApply, [this, request](Sink<v1::ApplyEvent> sink) { desk_.Apply(*request, std::move(sink)); });
}

grpc::ServerWriteReactor<v1::ApplyEvent>* AdminService::Rollback(Context*,
                                                                 const v1::RollbackRequest* request) {
  return Open<v1::ApplyEvent>(
      &MergeApply, [this, request](Sink<v1::ApplyEvent> sink) { desk_.Rollback(*request, std::move(sink)); });
}

grpc::ServerWriteReactor<v1::WatchEvent>* AdminService::Watch(Context*, const v1::WatchRequest* request) {
  auto names = desk_.NamesOf(request->nodes());
  auto board = std::make_shared<WatchBoard>(desk_, names.ok() ? *names : std::set<std::string>());
  auto stream = Enroll<v1::WatchEvent>([board] { return board->Next(); });
  if (!names.ok()) {
    stream->End(ToGrpc(names.status()));
    return stream.get();
  }
  core_.Watch([board, stream](const FleetNews& news) {
    board->Note(news);
    return stream->Wake();
  });
  return stream.get();
}

grpc::ServerWriteReactor<v1::AuditChainEvent>* AdminService::AuditChain(
    Context*, const v1::AuditChainRequest* request) {
  // Nothing to go on from: whatever lies first, also below 1.
  const std::uint64_t after = std::min<std::uint64_t>(request->after_id(), INT64_MAX - 1);
  auto pages =
      std::make_shared<AuditPages>(desk_, after == 0 ? kAuditBegin : static_cast<std::int64_t>(after) + 1);
  auto stream = Enroll<v1::AuditChainEvent>([pages] { return pages->Next(); });
  pages->Begin(stream);
  return stream.get();
}

void AdminService::Stop() {
  std::map<std::uint64_t, std::function<void()>> open;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    open = open_;
  }
  for (const auto& [id, end] : open) end();
}

bool AdminService::WaitForStreams(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return none_left_.wait_for(lock, timeout, [this] { return open_.empty(); });
}

}  // namespace railwright
