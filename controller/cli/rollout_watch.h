// Following the rollout in force until it ends.
#pragma once

#include "controller/cli/context.h"

namespace railwright::cli {

/// Asks each second. On a terminal a few live lines, and the whole at the end; elsewhere a line when
/// something changed; as JSON or YAML an object when something changed. Ends with
///   0    done; or a newer generation took its place, which is said
///   1    done, and nodes failed that nobody accepted
///   6    halted, aborted, or the breaker is open
///   7    --timeout, 8 the controller stays away for 60 s, 130 Ctrl-C: the rollout goes on
/// A pause, an approval or a window that it waits for is waited for.
ExitCode WatchRollout(Context& context);

}  // namespace railwright::cli
