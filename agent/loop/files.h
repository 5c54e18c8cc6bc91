// Small files that must be whole or old, never half.
#pragma once

#include <string>
#include <string_view>

#include "railwright/result.h"

namespace railwright {

enum class Sync : std::uint8_t { kNone, kDurable };

/// Puts `bytes` at `path`: a temporary name beside it, write, (fsync,) rename, (fsync of the folder). Readers
/// see the old content or the new. Mode 0600: what is wanted and what is observed may be private. On an error
/// the old content is still there. kDurable: survives a power cut once Ok.
Status WriteWhole(const std::string& path, std::string_view bytes, Sync sync);

/// The content, at most `limit` bytes (ResourceExhausted when there are more). NotFound when there is none.
Result<std::string> ReadWhole(const std::string& path, std::size_t limit = 16U << 20);

}  // namespace railwright
