#include "core/identity/issuer.h"

#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/identity/openssl.h"
#include "core/identity/time_words.h"

namespace railwright::identity {
namespace {

constexpr std::size_t kMostServerNames = 32;
constexpr std::size_t kSerialBytes = 16;

// keyUsage's named bits, first bit highest (RFC 5280 §4.2.1.3).
constexpr int kDigitalSignature = 0, kCertSign = 5, kCrlSign = 6;

// What one certificate says; the Writer adds what all have.
struct Words {
  std::string common_name;  // for people
  std::string uri;
  std::vector<ServerName> servers;
  int purpose = 0;       // NID of the one extended key usage; 0 for a CA
  int path_length = -1;  // of a CA; -1 for a leaf
  std::string authority;
  Time not_before, not_after;
};

// OpenSSL's calls chained: the first that fails stops all, and Done says so once.
class Writer {
 public:
  Writer() : x509_(X509_new()) {
    good_ = x509_ != nullptr && X509_set_version(x509_.get(), X509_VERSION_3) == 1;
  }

  void Serial(const std::array<std::uint8_t, kSerialBytes>& bytes) {
    const BigNumber number(BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr));
    Need(number != nullptr &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(x509_.get())) != nullptr);
  }
  void Times(Time not_before, Time not_after) {
    const auto set = [&](Time at, auto put) {
      // UTCTime to 2049, GeneralizedTime from 2050 (RFC 5280 §4.1.2.5).
      const Asn1Time time(ASN1_TIME_set(nullptr, std::chrono::system_clock::to_time_t(at)));
      Need(time != nullptr && put(x509_.get(), time.get()) == 1);
    };
    set(not_before, X509_set1_notBefore);
    set(not_after, X509_set1_notAfter);
  }
  void Subject(const std::string& organization, const std::string& common_name) {
    X509_NAME* name = X509_get_subject_name(x509_.get());
    const auto add = [&](int nid, const std::string& text) {
      Need(X509_NAME_add_entry_by_NID(name, nid, MBSTRING_UTF8, Unsigned(text), static_cast<int>(text.size()),
                                      -1, 0) == 1);
    };
    add(NID_organizationName, organization);
    add(NID_commonName, common_name);
  }
  void Issuer(const X509* ca) {
    Need(X509_set_issuer_name(x509_.get(), X509_get_subject_name(ca != nullptr ? ca : x509_.get())) == 1);
  }
  void Key(const PublicKey& key) {
    Need(X509_set_pubkey(x509_.get(), key.handle()) == 1);
    const std::unique_ptr<ASN1_OCTET_STRING, FreedBy<ASN1_OCTET_STRING_free>> id(
        Octets(Bytes(key.pin().digest())));
    Extension(NID_subject_key_identifier, id.get(), false);
  }
  void SignedBy(const Pin& ca) {
    const std::unique_ptr<AUTHORITY_KEYID, FreedBy<AUTHORITY_KEYID_free>> id(AUTHORITY_KEYID_new());
    if (!Need(id != nullptr)) return;
    id->keyid = Octets(Bytes(ca.digest()));
    Extension(NID_authority_key_identifier, id.get(), false);
  }
  void Ca(int path_length) {
    const std::unique_ptr<BASIC_CONSTRAINTS, FreedBy<BASIC_CONSTRAINTS_free>> basic(BASIC_CONSTRAINTS_new());
    if (!Need(basic != nullptr)) return;
    if (path_length >= 0) {
      basic->ca = 0xff;
      basic->pathlen = ASN1_INTEGER_new();
      Need(basic->pathlen != nullptr && ASN1_INTEGER_set(basic->pathlen, path_length) == 1);
    }
    Extension(NID_basic_constraints, basic.get(), true);
  }
  void Usage(std::initializer_list<int> bits) {
    const std::unique_ptr<ASN1_BIT_STRING, FreedBy<ASN1_BIT_STRING_free>> usage(ASN1_BIT_STRING_new());
    for (const int bit : bits) Need(usage != nullptr && ASN1_BIT_STRING_set_bit(usage.get(), bit, 1) == 1);
    Extension(NID_key_usage, usage.get(), true);
  }
  void Purpose(int nid) {
    const std::unique_ptr<EXTENDED_KEY_USAGE, FreedBy<FreePurposes>> purposes(EXTENDED_KEY_USAGE_new());
    Need(purposes != nullptr && sk_ASN1_OBJECT_push(purposes.get(), OBJ_nid2obj(nid)) > 0);
    Extension(NID_ext_key_usage, purposes.get(), false);
  }
  void Names(const std::string& uri, const std::vector<ServerName>& servers) {
    const std::unique_ptr<GENERAL_NAMES, FreedBy<FreeNames>> names(GENERAL_NAMES_new());
    const auto add = [&](int type, const std::string& bytes) {
      std::unique_ptr<GENERAL_NAME, FreedBy<GENERAL_NAME_free>> name(GENERAL_NAME_new());
      ASN1_STRING* text = ASN1_STRING_type_new(type == GEN_IPADD ? V_ASN1_OCTET_STRING : V_ASN1_IA5STRING);
      if (!Need(name != nullptr && text != nullptr &&
                ASN1_STRING_set(text, bytes.data(), static_cast<int>(bytes.size())) == 1)) {
        ASN1_STRING_free(text);
        return;
      }
      GENERAL_NAME_set0_value(name.get(), type, text);
      if (Need(names != nullptr && sk_GENERAL_NAME_push(names.get(), name.get()) > 0)) (void)name.release();
    };
    add(GEN_URI, uri);
    for (const ServerName& one : servers)
      one.is_address() ? add(GEN_IPADD, one.address()) : add(GEN_DNS, one.text());
    Extension(NID_subject_alt_name, names.get(), false);
  }
  void Authority(const std::string& text) {
    const std::unique_ptr<ASN1_OBJECT, FreedBy<ASN1_OBJECT_free>> oid(
        OBJ_txt2obj(identity::Authority::kOid, 1));
    const std::unique_ptr<ASN1_UTF8STRING, FreedBy<ASN1_UTF8STRING_free>> value(ASN1_UTF8STRING_new());
    if (!Need(oid != nullptr && value != nullptr &&
              ASN1_STRING_set(value.get(), text.data(), static_cast<int>(text.size())) == 1))
      return;
    const std::unique_ptr<ASN1_OCTET_STRING, FreedBy<ASN1_OCTET_STRING_free>> der(
        Octets(DerOf(value.get(), i2d_ASN1_UTF8STRING)));
    // Not critical: verifiers that do not know it (TLS libraries) would refuse the certificate. Ours refuses
    // an operator's certificate without it.
    const std::unique_ptr<X509_EXTENSION, FreedBy<X509_EXTENSION_free>> extension(
        X509_EXTENSION_create_by_OBJ(nullptr, oid.get(), 0, der.get()));
    Need(extension != nullptr && X509_add_ext(x509_.get(), extension.get(), -1) == 1);
  }
  Result<Certificate> Done(const PrivateKey& key, const ErrorScope& errors) {
    if (!Need(good_ && X509_sign(x509_.get(), key.handle(), EVP_sha256()) > 0))
      return errors.Failure("making a certificate");
    return Certificate::FromDer(DerOf(x509_.get(), i2d_X509));
  }

