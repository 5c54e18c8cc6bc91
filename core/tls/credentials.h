// gRPC's TLS with our own verdict on every certificate: what a dialler and a server hand to gRPC.
#pragma once

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/identity/key.h"
#include "core/identity/verify.h"
#include "railwright/result.h"

namespace railwright::tls {

/// What was said of the peer's certificate in the last handshake. gRPC tells a dialler only that a socket was
/// closed; the sentence is kept here. Any thread.
class Verdict {
 public:
  void Set(Status status);
  /// Ok: no handshake was refused here (yet).
  Status Last() const;

 private:
  mutable std::mutex mutex_;
  Status last_;
};

/// What a dialler shows, and what it asks of the controller that it dials.
struct ClientTerms {
  std::string chain_pem;  ///< leaf first
  std::string key_pem;    ///< PKCS#8
  std::vector<identity::Certificate> roots;
  identity::Expected expected;  ///< purpose kServer; `dialled` set
  std::function<identity::Time()> now;
};

/// Client certificates and the server's judged by identity::Verify alone: gRPC's own check is off, since it
/// would refuse without a word of why; ours is stricter and runs before any HTTP/2 byte. The reason of a
/// refusal is put into `verdict`. InvalidArgument: no root is given, or no name.
Result<std::shared_ptr<grpc::ChannelCredentials>> ClientCredentials(ClientTerms terms,
                                                                    std::shared_ptr<Verdict> verdict);

/// Who a client proved to be, or why not; runs in gRPC's threads, must not block.
using JudgePeer = std::function<Status(const std::vector<identity::Certificate>& chain)>;

/// Where a server's key, chain and roots lie; they are read again each minute, so that a renewed certificate
/// is shown to the next connection without a restart.
struct ServerFiles {
  std::string key, chain, roots;
};

/// TLS 1.2 or newer, client certificates required and verified against the roots by gRPC, and then judged by
/// `judge`, before any HTTP/2 byte is read.
std::shared_ptr<grpc::ServerCredentials> ServerCredentials(const ServerFiles& files, JudgePeer judge);

}  // namespace railwright::tls
