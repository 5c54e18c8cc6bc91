// Exit codes, the same for all programs and output formats.
#pragma once

#include <initializer_list>

namespace railwright {

enum class ExitCode : int {
  kDone = 0,         ///< done and complete
  kFailed = 1,       ///< failed on a target
  kDifferences = 2,  ///< differences or failed checks found
  kIncomplete = 3,   ///< unknown, or a node did not answer
  kNotPermitted = 4,
  kStalePlan = 5,
  kStopped = 6,        ///< by a safety rule
  kTimedOut = 7,       ///< still going on
  kUnreachable = 8,    ///< the controller
  kUsage = 64,         ///< sysexits.h EX_USAGE
  kInterrupted = 130,  ///< 128 + SIGINT, as shells have it
};

/// The one to exit with when several hold: 130, 64, 4, 8, 5, 6, 1, 2, 3, 7, 0.
constexpr ExitCode Gravest(std::initializer_list<ExitCode> codes) {
  constexpr ExitCode kOrder[]{ExitCode::kInterrupted, ExitCode::kUsage,       ExitCode::kNotPermitted,
                              ExitCode::kUnreachable, ExitCode::kStalePlan,   ExitCode::kStopped,
                              ExitCode::kFailed,      ExitCode::kDifferences, ExitCode::kIncomplete,
                              ExitCode::kTimedOut};
  for (const ExitCode wanted : kOrder)
    for (const ExitCode code : codes)
      if (code == wanted) return code;
  return ExitCode::kDone;
}

}  // namespace railwright
