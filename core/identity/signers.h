// The text of TrustedSigners, as a file of a controller or a node holds it.
#pragma once

#include <string>
#include <string_view>

#include "core/identity/envelope.h"
#include "railwright/result.h"

namespace railwright::identity {

inline constexpr std::size_t kMostSigners = 16;              ///< keys; and as many revoked ones
inline constexpr std::size_t kMostSignersBytes = 16 * 1024;  ///< of the text

/// Ok, or InvalidArgument: no key, too many, one twice, not Ed25519, a threshold that they cannot reach.
Status CheckSigners(const TrustedSigners& signers);

/// A line `threshold <n>`, a line `revoked sha256:<64 hex>` for each of those, then the blocks "PUBLIC KEY".
/// (RFC 7468 §2 allows such text before a block, so that `openssl pkey -pubin` reads the first key.)
std::string SignersText(const TrustedSigners& signers);
/// What SignersText gives. DataLoss names the line that is damaged.
Result<TrustedSigners> ParseSigners(std::string_view text);

}  // namespace railwright::identity
