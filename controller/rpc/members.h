// Members: what administrators ask about who may join, and renewals. In messages, without gRPC; the rules are
// the registry's.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "controller/identity/registry.h"
#include "controller/rpc/worker.h"
#include "railwright/v1/admin.pb.h"

namespace railwright {

struct MembersOptions {
  /// Where the enrolment port is reached: what a join line names.
  std::string enrolment;  ///< "ctl.example:7444"
  identity::Pin ca;
  std::string roots_pem;
};

/// Calls return at once; answers come from a thread of its own, since the store is written.
class Members {
 public:
  template <class Response>
  using Done = std::function<void(const Status&, Response)>;

  Members(Registry& registry, MembersOptions options) : registry_(registry), options_(std::move(options)) {}

  void CreateToken(const Caller& by, const v1::CreateTokenRequest& request,
                   Done<v1::CreateTokenResponse> done);
  void Tokens(Done<v1::TokensResponse> done);
  void DropToken(const Caller& by, const v1::DropTokenRequest& request, Done<v1::DropTokenResponse> done);
  void List(Done<v1::MembersResponse> done);
  void SetStanding(const Caller& by, const v1::SetStandingRequest& request,
                   Done<v1::SetStandingResponse> done);
  /// For the key of the certificate that the caller shows.
  void Renew(const Caller& caller, const v1::RenewRequest& request, Done<v1::RenewResponse> done);

  void Stop() { work_.Stop(); }

 private:
  template <class Response>
  void Post(Done<Response> done, std::function<Status(Response&)> work);

  Registry& registry_;
  const MembersOptions options_;
  Worker work_;
};

}  // namespace railwright
