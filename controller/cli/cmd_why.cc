#include "controller/cli/verbs.h"
#include "controller/cli/why_view.h"

namespace railwright::cli {

ExitCode Run(Context& context, const WhyOptions& options) {
  if (options.node.empty() || options.key.empty())
    return FailUsage(context, "why: a node and a key are wanted\nsee: railctl why --help");
  v1::WhyRequest request;
  request.set_node(options.node);
  const auto match = context.catalog.Find(options.key);
  request.set_key(match.ok() ? match->key : options.key);  // the one spelling
  request.set_target(options.target);
  auto answer = context.controller.Why(request, Waiting(context, "the controller"));
  if (answer.status().code() == Code::kNotFound)
    return FailUsage(context, answer.status().message() + "\nsee: railctl get settings " + options.node +
                                  "; railctl explain");
  if (!answer.ok()) return FailNamed(context, answer.status());
  if (context.table()) {
    context.console.Print(
        WhyText(request, *answer, context.console.out_terminal(), context.console.clock().WallNow()));
  } else {
    Emit(context, WhyJson(request, *answer));
  }
  return ExitCode::kDone;
}

}  // namespace railwright::cli
