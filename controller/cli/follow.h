// Following an apply or a rollback to its end.
#pragma once

#include <functional>

#include "controller/cli/apply_view.h"
#include "controller/cli/context.h"

namespace railwright::cli {

/// How long nodes may take to settle when --timeout is not given; the controller's own default too.
inline constexpr std::chrono::milliseconds kSettle{600'000};

/// Runs `call` (Apply or Rollback), shows whom it waits for, prints the outcome, gives the exit code. When
/// the call fails after the generation was stored, says what goes on. `refused` shows an error of the call
/// itself.
ExitCode Follow(
    Context& context, bool wait,
    const std::function<Status(const CallOptions&, const std::function<void(const v1::ApplyEvent&)>&)>& call,
    const std::function<ExitCode(const Status&)>& refused);

}  // namespace railwright::cli
