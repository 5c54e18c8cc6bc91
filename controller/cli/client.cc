#include "controller/cli/client.h"

#include <grpcpp/grpcpp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/tls/credentials.h"
#include "core/wire/address.h"
#include "railwright/v1/admin.grpc.pb.h"

namespace railwright::cli {
namespace {

using std::chrono::milliseconds;
using RpcStatus = railwright::Status;

constexpr milliseconds kTick{100};
// Status of ten thousand nodes with all findings is some tens of MiB; the controller is trusted with more.
constexpr int kMaxAnswer = 512 << 20;

// gRPC says "No such file" of a missing socket and of a missing right in ten words; the kernel in one.
RpcStatus ProbeUnixSocket(const Address& address) {
  sockaddr_un where{};
  where.sun_family = AF_UNIX;
  std::memcpy(where.sun_path, address.path.c_str(), address.path.size() + 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return FromErrno(errno, "socket");
  const int rc = connect(fd, reinterpret_cast<const sockaddr*>(&where), sizeof where);
  const int error = errno;
  close(fd);
  if (rc == 0) return Ok();
  const std::string what = "the controller at " + address.ToString() + " cannot be reached: ";
  const std::string elsewhere =
      "\nnext: systemctl status railwright-controller, or name another with --controller "
      "or RAILCTL_CONTROLLER";
  switch (error) {
    case ENOENT:
      return {Code::kUnavailable, what + "there is no such socket (is it running?)" + elsewhere, error};
    case ECONNREFUSED:
      return {Code::kUnavailable, what + "nobody listens on this socket any more (it stopped)" + elsewhere,
              error};
    case EACCES:
    case EPERM:
      return {Code::kPermissionDenied,
              "not permitted to open " + address.path + ": " + std::strerror(error) +
                  "\nnext: the socket is for root and the controller's own user; log in instead: railctl "
                  "login LINE",
              error};
    default: return {Code::kUnavailable, what + std::strerror(error) + elsewhere, error};
  }
}

enum class Kind { kReading, kOrdering };

}  // namespace

struct AdminClient::Impl {
  std::string address;
  const std::atomic<bool>& interrupted;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::AdminService::Stub> stub;
  grpc::CompletionQueue queue;

  std::shared_ptr<const Login> login;
  std::shared_ptr<tls::Verdict> verdict = std::make_shared<tls::Verdict>();

  Impl(std::string address_in, std::shared_ptr<const Login> login_in, const std::atomic<bool>& interrupted_in)
      : address(std::move(address_in)), interrupted(interrupted_in), login(std::move(login_in)) {}
  ~Impl() {
    queue.Shutdown();
    void* tag;
    bool ok;
    while (queue.Next(&tag, &ok)) {
    }
  }

  Result<std::shared_ptr<grpc::ChannelCredentials>> Credentials(const Address& to) const {
    if (!login)
      return RpcStatus(Code::kPermissionDenied,
                       "the controller at " + address +
                           " is reached with an operator's certificate only, and there "
                           "is none here\nnext: railctl login LINE");
    if (const auto now = std::chrono::system_clock::now(); login->chain.front().not_after() <= now)
      return RpcStatus(Code::kPermissionDenied, "the certificate of context " + login->context +
                                                    " has expired\nnext: railctl login --renew");
    RW_ASSIGN_OR_RETURN(const identity::Secret key, login->key.ToPem());
    // As it was written: localhost is a name of its own in a certificate.
    const auto written = identity::Endpoint::Parse(address);
    RW_ASSIGN_OR_RETURN(identity::ServerName name, written.ok() ? Result<identity::ServerName>(written->host)
                                                                : identity::ServerName::Parse(to.host));
    return tls::ClientCredentials({identity::Certificate::ChainToPem(login->chain),
                                   std::string(key.Reveal()),
                                   login->roots,
                                   {login->cluster, identity::Purpose::kServer, std::move(name)},
                                   [] { return std::chrono::system_clock::now(); }},
                                  verdict);
  }

  RpcStatus Dial() {
    auto parsed = ParseAddress(address);
    if (!parsed.ok()) return parsed.status();
    if (parsed->kind == Address::Kind::kUnix) RW_RETURN_IF_ERROR(ProbeUnixSocket(*parsed));
    if (stub) return Ok();
    grpc::ChannelArguments args;
    args.SetMaxReceiveMessageSize(kMaxAnswer);
    args.SetMaxSendMessageSize(kMaxAnswer);
    args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY,
                0);  // a proxy of the environment is not on the way to a controller
    args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    std::shared_ptr<grpc::ChannelCredentials> credentials;
    if (parsed->kind == Address::Kind::kUnix) {
      credentials = grpc::InsecureChannelCredentials();  // the kernel says who we are
    } else {
      RW_ASSIGN_OR_RETURN(credentials, Credentials(*parsed));
    }
    channel = grpc::CreateCustomChannel(parsed->Target(), credentials, args);
    stub = v1::AdminService::NewStub(channel);
    return Ok();
  }

