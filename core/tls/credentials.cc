#include "core/tls/credentials.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

namespace railwright::tls {
namespace {

constexpr unsigned kReadFilesEverySeconds = 60;

std::string Text(grpc::string_ref text) { return {text.data(), text.size()}; }

/// The peer's chain as it was sent. On a server OpenSSL's list lacks the leaf, which gRPC gives apart.
Result<std::vector<identity::Certificate>> ChainOf(
    const grpc::experimental::TlsCustomVerificationCheckRequest& seen) {
  const std::string leaf = Text(seen.peer_cert());
  if (leaf.empty()) return Status(Code::kUnauthenticated, "it shows no certificate");
  RW_ASSIGN_OR_RETURN(identity::Certificate first, identity::Certificate::FromPem(leaf));
  std::vector<identity::Certificate> chain{std::move(first)};
  const std::string rest = Text(seen.peer_cert_full_chain());
  if (rest.empty()) return chain;
  RW_ASSIGN_OR_RETURN(std::vector<identity::Certificate> others, identity::Certificate::ChainFromPem(rest));
  for (identity::Certificate& other : others)
    if (other.der() != chain.front().der()) chain.push_back(std::move(other));
  return chain;
}

class Judging final : public grpc::experimental::ExternalCertificateVerifier {
 public:
  explicit Judging(JudgePeer judge) : judge_(std::move(judge)) {}

  bool Verify(grpc::experimental::TlsCustomVerificationCheckRequest* request,
              std::function<void(grpc::Status)>, grpc::Status* answer) override {
    const auto chain = ChainOf(*request);
    const Status status = chain.ok() ? judge_(*chain) : chain.status();
    if (!status.ok()) *answer = grpc::Status(grpc::StatusCode::UNAUTHENTICATED, status.message());
    return true;  // answered at once
  }
  void Cancel(grpc::experimental::TlsCustomVerificationCheckRequest*) override {}

 private:
  const JudgePeer judge_;
};

}  // namespace

void Verdict::Set(Status status) {
  const std::lock_guard lock(mutex_);
  last_ = std::move(status);
}

Status Verdict::Last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

Result<std::shared_ptr<grpc::ChannelCredentials>> ClientCredentials(ClientTerms terms,
                                                                    std::shared_ptr<Verdict> verdict) {
  if (terms.roots.empty() || !terms.expected.dialled || terms.expected.purpose != identity::Purpose::kServer)
    return Status(Code::kInvalidArgument,
                  "a controller cannot be dialled without its name and a root to trust");
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(std::make_shared<grpc::experimental::StaticDataCertificateProvider>(
      identity::Certificate::ChainToPem(terms.roots),
      std::vector<grpc::experimental::IdentityKeyCertPair>{{terms.key_pem, terms.chain_pem}}));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_verify_server_certs(false);
  options.set_check_call_host(false);
  options.set_certificate_verifier(grpc::experimental::ExternalCertificateVerifier::Create<Judging>(
      [roots = std::move(terms.roots), expected = std::move(terms.expected), now = std::move(terms.now),
       verdict = std::move(verdict)](const std::vector<identity::Certificate>& chain) {
        const auto peer = identity::Verify(chain, roots, expected, now());
        verdict->Set(peer.status());
        return peer.status();
      }));
  return grpc::experimental::TlsCredentials(options);
}

std::shared_ptr<grpc::ServerCredentials> ServerCredentials(const ServerFiles& files, JudgePeer judge) {
  grpc::experimental::TlsServerCredentialsOptions options(
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
          files.key, files.chain, files.roots, kReadFilesEverySeconds));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.set_check_call_host(false);
  options.set_certificate_verifier(
      grpc::experimental::ExternalCertificateVerifier::Create<Judging>(std::move(judge)));
  return grpc::experimental::TlsServerCredentials(options);
}

}  // namespace railwright::tls
