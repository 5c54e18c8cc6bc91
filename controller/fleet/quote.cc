#include "controller/fleet/quote.h"

#include <algorithm>

namespace railwright::fleet {

std::string Quoted(std::string_view text) {
  std::string shown(text.substr(0, 80));
  while (!shown.empty() && shown.size() < text.size() &&
         (static_cast<unsigned char>(text[shown.size()]) & 0xC0) == 0x80)
    shown.pop_back();
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; },
      ' ');
  return '"' + shown + (shown.size() < text.size() ? "…\"" : "\"");
}

}  // namespace railwright::fleet
