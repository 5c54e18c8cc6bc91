// Issuer: a CA that puts its own words into certificates.
#pragma once

#include <chrono>
#include <vector>

#include "core/identity/authority.h"
#include "core/identity/certificate.h"
#include "core/identity/identity.h"
#include "core/identity/key.h"
#include "core/identity/random.h"
#include "core/identity/server_name.h"
#include "railwright/result.h"

namespace railwright::identity {

using Lifetime = std::chrono::seconds;

// House defaults. Short lives replace lists of revoked certificates where nobody can be reached.
inline constexpr Lifetime kCaLifetime = std::chrono::hours(2 * 365 * 24);
inline constexpr Lifetime kNodeLifetime = std::chrono::hours(24);
inline constexpr Lifetime kOperatorLifetime = std::chrono::hours(12);  ///< and no operator may have more
inline constexpr Lifetime kControllerLifetime = std::chrono::hours(7 * 24);
/// The most that a node's or a controller's leaf may be asked for.
inline constexpr Lifetime kMostLeafLifetime = std::chrono::hours(90 * 24);
/// Certificates begin so long before they are made, for clocks that are behind.
inline constexpr Lifetime kBackdated = std::chrono::minutes(5);

struct CaTerms {
  Lifetime lifetime = kCaLifetime;
  /// How many CAs may stand between this one and a leaf (RFC 5280 §4.2.1.9): 0 or 1.
  int path_length = 1;
};

/// A CA's certificate and its key. Of a requester it takes the public key and nothing else: subject, names,
/// purposes and times are set here, so a request can ask for nothing.
///
/// Every certificate: version 3, a serial of 128 random bits, ECDSA over P-256 with SHA-256, subject key
/// identifier = the key's pin, authority key identifier = the CA's pin. InvalidArgument: a key other than
/// P-256, a lifetime that is not allowed. FailedPrecondition: the CA itself is not valid now. A certificate
/// never outlives its CA: its end is cut to the CA's.
class Issuer {
 public:
  /// A new root: basicConstraints critical, keyUsage certSign and cRLSign, the cluster as URI SAN.
  static Result<Issuer> SelfSigned(const ClusterName& cluster, PrivateKey key, Time now, CaTerms terms = {},
                                   const RandomSource& random = SystemRandom);
  /// One that was made before. InvalidArgument: not a CA of a cluster, or not this key's.
  static Result<Issuer> From(Certificate ca, PrivateKey key);

  const Certificate& certificate() const { return ca_; }
  const ClusterName& cluster() const { return cluster_; }
  const PrivateKey& key() const { return key_; }

  /// A CA below this one, which then can stay offline; path length one less. FailedPrecondition when this one
  /// may have none.
  Result<Certificate> IssuingCa(const PublicKey& key, Time now, Lifetime lifetime = kCaLifetime,
                                const RandomSource& random = SystemRandom) const;
  /// `spiffe://<cluster>/node/<uuid>`, clientAuth.
  Result<Certificate> Node(const PublicKey& key, const NodeUuid& node, Time now,
                           Lifetime lifetime = kNodeLifetime,
                           const RandomSource& random = SystemRandom) const;
  /// `spiffe://<cluster>/operator/<name>`, clientAuth, with the authority's extension.
  Result<Certificate> Operator(const PublicKey& key, const OperatorName& name, const Authority& authority,
                               Time now, Lifetime lifetime = kOperatorLifetime,
                               const RandomSource& random = SystemRandom) const;
  /// `spiffe://<cluster>/controller`, serverAuth, with the names by which it is dialled (1 to 32).
  Result<Certificate> Controller(const PublicKey& key, const std::vector<ServerName>& names, Time now,
                                 Lifetime lifetime = kControllerLifetime,
                                 const RandomSource& random = SystemRandom) const;

 private:
  Issuer(ClusterName cluster, Certificate ca, PrivateKey key)
      : cluster_(std::move(cluster)), ca_(std::move(ca)), key_(std::move(key)) {}

  ClusterName cluster_;
  Certificate ca_;
  PrivateKey key_;
};

}  // namespace railwright::identity
