#include <algorithm>

#include "controller/cli/ask_plan.h"
#include "controller/cli/follow.h"
#include "controller/cli/plan_file.h"
#include "controller/cli/verbs.h"

namespace railwright::cli {
namespace {

// A saved plan or the plan that was just shown no longer holds: exit 5. Without one, a precondition is a
// rule.
ExitCode FailApply(Context& context, const Status& status, const v1::ApplyRequest& request) {
  const bool bound = !request.expect_plan_hash().empty();
  if (bound && (status.code() == Code::kFailedPrecondition || status.code() == Code::kAborted)) {
    context.console.EndLive();
    const std::string& said = status.message();
    context.console.Error(
        (said.starts_with("stale") ? said : "stale plan: " + said + "; nothing was changed") +
        "\nnext: railctl plan -f FILE, and look again");
    return ExitCode::kStalePlan;
  }
  return FailPlan(context, status, {request.files().begin(), request.files().end()});
}

ExitCode Send(Context& context, const ApplyOptions& options, v1::ApplyRequest request) {
  request.set_wait(options.wait);
  request.set_timeout_ms(context.TimeoutOr(kSettle).count());
  request.set_comment(options.comment);
  request.set_author(context.author);
  return Follow(
      context, options.wait,
      [&](const CallOptions& call, const auto& each) {
        return context.controller.Apply(request, call, each);
      },
      [&](const Status& status) { return FailApply(context, status, request); });
}

ExitCode ApplySaved(Context& context, const ApplyOptions& options) {
  if (!options.files.empty() || options.prune || options.restore || options.allow_empty ||
      options.try_for.count() > 0)
    return FailUsage(context,
                     "apply: --plan holds its own files and choices; -f, --prune, --restore, --try and "
                     "--allow-empty cannot be "
                     "given beside it");
  auto plan = ReadPlanFile(options.plan);
  if (!plan.ok()) return FailUsage(context, plan.status().message());
  const Consent consent = AskConsent(
      context, options.yes,
      "Plan " + plan->plan_id + " of " + plan->created + ": " + plan->summary + ".\nApply exactly this?");
  if (!consent.given) return consent.otherwise;
  v1::ApplyRequest request;
  *request.mutable_files() = {plan->sources.begin(), plan->sources.end()};
  request.set_prune(plan->prune);
  request.set_restore(plan->restore);
  request.set_allow_empty(plan->allow_empty);
  request.set_try_ms(static_cast<std::uint32_t>(plan->try_for.count()));
  request.set_expect_plan_hash(plan->plan_hash);
  request.set_expect_base_generation(plan->base_generation);
  return Send(context, options, std::move(request));
}

}  // namespace

ExitCode Run(Context& context, const ApplyOptions& options) {
  if (!options.plan.empty()) return ApplySaved(context, options);
  const bool from_stdin = std::find(options.files.begin(), options.files.end(), "-") != options.files.end();
  if (!options.yes && (from_stdin || !context.console.CanAsk()) && !options.files.empty())
    return FailUsage(
        context, from_stdin
                     ? "apply: standard input holds the documents, so nobody can be asked\nnext: add --yes"
                     : "apply: standard input is no terminal, so nobody can be asked\nnext: add --yes");
  auto sources = TakeSources(context, options.files, "apply");
  if (!sources.ok()) return FailSources(context, sources.status());
  v1::ApplyRequest request;
  *request.mutable_files() = {sources->begin(), sources->end()};
  request.set_prune(options.prune);
  request.set_restore(options.restore);
  request.set_allow_empty(options.allow_empty);
  request.set_try_ms(static_cast<std::uint32_t>(options.try_for.count()));
  if (options.yes) return Send(context, options, std::move(request));

  // What is shown is what is done: the apply is bound to the plan on the screen.
  auto result =
      AskPlan(context, {*sources, options.prune, options.restore, options.allow_empty, options.try_for});
  if (!result.ok()) return FailPlan(context, result.status(), *sources);
  const PlanView plan = MakePlanView(std::move(*result));
  context.console.Note(
      PlanText(plan, {false, ""}, context.console.err_terminal(), context.console.clock().WallNow()));
  if (!plan.would_do_something()) {
    context.console.Note("nothing to apply");
    return plan.exit();
  }
  const Consent consent = AskConsent(
      context, false, "Apply this as generation " + std::to_string(plan.result.next_generation()) + "?");
  if (!consent.given) return consent.otherwise;
  request.set_expect_plan_hash(plan.result.plan_hash());
  request.set_expect_base_generation(plan.result.base_generation());
  return Send(context, options, std::move(request));
}

}  // namespace railwright::cli
