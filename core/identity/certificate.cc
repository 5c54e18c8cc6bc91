#include "core/identity/certificate.h"

#include <openssl/bn.h>
#include <openssl/x509.h>

#include <algorithm>
#include <ctime>

#include "core/identity/authority.h"
#include "core/identity/openssl.h"
#include "core/identity/pem.h"
#include "railwright/unix_time.h"

namespace railwright::identity {
namespace {

Status Bad(std::string_view why) {
  return Status(Code::kInvalidArgument, "not a certificate that is used here: " + std::string(why));
}

std::string BytesOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

// What lies beyond the clock ("99991231235959Z") becomes its end: only messages use these values, the
// verification itself compares ASN.1 times.
std::optional<Time> TimeOf(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return std::nullopt;
  const std::chrono::sys_days day =
      std::chrono::year(parts.tm_year + 1900) / (parts.tm_mon + 1) / parts.tm_mday;
  const std::int64_t seconds = std::int64_t{day.time_since_epoch().count()} * 86400 + parts.tm_hour * 3600 +
                               parts.tm_min * 60 + parts.tm_sec;
  return NearestToUnixMicros(seconds * 1000000);
}

std::string NameText(const X509_NAME* name) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_RFC2253) < 0) return {};
  char* out = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &out);
  return {out, static_cast<std::size_t>(size)};
}

std::string OidText(const ASN1_OBJECT* object) {
  std::string text(128, '\0');
  const int size = OBJ_obj2txt(text.data(), static_cast<int>(text.size()), object, 1);
  text.resize(size > 0 ? std::min(static_cast<std::size_t>(size), text.size() - 1) : 0);
  return text;
}

// An extension decoded: none when it is not there, InvalidArgument when it is there twice or damaged.
template <class T, auto free_it>
Result<std::unique_ptr<T, FreedBy<free_it>>> Extension(const X509* x509, int nid, std::string_view name) {
  int critical = 0;
  std::unique_ptr<T, FreedBy<free_it>> value(
      static_cast<T*>(X509_get_ext_d2i(x509, nid, &critical, nullptr)));
  if (value == nullptr && critical != -1)
    return Bad(std::string(name) + (critical == -2 ? " is there twice" : " is damaged"));
  return value;
}

void FreeUsages(EXTENDED_KEY_USAGE* usages) { EXTENDED_KEY_USAGE_free(usages); }
void FreeNames(GENERAL_NAMES* names) { GENERAL_NAMES_free(names); }

Result<std::optional<std::string>> AuthorityOf(const X509* x509) {
  const std::unique_ptr<ASN1_OBJECT, FreedBy<ASN1_OBJECT_free>> oid(OBJ_txt2obj(Authority::kOid, 1));
  if (oid == nullptr) return Status(Code::kInternal, "the OID of authority is not understood");
  const int at = X509_get_ext_by_OBJ(x509, oid.get(), -1);
  if (at < 0) return std::optional<std::string>();
  if (X509_get_ext_by_OBJ(x509, oid.get(), at) >= 0) return Bad("the authority is there twice");
  const std::string value = BytesOf(X509_EXTENSION_get_data(X509_get_ext(x509, at)));
  const unsigned char* next = Unsigned(value);
  const std::unique_ptr<ASN1_UTF8STRING, FreedBy<ASN1_UTF8STRING_free>> text(
      d2i_ASN1_UTF8STRING(nullptr, &next, static_cast<long>(value.size())));
  if (text == nullptr || next != Unsigned(value) + value.size()) return Bad("the authority is damaged");
  return std::optional(BytesOf(text.get()));
}

}  // namespace

Status Certificate::ReadExtensions(Facts& facts) {
  const X509* x509 = facts.x509.get();
  RW_ASSIGN_OR_RETURN(const auto basic, (Extension<BASIC_CONSTRAINTS, BASIC_CONSTRAINTS_free>(
                                            x509, NID_basic_constraints, "basicConstraints")));
  facts.ca = basic != nullptr && basic->ca != 0;

  RW_ASSIGN_OR_RETURN(const auto usage,
                      (Extension<ASN1_BIT_STRING, ASN1_BIT_STRING_free>(x509, NID_key_usage, "keyUsage")));
  if (usage != nullptr) {
    const std::string bits = BytesOf(usage.get());
    facts.key_usage = 0U;
    for (std::size_t i = 0; i < bits.size() && i < 2; ++i)
      *facts.key_usage |= static_cast<unsigned>(static_cast<unsigned char>(bits[i])) << (8 * i);
  }

  RW_ASSIGN_OR_RETURN(const auto purposes, (Extension<EXTENDED_KEY_USAGE, FreeUsages>(x509, NID_ext_key_usage,
                                                                                      "extendedKeyUsage")));
  for (int i = 0; i < sk_ASN1_OBJECT_num(purposes.get()); ++i)
    facts.extended_key_usage.push_back(OidText(sk_ASN1_OBJECT_value(purposes.get(), i)));

  RW_ASSIGN_OR_RETURN(const auto names,
                      (Extension<GENERAL_NAMES, FreeNames>(x509, NID_subject_alt_name, "subjectAltName")));
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    switch (name->type) {
      case GEN_URI: facts.uris.push_back(BytesOf(name->d.uniformResourceIdentifier)); break;
      case GEN_DNS: facts.dns_names.push_back(BytesOf(name->d.dNSName)); break;
      case GEN_IPADD: facts.addresses.push_back(BytesOf(name->d.iPAddress)); break;
      default: return Bad("a subjectAltName other than URI, DNS and IP");
    }
  }

  RW_ASSIGN_OR_RETURN(const auto signer, (Extension<AUTHORITY_KEYID, AUTHORITY_KEYID_free>(
                                             x509, NID_authority_key_identifier, "authorityKeyIdentifier")));
  if (signer != nullptr && signer->keyid != nullptr) {
    const std::string id = BytesOf(signer->keyid);
    if (Digest digest{}; id.size() == digest.size()) {
      std::copy(id.begin(), id.end(), digest.begin());
      facts.issuer_pin = Pin(digest);
    }
  }
  RW_ASSIGN_OR_RETURN(facts.authority, AuthorityOf(x509));
  return Ok();
}

