#include "core/identity/random.h"

#include <openssl/rand.h>

#include <limits>

#include "core/identity/openssl.h"

namespace railwright::identity {

Status SystemRandom(std::span<std::uint8_t> out) {
  const ErrorScope errors;
  if (out.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    return Status(Code::kInvalidArgument, "more random bytes than one call gives");
  if (RAND_priv_bytes(out.data(), static_cast<int>(out.size())) != 1)
    return errors.Failure("reading random bytes");
  return Ok();
}

}  // namespace railwright::identity
