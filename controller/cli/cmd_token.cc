#include "controller/cli/fleet_view.h"
#include "controller/cli/member_view.h"
#include "controller/cli/verbs.h"
#include "core/text/times.h"

namespace railwright::cli {
namespace {

ExitCode Create(Context& context, const TokenOptions& options) {
  const int whom = !options.node.empty() + options.any + !options.operator_name.empty();
  if (whom != 1)
    return FailUsage(
        context,
        "token create: one of a node, --any and --operator is wanted\nsee: railctl token create --help");
  if (options.operator_name.empty() && !options.roles.empty())
    return FailUsage(context, "token create: --role is for an operator; a node is a node");
  if (!options.operator_name.empty() && options.roles.empty())
    return FailUsage(context, "token create: --role is wanted: viewer, operator, approver or admin");
  v1::CreateTokenRequest request;
  request.set_kind(options.operator_name.empty() ? v1::MEMBER_KIND_NODE : v1::MEMBER_KIND_OPERATOR);
  request.set_name(options.operator_name.empty() ? options.node : options.operator_name);
  request.mutable_roles()->Assign(options.roles.begin(), options.roles.end());
  if (!options.operator_name.empty()) request.set_scope(options.scope);
  request.set_from(options.from);
  request.set_uses(options.uses);
  request.set_ttl_s(std::chrono::duration_cast<std::chrono::seconds>(options.ttl).count());
  auto answer = context.controller.CreateToken(request, Waiting(context, "the controller"));
  if (!answer.ok()) return FailNamed(context, answer.status());
  if (!context.table()) {
    Emit(context, {{"id", answer->id()},
                   {"join_line", answer->join_line()},
                   {"expires", Rfc3339(TimeOf(answer->expires_unix_us()))}});
    return ExitCode::kDone;
  }
  // The line alone is data: it is pasted, or piped into the other machine.
  context.console.Note("run this " +
                       (request.kind() == v1::MEMBER_KIND_OPERATOR ? "as " + request.name()
                        : request.name().empty()                   ? "on the new node, as root"
                                                                   : "on " + request.name() + ", as root") +
                       "; it counts " +
                       WhenText(answer->expires_unix_us(), context.console.clock().WallNow()).substr(3) +
                       ", and whoever has it may use it:");
  context.console.Print(answer->join_line() + "\n");
  return ExitCode::kDone;
}

}  // namespace

ExitCode Run(Context& context, const TokenOptions& options) {
  if (options.what == TokenOptions::What::kCreate) return Create(context, options);
  if (options.what == TokenOptions::What::kDrop) {
    if (options.id.empty()) return FailUsage(context, "token drop: an id is wanted\nsee: railctl token list");
    v1::DropTokenRequest request;
    request.set_id(options.id);
    auto answer = context.controller.DropToken(request, Waiting(context, "the controller"));
    if (!answer.ok()) return FailNamed(context, answer.status());
    if (context.table())
      context.console.Print("token " + options.id + " counts no more\n");
    else
      Emit(context, {{"dropped", options.id}});
    return ExitCode::kDone;
  }
  auto answer = context.controller.Tokens({}, Waiting(context, "the controller"));
  if (!answer.ok()) return Fail(context, answer.status());
  if (context.table())
    context.console.Print(
        TokensTable(*answer, context.console.out_terminal(), context.console.clock().WallNow()));
  else
    Emit(context, TokensJson(*answer));
  return ExitCode::kDone;
}

}  // namespace railwright::cli
