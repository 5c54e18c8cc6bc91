#include "controller/enrol/tls_context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <string>

namespace railwright {
namespace {

Status Failure(const std::string& what) {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  Status status(Code::kInternal, what + " failed: " + (reason != nullptr ? reason : "no reason given"));
  ERR_clear_error();
  return status;
}

using X509Pointer = std::unique_ptr<X509, decltype(&X509_free)>;

X509Pointer Copy(const identity::Certificate& certificate) {
  const auto* at = reinterpret_cast<const unsigned char*>(certificate.der().data());
  return {d2i_X509(nullptr, &at, static_cast<long>(certificate.der().size())), &X509_free};
}

}  // namespace

Result<std::shared_ptr<ssl_ctx_st>> EnrolmentTls(const std::vector<identity::Certificate>& chain,
                                                 const identity::PrivateKey& key) {
  const std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  if (context == nullptr) return Failure("preparing TLS");
  SSL_CTX* tls = context.get();
  // What was decrypted is wiped once it was read: it may be a token.
  SSL_CTX_set_options(tls, SSL_OP_CLEANSE_PLAINTEXT | SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_session_cache_mode(tls, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(
      tls, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  bool ready = SSL_CTX_set_min_proto_version(tls, TLS1_3_VERSION) == 1 &&
               SSL_CTX_set_max_proto_version(tls, TLS1_3_VERSION) == 1 &&
               SSL_CTX_set_num_tickets(tls, 0) == 1 && SSL_CTX_set_max_early_data(tls, 0) == 1;
  for (std::size_t i = 0; ready && i < chain.size(); ++i) {
    const X509Pointer one = Copy(chain[i]);
    ready = one != nullptr && (i == 0 ? SSL_CTX_use_certificate(tls, one.get()) == 1
                                      : SSL_CTX_add1_chain_cert(tls, one.get()) == 1);
  }
  RW_ASSIGN_OR_RETURN(const identity::Secret pem, key.ToPem());
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> bio(
      BIO_new_mem_buf(pem.Reveal().data(), static_cast<int>(pem.size())), &BIO_free_all);
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> handle(
      PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free);
  ready = ready && handle != nullptr && SSL_CTX_use_PrivateKey(tls, handle.get()) == 1 &&
          SSL_CTX_check_private_key(tls) == 1;
  if (!ready) return Failure("preparing TLS of the enrolment port");
  return std::shared_ptr<ssl_ctx_st>(context);
}

}  // namespace railwright
