#include "agent/reconcile/text.h"

#include "railwright/utf8.h"

namespace railwright {
namespace {

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
  // The end of a file's last line is no news in a sentence.
  if (one_line && text.ends_with('\n')) text.remove_suffix(1);
  while (!text.empty()) {
    const CodePoint next = FrontCodePoint(text);
    const std::size_t length = next.valid ? next.bytes : 0;
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
