#include "agent/gate/become_front.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace railwright::gate {
namespace {

constexpr int kSocket = 3;
constexpr int kFailure = 4;
constexpr int kProgram = 5;

[[noreturn]] void GiveUp(int failure, int error) {
  [[maybe_unused]] const ssize_t written = ::write(failure, &error, sizeof error);
  ::_exit(127);
}

// Both above what they become, or one would overwrite the other.
int Lifted(int fd) { return ::fcntl(fd, F_DUPFD, 10); }

// The kernel's calls themselves: the library's would tell threads that this process does not have.
bool Drop(uid_t uid, gid_t gid) {
  for (unsigned long capability = 0; ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; ++capability) {
  }
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  if (::syscall(SYS_setgroups, 0, nullptr) != 0 || ::syscall(SYS_setresgid, gid, gid, gid) != 0 ||
      ::syscall(SYS_setresuid, uid, uid, uid) != 0)
    return false;
  // Also where the front stays root: with no set left, exec gives nothing back.
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3]{};
  return ::syscall(SYS_capset, &header, none) == 0;
}

}  // namespace

void BecomeFront(const Becoming& becoming) {
  const int failure = Lifted(becoming.failure), socket = Lifted(becoming.socket),
            program = Lifted(becoming.program_fd);
  if (failure < 0 || socket < 0 || program < 0) GiveUp(becoming.failure, errno);
  const int nothing = ::open("/dev/null", O_RDWR);
  if (nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0 || ::dup2(nothing, STDOUT_FILENO) < 0 ||
      ::dup2(socket, kSocket) < 0 || ::dup3(failure, kFailure, O_CLOEXEC) < 0 ||
      ::dup3(program, kProgram, O_CLOEXEC) < 0)
    GiveUp(failure, errno);
  // Kernels before 5.9 do not have it; every descriptor of ours closes at exec anyway.
  ::syscall(SYS_close_range, kProgram + 1, ~0U, 0);

  // A group of its own: Ctrl-C reaches the privileged half, which ends both in order.
  ::setpgid(0, 0);
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const rlimit no_core{0, 0};  // it holds the node's key
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::umask(0077);

  if (becoming.drop && !Drop(becoming.uid, becoming.gid)) GiveUp(kFailure, errno);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) GiveUp(kFailure, errno);
  // After the change of user, which clears it. Who became its parent meanwhile is not the one that is meant.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
  if (::getppid() != becoming.parent) ::_exit(0);
  ::execve(becoming.program, becoming.argv, becoming.environment);
  if (errno == EACCES)
    ::syscall(SYS_execveat, kProgram, "", becoming.argv, becoming.environment, AT_EMPTY_PATH);
  GiveUp(kFailure, errno);
}

}  // namespace railwright::gate
