#include "controller/audit_log.h"

#include <iostream>
#include <optional>

#include "controller/store/store.h"
#include "core/audit/chain.h"
#include "core/text/table.h"

namespace railwright {
namespace {

ExitCode Fail(const Status& status, ExitCode code = ExitCode::kFailed) {
  std::cerr << "railwright-controller: " << status.message() << "\n";
  return code;
}

}  // namespace

ExitCode VerifyAuditLog(const std::string& state_dir, const std::string& expect_head) {
  std::optional<audit::Head> expected;
  if (!expect_head.empty()) {
    const auto parsed = audit::Head::Parse(expect_head);
    if (!parsed.ok()) return Fail(parsed.status().Within("--expect-head"), ExitCode::kUsage);
    expected = *parsed;
  }
  const auto check = CheckStoredAudit(state_dir, expected);
  if (!check.ok()) return Fail(check.status());
  if (!check->fault()) {
    std::cout << "the audit is whole: " << check->head().id << " rows\nhead " << check->head().Text() << "\n";
    return ExitCode::kDone;
  }
  std::cout << "the audit is NOT whole\n"
            << Printable(check->fault()->Text()) << "\nthe last row that fits: " << check->head().Text()
            << "\n";
  return ExitCode::kDifferences;
}

}  // namespace railwright
