// One function a verb, one file a function (cmd_*.cc).
#pragma once

#include "controller/cli/command_line.h"
#include "controller/cli/context.h"

namespace railwright::cli {

ExitCode Run(Context& context, const PlanOptions& options);
ExitCode Run(Context& context, const ApplyOptions& options);
ExitCode Run(Context& context, const LearnOptions& options);
ExitCode Run(Context& context, const StatusOptions& options);
ExitCode Run(Context& context, const DriftOptions& options);
ExitCode Run(Context& context, const GetOptions& options);
ExitCode Run(Context& context, const ExplainOptions& options);
ExitCode Run(Context& context, const WhyOptions& options);
ExitCode Run(Context& context, const WatchOptions& options);
ExitCode Run(Context& context, const RollbackOptions& options);
ExitCode Run(Context& context, const PauseOptions& options);
ExitCode Run(Context& context, const ForgetOptions& options);
ExitCode Run(Context& context, const AuditLogOptions& options);
ExitCode Run(Context& context, const VersionOptions& options);
ExitCode Run(Context& context, const CompletionOptions& options);
/// Prints candidates, one a line; ":files" first when file names fit too. Never an error: a shell asks.
ExitCode RunComplete(Context& context, const CommandLine& line, const CompleteOptions& options);
ExitCode RunHelp(Context& context, const CommandLine& line, const HelpOptions& options);

}  // namespace railwright::cli
