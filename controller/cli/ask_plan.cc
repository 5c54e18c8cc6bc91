#include "controller/cli/ask_plan.h"

#include "controller/cli/sources.h"
#include "controller/fleet/resolve.h"

namespace railwright::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAnswers{10'000};  // for the agents
constexpr milliseconds kMargin{20'000};   // for the controller, on top

}  // namespace

Result<std::vector<v1::SourceFile>> TakeSources(Context& context, const std::vector<std::string>& files,
                                                const std::string& verb) {
  if (files.empty())
    return Status(Code::kInvalidArgument,
                  verb +
                      ": -f FILE is missing (a file, a directory, or - for standard input)\nsee: railctl " +
                      verb + " --help");
  auto sources = ReadSources(files, context.console.in());
  if (!sources.ok()) return Status(Code::kInvalidArgument, sources.status().message());
  const std::vector<Problem> problems = CheckSources(*sources);
  if (problems.empty()) return sources;
  return Status(Code::kDataLoss, ProblemsText(problems));
}

ExitCode FailSources(Context& context, const Status& status) {
  if (status.code() == Code::kInvalidArgument) return FailUsage(context, status.message());
  context.console.Note(status.message());
  context.console.Error("the documents have problems; nothing was sent");
  return ExitCode::kFailed;
}

Result<v1::PlanResult> AskPlan(Context& context, const PlanQuestion& question) {
  const milliseconds answers = context.TimeoutOr(kAnswers);
  v1::PlanRequest request;
  *request.mutable_files() = {question.sources.begin(), question.sources.end()};
  request.set_prune(question.prune);
  request.set_restore(question.restore);
  request.set_allow_empty(question.allow_empty);
  request.set_try_ms(static_cast<std::uint32_t>(question.try_for.count()));
  request.set_timeout_ms(answers.count());
  CallOptions call = Waiting(context, "the controller at " + context.controller.address());
  call.deadline = answers + kMargin;
  Result<v1::PlanResult> result =
      Status(Code::kInternal,
             "the controller ended the plan without a result\nnext: railctl version; the controller's log");
  std::string problems;
  const Status status = context.controller.Plan(request, call, [&](const v1::PlanEvent& event) {
    if (event.has_result()) result = event.result();
    if (event.has_problems()) problems = ProblemsOf(event.problems());
    if (!event.has_progress()) return;
    const v1::PlanProgress& progress = event.progress();
    context.console.Live("dry run: " + std::to_string(progress.answered()) + " of " +
                         std::to_string(progress.asked()) + " nodes answered; waiting for " +
                         FoldNames({progress.waiting().begin(), progress.waiting().end()}));
  });
  context.console.EndLive();
  if (!status.ok()) return problems.empty() ? status : Status(status.code(), problems);
  return result;
}

ExitCode FailPlan(Context& context, const Status& status, const std::vector<v1::SourceFile>& sources) {
  if (status.code() != Code::kInvalidArgument) return Fail(context, status);
  context.console.EndLive();
  context.console.Note(WithExcerpts(status.message(), sources));
  context.console.Error("the documents were refused; nothing was changed");
  return ExitCode::kFailed;
}

std::string ProblemsOf(const v1::ProblemList& list) {
  std::string text;
  for (const std::string& problem : list.problems()) text += problem + "\n";
  return text;
}

std::string NextCommand(const PlanView& plan, const PlanOptions& options) {
  if (!plan.would_do_something()) {
    if (!plan.refused.empty()) return "railctl explain " + plan.refused.front().step.refused;
    if (plan.result.not_answered_size() > 0)
      return "railctl status " + ShellWord(plan.result.not_answered(0).node());
    return plan.exit() == ExitCode::kDone ? "" : "railctl status";
  }
  if (!options.out.empty()) return "railctl apply --plan " + ShellWord(options.out);
  std::string command = "railctl apply";
  for (const std::string& file : options.files) command += " -f " + ShellWord(file);
  if (options.prune) command += " --prune";
  if (options.restore) command += " --restore";
  if (options.allow_empty) command += " --allow-empty";
  return command;
}

}  // namespace railwright::cli
