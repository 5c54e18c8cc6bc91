#include "core/identity/key.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>

#include "core/identity/secret.h"
#include "tests/identity/world.h"

namespace railwright::identity {
namespace {

using Handle = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

std::string Unhex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

std::string Pem(const char* label, std::string_view der) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), &BIO_free);
  PEM_write_bio(bio.get(), label, "", reinterpret_cast<const unsigned char*>(der.data()),
                static_cast<long>(der.size()));
  char* out = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &out);
  return {out, static_cast<std::size_t>(size)};
}

std::string DerOfPem(std::string_view pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free);
  char *name = nullptr, *header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;
  EXPECT_EQ(PEM_read_bio(bio.get(), &name, &header, &data, &size), 1);
  std::string der(reinterpret_cast<char*>(data), static_cast<std::size_t>(size));
  OPENSSL_free(name);
  OPENSSL_free(header);
  OPENSSL_free(data);
  return der;
}

std::string ForeignPem(EVP_PKEY* key, const EVP_CIPHER* cipher = nullptr) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), &BIO_free);
  char password[] = "secret";
  PEM_write_bio_PKCS8PrivateKey(bio.get(), key, cipher, cipher != nullptr ? password : nullptr,
                                cipher != nullptr ? 6 : 0, nullptr, nullptr);
  char* out = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &out);
  return {out, static_cast<std::size_t>(size)};
}

TEST(Pin, HasOneSpelling) {
  const Pin pin = NodeKey().pin();
  const std::string text = pin.Text();
  ASSERT_EQ(text.size(), 7 + 64U);
  EXPECT_EQ(Must(Pin::Parse(text)), pin);
  std::string upper = text;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  for (const std::string& bad :
       {std::string(), text.substr(7), text.substr(0, 70), text + "0", " " + text, upper,
        "sha256:" + upper.substr(7), "sha512:" + text.substr(7), "sha256:" + std::string(64, 'g')})
    if (bad != text) ExpectRefused(Pin::Parse(bad), Code::kInvalidArgument, "64 hexadecimal digits");
}

