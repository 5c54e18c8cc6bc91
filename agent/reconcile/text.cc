#include "agent/reconcile/text.h"

namespace railwright {
namespace {

// Length of the valid UTF-8 sequence at the start of `text` (RFC 3629: no overlong forms, no surrogates), or
// 0.
std::size_t SequenceLength(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  unsigned char low = 0x80, high = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
  } else {
    return 0;
  }
  if (text.size() < length || byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  return length;
}

bool Plain(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) return false;
  return true;
}

std::string Clean(std::string_view text, std::size_t limit, bool one_line) {
  if (text.size() <= limit && Plain(text)) return std::string(text);
  constexpr std::string_view kCut = " …";
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  while (!text.empty()) {
    const std::size_t length = SequenceLength(text);
    const auto first = static_cast<unsigned char>(text[0]);
    std::string_view piece = text.substr(0, length);
    char escaped[4] = {'\\', 'x', kHex[first >> 4], kHex[first & 15]};
    if (length == 1 && first == '\n') {
      piece = one_line ? "; " : "\n";
    } else if (length == 1 && first == '\t') {
      piece = one_line ? " " : "\t";
    } else if (length == 0 || first < 0x20 || first == 0x7f) {
      piece = std::string_view(escaped, sizeof escaped);
    }
    const std::size_t taken = length == 0 ? 1 : length;
    const bool last = taken == text.size();
    if (out.size() + piece.size() + (last ? 0 : kCut.size()) > limit) return out.append(kCut);
    out += piece;
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace

std::string Shown(std::string_view text, std::size_t limit) { return Clean(text, limit, false); }
std::string OneLine(std::string_view text, std::size_t limit) { return Clean(text, limit, true); }

std::string Subject(std::string_view key, std::string_view target) {
  std::string text(key);
  if (!target.empty()) text.append(" on ").append(target);
  return text;
}

}  // namespace railwright
