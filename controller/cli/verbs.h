// One function a verb, one file a function (cmd_*.cc).
#pragma once

#include "controller/cli/command_line.h"
#include "controller/cli/context.h"
#include "core/identity/key.h"

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
ExitCode Run(Context& context, const RolloutOptions& options);
ExitCode Run(Context& context, const PauseOptions& options);
ExitCode Run(Context& context, const ForgetOptions& options);
ExitCode Run(Context& context, const TokenOptions& options);
ExitCode Run(Context& context, const StandingOptions& options);
ExitCode Run(Context& context, const LoginOptions& options);
ExitCode Run(Context& context, const DoctorOptions& options);
ExitCode Run(Context& context, const ContextOptions& options);
ExitCode Run(Context& context, const KeyGenerateOptions& options);
ExitCode Run(Context& context, const KeyShowOptions& options);
ExitCode Run(Context& context, const SignOptions& options);
ExitCode Run(Context& context, const AuditLogOptions& options);
ExitCode Run(Context& context, const VersionOptions& options);
ExitCode Run(Context& context, const CompletionOptions& options);
/// Prints candidates, one a line; ":files" first when file names fit too. Never an error: a shell asks.
ExitCode RunComplete(Context& context, const CommandLine& line, const CompleteOptions& options);
ExitCode RunHelp(Context& context, const CommandLine& line, const HelpOptions& options);

/// A file of `railctl key generate`. FailedPrecondition when others may read it, InvalidArgument when it
/// holds another kind of key.
Result<identity::PrivateKey> ReadSigningKey(const std::string& path);

}  // namespace railwright::cli
