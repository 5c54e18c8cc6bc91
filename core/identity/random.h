// Random bytes, from a source that tests may replace.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "railwright/result.h"

namespace railwright::identity {

/// Fills the span wholly, or says why not; half-filled bytes are never used.
using RandomSource = std::function<Status(std::span<std::uint8_t>)>;

/// The default everywhere: OpenSSL's generator for private values (RAND_priv_bytes), seeded by the kernel.
Status SystemRandom(std::span<std::uint8_t> out);

}  // namespace railwright::identity