TEST(PublicKey, ItsPinIsTheSha256OfItsSpki) {
  // The public key of RFC 8032 §7.1 test 1; the digest by another program.
  const std::string der =
      Unhex("302a300506032b6570032100d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
  const PublicKey key = Must(PublicKey::FromDer(der));
  EXPECT_EQ(key.kind(), KeyKind::kEd25519);
  EXPECT_EQ(key.pin().Text(), "sha256:06e3fd8fda29bb60ab59557de61edb0aecdb231134be30e75b455f8e1b792fa9");
  EXPECT_EQ(Must(PublicKey::FromPem(key.ToPem())), key);
}

TEST(PublicKey, OneKeyHasOneEncoding) {
  const std::string der = NodeKey().der();
  EXPECT_EQ(der.size(), 91U);
  ExpectRefused(PublicKey::FromDer(der + '\0'), Code::kInvalidArgument, "P-256");
  ExpectRefused(PublicKey::FromDer(der.substr(0, 90)), Code::kInvalidArgument, "P-256");
  // The same point compressed, and on a curve written out: another SPKI, so it would be another pin.
  const PrivateKey owner = NewKey();
  for (const auto& [name, value] : std::vector<std::pair<const char*, const char*>>{
           {OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT, "compressed"},
           {OSSL_PKEY_PARAM_EC_ENCODING, "explicit"}}) {
    const Handle other(EVP_PKEY_dup(owner.handle()), &EVP_PKEY_free);
    ASSERT_EQ(EVP_PKEY_set_utf8_string_param(other.get(), name, value), 1);
    unsigned char* out = nullptr;
    const int size = i2d_PUBKEY(other.get(), &out);
    ASSERT_GT(size, 0);
    const std::string spki(reinterpret_cast<char*>(out), static_cast<std::size_t>(size));
    OPENSSL_free(out);
    ASSERT_NE(spki, owner.public_key().der()) << name << " changes nothing";
    ExpectRefused(PublicKey::FromDer(spki), Code::kInvalidArgument, "P-256");
    ExpectRefused(PublicKey::FromPem(Pem("PUBLIC KEY", spki)), Code::kInvalidArgument, "P-256");
  }
  std::string off_curve = der;
  off_curve.back() = static_cast<char>(off_curve.back() ^ 1);
  ExpectRefused(PublicKey::FromDer(off_curve), Code::kInvalidArgument, "no point of the curve");
}

TEST(PublicKey, OneBlockOfItsKindIsRead) {
  const std::string pem = NodeKey().ToPem();
  EXPECT_TRUE(PublicKey::FromPem("\n " + pem + "\n").ok());
  ExpectRefused(PublicKey::FromPem(""), Code::kInvalidArgument, "empty");
  ExpectRefused(PublicKey::FromPem(pem + pem), Code::kInvalidArgument, "more than 1 block");
  ExpectRefused(PublicKey::FromPem("x\n" + pem), Code::kInvalidArgument, "outside");
  ExpectRefused(PublicKey::FromPem(pem + "x"), Code::kInvalidArgument, "outside");
  ExpectRefused(PublicKey::FromPem(pem.substr(0, pem.size() / 2)), Code::kInvalidArgument, "cut short");
  ExpectRefused(PublicKey::FromPem(Pem("CERTIFICATE", NodeKey().der())), Code::kInvalidArgument,
                "something else");
  ExpectRefused(PublicKey::FromPem(std::string(4097, ' ')), Code::kInvalidArgument, "4097 bytes");
}

TEST(PrivateKey, IsReadBackFromItsPem) {
  for (const KeyKind kind : {KeyKind::kP256, KeyKind::kEd25519}) {
    const PrivateKey key = NewKey(kind);
    EXPECT_EQ(key.public_key().kind(), kind);
    const Secret pem = Must(key.ToPem());
    EXPECT_TRUE(pem.Reveal().starts_with("-----BEGIN PRIVATE KEY-----\n"));
    EXPECT_EQ(Must(PrivateKey::FromPem(pem.Reveal())).public_key(), key.public_key());
    EXPECT_NE(NewKey(kind).public_key(), key.public_key()) << "two keys are the same";
  }
}

TEST(PrivateKey, ErrorsNeverShowIt) {
  const Secret pem = Must(NewKey().ToPem());
  const std::string text(pem.Reveal());
  const std::string secret = text.substr(text.find('\n') + 1, 64);
  std::vector<std::string> damaged = {text + text, text.substr(0, 150), "x" + text, text + secret};
  for (std::size_t at = 28; at < text.size(); at += 7) {
    damaged.push_back(text);
    damaged.back()[at] = '!';
    damaged.push_back(text);
    damaged.back().erase(at, 4);
  }
  int refused = 0;
  for (const std::string& one : damaged) {
    const auto key = PrivateKey::FromPem(one);
    if (key.ok()) continue;
    ++refused;
    for (std::size_t at = 0; at + 8 <= secret.size(); ++at)
      ASSERT_EQ(key.status().message().find(secret.substr(at, 8)), std::string::npos)
          << key.status().message();
  }
  EXPECT_GT(refused, 40);
}

TEST(PrivateKey, OtherKindsAreRefused) {
  const Handle rsa(EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{2048}), &EVP_PKEY_free);
  const Handle p384(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-384"), &EVP_PKEY_free);
  const Handle x25519(EVP_PKEY_Q_keygen(nullptr, nullptr, "X25519"), &EVP_PKEY_free);
  for (const Handle* one : {&rsa, &p384, &x25519})
    ExpectRefused(PrivateKey::FromPem(ForeignPem(one->get())), Code::kInvalidArgument,
                  "not a public key that is used here");
}

TEST(PrivateKey, AnEncryptedOneIsRefusedWithoutAQuestion) {
  const PrivateKey key = NewKey();
  ExpectRefused(PrivateKey::FromPem(ForeignPem(key.handle(), EVP_aes_128_cbc())), Code::kInvalidArgument,
                "something else");
  const std::string old =
      "-----BEGIN PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: "
      "AES-128-CBC,000102030405060708090A0B0C0D0E0F\n"
      "\nAAAAAAAAAAAAAAAAAAAAAA==\n-----END PRIVATE KEY-----\n";
  ExpectRefused(PrivateKey::FromPem(old), Code::kInvalidArgument, "headers");
}

TEST(PrivateKey, AHalfOfAnotherKeyIsRefused) {
  const std::string one = DerOfPem(Must(NewKey().ToPem()).Reveal()),
                    other = DerOfPem(Must(NewKey().ToPem()).Reveal());
  ASSERT_EQ(one.size(), other.size());
  // PKCS#8 of P-256 ends with the public point: 64 bytes.
  const std::string mixed = one.substr(0, one.size() - 64) + other.substr(other.size() - 64);
  EXPECT_TRUE(PrivateKey::FromPem(Pem("PRIVATE KEY", one)).ok());
  ExpectRefused(PrivateKey::FromPem(Pem("PRIVATE KEY", mixed)), Code::kInvalidArgument, "own public half");
  ExpectRefused(PrivateKey::FromPem(Pem("PRIVATE KEY", one + "x")), Code::kInvalidArgument, "damaged");
}

TEST(PrivateKey, SignsAsRfc8032Shows) {
  // §7.1, tests 1 and 3.
  struct Vector {
    const char *seed, *message, *signature;
  };
  for (const Vector& one : {
           Vector{"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "",
                  "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701c"
                  "f9b46bd25bf5f0"
                  "595bbe24655141438e7a100b"},
           Vector{"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7", "af82",
                  "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f76098"
                  "4dc6594a7c15e9"
                  "716ed28dc027beceea1ec40a"},
       }) {
    const auto key = Must(
        PrivateKey::FromPem(Pem("PRIVATE KEY", Unhex("302e020100300506032b657004220420") + Unhex(one.seed))));
    const std::string message = Unhex(one.message), signature = Must(key.Sign(message));
    EXPECT_EQ(signature, Unhex(one.signature));
    EXPECT_TRUE(key.public_key().Verifies(message, signature));
    EXPECT_FALSE(key.public_key().Verifies(message + "x", signature));
    EXPECT_FALSE(key.public_key().Verifies(message, signature + "x"));
    for (std::size_t bit = 0; bit < signature.size() * 8; ++bit) {
      std::string flipped = signature;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
      EXPECT_FALSE(key.public_key().Verifies(message, flipped)) << bit;
    }
    EXPECT_FALSE(NewKey(KeyKind::kEd25519).public_key().Verifies(message, signature)) << "another key's";
  }
}

TEST(PrivateKey, OfTlsSignsNoMessages) {
  const PrivateKey key = NewKey();
  ExpectRefused(key.Sign("x"), Code::kFailedPrecondition, "Ed25519");
  EXPECT_FALSE(key.public_key().Verifies("x", std::string(64, 'x')));
}

TEST(Secret, LeavesNothingWhereItWas) {
  Secret one("swordfish");
  Secret other(std::move(one));
  EXPECT_EQ(other.Reveal(), "swordfish");
  EXPECT_TRUE(one.empty());  // NOLINT: what a moved secret is, is the sentence
  Secret third("old");
  third = std::move(other);
  EXPECT_EQ(third.Reveal(), "swordfish");
  EXPECT_TRUE(other.empty());  // NOLINT
}

}  // namespace
}  // namespace railwright::identity
