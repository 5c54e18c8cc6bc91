// UTF-8: one strict reading of it, for everything that leaves a program as text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace railwright {

struct CodePoint {
  char32_t value = 0xfffd;  ///< U+FFFD when the bytes are no UTF-8
  std::size_t bytes = 1;    ///< how many it takes; 1 when they are no UTF-8
  bool valid = false;
};

/// The code point at the front of `text`, which is not empty. Overlong forms, surrogates and values above
/// U+10FFFF are not UTF-8 (RFC 3629).
CodePoint FrontCodePoint(std::string_view text);

/// `text` with every byte that is no UTF-8 replaced by U+FFFD. Protobuf refuses a whole message for one such
/// byte, and values read from a machine (the content of a file) may hold any. Idempotent.
std::string ValidUtf8(std::string_view text);

/// A text from elsewhere as a sentence may quote it: at most `limit` bytes (at least 48), control characters
/// and bytes that are no UTF-8 as \n, \t, \xNN. What is left out in the middle shows: "ab… [70000 bytes]
/// …yz".
std::string Brief(std::string_view text, std::size_t limit = 200);

}  // namespace railwright
