// ForkChild: fork() for tests: the child never outlives the test, however that ends.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace railwright {

/// As fork(). The child gets SIGKILL when the thread that made it is gone: a test that is killed by its
/// timeout runs no clean-up.
inline pid_t ForkChild() {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it died before that was asked for
  return 0;
}

}  // namespace railwright
