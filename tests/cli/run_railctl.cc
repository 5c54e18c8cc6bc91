#include "tests/cli/run_railctl.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>
#include <string_view>

#include "controller/cli/railctl.h"
#include "railwright/clock.h"

extern char** environ;

namespace railwright::cli {

Ran RunRailctl(std::vector<std::string> words, const Given& given) {
  std::ostringstream out, err;
  std::istringstream in(given.input);
  const SystemClock clock;
  Streams streams;
  streams.in_is_terminal = streams.err_is_terminal = given.terminal;
  Console console(out, err, in, streams, clock);
  const std::atomic<bool> never{false};
  const ExitCode code = Railctl(words, {given.controller, "tester@here", given.home, ""}, console,
                                given.interrupted != nullptr ? *given.interrupted : never);
  return {static_cast<int>(code), out.str(), err.str()};
}

Ran RunProgram(const std::vector<std::string>& argv, const std::vector<std::string>& variables) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {-1, "", "pipe2"};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::vector<char*> words, environment;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  for (const std::string& variable : variables) environment.push_back(const_cast<char*>(variable.c_str()));
  const auto named_anew = [&](std::string_view old) {
    for (const std::string& variable : variables)
      if (old.starts_with(variable.substr(0, variable.find('=') + 1))) return true;
    return false;
  };
  for (char** one = environ; *one != nullptr; ++one)
    if (!named_anew(*one)) environment.push_back(*one);
  environment.push_back(nullptr);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, argv.front().c_str(), &actions, nullptr, words.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  Ran ran;
  if (error == 0) {
    char buffer[4096];
    for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
      ran.out.append(buffer, static_cast<std::size_t>(got));
    int status = 0;
    waitpid(child, &status, 0);
    ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  } else {
    ran.code = -error;
  }
  close(ends[0]);
  return ran;
}

}  // namespace railwright::cli
