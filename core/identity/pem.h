// PEM (RFC 7468) read strictly: blocks and nothing between them. Only this folder's sources use it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/identity/secret.h"
#include "railwright/result.h"

namespace railwright::identity {

struct PemBounds {
  std::string_view label;  ///< "CERTIFICATE", "PRIVATE KEY" …: every block must have it
  std::size_t blocks = 1;  ///< at most so many, and at least one
  std::size_t bytes = 0;   ///< of the whole text, at most
};

/// The DER of each block, in order. InvalidArgument says what is wrong and never quotes the text: it may be a
/// key. Refused: another label, headers (an encrypted key), anything but white space outside the blocks.
Result<std::vector<Secret>> ReadPem(std::string_view text, const PemBounds& bounds);

/// One block, lines of 64 characters.
Result<Secret> WritePem(std::string_view label, std::string_view der);

}  // namespace railwright::identity
