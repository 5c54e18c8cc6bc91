#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "agent/tools/allow_list.h"
#include "agent/tools/children.h"
#include "agent/tools/tools.h"
#include "core/files/descriptor.h"

namespace railwright {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kErrorLimit = std::size_t{64} << 10;
/// Between SIGTERM and SIGKILL once the deadline has passed: time to remove a lock file.
constexpr std::chrono::milliseconds kGrace{1000};
/// After the tool itself has ended, its output may still sit in the pipes or be held open by a child of its.
constexpr std::chrono::milliseconds kDrain{200};

/// Moves a descriptor above 2, so that the child's dup2 calls cannot overwrite one that is still needed.
Status LiftAboveStandard(Descriptor& fd) {
  if (fd.get() > 2) return Ok();
  int lifted = ::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3);
  if (lifted < 0) return FromErrno(errno, "fcntl(F_DUPFD_CLOEXEC)");
  fd = Descriptor(lifted);
  return Ok();
}

Status OpenPipe(Descriptor& read_end, Descriptor& write_end) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return FromErrno(errno, "pipe2");
  read_end = Descriptor(fds[0]);
  write_end = Descriptor(fds[1]);
  RW_RETURN_IF_ERROR(LiftAboveStandard(read_end));
  return LiftAboveStandard(write_end);
}

/// Keeps SIGPIPE from this thread while it writes to a tool that may have closed its input.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
  }
  ~WithoutSigpipe() {
    // Takes away the signal that our own write raised; one that had been pending before is not ours.
    const timespec none{};
    if (!was_pending_)
      while (::sigtimedwait(&pipe_, nullptr, &none) > 0) {
      }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_{}, before_{};
  bool was_pending_ = false;
};

struct Pipes {
  Descriptor in, out, err;  // our ends
};

/// Starts the tool in a process group of its own with default signals, "/" as directory and three
/// descriptors.
Result<pid_t> Spawn(const std::vector<std::string>& argv, Pipes& ours) {
  Descriptor child_in, child_out, child_err;
  RW_RETURN_IF_ERROR(OpenPipe(child_in, ours.in));
  RW_RETURN_IF_ERROR(OpenPipe(ours.out, child_out));
  RW_RETURN_IF_ERROR(OpenPipe(ours.err, child_err));
  for (int fd : {ours.in.get(), ours.out.get(), ours.err.get()})
    if (::fcntl(fd, F_SETFL, O_NONBLOCK) != 0) return FromErrno(errno, "fcntl(O_NONBLOCK)");

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, child_in.get(), 0);
  ::posix_spawn_file_actions_adddup2(&actions, child_out.get(), 1);
  ::posix_spawn_file_actions_adddup2(&actions, child_err.get(), 2);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  ::posix_spawn_file_actions_addchdir_np(&actions, "/");
  sigset_t all, none;
  ::sigfillset(&all);
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);

  std::vector<char*> arguments;
  for (const std::string& one : argv) arguments.push_back(const_cast<char*>(one.c_str()));
  arguments.push_back(nullptr);
  // No locale, no configuration out of the caller's environment: a tool prints the same everywhere.
  std::array<const char*, 4> environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "HOME=/",
                                            nullptr};

  pid_t pid = 0;
  int error = ::posix_spawn(&pid, arguments[0], &actions, &attributes, arguments.data(),
                            const_cast<char**>(environment.data()));
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return FromErrno(error, argv[0]);
  return pid;
}

/// What comes out of one pipe now. Returns false at its end. Takes a bounded bite: a tool that prints faster
/// than this reads must not keep the caller from its deadline.
bool Take(int fd, std::string& into, std::size_t limit, bool& beyond) {
  char buffer[65536];
  for (int bite = 0; bite < 16; ++bite) {
    ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    std::size_t room = limit - std::min(limit, into.size());
    into.append(buffer, std::min(room, static_cast<std::size_t>(got)));
    if (static_cast<std::size_t>(got) > room) beyond = true;
  }
  return true;
}

int Milliseconds(Clock::time_point until) {
  auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  return static_cast<int>(std::clamp<long>(left, 0, 3'600'000));
}

enum class End { kExited, kDeadline, kTooMuch };

