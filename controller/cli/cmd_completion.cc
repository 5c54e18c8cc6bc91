#include <set>

#include "controller/cli/explain_view.h"
#include "controller/cli/verbs.h"
#include "core/wire/address.h"

namespace railwright::cli {
namespace {

// A shell waits with the cursor still; a controller that takes longer is not asked for names.
constexpr std::chrono::milliseconds kPatience{500};

// The address typed on this very command line wins.
std::string AddressIn(const std::vector<std::string>& words, const std::string& otherwise) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--controller" && i + 2 < words.size()) return words[i + 1];
    if (words[i].starts_with("--controller=")) return words[i].substr(words[i].find('=') + 1);
  }
  return otherwise;
}

void AddNodes(Context& context, const std::string& address, std::vector<std::string>& into) {
  Globals globals = context.globals;
  globals.controller = address;
  auto login = ChooseLogin(globals, context.logins);
  if (!login.ok()) return;
  AdminClient client(globals.controller, std::move(*login), context.interrupted);
  v1::StatusRequest request;
  request.set_summary_only(true);
  auto answer = client.Status(request, {.deadline = kPatience, .tick = [] {}});
  if (!answer.ok()) return;
  for (const v1::NodeStatus& node : answer->nodes()) into.push_back(node.node());
}

void AddKeys(const CatalogDeclarations& catalog, std::vector<std::string>& into) {
  for (const SettingInfo* info : catalog.settings()) into.push_back(info->key.substr(0, info->key.find('<')));
}

}  // namespace

ExitCode Run(Context& context, const CompletionOptions& options) {
  auto script = CompletionScript(options.shell);
  if (!script.ok())
    return FailUsage(context,
                     "completion: " + script.status().message() + "\nsee: railctl completion --help");
  context.console.Print(*script);
  return ExitCode::kDone;
}

ExitCode RunComplete(Context& context, const CommandLine& line, const CompleteOptions& options) {
  using Live = Completions::Live;
  Completions found = Complete(line, options.words);
  const std::string current = options.words.empty() ? "" : options.words.back();
  if (found.live == Live::kNodes || found.live == Live::kNodesAndKeys)
    AddNodes(context, AddressIn(options.words, context.globals.controller), found.words);
  if (found.live == Live::kKeys || found.live == Live::kNodesAndKeys) AddKeys(context.catalog, found.words);
  if (found.live == Live::kTopics) {
    const std::vector<std::string> topics = Topics(context.catalog);
    found.words.insert(found.words.end(), topics.begin(), topics.end());
  }
  std::string text = found.files ? ":files\n" : "";
  const std::set<std::string> sorted(found.words.begin(), found.words.end());
  for (const std::string& word : sorted)
    if (word.starts_with(current)) text += word + "\n";
  context.console.Print(text);
  return ExitCode::kDone;
}

ExitCode RunHelp(Context& context, const CommandLine& line, const HelpOptions& options) {
  auto page = line.Help(options.topic);
  if (!page.ok()) return FailUsage(context, page.status().message());
  context.console.Print(*page);
  return ExitCode::kDone;
}

}  // namespace railwright::cli
