// PollLoop: the one thread that uses the machine, and what wakes it.
#pragma once

#include <functional>
#include <string>

#include "agent/loop/log.h"
#include "agent/loop/node_agent.h"
#include "agent/loop/supervisor.h"
#include "railwright/hints.h"
#include "railwright/mailbox.h"
#include "railwright/result.h"

namespace railwright {

/// An eventfd: Ring wakes the loop from any thread and never blocks.
class Bell {
 public:
  static Result<Bell> Make();
  ~Bell();
  Bell(Bell&& other) noexcept;
  Bell& operator=(Bell&&) = delete;
  void Ring() const;
  void Clear() const;
  int fd() const { return fd_; }

 private:
  explicit Bell(int fd) : fd_(fd) {}
  int fd_;
};

/// Blocks SIGTERM, SIGINT and SIGHUP in the calling thread and in those that it starts later; the loop then
/// reads them from a descriptor. To be called before any thread exists. SIGPIPE is ignored.
Status BlockSignals();

struct LoopParts {
  NodeAgent& agent;
  Hints& hints;
  Queue<FromController>& inbox;
  const Bell& bell;  ///< rung after each post to the inbox
  const StateDir& state_dir;
  Supervisor& supervisor;
  const Clock& clock;
  Log log;
};

/// Runs until SIGTERM or SIGINT (Ok; the signal is returned) or until waiting itself fails. SIGHUP: look at
/// everything again. Wakes up for hints, for the inbox, for `railwright-agent pause`, and when something is
/// due.
Result<int> RunLoop(const LoopParts& parts);

}  // namespace railwright
