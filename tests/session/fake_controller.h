// FakeController: a gRPC server on a Unix socket that does what the test tells it.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "railwright/v1/agent.grpc.pb.h"

namespace railwright {

using AgentStream = grpc::ServerReaderWriter<v1::ControllerMessage, v1::AgentMessage>;

/// Each connection is handled by `script`, in a thread of gRPC's; what it returns ends the stream. Without
/// one it welcomes, remembers all messages and keeps the stream until the agent ends it.
class FakeController final : public v1::AgentService::Service {
 public:
  using Script = std::function<grpc::Status(AgentStream&, const v1::Hello&)>;

  FakeController();
  ~FakeController() override;

  /// "unix:/tmp/…": stable across Stop and Listen. After ListenOn: that address.
  std::string Address() const { return tcp_.empty() ? "unix:" + path_ : tcp_; }
  void Listen();
  /// On any free port of "127.0.0.1" or "[::1]"; false when this host has no such address.
  bool ListenOn(const std::string& host, const std::shared_ptr<grpc::ServerCredentials>& credentials =
                                             grpc::InsecureServerCredentials());
  /// Ends all streams at once, as a killed controller would.
  void Stop();
  void SetScript(Script script);

  std::vector<v1::Hello> Hellos() const;
  std::vector<v1::AgentMessage> Received() const;
  /// Waits until so many messages beside Hello have come; false after 10 s.
  bool WaitReceived(std::size_t count) const;
  bool WaitHellos(std::size_t count) const;

  static v1::ControllerMessage Welcome();
  /// Reads one message and remembers it; false when the agent has ended the stream.
  bool ReadOne(AgentStream& stream);
  /// Reads until the agent ends the stream; remembers.
  grpc::Status ReadAll(AgentStream& stream);

 private:
  grpc::Status Connect(grpc::ServerContext*, AgentStream* stream) override;

  std::string directory_, path_, tcp_;
  std::unique_ptr<grpc::Server> server_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  Script script_;
  std::vector<v1::Hello> hellos_;
  std::vector<v1::AgentMessage> received_;
};

}  // namespace railwright
