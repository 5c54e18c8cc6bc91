#include "controller/cli/fleet_view.h"
#include "controller/cli/verbs.h"

namespace railwright::cli {

ExitCode Run(Context& context, const StatusOptions& options) {
  auto answer = AskStatus(context, options.nodes);
  if (!answer.ok()) return FailNamed(context, answer.status());
  const auto now = context.console.clock().WallNow();
  const FleetView fleet = Judge(*answer, now);
  if (context.table()) {
    context.console.Print(StatusTable(fleet, context.console.out_terminal(), now));
  } else {
    Emit(context, StatusJson(fleet));
  }
  return fleet.exit();
}

ExitCode Run(Context& context, const DriftOptions& options) {
  auto answer = AskStatus(context, options.nodes);
  if (!answer.ok()) return FailNamed(context, answer.status());
  const FleetView fleet = Judge(*answer, context.console.clock().WallNow());
  if (context.table()) {
    context.console.Print(DriftTable(fleet, context.console.out_terminal()));
  } else {
    Emit(context, DriftJson(fleet));
  }
  return DriftExit(fleet);
}

}  // namespace railwright::cli
