#include "controller/cli/ask_plan.h"
#include "controller/cli/plan_file.h"
#include "controller/cli/sources.h"
#include "controller/cli/verbs.h"
#include "core/text/times.h"

namespace railwright::cli {

ExitCode Run(Context& context, const PlanOptions& options) {
  auto sources = TakeSources(context, options.files, "plan");
  if (!sources.ok()) return FailSources(context, sources.status());
  const PlanQuestion question{*sources, options.prune, options.restore, options.allow_empty, options.try_for};
  auto result = AskPlan(context, question);
  if (!result.ok()) return FailPlan(context, result.status(), *sources);
  const PlanView plan = MakePlanView(std::move(*result));
  const auto now = context.console.clock().WallNow();

  const std::string next = NextCommand(plan, options);
  if (!options.out.empty()) {
    const Status written = WritePlanFile(options.out, {.plan_id = plan.result.plan_id(),
                                                       .plan_hash = plan.result.plan_hash(),
                                                       .base_generation = plan.result.base_generation(),
                                                       .created = Rfc3339(now),
                                                       .controller = context.controller.address(),
                                                       .summary = plan.Sentence(),
                                                       .prune = options.prune,
                                                       .restore = options.restore,
                                                       .allow_empty = options.allow_empty,
                                                       .try_for = options.try_for,
                                                       .sources = *sources});
    if (!written.ok()) return Fail(context, written.Within("the plan could not be saved"));
  }
  if (context.table()) {
    context.console.Print(PlanText(plan, {options.why, next}, context.console.out_terminal(), now));
  } else {
    Emit(context, PlanJson(plan, next));
  }
  return plan.exit();
}

}  // namespace railwright::cli
