// railctl: words → Invocation → verb → AdminClient → view → stdout, and one exit code.
//
//   command_line  words and completions, pure          client   the only gRPC here
//   cmd_*.cc      one verb each: ask, view, judge      *_view   answers → JSON and tables, pure
//   console       stdout data, stderr the rest         sources, plan_file   the operator's files
#include <absl/synchronization/mutex.h>
#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <iostream>

#include "controller/cli/railctl.h"

namespace {

using namespace railwright;

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

// The first Ctrl-C ends the call under way, so that the verb can say what goes on; the second ends the
// program.
void OnInterrupt(int) {
  if (interrupted.exchange(true)) _exit(static_cast<int>(ExitCode::kInterrupted));
}

std::string Author() {
  const char* user = std::getenv("SUDO_USER");
  const passwd* entry = user == nullptr || *user == '\0' ? getpwuid(getuid()) : nullptr;
  std::string name = entry != nullptr                   ? entry->pw_name
                     : user != nullptr && *user != '\0' ? user
                                                        : "uid " + std::to_string(getuid());
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) == 0 && *host != '\0') name += "@" + std::string(host);
  return name;
}

// $RAILCTL_HOME, $XDG_CONFIG_HOME/railwright, ~/.config/railwright.
std::string Home() {
  const auto text = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string home = text("RAILCTL_HOME"); !home.empty()) return home;
  if (const std::string config = text("XDG_CONFIG_HOME"); !config.empty()) return config + "/railwright";
  std::string home = text("HOME");
  if (home.empty())
    if (const passwd* entry = getpwuid(getuid()); entry != nullptr) home = entry->pw_dir;
  return home + "/.config/railwright";
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);  // costs a graph search per lock

  struct sigaction action {};
  action.sa_handler = OnInterrupt;  // without SA_RESTART: a question being asked ends too
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);

  const SystemClock clock;
  cli::Console console(std::cout, std::cerr, std::cin, cli::DetectStreams(), clock);
  const char* controller = std::getenv("RAILCTL_CONTROLLER");
  const char* context = std::getenv("RAILCTL_CONTEXT");
  const cli::Environment environment{controller == nullptr ? "" : controller, Author(), Home(),
                                     context == nullptr ? "" : context};
  return static_cast<int>(cli::Railctl({argv + 1, argv + argc}, environment, console, interrupted));
}
