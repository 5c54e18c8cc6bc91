// Runs railctl in this process, as a script or a person at a terminal would.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace railwright::cli {

struct Ran {
  int code = 0;
  std::string out, err;
};

struct Given {
  std::string controller;  ///< RAILCTL_CONTROLLER
  std::string input;       ///< standard input
  bool terminal = false;   ///< a person sits there
  const std::atomic<bool>* interrupted = nullptr;
  std::string home = "/nonexistent/railctl";  ///< where logins are kept
};

Ran RunRailctl(std::vector<std::string> words, const Given& given);

/// A program of its own, with `variables` added to the environment; standard output and error together in
/// `out`.
Ran RunProgram(const std::vector<std::string>& argv, const std::vector<std::string>& variables);

}  // namespace railwright::cli
