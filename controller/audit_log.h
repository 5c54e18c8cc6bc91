// `railwright-controller audit-log verify`: the audit of a state directory, checked without a controller.
#pragma once

#include <string>

#include "core/text/exit_code.h"

namespace railwright {

/// Recomputes the chain of the store in `state_dir`, also one in use, and changes nothing there.
/// `expect_head` is "" or ID:HASH. The verdict goes to standard output, what kept it from being found to
/// standard error. kDone, kDifferences with the first bad row named, kUsage for a head that is none, kFailed
/// otherwise.
ExitCode VerifyAuditLog(const std::string& state_dir, const std::string& expect_head);

}  // namespace railwright
