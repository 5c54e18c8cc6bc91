#include <tuple>

#include "controller/cli/rollout_view.h"
#include "controller/cli/rollout_watch.h"
#include "controller/cli/verbs.h"

namespace railwright::cli {
namespace {

using What = RolloutOptions::What;

Result<v1::RolloutsResponse> Ask(Context& context) {
  return context.controller.Rollouts({}, Waiting(context, "the controller"));
}

// The present rollout, when it is the one that was meant.
Result<v1::RolloutInfo> Meant(const v1::RolloutsResponse& answer, std::uint64_t generation) {
  if (answer.rollouts().empty())
    return Status(Code::kFailedPrecondition, "there is no rollout\nsee: railctl get rollouts");
  const v1::RolloutInfo& rollout = answer.rollouts(0);
  if (generation != 0 && generation != rollout.generation())
    return Status(Code::kFailedPrecondition,
                  "generation " + std::to_string(generation) + " is not in force any more, generation " +
                      std::to_string(rollout.generation()) + " is\nsee: railctl rollout status");
  return rollout;
}

// One line: what is so now, how far it is, what to type next.
ExitCode Told(Context& context, const char* action, const std::string& now_is,
              const v1::RolloutInfo& rollout) {
  if (!context.table()) {
    Emit(context, {{"action", action}, {"rollout", RolloutJson(rollout)}});
    return ExitCode::kDone;
  }
  const std::string dot = context.console.out_terminal().utf8 ? " · " : ", ";
  const std::string next = NextOf(rollout);
  context.console.Print("the rollout of generation " + std::to_string(rollout.generation()) + " " + now_is +
                        ": " + ProgressText(rollout) + (next.empty() ? "" : dot + "next: " + next) + "\n");
  return ExitCode::kDone;
}

ExitCode ShowStatus(Context& context) {
  auto answer = Ask(context);
  if (!answer.ok()) return Fail(context, answer.status());
  if (context.table()) {
    context.console.Print(
        RolloutText(*answer, context.console.out_terminal(), context.console.clock().WallNow()));
  } else {
    Emit(context, RolloutsJson(*answer));
  }
  return RolloutExit(*answer);
}

// What is shown is what is approved: a generation that came meanwhile is not.
ExitCode Approve(Context& context, const RolloutOptions& options) {
  v1::ApproveRolloutRequest request;
  request.set_generation(options.generation);
  request.set_reason(options.reason);
  if (!options.yes) {
    std::string question;
    if (context.console.CanAsk()) {
      auto answer = Ask(context);
      if (!answer.ok()) return Fail(context, answer.status());
      auto rollout = Meant(*answer, options.generation);
      if (!rollout.ok()) return Fail(context, rollout.status());
      request.set_generation(rollout->generation());
      const Terminal& terminal = context.console.err_terminal();
      context.console.Note(RolloutText(*answer, terminal, context.console.clock().WallNow()));
      question = "Approve generation " + std::to_string(rollout->generation()) + " (" +
                 FromToText(*rollout, terminal) + ", by " + Printable(rollout->author()) +
                 "), which changes " + std::to_string(rollout->nodes()) +
                 (rollout->nodes() == 1 ? " node?" : " nodes?");
    }
    const Consent consent = AskConsent(context, false, question);
    if (!consent.given) return consent.otherwise;
  }
  auto answer = context.controller.ApproveRollout(request, Waiting(context, "the controller"));
  if (!answer.ok()) return FailNamed(context, answer.status());
  const v1::RolloutInfo& rollout = answer->rollout();
  return Told(context, "approve",
              "has " + std::to_string(rollout.approvals_size()) + " of " +
                  std::to_string(rollout.approvals_needed()) +
                  (rollout.approvals_needed() == 1 ? " approval" : " approvals"),
              rollout);
}

Result<v1::RolloutInfo> Order(Context& context, v1::RolloutOrder order, std::uint64_t generation,
                              const std::string& reason) {
  v1::OrderRolloutRequest request;
  request.set_order(order);
  request.set_generation(generation);
  request.set_reason(reason);
  auto answer = context.controller.OrderRollout(request, Waiting(context, "the controller"));
  if (!answer.ok()) return answer.status();
  return answer->rollout();
}

ExitCode OrderAndTell(Context& context, const RolloutOptions& options) {
  const auto [order, action, now_is] =
      options.what == What::kPause    ? std::tuple(v1::ROLLOUT_ORDER_PAUSE, "pause", "is paused")
      : options.what == What::kResume ? std::tuple(v1::ROLLOUT_ORDER_RESUME, "resume", "is resumed")
                                      : std::tuple(v1::ROLLOUT_ORDER_ABORT, "abort", "is aborted");
  auto rollout = Order(context, order, options.generation, options.reason);
  if (!rollout.ok()) return FailNamed(context, rollout.status());
  return Told(context, action, now_is, *rollout);
}

// Stopped first, so that nothing is begun while people wonder; what was stopped already, or has nobody left
// to begin, only goes back.
ExitCode AbortAndGoBack(Context& context, const RolloutOptions& options) {
  if (!options.yes && !context.console.CanAsk()) return AskConsent(context, false, "").otherwise;
  auto answer = Ask(context);
  if (!answer.ok()) return Fail(context, answer.status());
  auto rollout = Meant(*answer, options.generation);
  if (!rollout.ok()) return Fail(context, rollout.status());
  const std::string generation = std::to_string(rollout->generation());
  if (rollout->base() == 0)
    return Fail(context, Status(Code::kFailedPrecondition,
                                "generation " + generation +
                                    " is the first; there is none before it to go back to\nnext: railctl "
                                    "rollout abort, which stops it where it is"));
  if (!options.yes) {
    context.console.Note(
        RolloutText(*answer, context.console.err_terminal(), context.console.clock().WallNow()));
    const Consent consent =
        AskConsent(context, false,
                   "Abort the rollout of generation " + generation + " and go back to the content of " +
                       std::to_string(rollout->base()) + "?");
    if (!consent.given) return consent.otherwise;
  }
  const bool over = rollout->state() == v1::ROLLOUT_STATE_ABORTED || rollout->waiting() == 0;
  if (!over) {
    auto aborted = Order(context, v1::ROLLOUT_ORDER_ABORT, rollout->generation(), options.reason);
    if (!aborted.ok()) return FailNamed(context, aborted.status());
    context.console.Note("the rollout of generation " + generation +
                         " is aborted: " + ProgressText(*aborted));
  }
  RollbackOptions back;
  back.to = rollout->base();
  back.yes = true;
  return Run(context, back);
}

ExitCode ResetBreaker(Context& context, const RolloutOptions& options) {
  if (!options.yes) {
    if (context.console.CanAsk()) {
      auto present = Ask(context);
      if (!present.ok()) return Fail(context, present.status());
      if (present->brakes().empty())
        return Fail(context,
                    Status(Code::kFailedPrecondition,
                           "the breaker is not open and no rack is frozen; there is nothing to reset"));
      context.console.Note(
          BrakesText(*present, context.console.err_terminal(), context.console.clock().WallNow()));
    }
    const Consent consent =
        AskConsent(context, false, "Is it clear why, and may settings be enforced and nodes be begun again?");
    if (!consent.given) return consent.otherwise;
  }
  v1::ResetBreakerRequest request;
  request.set_reason(options.reason);
  auto answer = context.controller.ResetBreaker(request, Waiting(context, "the controller"));
  if (!answer.ok()) return FailNamed(context, answer.status());
  if (!context.table()) {
    Json reset = Json::array();
    for (const v1::Brake& one : answer->reset()) reset.push_back(BrakeJson(one));
    Emit(context, {{"action", "reset-breaker"}, {"reset", std::move(reset)}});
    return ExitCode::kDone;
  }
  std::string text;
  for (const v1::Brake& one : answer->reset())
    text += (one.rack().empty() ? std::string("the mass-failure breaker is closed")
                                : "rack " + Printable(one.rack()) + " is thawed") +
            "; it was: " + Printable(one.reason()) + "\n";
  if (text.empty()) text = "nothing was open or frozen\n";
  context.console.Print(text +
                        "next: railctl rollout status; one that halted goes on by railctl rollout resume\n");
  return ExitCode::kDone;
}

}  // namespace

ExitCode Run(Context& context, const RolloutOptions& options) {
  switch (options.what) {
    case What::kStatus: return options.watch ? WatchRollout(context) : ShowStatus(context);
    case What::kApprove: return Approve(context, options);
    case What::kPause:
    case What::kResume: break;
    case What::kAbort:
      if (options.rollback) return AbortAndGoBack(context, options);
      break;
    case What::kResetBreaker: return ResetBreaker(context, options);
  }
  return OrderAndTell(context, options);
}

}  // namespace railwright::cli
