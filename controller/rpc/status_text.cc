#include "controller/rpc/status_text.h"

#include <algorithm>

namespace railwright {
namespace {

/// Bytes of a character in grpc-message: what is no printable ASCII becomes %XX.
std::size_t Encoded(char c) { return c >= ' ' && c <= '~' && c != '%' ? 1 : 3; }

}  // namespace

std::string FitStatusText(const std::string& text) {
  std::size_t size = 0, end = 0, line_end = 0;
  for (; end < text.size() && size + Encoded(text[end]) <= kStatusTextMost; ++end) {
    size += Encoded(text[end]);
    if (text[end] == '\n') line_end = end;
  }
  if (end == text.size()) return text;
  if (line_end == 0) {
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
      --end;  // not in a character's middle
    return text.substr(0, end) + "…";
  }
  const auto more = std::count(text.begin() + static_cast<std::ptrdiff_t>(line_end), text.end(), '\n');
  return text.substr(0, line_end) + "\n… and " + std::to_string(more) + " more lines";
}

}  // namespace railwright
