#include "controller/cli/member_view.h"
#include "controller/cli/verbs.h"
#include "core/text/times.h"
#include "railwright/unix_time.h"

namespace railwright::cli {
namespace {

ExitCode List(Context& context) {
  const std::string in_use = context.logins.InUse();
  const auto now = context.console.clock().WallNow();
  Table table({{.header = "IN USE"},
               {.header = "NAME"},
               {.header = "OPERATOR"},
               {.header = "CONTROLLER"},
               {.header = "CERTIFICATE ENDS"}});
  Json rows = Json::array();
  bool damaged = false;
  for (const std::string& name : context.logins.Names()) {
    const auto login = context.logins.Load(name);
    Json row = {{"name", name}, {"in_use", name == in_use}};
    if (!login.ok()) {
      damaged = true;
      row["problem"] = login.status().message();
      table.Add({name == in_use ? "*" : "", name, Cell(login.status().message(), Tone::kBad)});
    } else {
      const Login& one = **login;
      const std::int64_t end = ToUnixMicros(one.chain.front().not_after());
      row["cluster"] = one.cluster.text();
      row["operator"] = one.operator_name;
      row["controller"] = one.controllers.front().Text();
      row["not_after"] = Rfc3339(one.chain.front().not_after());
      table.Add({name == in_use ? "*" : "", name, one.operator_name, one.controllers.front().Text(),
                 Cell(WhenText(end, now), one.chain.front().not_after() <= now ? Tone::kBad : Tone::kPlain)});
    }
    rows.push_back(std::move(row));
  }
  if (!context.table())
    Emit(context, {{"contexts", std::move(rows)}});
  else if (table.empty())
    context.console.Print("no login yet; next: railctl login LINE\n");
  else
    context.console.Print(table.Render(context.console.out_terminal()));
  return damaged ? ExitCode::kIncomplete : ExitCode::kDone;
}

}  // namespace

ExitCode Run(Context& context, const ContextOptions& options) {
  if (options.what == ContextOptions::What::kList) return List(context);
  const bool use = options.what == ContextOptions::What::kUse;
  const std::string verb = use ? "use" : "remove";
  if (options.name.empty())
    return FailUsage(context, "context " + verb + ": a name is wanted\nsee: railctl context list");
  const Status status = use ? context.logins.Use(options.name) : context.logins.Remove(options.name);
  if (!status.ok()) return FailNamed(context, status);
  if (context.table())
    context.console.Print(use ? options.name + " is in use\n"
                              : "context " + options.name + " and its key are gone\n");
  else
    Emit(context, {{use ? "in_use" : "removed", options.name}});
  return ExitCode::kDone;
}

}  // namespace railwright::cli
