// Certificates. First byte: 'p' the PEM of a chain, a line "====", the PEM of a bundle; 'd' the DER of a leaf
// that is signed here by a CA of this file, so that what stands behind a signature is reached.
#include "core/identity/certificate.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "core/identity/issuer.h"
#include "core/identity/verify.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;
using namespace railwright::identity;

namespace {

// A key of this file only.
constexpr std::string_view kKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg/Fp6BZV1J6PbDw5o\n"
    "HrfjHoVPem6eF4s9/L4fwWwnDQihRANCAARyQFXNOlvdwdM6sbL709eLEW8odEoT\n"
    "nxuqnsqFWF44yxwTousiO0rPJ/23Z+l4DayIszkNMDLdVc/RttHPJ1pm\n"
    "-----END PRIVATE KEY-----\n";

struct World {
  Time now{std::chrono::seconds(1796119200)};
  ClusterName cluster = *ClusterName::Parse("pod-a");
  Issuer ca =
      std::move(Issuer::SelfSigned(cluster, std::move(PrivateKey::FromPem(kKey)).value(), now)).value();
};

const World& Here() {
  static const World world;
  return world;
}

void Judged(const std::vector<Certificate>& chain, const std::vector<Certificate>& roots,
            std::string_view bytes) {
  for (const Purpose purpose : {Purpose::kClient, Purpose::kServer}) {
    const auto peer = Verify(chain, roots, {.cluster = Here().cluster, .purpose = purpose}, Here().now);
    if (!peer.ok()) {
      ALWAYS(peer.status().code() == Code::kUnauthenticated, bytes, peer.status().ToString());
      continue;
    }
    const Certificate& leaf = chain.front();
    ALWAYS(!leaf.is_ca() && leaf.uris().size() == 1 && leaf.uris().front() == peer->id.Uri(), bytes);
    ALWAYS(leaf.extended_key_usage().size() == 1, bytes);
    ALWAYS(peer->id.cluster() == Here().cluster, bytes);
    ALWAYS((peer->id.party() == Party::kController) == (purpose == Purpose::kServer), bytes);
    ALWAYS((peer->id.party() == Party::kOperator) == peer->authority.has_value(), bytes);
    ALWAYS(leaf.not_before() <= Here().now && Here().now < leaf.not_after(), bytes);
  }
}

void Chain(fuzz::Input& input) {
  const std::string_view first = input.Part(), second = input.Rest();
  const auto chain = Certificate::ChainFromPem(first), roots = Certificate::ChainFromPem(second);
  for (const auto* list : {&chain, &roots}) {
    if (!list->ok()) {
      ALWAYS(list->status().code() == Code::kInvalidArgument, first, list->status().ToString());
      continue;
    }
    const auto again = Certificate::ChainFromPem(Certificate::ChainToPem(**list));
    ALWAYS(again.ok() && *again == **list, first, second);
  }
  if (chain.ok() && roots.ok()) Judged(*chain, *roots, first);
}

// What OpenSSL makes of the bytes, under our CA's signature.
std::string Signed(std::string_view der) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  X509* x509 = d2i_X509(nullptr, &at, static_cast<long>(der.size()));
  std::string bytes;
  unsigned char* out = nullptr;
  if (x509 != nullptr &&
      X509_set_issuer_name(x509, X509_get_subject_name(Here().ca.certificate().handle())) == 1 &&
      X509_sign(x509, Here().ca.key().handle(), EVP_sha256()) > 0) {
    const int size = i2d_X509(x509, &out);
    if (size > 0) bytes.assign(reinterpret_cast<const char*>(out), static_cast<std::size_t>(size));
  }
  OPENSSL_free(out);
  X509_free(x509);
  return bytes;
}

void Leaf(std::string_view der) {
  for (const std::string& bytes : {std::string(der), Signed(der)}) {
    const auto one = Certificate::FromDer(bytes);
    if (!one.ok()) {
      ALWAYS(one.status().code() == Code::kInvalidArgument, bytes);
      continue;
    }
    ALWAYS(one->der() == bytes && !one->serial().empty() && one->serial().size() <= 40, bytes);
    Judged({*one}, {Here().ca.certificate()}, bytes);
    if (one->authority())
      if (const auto authority = Authority::Parse(*one->authority()); authority.ok())
        ALWAYS(authority->Text() == *one->authority(), bytes, authority->Text());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  if (input.Byte() == 'p')
    Chain(input);
  else
    Leaf(input.Rest());
  return 0;
}
