// Digest: SHA-256 and its text; and bytes compared without telling how far they agree.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "railwright/result.h"

namespace railwright::identity {

/// 32 bytes of SHA-256 (FIPS 180-4).
using Digest = std::array<std::uint8_t, 32>;

/// Internal only when OpenSSL has no memory or no provider.
Result<Digest> Sha256(std::string_view bytes);

/// Lower-case hexadecimal, two digits a byte.
std::string Hex(std::string_view bytes);
std::string Hex(const Digest& digest);

/// Exactly 64 lower-case hexadecimal digits; anything else is InvalidArgument.
Result<Digest> ParseDigest(std::string_view hex);

/// The bytes of a digest, to be put into other bytes.
inline std::string_view Bytes(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

/// Whether both are the same, in a time that depends on their sizes only.
bool SameBytes(std::string_view one, std::string_view other);

}  // namespace railwright::identity
