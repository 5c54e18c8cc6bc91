#include "controller/cli/wrap.h"

#include <sstream>

#include "core/text/table.h"

namespace railwright::cli {

std::string Wrap(std::string_view text, std::string_view indent, std::size_t width) {
  std::istringstream words{std::string(text)};
  std::string out, line;
  const auto end_line = [&] {
    if (!line.empty()) out += std::string(indent) + line + "\n";
    line.clear();
  };
  for (std::string word; words >> word;) {
    word = Printable(word);
    if (!line.empty() && DisplayWidth(line) + 1 + DisplayWidth(word) > width) end_line();
    line += (line.empty() ? "" : " ") + word;
  }
  end_line();
  return out;
}

}  // namespace railwright::cli
