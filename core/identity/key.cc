#include "core/identity/key.h"

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <array>

#include "core/identity/openssl.h"
#include "core/identity/pem.h"

namespace railwright::identity {
namespace {

constexpr std::size_t kMostPemBytes = 4096;  // of one key; a P-256 key has 241
constexpr std::size_t kSignatureBytes = 64;  // RFC 8032 §5.1.6
constexpr std::string_view kPinPrefix = "sha256:";

// The only encodings of SubjectPublicKeyInfo that are read (RFC 5480 §2 with the named curve and an
// uncompressed point, RFC 8410 §4): what stands before the key's own bytes.
struct Encoding {
  KeyKind kind;
  std::string_view prefix;
  std::size_t size;
};
using namespace std::string_view_literals;
constexpr std::array<Encoding, 2> kEncodings = {{
    {KeyKind::kP256,
     "\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00\x04"sv,
     91},
    {KeyKind::kEd25519, "\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00"sv, 44},
}};

std::shared_ptr<EVP_PKEY> Shared(EVP_PKEY* key) { return {key, &EVP_PKEY_free}; }

}  // namespace

std::string_view Name(KeyKind kind) { return kind == KeyKind::kP256 ? "P-256" : "Ed25519"; }

Result<Pin> Pin::Parse(std::string_view text) {
  if (!text.starts_with(kPinPrefix))
    return Status(Code::kInvalidArgument, "a pin is \"sha256:\" and 64 hexadecimal digits");
  auto digest = ParseDigest(text.substr(kPinPrefix.size()));
  if (!digest.ok()) return digest.status().Within("a pin is \"sha256:\" and 64 hexadecimal digits");
  return Pin(*digest);
}

std::string Pin::Text() const { return std::string(kPinPrefix) + Hex(digest_); }

Result<PublicKey> PublicKey::FromPem(std::string_view pem) {
  RW_ASSIGN_OR_RETURN(const auto blocks,
                      ReadPem(pem, {.label = "PUBLIC KEY", .blocks = 1, .bytes = kMostPemBytes}));
  return FromDer(blocks.front().Reveal());
}

Result<PublicKey> PublicKey::FromDer(std::string_view spki) {
  const ErrorScope errors;
  for (const Encoding& one : kEncodings) {
    if (spki.size() != one.size || !spki.starts_with(one.prefix)) continue;
    const unsigned char* at = Unsigned(spki);
    auto key = Shared(d2i_PUBKEY(nullptr, &at, static_cast<long>(spki.size())));
    if (key == nullptr)
      return Status(Code::kInvalidArgument,
                    "not a key of " + std::string(Name(one.kind)) + ": its bytes are no point of the curve");
    RW_ASSIGN_OR_RETURN(const Digest digest, Sha256(spki));
    return PublicKey(one.kind, Pin(digest), std::string(spki), std::move(key));
  }
  return Status(Code::kInvalidArgument,
                "not a public key that is used here: P-256 (named curve, uncompressed point) or Ed25519");
}

std::string PublicKey::ToPem() const {
  const auto pem = WritePem("PUBLIC KEY", der_);
  return pem.ok() ? std::string(pem->Reveal()) : std::string();
}

bool PublicKey::Verifies(std::string_view message, std::string_view signature) const {
  if (kind_ != KeyKind::kEd25519 || signature.size() != kSignatureBytes) return false;
  const ErrorScope errors;
  const DigestContext context(EVP_MD_CTX_new());
  return context != nullptr &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
         EVP_DigestVerify(context.get(), Unsigned(signature), signature.size(), Unsigned(message),
                          message.size()) == 1;
}

Result<PrivateKey> PrivateKey::FromHandle(std::shared_ptr<EVP_PKEY> key) {
  RW_ASSIGN_OR_RETURN(auto public_key, PublicKey::FromDer(DerOf(key.get(), i2d_PUBKEY)));
  return PrivateKey(std::move(public_key), std::move(key));
}

Result<PrivateKey> PrivateKey::Generate(KeyKind kind) {
  const ErrorScope errors;
  auto key = Shared(kind == KeyKind::kP256 ? EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256")
                                           : EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  if (key == nullptr) return errors.Failure("making a key of " + std::string(Name(kind)));
  return FromHandle(std::move(key));
}

Result<PrivateKey> PrivateKey::FromPem(std::string_view pem) {
  const ErrorScope errors;
  RW_ASSIGN_OR_RETURN(const auto blocks,
                      ReadPem(pem, {.label = "PRIVATE KEY", .blocks = 1, .bytes = kMostPemBytes}));
  const std::string_view der = blocks.front().Reveal();
  const unsigned char* at = Unsigned(der);
  const std::unique_ptr<PKCS8_PRIV_KEY_INFO, FreedBy<PKCS8_PRIV_KEY_INFO_free>> info(
      d2i_PKCS8_PRIV_KEY_INFO(nullptr, &at, static_cast<long>(der.size())));
  if (info == nullptr || at != Unsigned(der) + der.size())
    return Status(Code::kInvalidArgument, "not a private key: PKCS#8 is damaged");
  auto key = Shared(EVP_PKCS82PKEY(info.get()));
  if (key == nullptr) return Status(Code::kInvalidArgument, "not a private key of a kind that is known");
  auto whole = FromHandle(key);
  if (!whole.ok()) return whole.status().Within("the private key's public half");
  // A file put together of two keys would sign what nobody can verify.
  const KeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr));
  if (context == nullptr || EVP_PKEY_pairwise_check(context.get()) != 1)
    return Status(Code::kInvalidArgument, "the private key is not that of its own public half");
  return whole;
}

Result<Secret> PrivateKey::ToPem() const {
  const ErrorScope errors;
  const std::unique_ptr<PKCS8_PRIV_KEY_INFO, FreedBy<PKCS8_PRIV_KEY_INFO_free>> info(
      EVP_PKEY2PKCS8(key_.get()));
  if (info == nullptr) return errors.Failure("writing a private key");
  unsigned char* out = nullptr;
  const int size = i2d_PKCS8_PRIV_KEY_INFO(info.get(), &out);
  if (size <= 0) return errors.Failure("writing a private key");
  auto pem = WritePem("PRIVATE KEY", {reinterpret_cast<const char*>(out), static_cast<std::size_t>(size)});
  OPENSSL_clear_free(out, static_cast<std::size_t>(size));
  return pem;
}

Result<std::string> PrivateKey::Sign(std::string_view message) const {
  if (public_.kind() != KeyKind::kEd25519)
    return Status(Code::kFailedPrecondition, "only an Ed25519 key signs messages; this one is P-256");
  const ErrorScope errors;
  const DigestContext context(EVP_MD_CTX_new());
  std::string signature(kSignatureBytes, '\0');
  std::size_t size = signature.size();
  if (context == nullptr || EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) != 1 ||
      EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     Unsigned(message), message.size()) != 1 ||
      size != signature.size())
    return errors.Failure("signing");
  return signature;
}

}  // namespace railwright::identity
