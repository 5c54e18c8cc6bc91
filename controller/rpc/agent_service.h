// AgentService: one reactor per agent's stream. It moves messages between gRPC and the core, and decides
// nothing.
#pragma once

#include <condition_variable>
#include <mutex>

#include "controller/rpc/fleet_core.h"
#include "railwright/v1/agent.grpc.pb.h"

namespace railwright {

class AgentStream;

/// Messages are read and written as raw bytes, so that a group's bytes go out as a shared slice instead of
/// being copied for each node.
class AgentService final : public v1::AgentService::WithRawCallbackMethod_Connect<v1::AgentService::Service> {
 public:
  explicit AgentService(FleetCore& core) : core_(core) {}
  /// No stream lives any more, whose OnDone has run; false after `timeout`.
  bool WaitForStreams(std::chrono::milliseconds timeout);

  /// A message of an agent may have so many bytes (a full report of 40 findings is about 12 KiB).
  static constexpr std::size_t kMessageMost = 1 << 20;
  /// Messages of one stream that may wait for the core before the stream is read no further.
  static constexpr int kInFlightMost = 8;

 private:
  friend class AgentStream;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Connect(
      grpc::CallbackServerContext* context) override;

  FleetCore& core_;
  std::mutex mutex_;
  std::condition_variable none_left_;
  int streams_ = 0;
};

}  // namespace railwright
