#include "controller/cli/follow.h"

#include "controller/cli/ask_plan.h"

namespace railwright::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kStore{60'000};   // to store and push, without the wait
constexpr milliseconds kMargin{30'000};  // past the controller's own deadline

}  // namespace

ExitCode Follow(
    Context& context, bool wait,
    const std::function<Status(const CallOptions&, const std::function<void(const v1::ApplyEvent&)>&)>& call,
    const std::function<ExitCode(const Status&)>& refused) {
  ApplyProgress progress(wait);
  CallOptions options = Waiting(context, "the controller at " + context.controller.address());
  options.deadline = (wait ? context.TimeoutOr(kSettle) : context.TimeoutOr(kStore)) + kMargin;
  std::string problems;
  Status status = call(options, [&](const v1::ApplyEvent& event) {
    if (event.has_problems()) {
      problems = ProblemsOf(event.problems());
      return;
    }
    progress.Add(event);
    context.console.Live(progress.Live());
  });
  context.console.EndLive();
  if (!status.ok() && !problems.empty()) status = Status(status.code(), problems);
  const std::string stored =
      "generation " + std::to_string(progress.generation()) + " is stored, and the agents go on with it";
  const std::string next = "\nfollow: railctl watch; undo: railctl rollback";
  if (context.interrupted.load()) {
    context.console.Error(progress.generation() == 0 ? "interrupted before the controller answered\nnext: "
                                                       "railctl get generations says whether it was stored"
                                                     : "interrupted; " + stored + next);
    return ExitCode::kInterrupted;
  }
  if (!status.ok()) {
    const ExitCode code = refused(status);
    if (progress.generation() != 0 && !progress.unchanged()) context.console.Note(stored + next);
    return code;
  }
  if (!progress.finished()) {
    context.console.Error("the controller ended the stream early" +
                          (progress.generation() == 0 ? std::string() : "; " + stored + next));
    return ExitCode::kUnreachable;
  }
  if (context.table()) {
    context.console.Print(progress.Table(context.console.out_terminal()));
  } else {
    Emit(context, progress.ToJson());
  }
  return progress.exit();
}

}  // namespace railwright::cli
