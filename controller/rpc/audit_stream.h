// AuditPages: the whole audit for one reader, a page at a time.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "controller/rpc/admin_desk.h"
#include "controller/rpc/event_stream.h"
#include "controller/rpc/grpc_status.h"
#include "railwright/v1/admin.pb.h"

namespace railwright {

/// Reads the next page only when the one before has gone out, so a log of any length and a reader of any
/// speed cost one page of memory, and no view of the store is held meanwhile.
class AuditPages final : public std::enable_shared_from_this<AuditPages> {
 public:
  using Stream = EventStream<v1::AuditChainEvent>;

  AuditPages(AdminDesk& desk, std::int64_t from) : desk_(desk), from_(from) {}

  /// Once, before anything else: where the pages go.
  void Begin(const std::shared_ptr<Stream>& stream) {
    stream_ = stream;
    std::lock_guard lock(mutex_);
    ReadOn();
  }

  /// Called with the stream's lock held.
  std::optional<v1::AuditChainEvent> Next() {
    std::lock_guard lock(mutex_);
    if (events_.empty()) return std::nullopt;
    v1::AuditChainEvent event = std::move(events_.front());
    events_.pop_front();
    if (events_.empty() && !last_) ReadOn();
    return event;
  }

 private:
  void ReadOn() {
    // Dropped when the desk stops: the service ends its streams by itself then.
    (void)desk_.reads().Post([self = shared_from_this()] { self->ReadPage(); });
  }

  void ReadPage() {
    const auto stream = stream_.lock();
    if (!stream) return;
    auto page = desk_.AuditChain(from_);
    const bool last = !page.ok() || page->last;
    {
      std::lock_guard lock(mutex_);
      last_ = last;
      if (page.ok()) {
        from_ = page->next;
        for (v1::AuditChainEvent& event : page->events) events_.push_back(std::move(event));
      }
    }
    if (stream->Wake() && last) stream->End(ToGrpc(page.status()));
  }

  AdminDesk& desk_;
  std::weak_ptr<Stream> stream_;
  std::mutex mutex_;
  std::int64_t from_;  // of the reading thread, once begun
  std::deque<v1::AuditChainEvent> events_;
  bool last_ = false;
};

}  // namespace railwright
