// AgentService: one reactor per agent's stream. It moves messages between gRPC and the core, and decides
// nothing.
#pragma once

#include <condition_variable>
#include <mutex>

#include "controller/rpc/door.h"
#include "controller/rpc/fleet_core.h"
#include "controller/rpc/members.h"
#include "railwright/v1/agent.grpc.pb.h"

namespace railwright {

class AgentStream;

/// Messages are read and written as raw bytes, so that a group's bytes go out as a shared slice instead of
/// being copied for each node.
class AgentService final : public v1::AgentService::WithRawCallbackMethod_Connect<
                               v1::AgentService::WithCallbackMethod_Renew<v1::AgentService::Service>> {
 public:
  AgentService(FleetCore& core, Members& members, Door& door) : core_(core), members_(members), door_(door) {}
  /// Ends the streams of a node.
  void Cut(const std::string& node, const Status& why);
  /// Ends the streams whose certificates end before `now`.
  void EndExpired(std::chrono::system_clock::time_point now);
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
  grpc::ServerUnaryReactor* Renew(grpc::CallbackServerContext* context, const v1::RenewRequest* request,
                                  v1::RenewResponse* response) override;
  /// Those that `which` names.
  std::vector<std::shared_ptr<AgentStream>> Streams(const std::function<bool(const Caller&)>& which);

  FleetCore& core_;
  Members& members_;
  Door& door_;
  std::mutex mutex_;
  std::condition_variable none_left_;
  std::map<const AgentStream*, std::weak_ptr<AgentStream>> streams_;  // until OnDone
};

}  // namespace railwright
