// A certificate request (PKCS#10, RFC 2986): how a requester shows that it holds a key.
#pragma once

#include <string>
#include <string_view>

#include "core/identity/key.h"
#include "railwright/result.h"

namespace railwright::identity {

inline constexpr std::size_t kMostRequestBytes = 4096;  ///< of DER; ours have about 200

/// DER, for a P-256 key, with an empty subject and no attribute: there is nothing to ask for.
/// FailedPrecondition for another kind of key.
Result<std::string> MakeCertificateRequest(const PrivateKey& key);

/// The key that signed `der`, and nothing else that stands in it: subject, names and extensions are not even
/// looked at. InvalidArgument: too large, damaged, not DER, something behind it, another version, a key other
/// than P-256, a signature other than ECDSA with SHA-256, one that does not hold.
Result<PublicKey> ReadCertificateRequest(std::string_view der);

}  // namespace railwright::identity