  // The next completion; ticks meanwhile. False: the operation failed.
  bool Await(grpc::ClientContext& context, const CallOptions& options) {
    void* tag = nullptr;
    bool ok = false;
    for (bool cancelled = false;;) {
      switch (queue.AsyncNext(&tag, &ok, std::chrono::system_clock::now() + kTick)) {
        case grpc::CompletionQueue::GOT_EVENT: return ok;
        case grpc::CompletionQueue::SHUTDOWN: return false;
        case grpc::CompletionQueue::TIMEOUT: break;
      }
      if (interrupted.load() && !cancelled) {
        context.TryCancel();
        cancelled = true;
      }
      if (!cancelled) options.tick();
    }
  }

  RpcStatus FromRpc(const grpc::Status& status, Kind kind, milliseconds deadline) const {
    if (interrupted.load()) return {Code::kUnknown, "interrupted"};
    const std::string& said = status.error_message();
    const std::string next = "\nnext: is it running? name another with --controller or RAILCTL_CONTROLLER";
    switch (status.error_code()) {
      case grpc::StatusCode::OK: return Ok();
      case grpc::StatusCode::UNAVAILABLE:
        if (const RpcStatus refused = verdict->Last(); !refused.ok())
          return {Code::kUnavailable, "what answers at " + address + " is not the controller of " +
                                          login->context + ": " + refused.message() +
                                          "\nnext: railctl context list shows by which names it is known"};
        // An answer of the controller itself leaves the connection up.
        if (channel->GetState(false) == GRPC_CHANNEL_READY)
          return {Code::kUnavailable, "the controller at " + address + " does not serve now: " + said};
        return {Code::kUnavailable, "the controller at " + address + " cannot be reached: " + said + next};
      case grpc::StatusCode::DEADLINE_EXCEEDED: {
        const std::string after = " did not answer within " + std::to_string(deadline.count()) + " ms";
        if (kind == Kind::kReading)
          return {Code::kUnavailable, "the controller at " + address + after +
                                          "\nnext: a longer --timeout, or look at "
                                          "the controller's log"};
        return {Code::kDeadlineExceeded,
                "the controller at " + address + after +
                    "; it may still carry this out\nnext: railctl get generations; railctl status"};
      }
      case grpc::StatusCode::UNAUTHENTICATED: return {Code::kUnauthenticated, said};
      case grpc::StatusCode::UNIMPLEMENTED:
        return {Code::kUnimplemented,
                "the controller at " + address + " does not know this call; it is older than this railctl" +
                    (said.empty() ? "" : " (" + said + ")") + "\nnext: railctl version"};
      case grpc::StatusCode::CANCELLED:
        return {Code::kUnavailable, "the controller at " + address + " ended the call: " + said};
      case grpc::StatusCode::OUT_OF_RANGE: return {Code::kInvalidArgument, said};
      default: return {static_cast<Code>(status.error_code()), said};  // the numbers are the same
    }
  }

  template <class Request, class Response, class Prepare>
  Result<Response> Unary(Prepare prepare, const Request& request, const CallOptions& options, Kind kind) {
    RW_RETURN_IF_ERROR(Dial());
    grpc::ClientContext context;
    if (options.deadline.count() > 0)
      context.set_deadline(std::chrono::system_clock::now() + options.deadline);
    Response response;
    grpc::Status status;
    auto reader = (stub.get()->*prepare)(&context, request, &queue);
    reader->StartCall();
    reader->Finish(&response, &status, this);
    Await(context, options);
    RW_RETURN_IF_ERROR(FromRpc(status, kind, options.deadline));
    return response;
  }

