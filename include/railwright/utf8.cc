#include "railwright/utf8.h"

namespace railwright {

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

}  // namespace railwright
