// RpcServer: the gRPC server and its two services, from bound sockets to the end of the last stream.
#pragma once

#include <grpcpp/grpcpp.h>

#include "controller/rpc/acceptor.h"
#include "controller/rpc/admin_service.h"
#include "controller/rpc/agent_service.h"

namespace railwright {

class RpcServer {
 public:
  RpcServer(FleetCore& core, AdminDesk& desk) : agents_(core), admin_(desk, core), core_(core), desk_(desk) {}
  ~RpcServer() { Stop(); }
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  /// Before Start. The address as bound; the errors of Acceptor::Listen.
  Result<Address> Listen(const Address& address) { return acceptor_.Listen(address); }
  Status Start();
  /// Stops accepting, stops desk and core (so that all that was received is durable), tells every stream, and
  /// cuts those that do not end within a second. Under three seconds whatever the clients do.
  void Stop();

 private:
  AgentService agents_;
  AdminService admin_;
  FleetCore& core_;
  AdminDesk& desk_;
  Acceptor acceptor_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> hand_over_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace railwright
