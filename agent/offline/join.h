// `railwright-agent join` and `doctor`: how a node gets its identity, and why it may be refused with it.
#pragma once

#include <istream>
#include <string>

#include "agent/loop/state_dir.h"
#include "agent/offline/console.h"

namespace railwright::offline {

struct JoinOptions {
  std::string controller, token, ca;  ///< of the line; all three, or none with `line`
  std::string line;                   ///< "-": the whole line on `input`, where nobody else sees it
  std::istream* input = nullptr;
  std::string name;  ///< "": as the token says, or this host's name
  std::string state_dir = kDefaultStateDir;
  std::string front_user;  ///< who runs the half on the network; "": whoever joins
  bool again = false;      ///< also when this node has an identity
};
/// Makes a key here, and has it certified. Whole or not: until the last file is written the node has not
/// joined, and the same line goes on where it was. Exit codes: 4 refused, 8 nobody answers, 64 not a line.
ExitCode JoinCluster(const JoinOptions& options, const Console& console);

struct DoctorOptions {
  std::string state_dir = kDefaultStateDir;
  Format format = Format::kTable;
};
/// Looks at what this node would show its controller, and at the controller. Writes nothing. Exit codes: 2
/// something would be refused, 3 something could not be looked at, 4 not allowed to look, 8 no controller
/// answers.
ExitCode Doctor(const DoctorOptions& options, const Console& console);

}  // namespace railwright::offline
