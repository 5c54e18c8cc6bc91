// What railctl's exit codes come from; the codes themselves are core/text's, shared by all programs.
#pragma once

#include <span>
#include <string_view>

#include "core/text/exit_code.h"
#include "railwright/result.h"

namespace railwright::cli {

/// Gathers what holds and gives the one code that is returned.
class Outcome {
 public:
  void Add(ExitCode code) { code_ = Gravest({code_, code}); }
  ExitCode code() const { return code_; }

 private:
  ExitCode code_ = ExitCode::kDone;
};

/// The code of a failed call: Unavailable is 8 (unreachable), PermissionDenied 4, Aborted 5 (another apply
/// came first), FailedPrecondition 6 (a rule forbids it), DeadlineExceeded 7, anything else 1.
ExitCode ExitOf(const Status& status);

struct ExitMeaning {
  ExitCode code;
  std::string_view meaning;
};
/// Every code with its meaning, ascending; what `railctl help exit-codes` prints.
std::span<const ExitMeaning> ExitMeanings();

}  // namespace railwright::cli
