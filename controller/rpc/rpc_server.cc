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
constexpr std::chrono::milliseconds kGrace{1'000}, kLastWait{1'000};

}  // namespace

Status RpcServer::Start() {
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
  hand_over_ = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      grpc::InsecureServerCredentials());
  server_ = builder.BuildAndStart();
  if (!server_) return Status(Code::kInternal, "gRPC gives no server");
  acceptor_.Start([this](int fd, int listener) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.fd = fd;
    connection.listener_fd = listener;
    hand_over_->HandleNewConnection(&connection);
  });
  return Ok();
}

void RpcServer::Stop() {
  if (!server_) return;
  acceptor_.Stop();
  admin_.Stop();
  desk_.Stop();
  core_.Stop();
  server_->Shutdown(std::chrono::system_clock::now() + kGrace);
  if (!agents_.WaitForStreams(kLastWait) || !admin_.WaitForStreams(kLastWait))
    spdlog::error("streams were left open at the end");
  server_.reset();
  hand_over_.reset();
}

}  // namespace railwright
