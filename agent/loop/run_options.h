// RunOptions: the command line of `railwright-agent run`.
#pragma once

#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "agent/loop/state_dir.h"
#include "core/text/exit_code.h"

namespace railwright {

struct RunOptions {
  std::string node;  ///< "" = as the certificate says
  std::string state_dir = kDefaultStateDir;
  std::string management_netdev;  ///< "" = found by the route to the controller
  std::chrono::milliseconds scan_interval{60'000};
  std::chrono::seconds firmware_interval{600};  ///< a card's flash is asked at most this often
  std::string front_user;  ///< who the half that talks to the network is; "" = as FindFrontUser
  std::string
      front_socket;  ///< where that half comes to when somebody else keeps it running; "" = started here
};

/// The options, or the text to print and the code to exit with (help, version, a usage error).
struct RunText {
  std::string text;
  ExitCode code = ExitCode::kDone;
};
std::variant<RunOptions, RunText> ParseRunOptions(const std::vector<std::string>& words);

}  // namespace railwright
