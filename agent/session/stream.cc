#include "agent/session/stream.h"

#include <utility>

namespace railwright {

Stream::Stream(std::shared_ptr<grpc::Channel> channel, std::size_t queue_limit, OnMessage on_message,
               OnEnd on_end)
    : channel_(std::move(channel)),
      stub_(v1::AgentService::NewStub(channel_)),
      queue_limit_(queue_limit),
      on_message_(std::move(on_message)),
      on_end_(std::move(on_end)) {}

void Stream::Start(v1::AgentMessage first) {
  const std::lock_guard lock(mutex_);
  started_ = true;
  queue_.push_back(std::move(first));
  stub_->async()->Connect(&context_, this);
  AddHold();
  StartRead(&incoming_);
  WriteNext();
  StartCall();
}

bool Stream::Send(v1::AgentMessage message) {
  const std::lock_guard lock(mutex_);
  if (reading_ended_ || half_close_) return true;
  if (queue_.size() >= queue_limit_) return false;
  queue_.push_back(std::move(message));
  WriteNext();
  return true;
}

void Stream::HalfClose() {
  const std::lock_guard lock(mutex_);
  half_close_ = true;
  if (started_) WriteNext();
}

void Stream::Cancel() { context_.TryCancel(); }

void Stream::WriteNext() {
  if (writing_ || reading_ended_ || closed_) return;
  if (!queue_.empty()) {
    writing_ = true;
    StartWrite(&queue_.front());
  } else if (half_close_) {
    closed_ = true;
    StartWritesDone();
  }
}

void Stream::OnReadDone(bool ok) {
  if (ok) {
    on_message_(std::exchange(incoming_, {}));
    StartRead(&incoming_);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    reading_ended_ = true;
  }
  RemoveHold();
}

void Stream::OnWriteDone(bool ok) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  queue_.pop_front();
  if (ok) WriteNext();  // else the call is over: the read side says so, and OnDone follows
}

void Stream::OnDone(const grpc::Status& status) {
  const OnEnd last = on_end_;  // once it has run, the object may be gone
  last(status);
}

}  // namespace railwright
