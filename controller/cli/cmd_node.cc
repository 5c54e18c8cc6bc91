#include "controller/cli/fleet_view.h"
#include "controller/cli/verbs.h"
#include "core/wire/wire.h"

namespace railwright::cli {

ExitCode Run(Context& context, const ForgetOptions& options) {
  if (options.node.empty())
    return FailUsage(context, "node forget: a node is wanted\nsee: railctl node forget --help");
  const Consent consent = AskConsent(
      context, options.yes,
      "Drop the last report, the history and the pauses of " + options.node + "? This cannot be undone.");
  if (!consent.given) return consent.otherwise;
  v1::ForgetNodeRequest request;
  request.set_node(options.node);
  auto answer = context.controller.ForgetNode(request, Waiting(context, "the controller"));
  if (!answer.ok()) return FailNamed(context, answer.status());
  if (context.table()) {
    std::string text = options.node + " is forgotten\n";
    for (const v1::Pause& pause : answer->pauses())
      text += "its pause is dropped: " + Printable(PauseText(FromWire(pause))) + "\n";
    context.console.Print(text);
  } else {
    Json pauses = Json::array();
    for (const v1::Pause& pause : answer->pauses()) pauses.push_back(ToJson(FromWire(pause)));
    Emit(context, {{"forgotten", options.node}, {"pauses_dropped", std::move(pauses)}});
  }
  return ExitCode::kDone;
}

}  // namespace railwright::cli
