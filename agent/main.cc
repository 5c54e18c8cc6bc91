// railwright-agent: the commands that need no controller. `run` goes on in railwright-agent-run, so that
// nothing here loads gRPC.
#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "agent/offline/command_line.h"

int main(int argc, char** argv) {
  using namespace railwright;
  const offline::Console console{std::cout, std::cerr, Terminal::Of(STDOUT_FILENO)};
  ExitCode code = offline::Main({argv + std::min(argc, 1), argv + argc}, console);
  // A table that did not reach its reader was not printed.
  if (!std::cout.flush() && code == ExitCode::kDone) code = ExitCode::kFailed;
  std::cerr.flush();
  // All is told and nothing is open: giving memory back piece by piece is a tenth of what a check costs.
  ::_exit(static_cast<int>(code));
}
