#include "railwright/utf8.h"

#include <algorithm>

namespace railwright {
namespace {

bool Continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

std::string Escaped(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint next = FrontCodePoint(text);
    const auto hex = [&](unsigned byte) {
      out.append("\\x").append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 15]);
    };
    if (!next.valid)
      hex(static_cast<unsigned char>(text[0]));
    else if (next.value == '\n' || next.value == '\t')
      out += next.value == '\n' ? "\\n" : "\\t";
    else if (next.value < 0x20 || (next.value >= 0x7f && next.value < 0xa0))  // C0, DEL, C1
      hex(static_cast<unsigned>(next.value));
    else
      out += text.substr(0, next.bytes);
    text.remove_prefix(next.bytes);
  }
  return out;
}

}  // namespace

CodePoint FrontCodePoint(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  char32_t value = lead & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xc0) != 0x80) return {};
    value = (value << 6) | (at(i) & 0x3fU);
  }
  constexpr char32_t kLeast[]{0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return {};
  return {value, length, true};
}

std::string ValidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint next = FrontCodePoint(text);
    out += next.valid ? text.substr(0, next.bytes) : std::string_view("\xef\xbf\xbd");
    text.remove_prefix(next.bytes);
  }
  return out;
}

std::string Brief(std::string_view text, std::size_t limit) {
  const std::size_t whole = text.size();
  if (whole <= limit) {
    std::string shown = Escaped(text);
    if (shown.size() <= limit) return shown;
  }
  const std::string mark = "… [" + std::to_string(whole) + " bytes] …";
  const std::size_t room = limit - std::min(limit, mark.size());
  const std::size_t last = room / 3;
  // Sentences begin with what they are about and end with what is wrong with it: both ends stay.
  std::string head = Escaped(text.substr(0, limit));
  std::string tail = Escaped(text.substr(whole - std::min(whole, limit)));
  std::size_t end = std::min(head.size(), room - last);
  while (end > 0 && end < head.size() && Continues(head[end])) --end;
  std::size_t begin = tail.size() - std::min(tail.size(), last);
  while (begin < tail.size() && Continues(tail[begin])) ++begin;
  return head.substr(0, end) + mark + tail.substr(begin);
}

}  // namespace railwright