Result<Certificate> Certificate::FromDer(std::string_view der) {
  const ErrorScope errors;
  if (der.size() > kMostBytes)
    return Bad(std::to_string(der.size()) + " bytes; at most " + std::to_string(kMostBytes) + " are read");
  const unsigned char* at = Unsigned(der);
  const std::shared_ptr<X509> x509(d2i_X509(nullptr, &at, static_cast<long>(der.size())), &X509_free);
  if (x509 == nullptr) return Bad("its bytes are damaged");
  if (at != Unsigned(der) + der.size()) return Bad("there is something behind it");
  // BER would let one certificate have many spellings, of which a deny-list knows one.
  if (DerOf(x509.get(), i2d_X509) != der) return Bad("it is not in DER");
  if (X509_get_version(x509.get()) != X509_VERSION_3) return Bad("it is not of version 3");
  auto key = PublicKey::FromDer(DerOf(X509_get_X509_PUBKEY(x509.get()), i2d_X509_PUBKEY));
  if (!key.ok()) return Bad(key.status().message());
  if (key->kind() != KeyKind::kP256) return Bad("its key is not P-256");
  const auto from = TimeOf(X509_get0_notBefore(x509.get())), to = TimeOf(X509_get0_notAfter(x509.get()));
  if (!from || !to) return Bad("its times are damaged");
  const BigNumber serial(ASN1_INTEGER_to_BN(X509_get0_serialNumber(x509.get()), nullptr));
  if (serial == nullptr || BN_is_negative(serial.get()) || BN_is_zero(serial.get()) ||
      BN_num_bytes(serial.get()) > 20)
    return Bad("its serial number is not 1 to 20 bytes of a positive number (RFC 5280 §4.1.2.2)");
  std::string number(static_cast<std::size_t>(BN_num_bytes(serial.get())), '\0');
  BN_bn2bin(serial.get(), reinterpret_cast<unsigned char*>(number.data()));

  auto facts = std::make_shared<Facts>(Facts{.x509 = x509,
                                             .key = std::move(key).value(),
                                             .der = std::string(der),
                                             .serial = Hex(number),
                                             .subject = NameText(X509_get_subject_name(x509.get())),
                                             .issuer = NameText(X509_get_issuer_name(x509.get())),
                                             .not_before = *from,
                                             .not_after = *to,
                                             .issuer_pin = {},
                                             .uris = {},
                                             .dns_names = {},
                                             .addresses = {},
                                             .extended_key_usage = {},
                                             .key_usage = {},
                                             .authority = {}});
  RW_RETURN_IF_ERROR(ReadExtensions(*facts));
  return Certificate(std::move(facts));
}

Result<Certificate> Certificate::FromPem(std::string_view pem) {
  RW_ASSIGN_OR_RETURN(const auto blocks,
                      ReadPem(pem, {.label = "CERTIFICATE", .blocks = 1, .bytes = kMostPemBytes}));
  return FromDer(blocks.front().Reveal());
}

Result<std::vector<Certificate>> Certificate::ChainFromPem(std::string_view pem) {
  RW_ASSIGN_OR_RETURN(const auto blocks,
                      ReadPem(pem, {.label = "CERTIFICATE", .blocks = kMostInChain, .bytes = kMostPemBytes}));
  std::vector<Certificate> chain;
  for (const Secret& block : blocks) {
    auto one = FromDer(block.Reveal());
    if (!one.ok()) return one.status().Within("certificate " + std::to_string(chain.size() + 1));
    chain.push_back(std::move(one).value());
  }
  return chain;
}

std::string Certificate::ToPem() const {
  const auto pem = WritePem("CERTIFICATE", der());
  return pem.ok() ? std::string(pem->Reveal()) : std::string();
}

std::string Certificate::ChainToPem(const std::vector<Certificate>& chain) {
  std::string pem;
  for (const Certificate& one : chain) pem += one.ToPem();
  return pem;
}

bool Certificate::IsFor(const ServerName& name) const {
  const auto& names = name.is_address() ? addresses() : dns_names();
  return std::find(names.begin(), names.end(), name.is_address() ? name.address() : name.text()) !=
         names.end();
}

Result<Certificate> PinnedCa(const std::vector<Certificate>& chain, const Pin& pin) {
  std::string seen;
  for (const Certificate& one : chain) {
    if (!one.is_ca()) continue;
    if (one.pin() == pin) return one;
    seen += (seen.empty() ? "" : ", ") + one.pin().Text();
  }
  return Status(Code::kUnauthenticated, "no CA with the pin " + pin.Text() + " is in the chain; " +
                                            (seen.empty() ? "it has no CA at all" : "it has " + seen));
}

}  // namespace railwright::identity
