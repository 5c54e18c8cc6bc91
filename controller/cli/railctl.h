// Railctl: the whole program behind main's streams and signals, so that tests run it as users do.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "controller/cli/console.h"
#include "core/text/exit_code.h"

namespace railwright::cli {

/// What the process was given.
struct Environment {
  std::string controller;  ///< RAILCTL_CONTROLLER, or ""
  std::string author;      ///< "root@host"
  std::string home;        ///< where logins are kept
  std::string context;     ///< RAILCTL_CONTEXT, or ""
};

/// `words` without the program's name. Returns what the process exits with; never throws.
ExitCode Railctl(const std::vector<std::string>& words, const Environment& environment, Console& console,
                 const std::atomic<bool>& interrupted);

}  // namespace railwright::cli
