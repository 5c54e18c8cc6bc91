#include "controller/cli/context.h"

#include <algorithm>
#include <set>

#include "controller/fleet/resolve.h"
#include "core/text/yaml.h"
#include "railwright/explain.h"

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

Result<v1::StatusResponse> AskStatus(Context& context, const std::vector<std::string>& nodes) {
  v1::StatusRequest request;
  std::set<std::string> wanted;
  for (const std::string& pattern : nodes) {
    RW_ASSIGN_OR_RETURN(auto names, ExpandNames(pattern));
    wanted.insert(names.begin(), names.end());
    request.add_nodes(pattern);
  }
  const CallOptions options = Waiting(context, "the controller at " + context.controller.address());
  auto answer = context.controller.Status(request, options);
  if (wanted.empty() || (!answer.ok() && answer.status().code() != Code::kNotFound)) return answer;
  std::set<std::string> found;
  if (answer.ok())
    for (const v1::NodeStatus& node : answer->nodes()) found.insert(node.node());
  if (std::includes(found.begin(), found.end(), wanted.begin(), wanted.end())) return answer;

  // A name is wrong. Which one, and what was meant, only the whole inventory tells.
  auto all = context.controller.Status({}, options);
  if (!all.ok()) return all;
  std::vector<std::string_view> known;
  for (const v1::NodeStatus& node : all->nodes()) {
    known.push_back(node.node());
    wanted.erase(node.node());
  }
  if (wanted.empty())  // the inventory grew between the two answers
    return Status(Code::kAborted, "the inventory changed while it was asked for\nnext: ask again");
  std::string message = "no node " + FoldNames({wanted.begin(), wanted.end()}) + " in the inventory";
  if (const std::string_view near = Nearest(*wanted.begin(), known); !near.empty())
    message += "; did you mean \"" + std::string(near) + "\"?";
  return Status(Code::kNotFound, message + "\nsee: railctl get nodes");
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

}  // namespace railwright::cli
