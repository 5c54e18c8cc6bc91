#include "controller/rpc/agent_service.h"

#include <grpcpp/impl/codegen/proto_utils.h>

#include <array>
#include <deque>

#include "controller/rpc/grpc_status.h"

namespace railwright {
namespace {

/// A slice of bytes that someone else keeps alive, and that is not copied.
grpc::Slice SharedSlice(const std::shared_ptr<const std::string>& bytes) {
  // gRPC promises not to write to a slice's bytes.
  return grpc::Slice(
      const_cast<char*>(bytes->data()), bytes->size(),
      [](void* owner) { delete static_cast<std::shared_ptr<const std::string>*>(owner); },
      new std::shared_ptr<const std::string>(bytes));
}

grpc::ByteBuffer ToBuffer(const Outbound& message) {
  std::array<grpc::Slice, 3> slices;
  std::size_t count = 0;
  slices[count++] = grpc::Slice(message.head);
  if (message.shared && !message.shared->empty()) slices[count++] = SharedSlice(message.shared);
  if (!message.tail.empty()) slices[count++] = grpc::Slice(message.tail);
  return grpc::ByteBuffer(slices.data(), count);
}

}  // namespace

/// Lives until gRPC is done with it *and* the core has let go of it; after OnDone it does nothing any more.
/// Rules kept here and nowhere else: at most one read and one write outstanding, Finish once and never while
/// a write is outstanding, nothing after OnDone.
class AgentStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                          public AgentLink {
 public:
  AgentStream(AgentService& service, Caller caller) : service_(service), caller_(std::move(caller)) {}

  /// Not in the constructor: the first reaction may come before it ends.
  void Begin(std::shared_ptr<AgentStream> self) {
    self_ = std::move(self);
    service_.core_.Opened(self_);
    std::lock_guard lock(mutex_);
    Read();
  }

  bool Send(Outbound message) override {
    std::lock_guard lock(mutex_);
    if (finish_ || done_) return true;
    if (message.kind == Outbound::Kind::kCommand) {
      if (commands_.size() >= kCommandsWaiting) return false;
      commands_.push_back(std::move(message));
    } else {
      slots_[static_cast<std::size_t>(message.kind)] = std::move(message);
    }
    Write();
    return true;
  }

  void Refuse(const v1::Refusal& refusal) override {
    v1::ControllerMessage message;
    *message.mutable_refusal() = refusal;
    std::lock_guard lock(mutex_);
    if (finish_ || done_) return;
    for (auto& slot : slots_) slot.reset();
    commands_.clear();
    slots_[0] = ToOutbound(message);
    last_ = true;
    Write();
  }

  void End(const Status& why) override {
    std::lock_guard lock(mutex_);
    FinishWith(ToGrpc(why));
  }

  void Consumed() override {
    std::lock_guard lock(mutex_);
    --in_core_;
    if (!reading_ && !read_ended_ && !done_ && !finish_) Read();
  }

  const Caller& caller() const override { return caller_; }
  std::string peer() const override { return caller_.from; }

  void OnReadDone(bool ok) override {
    if (!ok) {
      std::lock_guard lock(mutex_);
      reading_ = false;
      read_ended_ = true;
      return FinishWith(grpc::Status::OK);  // the agent hung up, or is gone
    }
    if (incoming_.Length() > AgentService::kMessageMost)
      return End(Status(Code::kResourceExhausted,
                        "a message of " + std::to_string(incoming_.Length()) + " bytes; at most " +
                            std::to_string(AgentService::kMessageMost) + " are taken"));
    auto message = std::make_unique<v1::AgentMessage>();
    const grpc::Status parsed =
        grpc::SerializationTraits<v1::AgentMessage>::Deserialize(&incoming_, message.get());
    incoming_.Clear();
    if (!parsed.ok()) return End(Status(Code::kInvalidArgument, "a message that is no AgentMessage"));
    {
      std::lock_guard lock(mutex_);
      ++in_core_;
    }
    (void)service_.core_.Said(self_, std::move(message));
    std::lock_guard lock(mutex_);
    reading_ = false;
    if (!finish_) Read();
  }

  void OnWriteDone(bool ok) override {
    std::lock_guard lock(mutex_);
    writing_ = false;
    outgoing_.Clear();
    if (!ok) FinishWith(grpc::Status(grpc::StatusCode::UNAVAILABLE, "the stream broke"));
    if (finish_) return FinishNow();
    Write();
  }

  void OnCancel() override {
    std::lock_guard lock(mutex_);
    FinishWith(grpc::Status(grpc::StatusCode::CANCELLED, "cancelled"));
  }

