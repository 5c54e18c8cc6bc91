// What plan and apply share: the operator's files, checked, and the dry run.
#pragma once

#include <string>
#include <vector>

#include "controller/cli/context.h"
#include "controller/cli/plan_view.h"
#include "railwright/v1/admin.pb.h"

namespace railwright::cli {

/// Reads and checks `files`. InvalidArgument: a file cannot be read or none was named (usage). DataLoss: the
/// documents have problems; the message holds them all with excerpts.
Result<std::vector<v1::SourceFile>> TakeSources(Context& context, const std::vector<std::string>& files,
                                                const std::string& verb);
/// 1 for problems of the documents, 64 for files that are not there.
ExitCode FailSources(Context& context, const Status& status);

struct PlanQuestion {
  const std::vector<v1::SourceFile>& sources;
  bool prune = false, restore = false, allow_empty = false;
  std::chrono::milliseconds try_for{0};
};
/// The dry run, with the nodes waited for on stderr.
Result<v1::PlanResult> AskPlan(Context& context, const PlanQuestion& question);
/// As Fail; what the controller found wrong with the documents is shown with excerpts.
ExitCode FailPlan(Context& context, const Status& status, const std::vector<v1::SourceFile>& sources);

/// The whole list, a line each; it stands in for the message of the status that follows it, which holds only
/// as much as fits there.
std::string ProblemsOf(const v1::ProblemList& list);

/// What to type next: apply the saved plan or the same files; where nothing would be done, what explains why;
/// "" when all is well.
std::string NextCommand(const PlanView& plan, const PlanOptions& options);

}  // namespace railwright::cli
