#include "core/identity/verify.h"

#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <string_view>

#include "core/identity/openssl.h"
#include "core/identity/time_words.h"
#include "railwright/utf8.h"

namespace railwright::identity {
namespace {

constexpr std::string_view kServerAuth = "1.3.6.1.5.5.7.3.1", kClientAuth = "1.3.6.1.5.5.7.3.2",
                           kAnyPurpose = "2.5.29.37.0";
constexpr int kMostCasBetween = 1;
// OpenSSL's level of at least 112 bits: no SHA-1, no short keys.
constexpr int kSecurityLevel = 2;

Status No(const std::string& why) { return Status(Code::kUnauthenticated, why); }

std::string Called(const Certificate& one) {
  const std::string name = one.uris().empty() ? one.subject() : one.uris().front();
  return (one.is_ca() ? "the CA's certificate " + one.pin().Text()
                      : "the certificate of " + Brief(name, 160)) +
         " (serial " + one.serial() + ")";
}

std::string Listed(const std::vector<Certificate>& roots) {
  std::string text;
  for (const Certificate& one : roots) text += (text.empty() ? "" : ", ") + one.pin().Text();
  return text;
}

std::string PurposesOf(const Certificate& one) {
  std::string text;
  for (const std::string& oid : one.extended_key_usage()) {
    const std::string_view word = oid == kServerAuth   ? "serverAuth"
                                  : oid == kClientAuth ? "clientAuth"
                                  : oid == kAnyPurpose ? "anyExtendedKeyUsage"
                                                       : std::string_view(oid);
    text += (text.empty() ? "" : ", ") + std::string(word);
  }
  return text.empty() ? "none" : text;
}

std::string_view Wanted(Purpose purpose) { return purpose == Purpose::kServer ? "serverAuth" : "clientAuth"; }

Status WrongPurpose(const Certificate& one, Purpose purpose) {
  return No(Called(one) + ": wrong purpose: it is for " + PurposesOf(one) + ", and must be for " +
            std::string(Wanted(purpose)) + " and nothing else");
}

Status CheckLeaf(const Certificate& leaf, Purpose purpose) {
  if (leaf.is_ca()) return No(Called(leaf) + ": malformed: a CA's certificate is nobody's own");
  if (leaf.key_usage() != KU_DIGITAL_SIGNATURE)
    return No(Called(leaf) + ": malformed: its keyUsage is not digitalSignature alone");
  const auto& purposes = leaf.extended_key_usage();
  if (purposes.size() != 1 || purposes.front() != (purpose == Purpose::kServer ? kServerAuth : kClientAuth))
    return WrongPurpose(leaf, purpose);
  if (leaf.uris().size() != 1)
    return No(Called(leaf) + ": malformed: it has " + std::to_string(leaf.uris().size()) +
              " URI names, and must have one (X509-SVID §2)");
  return Ok();
}

// The certificate among ours that OpenSSL stopped at.
const Certificate& At(const X509* stopped, const std::vector<Certificate>& chain,
                      const std::vector<Certificate>& roots) {
  for (const auto* list : {&chain, &roots})
    for (const Certificate& one : *list)
      if (stopped != nullptr && X509_cmp(one.handle(), stopped) == 0) return one;
  return chain.front();
}

Status Refused(const X509_STORE_CTX* context, const std::vector<Certificate>& chain,
               const std::vector<Certificate>& roots, const Expected& expected, Time now) {
  const int error = X509_STORE_CTX_get_error(context);
  const Certificate& at = At(X509_STORE_CTX_get_current_cert(context), chain, roots);
  const std::string clock = "; this clock says " + Utc(now);
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return No(Called(at) + " expired " + Span(now - at.not_after()) + " ago, at " + Utc(at.not_after()) +
                clock);
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return No(Called(at) + " is not valid before " + Utc(at.not_before()) + ", in " +
                Span(at.not_before() - now) +
                ": this clock is behind by that or more, or the CA's was ahead" + clock);
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_CERT_UNTRUSTED:
      return No(Called(at) + ": wrong CA: signed by " +
                (at.issuer_pin() ? at.issuer_pin()->Text() : "\"" + Brief(at.issuer(), 160) + "\"") +
                ", trusted: " + Listed(roots));
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
    case X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE:
      return No(Called(at) + ": its signature is not that of " +
                (at.issuer_pin() ? at.issuer_pin()->Text() : "the CA that it names") +
                ": changed after it was signed, or forged");
    case X509_V_ERR_INVALID_PURPOSE:
      if (at == chain.front()) RW_RETURN_IF_ERROR(CheckLeaf(at, expected.purpose));
      break;
    default: break;
  }
  return No(Called(at) + ": malformed: " + X509_verify_cert_error_string(error));
}

Result<Peer> WhoIs(const Certificate& leaf, const Certificate& root, const Expected& expected) {
  auto id = SpiffeId::Parse(leaf.uris().front());
  if (!id.ok()) return No(Called(leaf) + ": malformed: " + id.status().message());
  if (id->cluster() != expected.cluster)
    return No(Called(leaf) + ": wrong cluster: " + id->cluster().text() + ", and must be " +
              expected.cluster.text());
  if ((id->party() == Party::kController) != (expected.purpose == Purpose::kServer))
    return No(Called(leaf) + ": wrong purpose: a " + std::string(Name(id->party())) + " is not for " +
              std::string(Wanted(expected.purpose)));
  if ((id->party() == Party::kOperator) != leaf.authority().has_value())
    return No(Called(leaf) + ": malformed: " +
              (leaf.authority() ? "only an operator has an authority" : "an operator without an authority"));
  if (expected.dialled && !leaf.IsFor(*expected.dialled))
    return No(Called(leaf) + ": wrong name: it is not for " + expected.dialled->text());
  std::optional<Authority> authority;
  if (leaf.authority()) {
    auto parsed = Authority::Parse(*leaf.authority());
    if (!parsed.ok()) return No(Called(leaf) + ": malformed: " + parsed.status().message());
    authority = std::move(parsed).value();
  }
  return Peer{.id = std::move(id).value(),
              .authority = std::move(authority),
              .serial = leaf.serial(),
              .pin = leaf.pin(),
              .root = root.pin(),
              .not_after = leaf.not_after()};
}

void FreeList(STACK_OF(X509) * list) { sk_X509_free(list); }  // the list only: the certificates are ours

}  // namespace

