// Certificate: an X.509 certificate (RFC 5280) as plain values.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/identity/key.h"
#include "core/identity/server_name.h"
#include "railwright/result.h"

struct x509_st;  // OpenSSL's X509

namespace railwright::identity {

/// Time always comes in; UTC.
using Time = std::chrono::system_clock::time_point;

/// A value; copies share the certificate. Reading one proves nothing: that is Verify's (verify.h).
class Certificate {
 public:
  static constexpr std::size_t kMostInChain = 8;           ///< certificates in one text
  static constexpr std::size_t kMostBytes = 8 * 1024;      ///< of DER, each
  static constexpr std::size_t kMostPemBytes = 64 * 1024;  ///< of a text with all of them

  /// One certificate of version 3 with a P-256 key. InvalidArgument: damaged, something behind it, an
  /// encoding that is not the one that DER allows, an extension twice or unreadable, another kind of key, too
  /// large.
  static Result<Certificate> FromDer(std::string_view der);
  /// Exactly one block "CERTIFICATE".
  static Result<Certificate> FromPem(std::string_view pem);
  /// 1 to kMostInChain blocks in their order: the leaf first in a chain, any order in a bundle of CAs.
  static Result<std::vector<Certificate>> ChainFromPem(std::string_view pem);
  std::string ToPem() const;
  static std::string ChainToPem(const std::vector<Certificate>& chain);
  const std::string& der() const { return facts_->der; }

  /// Lower-case hexadecimal, two digits a byte, no leading zero byte: as a deny-list names it.
  const std::string& serial() const { return facts_->serial; }
  Time not_before() const { return facts_->not_before; }
  /// The last second is no longer valid (as OpenSSL counts).
  Time not_after() const { return facts_->not_after; }
  /// Distinguished names for people (RFC 2253, escaped). Nothing is decided by them.
  const std::string& subject() const { return facts_->subject; }
  const std::string& issuer() const { return facts_->issuer; }
  const PublicKey& public_key() const { return facts_->key; }
  const Pin& pin() const { return facts_->key.pin(); }
  /// The authority key identifier where it is a pin, as our issuers write it (RFC 7093 §2 method 4): whose
  /// key is said to have signed. A claim until it is verified.
  const std::optional<Pin>& issuer_pin() const { return facts_->issuer_pin; }
  /// Subject alternative names (RFC 5280 §4.2.1.6), raw: a URI may hold any bytes.
  const std::vector<std::string>& uris() const { return facts_->uris; }
  const std::vector<std::string>& dns_names() const { return facts_->dns_names; }
  /// In network order, 4 or 16 bytes.
  const std::vector<std::string>& addresses() const { return facts_->addresses; }
  bool IsFor(const ServerName& name) const;
  /// Purposes (RFC 5280 §4.2.1.12) as dotted OIDs, in their order; empty where the extension is not there.
  const std::vector<std::string>& extended_key_usage() const { return facts_->extended_key_usage; }
  /// Whether basicConstraints says CA.
  bool is_ca() const { return facts_->ca; }
  /// Bits of keyUsage as OpenSSL's KU_… (RFC 5280 §4.2.1.3); none where the extension is not there.
  const std::optional<unsigned>& key_usage() const { return facts_->key_usage; }
  /// The text of our own extension (authority.h), not yet parsed.
  const std::optional<std::string>& authority() const { return facts_->authority; }

  friend bool operator==(const Certificate& one, const Certificate& other) {
    return one.der() == other.der();
  }

  /// For this folder's sources.
  x509_st* handle() const { return facts_->x509.get(); }

 private:
  struct Facts {
    std::shared_ptr<x509_st> x509;
    PublicKey key;
    std::string der, serial, subject, issuer;
    Time not_before, not_after;
    std::optional<Pin> issuer_pin;
    std::vector<std::string> uris, dns_names, addresses, extended_key_usage;
    bool ca = false;
    std::optional<unsigned> key_usage;
    std::optional<std::string> authority;
  };
  explicit Certificate(std::shared_ptr<const Facts> facts) : facts_(std::move(facts)) {}
  static Status ReadExtensions(Facts& facts);

  std::shared_ptr<const Facts> facts_;
};

/// The first CA certificate of `chain` whose key has this pin: what a joining node trusts for its first
/// connection. Unauthenticated names what was there instead.
Result<Certificate> PinnedCa(const std::vector<Certificate>& chain, const Pin& pin);

}  // namespace railwright::identity
