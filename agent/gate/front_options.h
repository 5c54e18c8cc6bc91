// FrontOptions: the command line of railwright-agent-front.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace railwright::gate {

struct FrontOptions {
  int gate_fd = -1;       ///< a connected socket to the privileged half, which started this; -1: none
  std::string gate_path;  ///< else the socket at which the privileged half listens
  std::string state_dir;  ///< of which the front reads and writes its own folder only

  /// The arguments from which Parse makes the same, for whoever starts the front; without the gate.
  std::vector<std::string> Words() const;
};

/// The options, or a usage error as a sentence.
std::variant<FrontOptions, std::string> ParseFrontOptions(const std::vector<std::string>& words);

}  // namespace railwright::gate
