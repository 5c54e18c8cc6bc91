#include <algorithm>

#include "controller/cli/get_view.h"
#include "controller/cli/member_view.h"
#include "controller/cli/rollout_view.h"
#include "controller/cli/verbs.h"
#include "railwright/unix_time.h"

namespace railwright::cli {
namespace {

constexpr std::uint32_t kChanges = 100, kGenerations = 20, kAudit = 100, kRollouts = 20;

ExitCode Show(Context& context, const Json& json, const std::string& table) {
  if (context.table()) {
    context.console.Print(table);
  } else {
    Emit(context, json);
  }
  return ExitCode::kDone;
}

ExitCode GetFleet(Context& context, const GetOptions& options) {
  auto answer = AskStatus(context, options.names);
  if (!answer.ok()) return FailNamed(context, answer.status());
  const auto now = context.console.clock().WallNow();
  const Terminal& terminal = context.console.out_terminal();
  const FleetView fleet = Judge(*answer, now);
  if (options.kind == "nodes") return Show(context, NodesJson(fleet), NodesTable(fleet, terminal, now));
  if (options.kind == "settings")
    return Show(context, SettingsJson(fleet, options.key), SettingsTable(fleet, options.key, terminal));
  return Show(context, FindingsJson(fleet, options.key), FindingsTable(fleet, options.key, terminal));
}

/// Changes carry their node's time, and "since" is counted from this machine's: NTP keeps the two within a
/// second, so what was just done is not missed for that.
constexpr std::chrono::seconds kClocks{1};

ExitCode GetChanges(Context& context, const GetOptions& options) {
  const auto now = context.console.clock().WallNow();
  v1::ChangesRequest request;
  for (const std::string& name : options.names) request.add_nodes(name);
  request.set_key(options.key);
  request.set_limit(options.limit == 0 ? kChanges : options.limit);
  if (options.since.count() > 0) request.set_since_unix_us(ToUnixMicros(now - options.since - kClocks));
  auto answer = context.controller.Changes(request, Waiting(context, "the controller"));
  if (!answer.ok()) return FailNamed(context, answer.status());
  return Show(context, ChangesJson(*answer), ChangesTable(*answer, context.console.out_terminal(), now));
}

ExitCode GetGenerations(Context& context, const GetOptions& options) {
  v1::GenerationsRequest request;
  request.set_limit(options.limit == 0 ? kGenerations : options.limit);
  auto answer = context.controller.Generations(request, Waiting(context, "the controller"));
  if (!answer.ok()) return Fail(context, answer.status());
  return Show(context, GenerationsJson(*answer),
              GenerationsTable(*answer, context.console.out_terminal(), context.console.clock().WallNow()));
}

ExitCode GetRollouts(Context& context, const GetOptions& options) {
  v1::RolloutsRequest request;
  request.set_list(true);
  request.set_limit(options.limit == 0 ? kRollouts : options.limit);
  auto answer = context.controller.Rollouts(request, Waiting(context, "the controller"));
  if (!answer.ok()) return Fail(context, answer.status());
  return Show(context, RolloutsJson(*answer),
              RolloutsTable(*answer, context.console.out_terminal(), context.console.clock().WallNow()));
}

ExitCode GetMembers(Context& context) {
  auto answer = context.controller.Members({}, Waiting(context, "the controller"));
  if (!answer.ok()) return Fail(context, answer.status());
  return Show(context, MembersJson(*answer),
              MembersTable(*answer, context.console.out_terminal(), context.console.clock().WallNow()));
}

ExitCode GetDesired(Context& context, const GetOptions& options) {
  if (options.names.size() != 1)
    return FailUsage(context, "get desired: one node is wanted\nsee: railctl get desired --help");
  v1::DesiredRequest request;
  request.set_node(options.names.front());
  request.set_generation(options.generation);
  auto answer = context.controller.Desired(request, Waiting(context, "the controller"));
  if (!answer.ok()) return FailNamed(context, answer.status());
  return Show(context, DesiredJson(request.node(), *answer),
              DesiredTable(request.node(), *answer, context.console.out_terminal()));
}

ExitCode GetAudit(Context& context, const GetOptions& options) {
  v1::AuditRequest request;
  request.set_limit(options.limit == 0 ? kAudit : options.limit);
  auto answer = context.controller.Audit(request, Waiting(context, "the controller"));
  if (!answer.ok()) return Fail(context, answer.status());
  return Show(context, AuditJson(*answer),
              AuditTable(*answer, context.console.out_terminal(), context.console.clock().WallNow()));
}

}  // namespace

ExitCode Run(Context& context, const GetOptions& options) {
  if (options.kind == "changes") return GetChanges(context, options);
  if (options.kind == "generations") return GetGenerations(context, options);
  if (options.kind == "desired") return GetDesired(context, options);
  if (options.kind == "audit") return GetAudit(context, options);
  if (options.kind == "members") return GetMembers(context);
  if (options.kind == "rollouts") return GetRollouts(context, options);
  if (options.kind == "links")
    return FailUsage(context,
                     "get links arrives with a later version of Railwright\nsee: railctl get --help");
  return GetFleet(context, options);
}

}  // namespace railwright::cli
