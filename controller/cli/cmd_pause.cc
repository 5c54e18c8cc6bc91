#include <algorithm>

#include "controller/cli/fleet_view.h"
#include "controller/cli/plan_view.h"
#include "controller/cli/verbs.h"
#include "controller/fleet/resolve.h"
#include "railwright/explain.h"

namespace railwright::cli {
namespace {

struct Selection {
  std::vector<std::string> nodes;  // "" = every node
  std::vector<std::string> keys;   // "" = every key
};

ExitCode List(Context& context) {
  v1::StatusRequest request;
  request.set_summary_only(true);
  auto answer = context.controller.Status(request, Waiting(context, "the controller"));
  if (!answer.ok()) return Fail(context, answer.status());
  const FleetView fleet = Judge(*answer, context.console.clock().WallNow());
  if (!context.table()) {
    Json json = {{"pauses", Json::array()}};
    for (const Pause& pause : fleet.pauses) json["pauses"].push_back(ToJson(pause));
    Emit(context, json);
    return ExitCode::kDone;
  }
  Table table({{.header = "NODE"}, {.header = "KEY"}, {.header = "BY"}, {.header = "REASON"}});
  for (const Pause& pause : fleet.pauses)
    table.Add({pause.node.empty() ? "every node" : pause.node, pause.key.empty() ? "every key" : pause.key,
               pause.by, pause.reason});
  context.console.Print(table.empty() ? "nothing is paused\n" : table.Render(context.console.out_terminal()));
  return ExitCode::kDone;
}

// A word is a key when the catalogue knows it, else a node when the controller does. What was paused may have
// gone meanwhile; its pause can still be ended.
Result<Selection> Understand(Context& context, const PauseOptions& options) {
  Selection selection{options.nodes, options.keys};
  std::vector<std::string> names;
  for (const std::string& word : options.what) {
    if (const auto match = context.catalog.Find(word); match.ok()) {
      selection.keys.push_back(match->key);
      continue;
    }
    RW_ASSIGN_OR_RETURN(auto expanded, ExpandNames(word));
    names.insert(names.end(), expanded.begin(), expanded.end());
  }
  if (!names.empty()) {
    auto fleet = context.controller.Status({}, Waiting(context, "the controller"));
    if (!fleet.ok()) return fleet.status();
    std::vector<std::string_view> known;
    for (const v1::NodeStatus& node : fleet->nodes()) known.push_back(node.node());
    known.insert(known.end(), fleet->retired().begin(), fleet->retired().end());
    if (options.resume)
      for (const v1::Pause& pause : fleet->pauses()) known.push_back(pause.node());
    for (const std::string& name : names) {
      if (std::find(known.begin(), known.end(), name) != known.end()) {
        selection.nodes.push_back(name);
        continue;
      }
      for (const SettingInfo* info : context.catalog.settings()) known.push_back(info->key);
      const std::string_view near = Nearest(name, known);
      return Status(Code::kNotFound,
                    "\"" + name + "\" is neither a node nor a key" +
                        (near.empty() ? "" : "; did you mean \"" + std::string(near) + "\"?") +
                        "\nsee: railctl get nodes; railctl explain; --node or --key says which is meant");
    }
  }
  if (selection.nodes.empty()) selection.nodes.push_back("");
  if (selection.keys.empty()) selection.keys.push_back("");
  return selection;
}

std::string Scope(const Selection& selection) {
  const auto all = [](const std::vector<std::string>& names) {
    return names.size() == 1 && names.front().empty();
  };
  std::string text;
  if (all(selection.keys))
    text = "everything";
  else
    for (const std::string& key : selection.keys) text += (text.empty() ? "" : ", ") + key;
  return text + " on " + (all(selection.nodes) ? "every node" : NodesText(selection.nodes));
}

}  // namespace

ExitCode Run(Context& context, const PauseOptions& options) {
  const bool named = !options.what.empty() || !options.nodes.empty() || !options.keys.empty();
  if (!named && !options.all) {
    if (options.resume || !options.reason.empty())
      return FailUsage(context, "pause: a node, a key or --all is wanted\nsee: railctl pause --help");
    return List(context);
  }
  if (named && options.all) return FailUsage(context, "pause: --all and a node or key exclude one another");
  auto selection = Understand(context, options);
  if (!selection.ok()) return FailNamed(context, selection.status());

  Json done = Json::array(), in_force = Json::array();
  std::vector<std::string> told, not_reached;
  for (const std::string& node : selection->nodes)
    for (const std::string& key : selection->keys) {
      v1::SetPauseRequest request;
      request.set_resume(options.resume);
      request.mutable_pause()->set_node(node);
      request.mutable_pause()->set_key(key);
      request.mutable_pause()->set_by(context.author);
      request.mutable_pause()->set_reason(options.reason);
      auto answer =
          context.controller.SetPause(request, Waiting(context, "the controller to tell the agents"));
      if (!answer.ok()) return FailNamed(context, answer.status());
      told.insert(told.end(), answer->told().begin(), answer->told().end());
      not_reached.insert(not_reached.end(), answer->not_reached().begin(), answer->not_reached().end());
      done.push_back({{"node", node}, {"key", key}});
      in_force = Json::array();
      for (const v1::Pause& pause : answer->pauses())
        in_force.push_back(
            {{"node", pause.node()}, {"key", pause.key()}, {"by", pause.by()}, {"reason", pause.reason()}});
    }
  for (std::vector<std::string>* names : {&told, &not_reached}) {
    std::sort(names->begin(), names->end());
    names->erase(std::unique(names->begin(), names->end()), names->end());
  }
  const ExitCode code = not_reached.empty() ? ExitCode::kDone : ExitCode::kIncomplete;
  if (!context.table()) {
    Emit(context, {{"action", options.resume ? "resume" : "pause"},
                   {"scope", std::move(done)},
                   {"told", told},
                   {"not_reached", not_reached},
                   {"pauses", std::move(in_force)}});
    return code;
  }
  std::string text = (options.resume ? "resumed: " : "paused: ") + Scope(*selection) + "\n";
  text += told.empty() ? "no connected agent had to be told\n" : "told: " + NodesText(told) + "\n";
  if (!not_reached.empty())
    text += "not reached: " + NodesText(not_reached) +
            "; told when it connects, until then it goes on as before\n";
  if (!options.resume) text += "end it: railctl pause --resume" + std::string(options.all ? " --all" : "");
  if (!options.resume) {
    for (const std::string& word : options.what) text += " " + ShellWord(word);
    for (const std::string& node : options.nodes) text += " --node " + ShellWord(node);
    for (const std::string& key : options.keys) text += " --key " + ShellWord(key);
    text += "\n";
  }
  context.console.Print(text);
  return code;
}

}  // namespace railwright::cli
