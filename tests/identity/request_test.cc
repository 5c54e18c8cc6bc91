#include "core/identity/request.h"

#include <gtest/gtest.h>
#include <openssl/x509v3.h>

#include "core/identity/openssl.h"
#include "tests/identity/world.h"

namespace railwright::identity {
namespace {

// A request that asks for all it can: a subject, an administrator's and a CA's name, to be a CA.
std::string Greedy(const PrivateKey& key) {
  std::unique_ptr<X509_REQ, FreedBy<X509_REQ_free>> request(X509_REQ_new());
  X509_REQ_set_version(request.get(), X509_REQ_VERSION_1);
  X509_NAME* name = X509_REQ_get_subject_name(request.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, Unsigned("controller"), -1, -1, 0);
  X509_REQ_set_pubkey(request.get(), key.handle());
  STACK_OF(X509_EXTENSION)* extensions = sk_X509_EXTENSION_new_null();
  for (const auto& [nid, value] : {std::pair{NID_subject_alt_name, "URI:spiffe://pod-a/operator/admin"},
                                   {NID_basic_constraints, "critical,CA:TRUE"},
                                   {NID_ext_key_usage, "serverAuth,clientAuth"}})
    sk_X509_EXTENSION_push(extensions, X509V3_EXT_conf_nid(nullptr, nullptr, nid, value));
  EXPECT_EQ(X509_REQ_add_extensions(request.get(), extensions), 1);
  sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
  EXPECT_GT(X509_REQ_sign(request.get(), key.handle(), EVP_sha256()), 0);
  return DerOf(request.get(), i2d_X509_REQ);
}

TEST(CertificateRequest, ShowsItsKeyAndNothingElse) {
  const auto key = NewKey();
  const auto der = Must(MakeCertificateRequest(key));
  EXPECT_LT(der.size(), 256u);
  EXPECT_EQ(Must(ReadCertificateRequest(der)), key.public_key());
}

TEST(CertificateRequest, WhatItAsksForIsIgnored) {
  const auto key = NewKey();
  const auto read = Must(ReadCertificateRequest(Greedy(key)));
  EXPECT_EQ(read, key.public_key());
  const auto leaf = Must(Root().Node(read, Uuid(), Noon()));
  EXPECT_EQ(leaf.uris(), std::vector<std::string>{"spiffe://pod-a/node/" + Uuid().text()});
  EXPECT_FALSE(leaf.is_ca());
  EXPECT_FALSE(leaf.authority());
  EXPECT_EQ(leaf.subject().find("controller"), std::string::npos);
}

TEST(CertificateRequest, EveryFlippedByteIsRefused) {
  const auto der = Must(MakeCertificateRequest(NewKey()));
  for (std::size_t at = 0; at < der.size(); ++at)
    for (const int bit : {0x01, 0x80}) {
      std::string changed = der;
      changed[at] = static_cast<char>(changed[at] ^ bit);
      EXPECT_FALSE(ReadCertificateRequest(changed).ok()) << "byte " << at;
    }
}

TEST(CertificateRequest, BytesTooFewOrTooManyAreRefused) {
  const auto der = Must(MakeCertificateRequest(NewKey()));
  for (std::size_t size = 0; size < der.size(); ++size)
    EXPECT_FALSE(ReadCertificateRequest(der.substr(0, size)).ok()) << size;
  ExpectRefused(ReadCertificateRequest(der + "x"), Code::kInvalidArgument, "behind it");
  ExpectRefused(ReadCertificateRequest(std::string(kMostRequestBytes + 1, '0')), Code::kInvalidArgument,
                "at most 4096");
}

TEST(CertificateRequest, OneSignedByAnotherKeyIsRefused) {
  const auto key = NewKey(), other = NewKey();
  std::unique_ptr<X509_REQ, FreedBy<X509_REQ_free>> request(X509_REQ_new());
  X509_REQ_set_version(request.get(), X509_REQ_VERSION_1);
  X509_REQ_set_pubkey(request.get(), key.handle());
  ASSERT_GT(X509_REQ_sign(request.get(), other.handle(), EVP_sha256()), 0);
  ExpectRefused(ReadCertificateRequest(DerOf(request.get(), i2d_X509_REQ)), Code::kInvalidArgument,
                "its key did not sign it");
}

TEST(CertificateRequest, ASigningKeyOfStatesIsNotForCertificates) {
  EXPECT_EQ(MakeCertificateRequest(NewKey(KeyKind::kEd25519)).status().code(), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace railwright::identity