 private:
  static void FreePurposes(EXTENDED_KEY_USAGE* purposes) { EXTENDED_KEY_USAGE_free(purposes); }
  static void FreeNames(GENERAL_NAMES* names) { GENERAL_NAMES_free(names); }

  bool Need(bool fine) { return good_ = good_ && fine; }
  ASN1_OCTET_STRING* Octets(std::string_view bytes) {
    ASN1_OCTET_STRING* text = ASN1_OCTET_STRING_new();
    Need(text != nullptr && !bytes.empty() &&
         ASN1_OCTET_STRING_set(text, Unsigned(bytes), static_cast<int>(bytes.size())) == 1);
    return text;
  }
  void Extension(int nid, void* value, bool critical) {
    Need(good_ && X509_add1_ext_i2d(x509_.get(), nid, value, critical ? 1 : 0, X509V3_ADD_DEFAULT) == 1);
  }

  X509Handle x509_;
  bool good_ = false;
};

// `ca` null: the key signs itself.
Result<Certificate> Write(const ClusterName& cluster, const PublicKey& subject, const Certificate* ca,
                          const PrivateKey& signer, const Words& words, const RandomSource& random) {
  if (subject.kind() != KeyKind::kP256)
    return Status(Code::kInvalidArgument,
                  "certificates are for P-256 keys, this is " + std::string(Name(subject.kind())));
  std::array<std::uint8_t, kSerialBytes> serial{};
  RW_RETURN_IF_ERROR(random(serial));
  if (std::all_of(serial.begin(), serial.end(), [](std::uint8_t byte) { return byte == 0; }))
    return Status(Code::kInternal, "the random source gives zeros");
  const ErrorScope errors;
  Writer writer;
  writer.Serial(serial);
  writer.Times(words.not_before, words.not_after);
  writer.Subject(cluster.text(), words.common_name);
  writer.Issuer(ca != nullptr ? ca->handle() : nullptr);
  writer.Key(subject);
  writer.SignedBy(signer.public_key().pin());
  writer.Ca(words.path_length);
  if (words.path_length >= 0)
    writer.Usage({kCertSign, kCrlSign});
  else
    writer.Usage({kDigitalSignature});
  if (words.purpose != 0) writer.Purpose(words.purpose);
  writer.Names(words.uri, words.servers);
  if (!words.authority.empty()) writer.Authority(words.authority);
  return writer.Done(signer, errors);
}

