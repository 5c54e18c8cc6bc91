#include "core/identity/request.h"

#include <openssl/x509.h>

#include "core/identity/openssl.h"

namespace railwright::identity {
namespace {

using RequestHandle = std::unique_ptr<X509_REQ, FreedBy<X509_REQ_free>>;

Status Bad(std::string_view why) {
  return Status(Code::kInvalidArgument, "not a certificate request that is read here: " + std::string(why));
}

}  // namespace

Result<std::string> MakeCertificateRequest(const PrivateKey& key) {
  if (key.public_key().kind() != KeyKind::kP256)
    return Status(Code::kFailedPrecondition,
                  "certificates are for P-256 keys, this is " + std::string(Name(key.public_key().kind())));
  const ErrorScope errors;
  const RequestHandle request(X509_REQ_new());
  if (request == nullptr || X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) != 1 ||
      X509_REQ_set_pubkey(request.get(), key.handle()) != 1 ||
      X509_REQ_sign(request.get(), key.handle(), EVP_sha256()) <= 0)
    return errors.Failure("making a certificate request");
  return DerOf(request.get(), i2d_X509_REQ);
}

Result<PublicKey> ReadCertificateRequest(std::string_view der) {
  const ErrorScope errors;
  if (der.size() > kMostRequestBytes)
    return Bad(std::to_string(der.size()) + " bytes; at most " + std::to_string(kMostRequestBytes) +
               " are read");
  const unsigned char* at = Unsigned(der);
  const RequestHandle request(d2i_X509_REQ(nullptr, &at, static_cast<long>(der.size())));
  if (request == nullptr) return Bad("its bytes are damaged");
  if (at != Unsigned(der) + der.size()) return Bad("there is something behind it");
  if (DerOf(request.get(), i2d_X509_REQ) != der) return Bad("it is not in DER");
  if (X509_REQ_get_version(request.get()) != X509_REQ_VERSION_1) return Bad("it is not of version 1");
  auto key = PublicKey::FromDer(DerOf(X509_REQ_get_X509_PUBKEY(request.get()), i2d_X509_PUBKEY));
  if (!key.ok()) return Bad(key.status().message());
  if (key->kind() != KeyKind::kP256) return Bad("its key is not P-256");
  if (X509_REQ_get_signature_nid(request.get()) != NID_ecdsa_with_SHA256)
    return Bad("it is not signed by ECDSA with SHA-256");
  if (X509_REQ_verify(request.get(), key->handle()) != 1) return Bad("its key did not sign it");
  return key;
}

}  // namespace railwright::identity
