// Door: who comes in, and what each may ask for. Every connection and every call passes here.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "controller/identity/caller.h"
#include "core/identity/verify.h"
#include "core/tls/credentials.h"
#include "railwright/clock.h"
#include "railwright/result.h"

namespace railwright {

/// How much one caller may ask for: so many calls a second, and so many at once after a silence. A stream
/// counts when it is opened.
struct Budget {
  double per_second;
  double burst;
};

struct DoorOptions {
  Budget node{1, 20};         ///< a node opens one stream, and renews once in hours
  Budget operators{50, 200};  ///< a script that asks in a loop is slowed down, not stopped
};

/// Any thread may call anything.
class Door {
 public:
  /// What a proven certificate is worth now: Registry::Judge.
  using Judge = std::function<Result<Caller>(const identity::Peer&)>;
  using Roots = std::function<std::vector<identity::Certificate>()>;

  Door(identity::ClusterName cluster, Roots roots, Judge judge, const Clock& clock, DoorOptions options = {})
      : cluster_(std::move(cluster)),
        roots_(std::move(roots)),
        judge_(std::move(judge)),
        clock_(clock),
        options_(options) {}
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  /// For a handshake, before any HTTP/2 byte: Unauthenticated when the chain proves nobody, or one who may
  /// not come in.
  Status JudgeChain(const std::vector<identity::Certificate>& chain);

  /// Who calls, if the role that the .proto asks for `method` ("railwright.v1.AdminService/Apply") is his.
  /// Unauthenticated: no proof, or one that counts no more since the connection began. PermissionDenied:
  /// another role is needed; a method without a role is nobody's. ResourceExhausted: over his budget.
  Result<Caller> Enter(const grpc::ServerContextBase& context, std::string_view method);
  /// The same for a caller who is known already.
  Status Admit(const Caller& caller, std::string_view method);

  /// `refused` is told of calls that were not let in, not more than one a caller in ten seconds. Before the
  /// server starts.
  void OnRefused(std::function<void(const Caller&, std::string_view method, const Status&)> refused) {
    refused_ = std::move(refused);
  }

  /// The role that the .proto asks for; none: nobody may.
  static std::optional<Role> RoleFor(std::string_view method);

 private:
  struct Proven {
    identity::Peer peer;
    std::string key;  // DER
  };
  struct Spent {
    double tokens;
    std::chrono::steady_clock::time_point at;
    std::chrono::steady_clock::time_point told{};
  };

  Result<Caller> CallerOf(const grpc::ServerContextBase& context);
  Result<Proven> ProvenBy(const std::string& leaf_pem) const;
  Status Spend(const Caller& caller);
  Status Refuse(const Caller& caller, std::string_view method, Status why);

  const identity::ClusterName cluster_;
  const Roots roots_;
  const Judge judge_;
  const Clock& clock_;
  const DoorOptions options_;
  std::function<void(const Caller&, std::string_view, const Status&)> refused_;
  mutable std::mutex mutex_;
  /// Whom a leaf proved in a handshake, by its PEM as gRPC shows it: a call need not verify it again.
  std::unordered_map<std::string, Proven> proven_;
  std::unordered_map<std::string, Spent> spent_;  // by caller
};

}  // namespace railwright
