#include <cerrno>
#include <chrono>
#include <thread>

#include "controller/cli/member_view.h"
#include "controller/cli/verbs.h"
#include "core/enrol/ask.h"
#include "core/text/times.h"
#include "railwright/unix_time.h"

namespace railwright::cli {
namespace {

// A line as it was printed ("railctl login …"), or from HOST:PORT on.
Result<identity::JoinLine> ParseLine(std::string text) {
  constexpr std::string_view kCommand = "railctl login ", kNode = "railwright-agent join ";
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ' || text.back() == '\r')) text.pop_back();
  if (text.starts_with(kNode))
    return Status(Code::kInvalidArgument, "this line is for a node: run it there, as root");
  if (text.starts_with(kCommand)) text.erase(0, kCommand.size());
  return identity::JoinLine::Parse(std::string(kNode) + text);
}

ExitCode Done(Context& context, const Login& login, const std::string& what) {
  const auto now = context.console.clock().WallNow();
  const auto end = login.chain.front().not_after();
  if (context.table())
    context.console.Print(what + " " + login.cluster.text() + " as " + login.operator_name +
                          "; the certificate ends " + WhenText(ToUnixMicros(end), now) +
                          " and railctl renews it\n" + "context " + login.context +
                          (context.logins.InUse() == login.context
                               ? " is in use\n"
                               : ": use it with --context, or railctl context use " + login.context + "\n"));
  else
    Emit(context, {{"context", login.context},
                   {"cluster", login.cluster.text()},
                   {"operator", login.operator_name},
                   {"not_after", Rfc3339(end)}});
  return ExitCode::kDone;
}

Status Take(Login& login, identity::IssuedAnswer answer) {
  if (answer.controllers.empty())
    return Status(Code::kFailedPrecondition,
                  "the controller does not say where it serves operators; it was started "
                  "without --listen HOST:PORT");
  login.chain = std::move(answer.chain);
  login.roots = std::move(answer.roots);
  login.controllers = std::move(answer.controllers);
  login.enrolment = std::move(answer.enrolment);
  login.renewals = answer.renewals;
  return Ok();
}

ExitCode LogInAnew(Context& context, const LoginOptions& options) {
  std::string text = options.line;
  if (text == "-" || text.empty()) {
    text.clear();
    std::getline(context.console.in(), text);
  }
  auto line = ParseLine(text);
  if (!line.ok())
    return FailUsage(context, "login: " + line.status().message() + "\nsee: railctl login --help");
  auto key = identity::PrivateKey::Generate(identity::KeyKind::kP256);
  if (!key.ok()) return Fail(context, key.status());
  auto answer = enrol::Join(*line, {}, *key, context.console.clock().WallNow());
  // The port opens within half a second of the token.
  for (int i = 0; i < 6 && !answer.ok() && answer.status().error_number() == ECONNREFUSED; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    answer = enrol::Join(*line, {}, *key, context.console.clock().WallNow());
  }
  if (!answer.ok()) return Fail(context, answer.status());
  if (answer->party != identity::Party::kOperator)
    return FailUsage(context,
                     "login: this line was for a node, and has been used up; make another for the node");
  const std::string name = answer->name;
  const identity::ClusterName cluster = answer->cluster;
  Login login{options.context.empty() ? cluster.text() : options.context,
              cluster,
              name,
              std::move(*key),
              {},
              {},
              {},
              {},
              0};
  if (const Status taken = Take(login, std::move(*answer)); !taken.ok()) return Fail(context, taken);
  if (const Status saved = context.logins.Save(login); !saved.ok()) return Fail(context, saved);
  return Done(context, login, "logged in to");
}

Result<Login> CopyOf(const Login& old) {
  RW_ASSIGN_OR_RETURN(const identity::Secret pem, old.key.ToPem());
  RW_ASSIGN_OR_RETURN(identity::PrivateKey key, identity::PrivateKey::FromPem(pem.Reveal()));
  return Login{old.context, old.cluster,     old.operator_name, std::move(key), old.chain,
               old.roots,   old.controllers, old.enrolment,     old.renewals};
}

// By the key alone, at the enrolment port.
Status Recover(const Logins& logins, const Login& old, identity::Time now) {
  RW_ASSIGN_OR_RETURN(Login login, CopyOf(old));
  auto answer = enrol::Recover({old.cluster, old.roots, old.enrolment}, identity::Party::kOperator,
                               old.operator_name, old.renewals, login.key, now);
  if (!answer.ok()) return answer.status();
  RW_RETURN_IF_ERROR(Take(login, std::move(*answer)));
  return logins.Save(login);
}

// By the certificate that still counts.
Status Renew(const Logins& logins, const std::shared_ptr<const Login>& old, const std::string& controller,
             const std::atomic<bool>& interrupted) {
  AdminClient client(controller, old, interrupted);
  v1::RenewRequest request;
  request.set_renewals(old->renewals);
  RW_ASSIGN_OR_RETURN(const v1::RenewResponse answer,
                      client.RenewOperator(request, {.deadline = std::chrono::seconds(5), .tick = [] {}}));
  RW_ASSIGN_OR_RETURN(Login login, CopyOf(*old));
  RW_ASSIGN_OR_RETURN(login.chain, identity::Certificate::ChainFromPem(answer.chain_pem()));
  RW_ASSIGN_OR_RETURN(login.roots, identity::Certificate::ChainFromPem(answer.roots_pem()));
  login.renewals = answer.renewals();
  return logins.Save(login);
}

}  // namespace

Result<std::shared_ptr<const Login>> Refreshed(std::shared_ptr<const Login> login, const Logins& logins,
                                               const std::string& controller, Console& console,
                                               const std::atomic<bool>& interrupted) {
  if (!login) return login;
  const identity::Certificate& leaf = login->chain.front();
  const auto now = console.clock().WallNow();
  if (now < leaf.not_before() + (leaf.not_after() - leaf.not_before()) / 3 * 2) return login;
  const bool expired = leaf.not_after() <= now;
  const Status status =
      expired ? Recover(logins, *login, now) : Renew(logins, login, controller, interrupted);
  if (status.ok()) return logins.Load(login->context);
  if (!expired) return login;  // it still counts; the next call tries again
  return Status(Code::kPermissionDenied, "the certificate of context " + login->context +
                                             " has expired, and another was not given: " + status.message() +
                                             "\nnext: railctl login LINE, with a line from an administrator");
}

ExitCode Run(Context& context, const LoginOptions& options) {
  if (!options.renew) return LogInAnew(context, options);
  auto login = context.logins.Load(options.context);
  if (!login.ok()) return FailNamed(context, login.status());
  if (const Status renewed = Recover(context.logins, **login, context.console.clock().WallNow());
      !renewed.ok())
    return Fail(context, renewed);
  auto now = context.logins.Load((*login)->context);
  if (!now.ok()) return Fail(context, now.status());
  return Done(context, **now, "renewed the login to");
}

}  // namespace railwright::cli
