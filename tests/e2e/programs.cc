#include "tests/e2e/programs.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>
#include <utility>

namespace railwright {
namespace {

int CodeOf(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + (WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

[[noreturn]] void Become(const std::vector<std::string>& argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is killed leaves nothing behind
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  _exit(127);
}

}  // namespace

std::string Binary(const std::string& name) { return std::string(RAILWRIGHT_BINARY_DIR) + "/bin/" + name; }

Ran RunProgram(const std::vector<std::string>& argv, const std::string& input) {
  int in[2], out[2], err[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) return {};
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    dup2(err[1], 2);
    Become(argv);
  }
  close(in[0]);
  close(out[1]);
  close(err[1]);
  if (!input.empty()) [[maybe_unused]]
    const ssize_t written = write(in[1], input.data(), input.size());
  close(in[1]);
  Ran ran;
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  std::array<pollfd, 2> fds{{{out[0], POLLIN, 0}, {err[0], POLLIN, 0}}};
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    if (std::chrono::steady_clock::now() > end) kill(pid, SIGKILL);
    if (poll(fds.data(), fds.size(), 1000) <= 0) continue;
    for (std::size_t i = 0; i < 2; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      std::array<char, 65536> buffer;
      const ssize_t got = read(fds[i].fd, buffer.data(), buffer.size());
      if (got <= 0)
        fds[i].fd = -1;
      else
        (i == 0 ? ran.out : ran.err).append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
  close(out[0]);
  close(err[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  ran.code = CodeOf(status);
  return ran;
}

Child::Child(const std::vector<std::string>& argv, const std::string& log) {
  pid_ = fork();
  if (pid_ != 0) return;
  const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, 0);
  dup2(fd, 1);
  dup2(fd, 2);
  Become(argv);
}

Child::Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
Child& Child::operator=(Child&& other) noexcept {
  Kill();
  pid_ = std::exchange(other.pid_, -1);
  return *this;
}

bool Child::running() const {
  if (pid_ < 0) return false;
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

int Child::Wait() {
  if (pid_ < 0) return -1;
  int status = 0;
  waitpid(std::exchange(pid_, -1), &status, 0);
  return CodeOf(status);
}

int Child::Terminate(std::chrono::milliseconds* took) {
  const auto begin = std::chrono::steady_clock::now();
  if (pid_ > 0) kill(pid_, SIGTERM);
  const int code = Wait();
  if (took != nullptr)
    *took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  return code;
}

void Child::Kill() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  Wait();
}

bool Eventually(const std::function<bool()>& is_so, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace railwright
