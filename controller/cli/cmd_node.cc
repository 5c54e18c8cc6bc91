#include "controller/cli/verbs.h"

namespace railwright::cli {

ExitCode Run(Context& context, const ForgetOptions& options) {
  if (options.node.empty())
    return FailUsage(context, "node forget: a node is wanted\nsee: railctl node forget --help");
  const Consent consent =
      AskConsent(context, options.yes,
                 "Drop the last report and the history of " + options.node + "? This cannot be undone.");
  if (!consent.given) return consent.otherwise;
  v1::ForgetNodeRequest request;
  request.set_node(options.node);
  auto answer = context.controller.ForgetNode(request, Waiting(context, "the controller"));
  if (!answer.ok()) return FailNamed(context, answer.status());
  if (context.table()) {
    context.console.Print(options.node + " is forgotten\n");
  } else {
    Emit(context, {{"forgotten", options.node}});
  }
  return ExitCode::kDone;
}

}  // namespace railwright::cli
