#include "controller/rpc/self_probe.h"

#include <grpcpp/grpcpp.h>

#include "core/tls/credentials.h"
#include "railwright/v1/admin.grpc.pb.h"

namespace railwright {
namespace {

constexpr const char* kName = "self-probe";
constexpr identity::Lifetime kLife = std::chrono::minutes(10);  // a new one for each dial

}  // namespace

SelfProbe::SelfProbe(const identity::Issuer& issuer, Terms terms)
    : issuer_(issuer), terms_(std::move(terms)) {}

SelfProbe::~SelfProbe() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SelfProbe::Start() {
  thread_ = std::thread([this] { Run(); });
}

bool SelfProbe::IsMine(const identity::Peer& peer) const {
  const std::lock_guard lock(mutex_);
  return !serial_.empty() && peer.serial == serial_;
}

Caller SelfProbe::AsCaller(const identity::Peer& peer) {
  Caller caller;
  caller.kind = Caller::Kind::kOperator;
  caller.name = kName;
  caller.serial = peer.serial;
  caller.roles = {"viewer"};
  caller.scope = "";
  return caller;
}

void SelfProbe::Run() {
  int misses = 0;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    const Status status = Ask();
    misses = status.ok() ? 0 : misses + 1;
    terms_.done(status, misses);
    lock.lock();
    changed_.wait_for(lock, terms_.every, [this] { return stopping_; });
  }
}

Status SelfProbe::Ask() {
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  auto verdict = std::make_shared<tls::Verdict>();
  if (terms_.at.kind == Address::Kind::kTcp) {
    const auto now = std::chrono::system_clock::now();
    RW_ASSIGN_OR_RETURN(const identity::PrivateKey key,
                        identity::PrivateKey::Generate(identity::KeyKind::kP256));
    RW_ASSIGN_OR_RETURN(const identity::OperatorName name, identity::OperatorName::Parse(kName));
    RW_ASSIGN_OR_RETURN(const identity::Certificate leaf,
                        issuer_.Operator(key.public_key(), name, {{"viewer"}, "none"}, now, kLife));
    RW_ASSIGN_OR_RETURN(const identity::Secret pem, key.ToPem());
    {
      const std::lock_guard lock(mutex_);
      serial_ = leaf.serial();
    }
    RW_ASSIGN_OR_RETURN(credentials,
                        tls::ClientCredentials({leaf.ToPem(),
                                                std::string(pem.Reveal()),
                                                {issuer_.certificate()},
                                                {issuer_.cluster(), identity::Purpose::kServer, terms_.as},
                                                [] { return std::chrono::system_clock::now(); }},
                                               verdict));
  }
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // The address is this host's, the name is the certificate's: gRPC would write a line for each probe.
  if (terms_.at.kind == Address::Kind::kTcp) arguments.SetSslTargetNameOverride(terms_.as.text());
  const auto stub =
      v1::AdminService::NewStub(grpc::CreateCustomChannel(terms_.at.Target(), credentials, arguments));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + terms_.within);
  v1::VersionResponse answer;
  const grpc::Status status = stub->Version(&context, {}, &answer);
  RW_RETURN_IF_ERROR(verdict->Last());
  if (status.ok()) return Ok();
  return Status(Code::kUnavailable, terms_.at.ToString() + ": " + status.error_message());
}

}  // namespace railwright
