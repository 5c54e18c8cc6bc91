// What happens between fork and the front's first instruction.
#pragma once

#include <sys/types.h>

namespace railwright::gate {

/// What the child needs, made ready before the fork: nothing may be allocated behind it.
struct Becoming {
  const char* program = nullptr;
  int program_fd = -1;  ///< the same, opened by whoever may walk to it: the front's user perhaps may not
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  int socket = -1;    ///< becomes descriptor 3
  int failure = -1;   ///< gets one `int`, an errno, when the front could not be started; closed by exec
  pid_t parent = 0;   ///< whose end is its end
  bool drop = false;  ///< with root: give up what root has
  uid_t uid = 0;
  gid_t gid = 0;
};

/// In the child. Only calls that are allowed between fork and exec in a process with threads.
[[noreturn]] void BecomeFront(const Becoming& becoming);

}  // namespace railwright::gate
