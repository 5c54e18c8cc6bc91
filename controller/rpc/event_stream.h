// EventStream: the sending side of a server-streaming call, woken from any thread.
#pragma once

#include <grpcpp/grpcpp.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace railwright {

/// Never blocks. It asks `next` for an event whenever the one before has gone out, so what a slow reader
/// costs is decided there, by merging, and not here. Rules kept here and nowhere else: one write outstanding,
/// Finish once and not before the write is done, nothing after OnDone.
template <class Event>
class EventStream final : public grpc::ServerWriteReactor<Event> {
 public:
  /// What goes out next, or nothing. Called with the stream's lock held: it must not call the stream.
  using Next = std::function<std::optional<Event>()>;

  /// The reactor that gRPC is given, and the handle that everybody else holds. `on_done` is the last thing it
  /// does.
  static std::shared_ptr<EventStream> Make(Next next, std::function<void()> on_done) {
    auto stream = std::shared_ptr<EventStream>(new EventStream(std::move(next), std::move(on_done)));
    stream->self_ = stream;
    return stream;
  }

  /// There is something to send. False: the call is over, nothing more will go out.
  bool Wake() {
    std::lock_guard lock(mutex_);
    if (finish_ || done_) return false;
    WriteNext();
    return true;
  }

  /// Ends the call when all that `next` has is out; at once when the reader is gone.
  void End(grpc::Status status) {
    std::lock_guard lock(mutex_);
    EndWith(std::move(status));
  }

  void OnWriteDone(bool ok) override {
    std::lock_guard lock(mutex_);
    writing_ = false;
    if (!ok) Abandon();
    WriteNext();
  }

  void OnCancel() override {
    std::lock_guard lock(mutex_);
    Abandon();
    WriteNext();
  }

  void OnDone() override {
    std::shared_ptr<EventStream> self;
    std::function<void()> on_done;
    {
      std::lock_guard lock(mutex_);
      done_ = true;
      self = std::move(self_);
      on_done = std::move(on_done_);
    }
    self.reset();
    if (on_done) on_done();
  }

 private:
  EventStream(Next next, std::function<void()> on_done)
      : next_(std::move(next)), on_done_(std::move(on_done)) {}

  void EndWith(grpc::Status status) {
    if (!finish_) finish_ = std::move(status);
    WriteNext();
  }

  void Abandon() {
    abandoned_ = true;
    if (!finish_) finish_ = grpc::Status(grpc::StatusCode::CANCELLED, "the reader is gone");
  }

  void WriteNext() {
    if (writing_ || finish_called_ || done_) return;
    if (!abandoned_) {
      if (auto event = next_()) {
        outgoing_ = std::move(*event);
        writing_ = true;
        return this->StartWrite(&outgoing_);
      }
    }
    if (!finish_) return;
    finish_called_ = true;
    this->Finish(*finish_);
  }

  const Next next_;
  std::function<void()> on_done_;
  std::shared_ptr<EventStream> self_;  // keeps it alive until OnDone
  std::mutex mutex_;
  Event outgoing_;
  std::optional<grpc::Status> finish_;
  bool writing_ = false, finish_called_ = false, abandoned_ = false, done_ = false;
};

/// Events that wait for a slow reader; `merge(queued, next)` tells whether `next` was taken up into `queued`,
/// the last that waits.
template <class Event>
class MergingQueue {
 public:
  using Merge = bool (*)(Event& queued, Event& next);
  explicit MergingQueue(Merge merge) : merge_(merge) {}
  void Push(Event event) {
    std::lock_guard lock(mutex_);
    if (!events_.empty() && merge_(events_.back(), event)) return;
    events_.push_back(std::move(event));
  }
  std::optional<Event> Next() {
    std::lock_guard lock(mutex_);
    if (events_.empty()) return std::nullopt;
    Event event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

 private:
  const Merge merge_;
  std::mutex mutex_;
  std::deque<Event> events_;
};

}  // namespace railwright