  void OnDone() override {
    std::shared_ptr<AgentStream> self;
    {
      std::lock_guard lock(mutex_);
      done_ = true;
      self = std::move(self_);
    }
    AgentService& service = service_;
    service.core_.Gone(self);
    const AgentStream* gone = self.get();
    self.reset();  // the object may be gone from here on
    std::lock_guard lock(service.mutex_);
    service.streams_.erase(gone);
    if (service.streams_.empty()) service.none_left_.notify_all();
  }

 private:
  // All with mutex_ held. gRPC runs no reaction from within these calls.
  void Read() {
    if (reading_ || read_ended_ || in_core_ >= AgentService::kInFlightMost) return;
    reading_ = true;
    StartRead(&incoming_);
  }

  void Write() {
    if (writing_ || finish_ || done_) return;
    for (auto& slot : slots_) {
      if (!slot) continue;
      outgoing_ = ToBuffer(*slot);
      slot.reset();
      return StartOne();
    }
    if (!commands_.empty()) {
      outgoing_ = ToBuffer(commands_.front());
      commands_.pop_front();
      return StartOne();
    }
    if (last_) FinishWith(grpc::Status::OK);
  }

  void StartOne() {
    writing_ = true;
    StartWrite(&outgoing_);
  }

  void FinishWith(grpc::Status status) {
    if (finish_ || done_) return;
    finish_ = std::move(status);
    FinishNow();
  }

  void FinishNow() {
    if (writing_ || finish_called_) return;
    finish_called_ = true;
    Finish(*finish_);
  }

  AgentService& service_;
  const Caller caller_;
  std::shared_ptr<AgentStream> self_;  // keeps it alive until OnDone
  std::mutex mutex_;
  grpc::ByteBuffer incoming_, outgoing_;
  // One of each kind but commands waits, in the order in which they go out: welcome or refusal, pauses,
  // desired, ack.
  std::array<std::optional<Outbound>, 4> slots_;
  std::deque<Outbound> commands_;
  std::optional<grpc::Status> finish_;
  int in_core_ = 0;
  bool reading_ = false, read_ended_ = false, writing_ = false, last_ = false, finish_called_ = false,
       done_ = false;
};

namespace {

/// A stream that ends before it began.
class Turned final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  explicit Turned(const grpc::Status& why) { Finish(why); }
  void OnDone() override { delete this; }
};

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* AgentService::Connect(
    grpc::CallbackServerContext* context) {
  auto caller = door_.Enter(*context, "railwright.v1.AgentService/Connect");
  if (!caller.ok()) return new Turned(ToGrpc(caller.status()));
  auto stream = std::make_shared<AgentStream>(*this, std::move(*caller));
  AgentStream* reactor = stream.get();
  {
    std::lock_guard lock(mutex_);
    streams_.emplace(reactor, stream);
  }
  reactor->Begin(std::move(stream));
  return reactor;
}

grpc::ServerUnaryReactor* AgentService::Renew(grpc::CallbackServerContext* context,
                                              const v1::RenewRequest* request, v1::RenewResponse* response) {
  auto* reactor = context->DefaultReactor();
  auto caller = door_.Enter(*context, "railwright.v1.AgentService/Renew");
  if (!caller.ok()) {
    reactor->Finish(ToGrpc(caller.status()));
    return reactor;
  }
  members_.Renew(*caller, *request,
                 [reactor, response](const railwright::Status& status, v1::RenewResponse answer) {
                   *response = std::move(answer);
                   reactor->Finish(ToGrpc(status));
                 });
  return reactor;
}

std::vector<std::shared_ptr<AgentStream>> AgentService::Streams(
    const std::function<bool(const Caller&)>& which) {
  std::vector<std::shared_ptr<AgentStream>> found;
  std::lock_guard lock(mutex_);
  for (const auto& [raw, weak] : streams_)
    if (auto stream = weak.lock(); stream && which(stream->caller())) found.push_back(std::move(stream));
  return found;
}

void AgentService::Cut(const std::string& node, const railwright::Status& why) {
  for (const auto& stream : Streams([&](const Caller& caller) { return caller.name == node; }))
    stream->End(why);
}

void AgentService::EndExpired(std::chrono::system_clock::time_point now) {
  for (const auto& stream : Streams([&](const Caller& caller) { return caller.not_after <= now; }))
    stream->End(railwright::Status(Code::kUnauthenticated, "the certificate of " + stream->caller().Text() +
                                                               " has expired; dial again"));
}

bool AgentService::WaitForStreams(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return none_left_.wait_for(lock, timeout, [this] { return streams_.empty(); });
}

}  // namespace railwright
