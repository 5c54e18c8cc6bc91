#include "controller/rpc/rpc_server.h"

#include <spdlog/spdlog.h>

namespace railwright {
namespace {

// Start values of the dossier on gRPC 1.51. The agents' limit of 1 MiB a message is kept by AgentStream.
constexpr int kMessageMost = 8 << 20;      // an operator's documents
constexpr int kMetadataMost = 8192;        // bytes of headers
constexpr int kStreamsPerConnection = 16;  // the default is without limit
constexpr int kHandshakeMs = 10'000;
constexpr int kPingMs = 30'000, kPingWithinMs = 10'000;  // a dead peer is noticed within 40 s
constexpr int kPingsAtLeastMs = 20'000;  // apart; agents send one each 30 s, more often is cut off
constexpr std::size_t kMemoryMost = std::size_t{2} << 30;  // buffers of all connections
constexpr std::chrono::seconds kSweep{10};                 // how long a stream may outlive its certificate
constexpr std::chrono::milliseconds kGrace{1'000}, kLastWait{1'000};

}  // namespace

Status RpcServer::Start(const tls::ServerFiles& files) {
  grpc::ServerBuilder builder;
  builder.RegisterService(&agents_);
  builder.RegisterService(&admin_);
  builder.SetMaxReceiveMessageSize(kMessageMost);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMetadataMost);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsPerConnection);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kPingMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingWithinMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kPingsAtLeastMs);
  grpc::ResourceQuota quota("railwright");
  builder.SetResourceQuota(quota.Resize(kMemoryMost));
  using From = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  proven_ = builder.experimental().AddExternalConnectionAcceptor(
      From::FROM_FD,
      tls::ServerCredentials(files, [this](const auto& chain) { return door_.JudgeChain(chain); }));
  local_ =
      builder.experimental().AddExternalConnectionAcceptor(From::FROM_FD, grpc::InsecureServerCredentials());
  server_ = builder.BuildAndStart();
  if (!server_) return Status(Code::kInternal, "gRPC gives no server");
  acceptor_.Start([this](int fd, int listener, bool local) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.fd = fd;
    connection.listener_fd = listener;
    (local ? local_ : proven_)->HandleNewConnection(&connection);
  });
  sweeper_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!stopped_.wait_for(lock, kSweep, [this] { return stopping_; })) {
      const auto now = desk_.clock().WallNow();
      lock.unlock();
      agents_.EndExpired(now);
      admin_.EndExpired(now);
      lock.lock();
    }
  });
  return Ok();
}

void RpcServer::Cut(MemberKind kind, const std::string& name, const std::string& why) {
  const Status status(Code::kUnauthenticated, why);
  if (kind == MemberKind::kNode)
    agents_.Cut(name, status);
  else
    admin_.Cut(name, status);
}

void RpcServer::Stop() {
  if (!server_) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stopped_.notify_all();
  sweeper_.join();
  acceptor_.Stop();
  admin_.Stop();
  desk_.Stop();
  core_.Stop();
  server_->Shutdown(std::chrono::system_clock::now() + kGrace);
  if (!agents_.WaitForStreams(kLastWait) || !admin_.WaitForStreams(kLastWait))
    spdlog::error("streams were left open at the end");
  server_.reset();
  proven_.reset();
  local_.reset();
}

}  // namespace railwright