// Roots of one cluster have different names, so that a bundle of two is searched by the right one.
std::string CaName(const PublicKey& key) { return "Railwright CA " + Hex(key.pin().digest()).substr(0, 16); }

Status CheckLifetime(Lifetime asked, Lifetime most, std::string_view what) {
  if (asked >= std::chrono::minutes(1) && asked <= most) return Ok();
  return Status(Code::kInvalidArgument, std::string(what) + " lives 1 min to " + Span(most) + ", not " +
                                            (asked < Lifetime::zero() ? "a negative time" : Span(asked)));
}

// The certificate's times: whole seconds, begun in the past, and within the CA's.
Status SetTimes(const Certificate& ca, Time now, Lifetime lifetime, Words& words) {
  if (now < ca.not_before() || now >= ca.not_after())
    return Status(Code::kFailedPrecondition, "the CA " + ca.pin().Text() + " is valid from " +
                                                 Utc(ca.not_before()) + " to " + Utc(ca.not_after()) +
                                                 ", it is " + Utc(now));
  const auto second = std::chrono::floor<std::chrono::seconds>(now);
  words.not_before = std::max<Time>(second - kBackdated, ca.not_before());
  words.not_after = std::min<Time>(second + lifetime, ca.not_after());
  return Ok();
}

}  // namespace

Result<Issuer> Issuer::SelfSigned(const ClusterName& cluster, PrivateKey key, Time now, CaTerms terms,
                                  const RandomSource& random) {
  constexpr Lifetime kMost = std::chrono::hours(20 * 365 * 24);
  RW_RETURN_IF_ERROR(CheckLifetime(terms.lifetime, kMost, "a CA"));
  if (terms.path_length != 0 && terms.path_length != 1)
    return Status(Code::kInvalidArgument,
                  "a CA's path length is 0 or 1, not " + std::to_string(terms.path_length));
  const auto second = std::chrono::floor<std::chrono::seconds>(now);
  const Words words{.common_name = CaName(key.public_key()),
                    .uri = TrustDomainUri(cluster),
                    .servers = {},
                    .path_length = terms.path_length,
                    .authority = {},
                    .not_before = second - kBackdated,
                    .not_after = second + terms.lifetime};
  RW_ASSIGN_OR_RETURN(auto ca, Write(cluster, key.public_key(), nullptr, key, words, random));
  return Issuer(cluster, std::move(ca), std::move(key));
}

