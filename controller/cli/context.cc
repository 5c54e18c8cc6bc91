#include "controller/cli/context.h"

#include "core/wire/address.h"

#include "core/text/yaml.h"

namespace railwright::cli {

CallOptions Waiting(Context& context, const std::string& for_what, std::chrono::milliseconds deadline) {
  context.console.Live("waiting for " + for_what);
  return {.deadline = context.TimeoutOr(deadline), .tick = [&console = context.console] { console.Tick(); }};
}

ExitCode Fail(Context& context, const Status& status) {
  context.console.EndLive();
  if (context.interrupted.load()) {
    context.console.Error("interrupted");
    return ExitCode::kInterrupted;
  }
  context.console.Error(status.message());
  return ExitOf(status);
}

ExitCode FailUsage(Context& context, const std::string& message) {
  context.console.EndLive();
  context.console.Error(message);
  return ExitCode::kUsage;
}

ExitCode FailNamed(Context& context, const Status& status) {
  if (status.code() == Code::kNotFound || status.code() == Code::kInvalidArgument)
    return FailUsage(context, status.message());
  return Fail(context, status);
}

void Emit(Context& context, const Json& value) {
  context.console.Print(context.globals.format == Format::kYaml ? ToYaml(value) : ToJsonText(value));
}

void EmitObject(Context& context, const Json& value) {
  if (context.globals.format == Format::kYaml) {
    context.console.Print("---\n" + ToYaml(value));
  } else {
    context.console.Print(value.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  context.console.Flush();
}

Result<v1::StatusResponse> AskStatus(Context& context, const std::vector<std::string>& nodes) {
  v1::StatusRequest request;
  for (const std::string& pattern : nodes) request.add_nodes(pattern);
  return context.controller.Status(request,
                                   Waiting(context, "the controller at " + context.controller.address()));
}

Consent AskConsent(Context& context, bool yes, const std::string& question) {
  if (yes) return {true, ExitCode::kDone};
  if (!context.console.CanAsk())
    return {false,
            FailUsage(context, "standard input is no terminal, so nobody can be asked\nnext: add --yes")};
  if (context.console.Confirm(question)) return {true, ExitCode::kDone};
  context.console.Note("nothing was changed");
  return {false, ExitCode::kInterrupted};
}

Result<std::shared_ptr<const Login>> ChooseLogin(Globals& globals, const Logins& logins) {
  if (globals.controller.starts_with("unix:")) return std::shared_ptr<const Login>();
  const bool asked = !globals.context.empty() || !globals.controller.empty();
  if (!globals.controller.empty())
    RW_RETURN_IF_ERROR(ParseAddress(globals.controller).status().Within("--controller"));
  if (!asked && logins.InUse().empty()) {
    globals.controller = kDefaultController;
    return std::shared_ptr<const Login>();
  }
  auto login = logins.Load(globals.context);
  if (!login.ok()) return login;
  if (globals.controller.empty()) globals.controller = (*login)->controllers.front().Text();
  return login;
}

}  // namespace railwright::cli
