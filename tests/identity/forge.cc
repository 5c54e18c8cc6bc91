#include "tests/identity/forge.h"

#include <openssl/x509v3.h>

#include <algorithm>
#include <memory>

#include "tests/identity/world.h"

namespace railwright::identity {

Forging HonestNode() {
  return {.extensions = {{"basicConstraints", "critical,CA:FALSE"},
                         {"keyUsage", "critical,digitalSignature"},
                         {"extendedKeyUsage", "clientAuth"},
                         {"subjectKeyIdentifier", "hash"},
                         {"authorityKeyIdentifier", "keyid"},
                         {"subjectAltName", "URI:" + SpiffeId::Node(Cluster(), Uuid()).Uri()}},
          .not_before = Noon() - std::chrono::minutes(5),
          .not_after = Noon() + std::chrono::hours(24)};
}

Forging With(Forging one, const std::string& name, const std::string& value) {
  std::erase_if(one.extensions, [&](const auto& extension) { return extension.first == name; });
  if (!value.empty()) one.extensions.emplace_back(name, value);
  return one;
}

std::string ForgeDer(const Issuer& ca, const PublicKey& key, const Forging& words) {
  const std::unique_ptr<X509, decltype(&X509_free)> x509(X509_new(), &X509_free);
  X509_set_version(x509.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(x509.get()), 4711);
  ASN1_TIME_set(X509_getm_notBefore(x509.get()), std::chrono::system_clock::to_time_t(words.not_before));
  ASN1_TIME_set(X509_getm_notAfter(x509.get()), std::chrono::system_clock::to_time_t(words.not_after));
  X509* signer = ca.certificate().handle();
  X509_set_issuer_name(x509.get(), X509_get_subject_name(signer));
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x509.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("forged"), -1, -1, 0);
  X509_set_pubkey(x509.get(), key.handle());
  X509V3_CTX context;
  X509V3_set_ctx(&context, signer, x509.get(), nullptr, nullptr, 0);
  for (const auto& [name, value] : words.extensions) {
    const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> extension(
        X509V3_EXT_nconf(nullptr, &context, name.c_str(), value.c_str()), &X509_EXTENSION_free);
    if (extension == nullptr || X509_add_ext(x509.get(), extension.get(), -1) != 1) {
      ADD_FAILURE() << "OpenSSL does not make " << name << " = " << value;
      return {};
    }
  }
  if (X509_sign(x509.get(), ca.key().handle(), EVP_get_digestbyname(words.digest)) <= 0)
    ADD_FAILURE() << "OpenSSL does not sign with " << words.digest;
  unsigned char* out = nullptr;
  const int size = i2d_X509(x509.get(), &out);
  const std::string der(reinterpret_cast<const char*>(out), static_cast<std::size_t>(std::max(size, 0)));
  OPENSSL_free(out);
  return der;
}

Certificate Forge(const Forging& words) {
  return Must(Certificate::FromDer(ForgeDer(Root(), NodeKey(), words)));
}

}  // namespace railwright::identity