  template <class Event, class Request, class Prepare>
  RpcStatus Stream(Prepare prepare, const Request& request, const CallOptions& options, Kind kind,
                   const std::function<void(Event&)>& each) {
    RW_RETURN_IF_ERROR(Dial());
    grpc::ClientContext context;
    if (options.deadline.count() > 0)
      context.set_deadline(std::chrono::system_clock::now() + options.deadline);
    auto reader = (stub.get()->*prepare)(&context, request, &queue);
    reader->StartCall(this);
    bool more = Await(context, options);
    while (more) {
      Event event;
      reader->Read(&event, this);
      more = Await(context, options);
      if (more) each(event);
    }
    grpc::Status status;
    reader->Finish(&status, this);
    Await(context, options);
    return FromRpc(status, kind, options.deadline);
  }
};

AdminClient::AdminClient(std::string address, std::shared_ptr<const Login> login,
                         const std::atomic<bool>& interrupted)
    : impl_(std::make_unique<Impl>(std::move(address), std::move(login), interrupted)) {}
AdminClient::~AdminClient() = default;
const std::string& AdminClient::address() const { return impl_->address; }
const std::shared_ptr<const Login>& AdminClient::login() const { return impl_->login; }

using Stub = v1::AdminService::Stub;

Result<v1::VersionResponse> AdminClient::Version(const v1::VersionRequest& request,
                                                 const CallOptions& options) {
  return impl_->Unary<v1::VersionRequest, v1::VersionResponse>(&Stub::PrepareAsyncVersion, request, options,
                                                               Kind::kReading);
}
Result<v1::StatusResponse> AdminClient::Status(const v1::StatusRequest& request, const CallOptions& options) {
  return impl_->Unary<v1::StatusRequest, v1::StatusResponse>(&Stub::PrepareAsyncStatus, request, options,
                                                             Kind::kReading);
}
Result<v1::ChangesResponse> AdminClient::Changes(const v1::ChangesRequest& request,
                                                 const CallOptions& options) {
  return impl_->Unary<v1::ChangesRequest, v1::ChangesResponse>(&Stub::PrepareAsyncChanges, request, options,
                                                               Kind::kReading);
}
Result<v1::GenerationsResponse> AdminClient::Generations(const v1::GenerationsRequest& request,
                                                         const CallOptions& options) {
  return impl_->Unary<v1::GenerationsRequest, v1::GenerationsResponse>(&Stub::PrepareAsyncGenerations,
                                                                       request, options, Kind::kReading);
}
Result<v1::DesiredResponse> AdminClient::Desired(const v1::DesiredRequest& request,
                                                 const CallOptions& options) {
  return impl_->Unary<v1::DesiredRequest, v1::DesiredResponse>(&Stub::PrepareAsyncDesired, request, options,
                                                               Kind::kReading);
}
Result<v1::WhyResponse> AdminClient::Why(const v1::WhyRequest& request, const CallOptions& options) {
  return impl_->Unary<v1::WhyRequest, v1::WhyResponse>(&Stub::PrepareAsyncWhy, request, options,
                                                       Kind::kReading);
}
Result<v1::AuditResponse> AdminClient::Audit(const v1::AuditRequest& request, const CallOptions& options) {
  return impl_->Unary<v1::AuditRequest, v1::AuditResponse>(&Stub::PrepareAsyncAudit, request, options,
                                                           Kind::kReading);
}
Result<v1::SetPauseResponse> AdminClient::SetPause(const v1::SetPauseRequest& request,
                                                   const CallOptions& options) {
  return impl_->Unary<v1::SetPauseRequest, v1::SetPauseResponse>(&Stub::PrepareAsyncSetPause, request,
                                                                 options, Kind::kOrdering);
}
Result<v1::ForgetNodeResponse> AdminClient::ForgetNode(const v1::ForgetNodeRequest& request,
                                                       const CallOptions& options) {
  return impl_->Unary<v1::ForgetNodeRequest, v1::ForgetNodeResponse>(&Stub::PrepareAsyncForgetNode, request,
                                                                     options, Kind::kOrdering);
}

Result<v1::CreateTokenResponse> AdminClient::CreateToken(const v1::CreateTokenRequest& request,
                                                         const CallOptions& options) {
  return impl_->Unary<v1::CreateTokenRequest, v1::CreateTokenResponse>(&Stub::PrepareAsyncCreateToken,
                                                                       request, options, Kind::kOrdering);
}
Result<v1::TokensResponse> AdminClient::Tokens(const v1::TokensRequest& request, const CallOptions& options) {
  return impl_->Unary<v1::TokensRequest, v1::TokensResponse>(&Stub::PrepareAsyncTokens, request, options,
                                                             Kind::kReading);
}
Result<v1::DropTokenResponse> AdminClient::DropToken(const v1::DropTokenRequest& request,
                                                     const CallOptions& options) {
  return impl_->Unary<v1::DropTokenRequest, v1::DropTokenResponse>(&Stub::PrepareAsyncDropToken, request,
                                                                   options, Kind::kOrdering);
}
Result<v1::MembersResponse> AdminClient::Members(const v1::MembersRequest& request,
                                                 const CallOptions& options) {
  return impl_->Unary<v1::MembersRequest, v1::MembersResponse>(&Stub::PrepareAsyncMembers, request, options,
                                                               Kind::kReading);
}
Result<v1::SetStandingResponse> AdminClient::SetStanding(const v1::SetStandingRequest& request,
                                                         const CallOptions& options) {
  return impl_->Unary<v1::SetStandingRequest, v1::SetStandingResponse>(&Stub::PrepareAsyncSetStanding,
                                                                       request, options, Kind::kOrdering);
}
Result<v1::RenewResponse> AdminClient::RenewOperator(const v1::RenewRequest& request,
                                                     const CallOptions& options) {
  return impl_->Unary<v1::RenewRequest, v1::RenewResponse>(&Stub::PrepareAsyncRenewOperator, request, options,
                                                           Kind::kOrdering);
}
Result<v1::RolloutsResponse> AdminClient::Rollouts(const v1::RolloutsRequest& request,
                                                   const CallOptions& options) {
  return impl_->Unary<v1::RolloutsRequest, v1::RolloutsResponse>(&Stub::PrepareAsyncRollouts, request,
                                                                 options, Kind::kReading);
}
Result<v1::OrderRolloutResponse> AdminClient::OrderRollout(const v1::OrderRolloutRequest& request,
                                                           const CallOptions& options) {
  return impl_->Unary<v1::OrderRolloutRequest, v1::OrderRolloutResponse>(&Stub::PrepareAsyncOrderRollout,
                                                                         request, options, Kind::kOrdering);
}
Result<v1::OrderRolloutResponse> AdminClient::ApproveRollout(const v1::ApproveRolloutRequest& request,
                                                             const CallOptions& options) {
  return impl_->Unary<v1::ApproveRolloutRequest, v1::OrderRolloutResponse>(&Stub::PrepareAsyncApproveRollout,
                                                                           request, options, Kind::kOrdering);
}
Result<v1::ResetBreakerResponse> AdminClient::ResetBreaker(const v1::ResetBreakerRequest& request,
                                                           const CallOptions& options) {
  return impl_->Unary<v1::ResetBreakerRequest, v1::ResetBreakerResponse>(&Stub::PrepareAsyncResetBreaker,
                                                                         request, options, Kind::kOrdering);
}
Result<v1::PutSignaturesResponse> AdminClient::PutSignatures(const v1::PutSignaturesRequest& request,
                                                             const CallOptions& options) {
  return impl_->Unary<v1::PutSignaturesRequest, v1::PutSignaturesResponse>(&Stub::PrepareAsyncPutSignatures,
                                                                           request, options, Kind::kOrdering);
}
Status AdminClient::StatementsToSign(const v1::StatementsToSignRequest& request, const CallOptions& options,
                                     const std::function<void(v1::StatementsToSignEvent&)>& each) {
  return impl_->Stream<v1::StatementsToSignEvent>(&Stub::PrepareAsyncStatementsToSign, request, options,
                                                  Kind::kReading, each);
}

Status AdminClient::Observe(const v1::ObserveRequest& request, const CallOptions& options,
                            const std::function<void(v1::ObserveEvent&)>& each) {
  return impl_->Stream<v1::ObserveEvent>(&Stub::PrepareAsyncObserve, request, options, Kind::kReading, each);
}

Status AdminClient::Plan(const v1::PlanRequest& request, const CallOptions& options,
                         const std::function<void(const v1::PlanEvent&)>& each) {
  return impl_->Stream<v1::PlanEvent>(&Stub::PrepareAsyncPlan, request, options, Kind::kReading, each);
}
Status AdminClient::Apply(const v1::ApplyRequest& request, const CallOptions& options,
                          const std::function<void(const v1::ApplyEvent&)>& each) {
  return impl_->Stream<v1::ApplyEvent>(&Stub::PrepareAsyncApply, request, options, Kind::kOrdering, each);
}
Status AdminClient::Rollback(const v1::RollbackRequest& request, const CallOptions& options,
                             const std::function<void(const v1::ApplyEvent&)>& each) {
  return impl_->Stream<v1::ApplyEvent>(&Stub::PrepareAsyncRollback, request, options, Kind::kOrdering, each);
}
Status AdminClient::Watch(const v1::WatchRequest& request, const CallOptions& options,
                          const std::function<void(const v1::WatchEvent&)>& each) {
  return impl_->Stream<v1::WatchEvent>(&Stub::PrepareAsyncWatch, request, options, Kind::kReading, each);
}
Status AdminClient::AuditChain(const v1::AuditChainRequest& request, const CallOptions& options,
                               const std::function<void(const v1::AuditChainEvent&)>& each) {
  return impl_->Stream<v1::AuditChainEvent>(&Stub::PrepareAsyncAuditChain, request, options, Kind::kReading,
                                            each);
}

}  // namespace railwright::cli