/// Feeds and drains until the process `watch` (a pidfd) has ended, or is to be ended.
End Converse(int watch, Pipes& pipes, std::string_view input, Clock::time_point deadline,
             ToolResult& result) {
  WithoutSigpipe guard;
  for (;;) {
    if (input.empty()) pipes.in.Close();
    // poll ignores negative descriptors, so closed ends need no bookkeeping.
    pollfd fds[] = {{watch, POLLIN, 0},
                    {pipes.in.get(), POLLOUT, 0},
                    {pipes.out.get(), POLLIN, 0},
                    {pipes.err.get(), POLLIN, 0}};
    int ready = ::poll(fds, std::size(fds), Milliseconds(deadline));
    if (ready < 0 && errno != EINTR) return End::kDeadline;
    bool beyond = false, unused = false;
    if (fds[2].revents != 0 && !Take(pipes.out.get(), result.out, OutputLimit(), beyond)) pipes.out.Close();
    if (fds[3].revents != 0 && !Take(pipes.err.get(), result.err, kErrorLimit, unused)) pipes.err.Close();
    if (beyond) return End::kTooMuch;
    if (fds[1].revents != 0) {
      ssize_t put = ::write(pipes.in.get(), input.data(), input.size());
      if (put > 0) input.remove_prefix(static_cast<std::size_t>(put));
      if (put < 0 && errno != EAGAIN && errno != EINTR) pipes.in.Close(), input = {};  // it reads no more
    }
    if (fds[0].revents != 0) return End::kExited;
    if (Clock::now() >= deadline) return End::kDeadline;
  }
}

/// The tool has ended: what is left in its pipes. A child of it that holds them open is not waited for.
bool DrainRest(Pipes& pipes, ToolResult& result) {
  bool beyond = false, unused = false;
  const Clock::time_point until = Clock::now() + kDrain;
  while (pipes.out.get() >= 0 || pipes.err.get() >= 0) {
    if (pipes.out.get() >= 0 && !Take(pipes.out.get(), result.out, OutputLimit(), beyond)) pipes.out.Close();
    if (pipes.err.get() >= 0 && !Take(pipes.err.get(), result.err, kErrorLimit, unused)) pipes.err.Close();
    if (Clock::now() >= until) break;
    pollfd fds[] = {{pipes.out.get(), POLLIN, 0}, {pipes.err.get(), POLLIN, 0}};
    ::poll(fds, std::size(fds), Milliseconds(until));
  }
  return !beyond;
}

/// SIGTERM, a moment, SIGKILL; all to the whole group, whose number stays ours until the leader is reaped.
void EndGroup(pid_t pid, int watch, Pipes& pipes, ToolResult& result) {
  ::kill(-pid, SIGTERM);
  Converse(watch, pipes, {}, Clock::now() + kGrace, result);
}

std::string Shortened(std::string_view text) {
  constexpr std::size_t kShown = 300;
  text = text.substr(0, text.find_last_not_of("\n ") + 1);
  return std::string(text.substr(0, kShown)) + (text.size() > kShown ? " …" : "");
}

}  // namespace

Result<ToolResult> RunTool(const std::vector<std::string>& argv, std::string_view input,
                           std::chrono::milliseconds deadline) {
  if (argv.empty()) return Status(Code::kInvalidArgument, "a tool without a name");
  const std::string& program = argv[0];
  if (!MayRun(program))
    return Status(Code::kFailedPrecondition,
                  program + " is not a program that Railwright runs (allowed: " + AllowedPrograms() + ")");
  for (const std::string& one : argv)
    if (one.find('\0') != std::string::npos)
      return Status(Code::kInvalidArgument, program + ": an argument holds a NUL byte");
  struct stat facts {};
  if (::stat(program.c_str(), &facts) != 0) {
    int error = errno;
    return error == ENOENT ? Status(Code::kNotFound, program + " is not installed", error)
                           : FromErrno(error, program);
  }

  const Clock::time_point until = Clock::now() + deadline;
  Pipes pipes;
  RW_ASSIGN_OR_RETURN(const pid_t pid, Spawn(argv, pipes));
  NoteStarted(pid);
  Descriptor watch(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  const int watch_error = watch.get() < 0 ? errno : 0;

  ToolResult result;
  End end = watch.get() < 0 ? End::kDeadline : Converse(watch.get(), pipes, input, until, result);
  if (end != End::kExited) EndGroup(pid, watch.get(), pipes, result);
  ::kill(-pid, SIGKILL);  // also what the tool left running behind it
  pipes.in.Close();
  if (end == End::kExited && !DrainRest(pipes, result)) end = End::kTooMuch;
  int status = 0;
  pid_t reaped = 0;
  while ((reaped = ::waitpid(pid, &status, 0)) < 0 && errno == EINTR) {
  }
  const int wait_error = reaped < 0 ? errno : 0;
  NoteEnded(pid);

  if (watch_error != 0) return FromErrno(watch_error, program + ": pidfd_open");
  if (end == End::kTooMuch)
    return Status(Code::kResourceExhausted,
                  program + " printed more than " + std::to_string(OutputLimit()) + " bytes and was killed");
  if (end == End::kDeadline)
    return Status(Code::kDeadlineExceeded,
                  program + " did not end within " + std::to_string(deadline.count()) + " ms and was killed" +
                      (result.err.empty() ? "" : "; it had said: " + Shortened(result.err)));
  if (reaped < 0) return FromErrno(wait_error, program + ": its exit code is lost");
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace railwright
