#include "agent/gate/front_options.h"

#include <charconv>

namespace railwright::gate {

std::vector<std::string> FrontOptions::Words() const { return {"--state-dir", state_dir}; }

// By hand: nobody but a unit and the privileged half writes this line, and a parser of command lines costs
// memory.
std::variant<FrontOptions, std::string> ParseFrontOptions(const std::vector<std::string>& words) {
  FrontOptions options;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    std::string number;
    std::string* to = word == "--state-dir" ? &options.state_dir
                      : word == "--gate"    ? &options.gate_path
                      : word == "--gate-fd" ? &number
                                            : nullptr;
    if (to == nullptr) return "\"" + word + "\" is no option of it";
    if (++at == words.size()) return word + " needs a value";
    *to = words[at];
    if (to != &number) continue;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), options.gate_fd);
    if (error != std::errc() || end != number.data() + number.size() || options.gate_fd < 3)
      return "--gate-fd " + number + ": a descriptor from 3 on is needed";
  }
  if (options.state_dir.empty()) return "--state-dir is missing";
  if ((options.gate_fd < 0) == options.gate_path.empty()) return "one of --gate and --gate-fd is needed";
  return options;
}

}  // namespace railwright::gate
