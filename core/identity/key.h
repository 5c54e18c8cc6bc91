// PrivateKey, PublicKey, Pin: P-256 for TLS, Ed25519 for what is signed to be kept.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/identity/digest.h"
#include "core/identity/secret.h"
#include "railwright/result.h"

struct evp_pkey_st;  // OpenSSL's EVP_PKEY

namespace railwright::identity {

enum class KeyKind : std::uint8_t {
  kP256,     ///< ECDSA over NIST P-256 (FIPS 186-4): certificates and TLS
  kEd25519,  ///< EdDSA (RFC 8032): envelopes
};
/// "P-256", "Ed25519".
std::string_view Name(KeyKind kind);

/// The name of a public key: SHA-256 over its DER SubjectPublicKeyInfo, as kubeadm and RFC 7469 pin keys. Two
/// keys never share one, one key never has two (PublicKey reads one encoding only).
class Pin {
 public:
  Pin() = default;
  explicit Pin(const Digest& digest) : digest_(digest) {}
  /// Exactly "sha256:" and 64 lower-case hexadecimal digits. InvalidArgument otherwise.
  static Result<Pin> Parse(std::string_view text);
  std::string Text() const;
  const Digest& digest() const { return digest_; }

  friend auto operator<=>(const Pin&, const Pin&) = default;

 private:
  Digest digest_{};
};

/// A value; copies share the key.
class PublicKey {
 public:
  /// One block "PUBLIC KEY" (RFC 5280 §4.1.2.7). InvalidArgument: damaged, another kind of key, a curve with
  /// explicit parameters, a compressed point, a point that is not on the curve.
  static Result<PublicKey> FromPem(std::string_view pem);
  /// The same from DER.
  static Result<PublicKey> FromDer(std::string_view spki);
  std::string ToPem() const;
  /// DER SubjectPublicKeyInfo: 91 bytes of P-256, 44 of Ed25519.
  const std::string& der() const { return der_; }
  KeyKind kind() const { return kind_; }
  const Pin& pin() const { return pin_; }

  /// Whether `signature` (64 bytes) is this Ed25519 key's over `message` (RFC 8032 §5.1.7). Always false for
  /// a P-256 key: its signatures stand in certificates and are judged there.
  bool Verifies(std::string_view message, std::string_view signature) const;

  friend bool operator==(const PublicKey& one, const PublicKey& other) { return one.der_ == other.der_; }

  /// For this folder's sources.
  evp_pkey_st* handle() const { return key_.get(); }

 private:
  PublicKey(KeyKind kind, Pin pin, std::string der, std::shared_ptr<evp_pkey_st> key)
      : kind_(kind), pin_(pin), der_(std::move(der)), key_(std::move(key)) {}

  KeyKind kind_;
  Pin pin_;
  std::string der_;
  std::shared_ptr<evp_pkey_st> key_;
};

/// Moved, never copied; OpenSSL wipes the private number when it ends.
class PrivateKey {
 public:
  /// From OpenSSL's own generator. Internal when it fails.
  static Result<PrivateKey> Generate(KeyKind kind);
  /// One block "PRIVATE KEY" (PKCS#8, RFC 5958, not encrypted). InvalidArgument: damaged, encrypted, another
  /// kind of key, a private half that is not that of the public one; never a word of the text itself.
  static Result<PrivateKey> FromPem(std::string_view pem);
  Result<Secret> ToPem() const;
  const PublicKey& public_key() const { return public_; }

  /// 64 bytes, Ed25519 (RFC 8032 §5.1.6; the same message has one signature). FailedPrecondition for a P-256
  /// key.
  Result<std::string> Sign(std::string_view message) const;

  PrivateKey(PrivateKey&&) noexcept = default;
  PrivateKey& operator=(PrivateKey&&) noexcept = default;
  PrivateKey(const PrivateKey&) = delete;
  PrivateKey& operator=(const PrivateKey&) = delete;

  /// For this folder's sources.
  evp_pkey_st* handle() const { return key_.get(); }

 private:
  PrivateKey(PublicKey public_key, std::shared_ptr<evp_pkey_st> key)
      : public_(std::move(public_key)), key_(std::move(key)) {}
  static Result<PrivateKey> FromHandle(std::shared_ptr<evp_pkey_st> key);

  PublicKey public_;
  std::shared_ptr<evp_pkey_st> key_;
};

}  // namespace railwright::identity
