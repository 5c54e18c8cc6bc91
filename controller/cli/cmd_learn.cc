#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "controller/cli/learned_text.h"
#include "controller/cli/plan_view.h"
#include "controller/cli/sources.h"
#include "controller/cli/verbs.h"
#include "core/files/whole_file.h"
#include "core/text/table.h"

namespace railwright::cli {
namespace {

using std::chrono::milliseconds;
using Agreement = LearnedSetting::Agreement;

constexpr milliseconds kAnswers{30'000};  // for the agents: everything is read
constexpr milliseconds kMargin{20'000};   // for the controller, on top

// A profile's name is also the file's.
bool IsName(const std::string& name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && name.size() <= 63 && letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return letter(c) || c == '-' || c == '_' || c == '.'; });
}

// What the nodes answered, and the documents in force.
Result<Lesson> Ask(Context& context, const LearnOptions& options) {
  const milliseconds answers = context.TimeoutOr(kAnswers);
  v1::ObserveRequest request;
  for (const std::string& node : options.nodes) request.add_nodes(node);
  request.set_timeout_ms(answers.count());
  CallOptions call = Waiting(context, "the controller at " + context.controller.address());
  call.deadline = answers + kMargin;
  Lesson lesson;
  bool whole = false;
  v1::ObserveResult result;
  const Status status = context.controller.Observe(request, call, [&](v1::ObserveEvent& event) {
    if (event.has_node()) lesson.nodes.push_back(std::move(*event.mutable_node()));
    if (event.has_result()) {
      result = std::move(*event.mutable_result());
      whole = true;
    }
    if (!event.has_progress()) return;
    const v1::PlanProgress& progress = event.progress();
    context.console.Live("reading: " + std::to_string(progress.answered()) + " of " +
                         std::to_string(progress.asked()) + " nodes answered; waiting for " +
                         FoldNames({progress.waiting().begin(), progress.waiting().end()}));
  });
  context.console.EndLive();
  RW_RETURN_IF_ERROR(status);
  if (!whole)
    return Status(Code::kInternal,
                  "the controller ended the answer without a result\nnext: railctl version; "
                  "the controller's log");
  std::sort(lesson.nodes.begin(), lesson.nodes.end(),
            [](const auto& a, const auto& b) { return a.node() < b.node(); });
  lesson.silent.assign(result.not_answered().begin(), result.not_answered().end());
  lesson.generation = result.generation();
  std::vector<Problem> problems;
  for (const v1::SourceFile& file : result.documents()) {
    Loaded loaded = LoadDocuments(file.name(), file.text());
    problems.insert(problems.end(), loaded.problems.begin(), loaded.problems.end());
    for (Document& document : loaded.documents) lesson.documents.push_back(std::move(document));
  }
  auto resolved = Resolve(lesson.documents, context.catalog, {.allow_empty = true});
  if (const auto* bad = std::get_if<std::vector<Problem>>(&resolved))
    problems.insert(problems.end(), bad->begin(), bad->end());
  if (!problems.empty())
    return Status(Code::kInternal, "this railctl cannot read the documents in force\n" +
                                       ProblemsText(problems) + "next: railctl version");
  lesson.in_force = std::move(std::get<Resolved>(resolved));
  lesson.name = options.name;
  lesson.majority = options.majority;
  lesson.at = context.console.clock().WallNow();
  return lesson;
}

std::size_t Count(const LearnedDocuments& made, Agreement agreement) {
  return static_cast<std::size_t>(
      std::count_if(made.settings.begin(), made.settings.end(),
                    [&](const LearnedSetting& one) { return one.agreement == agreement; }));
}

std::string Sentence(const Lesson& lesson, const LearnedDocuments& made) {
  std::vector<std::string> names;
  for (const v1::ObservedNode& node : lesson.nodes) names.push_back(node.node());
  std::string text = "learned " + std::to_string(made.written) +
                     (made.written == 1 ? " setting from " : " settings from ") + FoldNames(names);
  const auto tell = [&](std::size_t count, const std::string& what) {
    if (count > 0) text += "; " + std::to_string(count) + " " + what;
  };
  const std::size_t differ = Count(made, Agreement::kDiffers);
  tell(differ, differ == 1 ? "differs between nodes" : "differ between nodes");
  tell(Count(made, Agreement::kUnread), "could not be read everywhere");
  tell(Count(made, Agreement::kDeclared), "declared by other profiles");
  for (const v1::NotAnswered& one : lesson.silent)
    text += "\n" + one.node() + " did not answer: " + one.reason();
  return text;
}

Json KeysWith(const LearnedDocuments& made, Agreement agreement) {
  Json keys = Json::array();
  for (const LearnedSetting& setting : made.settings)
    if (setting.agreement == agreement) keys.push_back(setting.key);
  return keys;
}

// {generation, complete, profile, learned, differ[], unread[], declared[], nodes[], not_answered[],
// text}
Json ToJson(const Lesson& lesson, const LearnedDocuments& made, bool complete) {
  Json nodes = Json::array(), silent = Json::array();
  for (const v1::ObservedNode& node : lesson.nodes) nodes.push_back(node.node());
  for (const v1::NotAnswered& one : lesson.silent)
    silent.push_back({{"node", one.node()}, {"reason", one.reason()}});
  return {{"generation", lesson.generation},
          {"complete", complete},
          {"profile", lesson.name},
          {"learned", made.written},
          {"differ", KeysWith(made, Agreement::kDiffers)},
          {"unread", KeysWith(made, Agreement::kUnread)},
          {"declared", KeysWith(made, Agreement::kDeclared)},
          {"nodes", std::move(nodes)},
          {"not_answered", std::move(silent)},
          {"text", made.text}};
}

}  // namespace

ExitCode Run(Context& context, const LearnOptions& options) {
  if (options.nodes.empty())
    return FailUsage(context, "learn: name the nodes to learn from\nsee: railctl learn --help");
  if (!IsName(options.name))
    return FailUsage(context,
                     "learn: \"" + options.name +
                         "\" is no name; allowed: at most 63 letters, digits, \"-\", \"_\", \".\", a "
                         "letter or digit first");
  const std::string path =
      (std::filesystem::path(options.output_dir) / (options.name + ".yaml")).lexically_normal().string();
  const auto taken = [&] {
    return FailUsage(context, "learn: " + path +
                                  " is there already\nnext: another --name or --output-dir, or "
                                  "--force to replace it");
  };
  std::error_code error;
  if (context.table() && !options.force && std::filesystem::exists(path, error)) return taken();

  auto lesson = Ask(context, options);
  if (!lesson.ok()) return FailNamed(context, lesson.status());
  if (lesson->nodes.empty()) {
    for (const v1::NotAnswered& one : lesson->silent) context.console.Note(one.node() + ": " + one.reason());
    context.console.Error("no node answered; nothing was written\nnext: railctl status");
    return ExitCode::kIncomplete;
  }
  auto made = WriteLesson(*lesson, context.catalog);
  if (!made.ok()) {
    context.console.Note(made.status().message());
    context.console.Error("what was learned makes no good documents; nothing was written");
    return ExitCode::kFailed;
  }

  const bool complete = lesson->silent.empty() && Count(*made, Agreement::kUnread) == 0;
  const ExitCode code =
      Gravest({Count(*made, Agreement::kDiffers) > 0 ? ExitCode::kDifferences : ExitCode::kDone,
               complete ? ExitCode::kDone : ExitCode::kIncomplete});
  for (const std::string& warning : made->warnings) context.console.Note("! " + Printable(warning));
  if (context.globals.format == Format::kJson) {
    Emit(context, ToJson(*lesson, *made, complete));
    return code;
  }
  if (context.globals.format == Format::kYaml) {
    context.console.Print(made->text);
    context.console.Note(Sentence(*lesson, *made));
    return code;
  }
  if (!options.output_dir.empty()) std::filesystem::create_directories(options.output_dir, error);
  // A folder that could not be made is told by the write.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const Status written = WriteWholeFile(path, made->text, {.mode = 0666 & ~mask, .replace = options.force});
  if (written.code() == Code::kAlreadyExists) return taken();
  if (!written.ok()) return Fail(context, written.Within("the documents could not be written"));
  context.console.Print(path + ": " + Sentence(*lesson, *made) +
                        "\nnext: look through it, then railctl plan -f " + ShellWord(path) + "\n");
  return code;
}

}  // namespace railwright::cli
