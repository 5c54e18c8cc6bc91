// Verify: whether a chain proves who somebody is; and when not, the true reason in an operator's words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/identity/authority.h"
#include "core/identity/certificate.h"
#include "core/identity/identity.h"
#include "core/identity/server_name.h"
#include "railwright/result.h"

namespace railwright::identity {

enum class Purpose : std::uint8_t {
  kClient,  ///< it dials: a node or an operator (clientAuth)
  kServer,  ///< it is dialled: the controller (serverAuth)
};

struct Expected {
  ClusterName cluster;
  Purpose purpose = Purpose::kClient;
  /// By which name the server was dialled; none: names are not looked at.
  std::optional<ServerName> dialled = std::nullopt;
};

/// Whom a chain proved.
struct Peer {
  SpiffeId id;
  std::optional<Authority> authority;  ///< of an operator, always; of nobody else
  std::string serial;
  Pin pin;   ///< of the peer's key
  Pin root;  ///< of the CA that was trusted
  Time not_after;
};

/// Verifies `chain` (leaf first, then CAs below the root) against `roots` at the time `now`: RFC 5280 §6 by
/// OpenSSL's X509_verify_cert in strict mode with no CA of the system, and beyond it X509-SVID and the
/// house's rules: at most one CA between root and leaf; only P-256 and ECDSA with SHA-256; the leaf is no CA,
/// has the keyUsage digitalSignature alone, exactly the one purpose and nothing beside it (also not
/// anyExtendedKeyUsage), exactly one URI SAN, which is a SpiffeId of `expected.cluster` and fits the purpose;
/// an operator's has an Authority, others have none.
///
/// Several roots are a bundle in times of change: each of them counts. Revocation is not looked at: a
/// deny-list is the caller's, by `Peer::serial`, `Peer::pin` and `Peer::id`.
///
/// Unauthenticated: expired since, not valid before, wrong CA (who signed, who is trusted), wrong purpose,
/// wrong cluster, wrong name, malformed, an empty chain. FailedPrecondition: no root is given.
Result<Peer> Verify(const std::vector<Certificate>& chain, const std::vector<Certificate>& roots,
                    const Expected& expected, Time now);

}  // namespace railwright::identity
