// Sentences for people: short, on one line, valid UTF-8 whatever the machine answered.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace railwright {

/// Longest value that a finding or a history line shows, in bytes; the loop itself compares the whole value.
inline constexpr std::size_t kShownLimit = 4096;

/// Valid UTF-8 of at most `limit` bytes: other bytes and control characters become \xNN (newline and tab
/// stay), what is cut off becomes " …".
std::string Shown(std::string_view text, std::size_t limit = kShownLimit);

/// Shown on one line: newlines become "; ".
std::string OneLine(std::string_view text, std::size_t limit = 200);

/// "link.mtu on rail0", or the key alone for the node.
std::string Subject(std::string_view key, std::string_view target);

}  // namespace railwright
