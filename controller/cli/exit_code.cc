#include "controller/cli/exit_code.h"

#include <array>

namespace railwright::cli {
namespace {

constexpr std::array kMeanings{
    ExitMeaning{ExitCode::kDone, "done and complete; no difference"},
    ExitMeaning{ExitCode::kFailed, "failed on a target, or the documents are wrong"},
    ExitMeaning{ExitCode::kDifferences, "differences or failed checks were found"},
    ExitMeaning{ExitCode::kIncomplete, "incomplete: something is unknown, or a node did not answer"},
    ExitMeaning{ExitCode::kNotPermitted, "not permitted"},
    ExitMeaning{ExitCode::kStalePlan, "stale plan, or another apply came first; nothing was changed"},
    ExitMeaning{ExitCode::kStopped,
                "stopped by a safety rule; or a rollout waits for a person, a window or the breaker"},
    ExitMeaning{ExitCode::kTimedOut, "timed out; the work goes on"},
    ExitMeaning{ExitCode::kUnreachable, "the controller cannot be reached"},
    ExitMeaning{ExitCode::kUsage, "the command line is wrong: a command, option, file or name"},
    ExitMeaning{ExitCode::kInterrupted, "interrupted, or the question was answered with no"},
};

}  // namespace

ExitCode ExitOf(const Status& status) {
  switch (status.code()) {
    case Code::kOk: return ExitCode::kDone;
    case Code::kPermissionDenied:
    case Code::kUnauthenticated: return ExitCode::kNotPermitted;
    case Code::kUnavailable: return ExitCode::kUnreachable;
    case Code::kAborted: return ExitCode::kStalePlan;
    case Code::kFailedPrecondition: return ExitCode::kStopped;
    case Code::kDeadlineExceeded: return ExitCode::kTimedOut;
    default: return ExitCode::kFailed;
  }
}

std::span<const ExitMeaning> ExitMeanings() { return kMeanings; }

}  // namespace railwright::cli