Result<Issuer> Issuer::From(Certificate ca, PrivateKey key) {
  if (!(ca.public_key() == key.public_key()))
    return Status(Code::kInvalidArgument, "the CA's certificate is of the key " + ca.pin().Text() +
                                              ", the key is " + key.public_key().pin().Text());
  if (!ca.is_ca() || ca.uris().size() != 1)
    return Status(Code::kInvalidArgument, "the certificate is not that of a CA of a cluster");
  auto cluster = ParseTrustDomainUri(ca.uris().front());
  if (!cluster.ok()) return cluster.status().Within("the CA's certificate");
  return Issuer(std::move(cluster).value(), std::move(ca), std::move(key));
}

Result<Certificate> Issuer::IssuingCa(const PublicKey& key, Time now, Lifetime lifetime,
                                      const RandomSource& random) const {
  RW_RETURN_IF_ERROR(CheckLifetime(lifetime, kCaLifetime, "an issuing CA"));
  if (X509_get_pathlen(ca_.handle()) < 1)
    return Status(Code::kFailedPrecondition, "the CA " + ca_.pin().Text() + " may have no CA below it");
  Words words{.common_name = CaName(key),
              .uri = TrustDomainUri(cluster_),
              .servers = {},
              .path_length = 0,
              .authority = {},
              .not_before = {},
              .not_after = {}};
  RW_RETURN_IF_ERROR(SetTimes(ca_, now, lifetime, words));
  return Write(cluster_, key, &ca_, key_, words, random);
}

Result<Certificate> Issuer::Node(const PublicKey& key, const NodeUuid& node, Time now, Lifetime lifetime,
                                 const RandomSource& random) const {
  RW_RETURN_IF_ERROR(CheckLifetime(lifetime, kMostLeafLifetime, "a node's certificate"));
  Words words{.common_name = node.text(),
              .uri = SpiffeId::Node(cluster_, node).Uri(),
              .servers = {},
              .purpose = NID_client_auth,
              .authority = {},
              .not_before = {},
              .not_after = {}};
  RW_RETURN_IF_ERROR(SetTimes(ca_, now, lifetime, words));
  return Write(cluster_, key, &ca_, key_, words, random);
}

Result<Certificate> Issuer::Operator(const PublicKey& key, const OperatorName& name,
                                     const Authority& authority, Time now, Lifetime lifetime,
                                     const RandomSource& random) const {
  RW_RETURN_IF_ERROR(CheckLifetime(lifetime, kOperatorLifetime, "an operator's certificate"));
  RW_RETURN_IF_ERROR(authority.Check());
  Words words{.common_name = name.text(),
              .uri = SpiffeId::Operator(cluster_, name).Uri(),
              .servers = {},
              .purpose = NID_client_auth,
              .authority = authority.Text(),
              .not_before = {},
              .not_after = {}};
  RW_RETURN_IF_ERROR(SetTimes(ca_, now, lifetime, words));
  return Write(cluster_, key, &ca_, key_, words, random);
}

Result<Certificate> Issuer::Controller(const PublicKey& key, const std::vector<ServerName>& names, Time now,
                                       Lifetime lifetime, const RandomSource& random) const {
  RW_RETURN_IF_ERROR(CheckLifetime(lifetime, kMostLeafLifetime, "a controller's certificate"));
  if (names.empty() || names.size() > kMostServerNames)
    return Status(Code::kInvalidArgument, "a controller has 1 to " + std::to_string(kMostServerNames) +
                                              " names, not " + std::to_string(names.size()));
  Words words{.common_name = "controller",
              .uri = SpiffeId::Controller(cluster_).Uri(),
              .servers = names,
              .purpose = NID_server_auth,
              .authority = {},
              .not_before = {},
              .not_after = {}};
  RW_RETURN_IF_ERROR(SetTimes(ca_, now, lifetime, words));
  return Write(cluster_, key, &ca_, key_, words, random);
}

}  // namespace railwright::identity