Result<Peer> Verify(const std::vector<Certificate>& chain, const std::vector<Certificate>& roots,
                    const Expected& expected, Time now) {
  if (roots.empty())
    return Status(Code::kFailedPrecondition, "no CA is trusted: there is nothing to verify against");
  if (chain.empty()) return No("no certificate was presented");
  if (chain.size() > Certificate::kMostInChain)
    return No("malformed: a chain of " + std::to_string(chain.size()) + " certificates; at most " +
              std::to_string(Certificate::kMostInChain));
  const ErrorScope errors;
  const std::unique_ptr<X509_STORE, FreedBy<X509_STORE_free>> store(X509_STORE_new());
  const std::unique_ptr<X509_STORE_CTX, FreedBy<X509_STORE_CTX_free>> context(X509_STORE_CTX_new());
  const std::unique_ptr<STACK_OF(X509), FreedBy<FreeList>> between(sk_X509_new_null());
  bool ready = store != nullptr && context != nullptr && between != nullptr;
  for (const Certificate& one : roots) ready = ready && X509_STORE_add_cert(store.get(), one.handle()) == 1;
  for (std::size_t i = 1; i < chain.size(); ++i)
    ready = ready && sk_X509_push(between.get(), chain[i].handle()) > 0;
  ready =
      ready && X509_STORE_CTX_init(context.get(), store.get(), chain.front().handle(), between.get()) == 1;
  if (!ready) return errors.Failure("preparing to verify a certificate");
  X509_VERIFY_PARAM* terms = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_time(
      terms, std::chrono::system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(now)));
  X509_VERIFY_PARAM_set_depth(terms, kMostCasBetween);
  X509_VERIFY_PARAM_set_auth_level(terms, kSecurityLevel);
  if (X509_VERIFY_PARAM_set_flags(terms, X509_V_FLAG_X509_STRICT) != 1 ||
      X509_VERIFY_PARAM_set_purpose(
          terms, expected.purpose == Purpose::kServer ? X509_PURPOSE_SSL_SERVER : X509_PURPOSE_SSL_CLIENT) !=
          1)
    return errors.Failure("preparing to verify a certificate");
  if (X509_verify_cert(context.get()) != 1) return Refused(context.get(), chain, roots, expected, now);

  const STACK_OF(X509)* used = X509_STORE_CTX_get0_chain(context.get());
  for (int i = 0; i < sk_X509_num(used); ++i)
    if (X509_get_signature_nid(sk_X509_value(used, i)) != NID_ecdsa_with_SHA256)
      return No(Called(At(sk_X509_value(used, i), chain, roots)) +
                ": malformed: its signature is not ECDSA with SHA-256");
  RW_RETURN_IF_ERROR(CheckLeaf(chain.front(), expected.purpose));
  return WhoIs(chain.front(), At(sk_X509_value(used, sk_X509_num(used) - 1), roots, roots), expected);
}

}  // namespace railwright::identity
