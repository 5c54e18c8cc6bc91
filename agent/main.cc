// railwright-agent: the commands that need no controller. `run` goes on in railwright-agent-run, so that
// nothing here loads gRPC.
#include <unistd.h>

#include <cstring>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "agent/offline/command_line.h"

namespace {

// What `join --token` was given is in the list of processes for all to see; from here on it is not.
void WipeToken(int argc, char** argv) {
  constexpr std::string_view kToken = "--token";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == kToken && i + 1 < argc) std::memset(argv[i + 1], 'x', std::strlen(argv[i + 1]));
    if (word.starts_with(kToken) && word.size() > kToken.size())
      std::memset(argv[i] + kToken.size() + 1, 'x', word.size() - kToken.size() - 1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace railwright;
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  WipeToken(argc, argv);
  const offline::Console console{std::cout, std::cerr, Terminal::Of(STDOUT_FILENO)};
  ExitCode code = offline::Main(words, console);
  // A table that did not reach its reader was not printed.
  if (!std::cout.flush() && code == ExitCode::kDone) code = ExitCode::kFailed;
  std::cerr.flush();
  // All is told and nothing is open: giving memory back piece by piece is a tenth of what a check costs.
  ::_exit(static_cast<int>(code));
}
