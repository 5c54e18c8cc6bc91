// One line of name=value words, as most paths of the Machine answer.
#pragma once

#include <string_view>

namespace railwright {

/// "qpn=17 port=1 type=RC", "type" → "RC"; "" when it is not there. Names are those of
/// agent/machine/README.md.
constexpr std::string_view LineField(std::string_view line, std::string_view name) {
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    if (word.size() > name.size() && word.starts_with(name) && word[name.size()] == '=')
      return word.substr(name.size() + 1);
    line.remove_prefix(word.size() < line.size() ? word.size() + 1 : line.size());
  }
  return {};
}

}  // namespace railwright
