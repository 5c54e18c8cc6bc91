// railwright-controller as a process of its own.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern char** environ;

namespace railwright {

inline std::string ControllerPath() {
  return std::string(RAILWRIGHT_BINARY_DIR) + "/bin/railwright-controller";
}

class Program {
 public:
  /// Output and errors go to `log`. `before`: shell commands run first in the same process (ulimit).
  Program(std::vector<std::string> arguments, const std::string& log, const std::string& before = "") {
    arguments.insert(arguments.begin(), ControllerPath());
    if (!before.empty())
      arguments.insert(arguments.begin(), {"/bin/sh", "-c", before + " && exec \"$0\" \"$@\""});
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    EXPECT_EQ(posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
  }
  ~Program() {
    if (pid_ > 0) Kill(SIGKILL);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Sends the signal and waits; the exit code, or minus the signal that ended it.
  int Kill(int signal) {
    kill(pid_, signal);
    return Wait();
  }
  int Wait() {
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_ = -1;
};

/// Runs it to its end: exit code and all output.
inline std::pair<int, std::string> RunController(std::vector<std::string> arguments,
                                                 const std::string& directory) {
  const std::string log = directory + "/out";
  unlink(log.c_str());
  Program program(std::move(arguments), log);
  const int code = program.Wait();
  std::ifstream in(log);
  return {code, std::string(std::istreambuf_iterator<char>(in), {})};
}

}  // namespace railwright
