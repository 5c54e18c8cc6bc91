// RpcServer: the gRPC server and its two services, from bound sockets to the end of the last stream.
#pragma once

#include <grpcpp/grpcpp.h>

#include "controller/rpc/acceptor.h"
#include "controller/rpc/admin_service.h"
#include "controller/rpc/agent_service.h"
#include "controller/rpc/door.h"

namespace railwright {

class RpcServer {
 public:
  RpcServer(FleetCore& core, AdminDesk& desk, Members& members, Door& door)
      : agents_(core, members, door),
        admin_(desk, core, members, door),
        core_(core),
        desk_(desk),
        door_(door) {}
  ~RpcServer() { Stop(); }
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  /// Before Start. The address as bound; the errors of Acceptor::Listen.
  Result<Address> Listen(const Address& address) { return acceptor_.Listen(address); }
  /// TCP is served with mutual TLS, Unix sockets to root and the controller's own user without.
  Status Start(const tls::ServerFiles& files);
  /// Ends every stream of somebody whose certificates stopped counting. Any thread.
  void Cut(MemberKind kind, const std::string& name, const std::string& why);
  /// Stops accepting, stops desk and core (so that all that was received is durable), tells every stream, and
  /// cuts those that do not end within a second. Under three seconds whatever the clients do.
  void Stop();

 private:
  AgentService agents_;
  AdminService admin_;
  FleetCore& core_;
  AdminDesk& desk_;
  Door& door_;
  Acceptor acceptor_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> proven_, local_;
  std::unique_ptr<grpc::Server> server_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stopping_ = false;
  std::thread sweeper_;  // ends the streams of those whose certificates have expired
};

}  // namespace railwright
