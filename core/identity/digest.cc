#include "core/identity/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "core/identity/openssl.h"

namespace railwright::identity {

Result<Digest> Sha256(std::string_view bytes) {
  const ErrorScope errors;
  Digest digest{};
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1 ||
      size != digest.size())
    return errors.Failure("SHA-256");
  return digest;
}

std::string Hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::string Hex(const Digest& digest) { return Hex(Bytes(digest)); }

Result<Digest> ParseDigest(std::string_view hex) {
  Digest digest{};
  if (hex.size() != digest.size() * 2)
    return Status(Code::kInvalidArgument, "a SHA-256 has 64 hexadecimal digits, this has " +
                                              std::to_string(hex.size()) + " characters");
  for (std::size_t i = 0; i < hex.size(); ++i) {
    const char c = hex[i];
    int digit = 0;
    if (c >= '0' && c <= '9')
      digit = c - '0';
    else if (c >= 'a' && c <= 'f')
      digit = c - 'a' + 10;
    else
      return Status(Code::kInvalidArgument, "a SHA-256 has digits 0-9 and a-f (lower case) only; character " +
                                                std::to_string(i + 1) + " is another");
    digest[i / 2] = static_cast<std::uint8_t>(digest[i / 2] << 4 | digit);
  }
  return digest;
}

bool SameBytes(std::string_view one, std::string_view other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace railwright::identity
