// What only this folder's sources include: owners of OpenSSL's objects, and its errors as words.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string_view>

#include "railwright/result.h"

namespace railwright::identity {

template <auto free_it>
struct FreedBy {
  template <class T>
  void operator()(T* object) const {
    free_it(object);
  }
};

using Asn1Time = std::unique_ptr<ASN1_TIME, FreedBy<ASN1_TIME_free>>;
using BigNumber = std::unique_ptr<BIGNUM, FreedBy<BN_free>>;
using Bio = std::unique_ptr<BIO, FreedBy<BIO_free_all>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, FreedBy<EVP_MD_CTX_free>>;
using KeyHandle = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, FreedBy<EVP_PKEY_CTX_free>>;
using X509Handle = std::unique_ptr<X509, FreedBy<X509_free>>;

/// OpenSSL's queue of errors belongs to the thread: what is put there within this scope leaves with it, so
/// that others on the thread (gRPC) never find our errors among theirs.
class ErrorScope {
 public:
  ErrorScope();
  ~ErrorScope();
  ErrorScope(const ErrorScope&) = delete;
  ErrorScope& operator=(const ErrorScope&) = delete;

  /// "<what> failed: <OpenSSL's reason>". Only the reason's fixed text is taken: what OpenSSL adds to it may
  /// quote the input.
  Status Failure(std::string_view what, Code code = Code::kInternal) const;
};

/// Bytes for OpenSSL's d2i functions and the like.
inline const unsigned char* Unsigned(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

/// What an i2d function writes for `object`, or "" when it fails.
template <class T, class Encode>
std::string DerOf(const T* object, Encode encode) {
  unsigned char* out = nullptr;
  const int size = encode(object, &out);
  if (size <= 0) return {};
  std::string der(reinterpret_cast<const char*>(out), static_cast<std::size_t>(size));
  OPENSSL_free(out);
  return der;
}

}  // namespace railwright::identity
