// PollLoop: the one thread that uses the machine, and what wakes it.
#pragma once

#include <functional>
#include <string>

#include "agent/gate/bell.h"
#include "agent/loop/log.h"
#include "agent/loop/node_agent.h"
#include "agent/loop/supervisor.h"
#include "railwright/hints.h"
#include "railwright/mailbox.h"
#include "railwright/result.h"

namespace railwright {

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
