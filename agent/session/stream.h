// Stream: one attempt at the bidirectional call, from dial to end. Carries messages, decides nothing.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "railwright/v1/agent.grpc.pb.h"

namespace railwright {

/// The reactor of one call. gRPC's rules, and how they are kept:
/// - one read and one write outstanding: the next of each is begun in the reaction to the one before, or
/// under
///   `mutex_` when nothing is under way;
/// - operations may be begun from outside reactions only while a hold is held: one is taken before the call
///   starts and given back when the read side has ended, after which Send begins nothing;
/// - the object outlives OnDone: whoever made it waits for `on_end` before it goes;
/// - it is never destroyed in one of gRPC's threads: it may hold the last reference to a channel, whose
///   destructor joins them.
/// `on_message` and `on_end` run in gRPC's threads, never two at a time, never under `mutex_`; `on_end` is
/// the last thing that happens.
class Stream final : public grpc::ClientBidiReactor<v1::AgentMessage, v1::ControllerMessage> {
 public:
  using OnMessage = std::function<void(v1::ControllerMessage)>;
  using OnEnd = std::function<void(const grpc::Status&)>;

  Stream(std::shared_ptr<grpc::Channel> channel, std::size_t queue_limit, OnMessage on_message, OnEnd on_end);

  /// Dials; `first` is the first message.
  void Start(v1::AgentMessage first);
  /// False when the queue is full; the message is dropped then. After the end it is dropped too: the
  /// connection's number changes before anybody could rely on it.
  bool Send(v1::AgentMessage message);
  /// Says goodbye once the queue is written; the controller is then expected to end the call.
  void HalfClose();
  /// Who answers, as gRPC spells it: "ipv4:10.0.0.7:7443". To be called in a reaction to a message.
  std::string Peer() const { return context_.peer(); }
  /// Ends the call at once. May be called in any state, also before Start and after the end.
  void Cancel();

 private:
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;
  void WriteNext();  // mutex_ held

  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::AgentService::Stub> stub_;
  const std::size_t queue_limit_;
  const OnMessage on_message_;
  const OnEnd on_end_;
  grpc::ClientContext context_;
  v1::ControllerMessage incoming_;  // gRPC's while a read is outstanding

  std::mutex mutex_;
  std::deque<v1::AgentMessage> queue_;  // front: under way when writing_
  bool started_ = false;
  bool writing_ = false;
  bool reading_ended_ = false;  // no operation may be begun any more
  bool half_close_ = false;     // wanted
  bool closed_ = false;         // StartWritesDone was called
};

}  // namespace railwright
