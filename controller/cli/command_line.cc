#include "controller/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>

#include "controller/cli/command_line_impl.h"
#include "railwright/explain.h"
#include "railwright/state.h"

namespace railwright::cli {
namespace {

Status Usage(std::string message) { return Status(Code::kInvalidArgument, std::move(message)); }

// " ; did you mean …?" for the nearest of `known`, or "".
std::string Suggest(std::string_view typed, const std::vector<std::string>& known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  const std::string_view near = Nearest(typed, views);
  return near.empty() ? "" : "; did you mean \"" + std::string(near) + "\"?";
}

// "get changes" for the innermost subcommand that was named.
std::string PathOf(const CLI::App* app) {
  if (app->get_parent() == nullptr) return "";
  const std::string above = PathOf(app->get_parent());
  return above.empty() ? app->get_name() : above + " " + app->get_name();
}

}  // namespace

void CommandLine::Impl::DeclareDocumentVerbs() {
  constexpr const char* kFiles = "a YAML file, a directory of them, or - for standard input; may be repeated";
  constexpr const char* kPrune = "remove the documents in force that are not named here";
  constexpr const char* kRestore = "put the journalled originals of keys back that are no longer declared";
  CLI::App* p =
      Declare(app, "plan", "what these documents would change, on every node; changes nothing",
              "railctl plan -f site.yaml\n"
              "railctl plan -f site.yaml --out change.plan    then: railctl apply --plan change.plan\n"
              "railctl plan -f clusters/ --prune -o json",
              [this] { return plan; });
  p->add_option("-f,--file", plan.files, kFiles)->type_name("FILE");
  p->add_flag("--prune", plan.prune, kPrune);
  p->add_flag("--restore", plan.restore, kRestore);
  AddTry(p);
  p->add_option("--out", plan.out, "save the plan, to be applied exactly or not at all")->type_name("FILE");
  p->add_flag("--why", plan.why,
              "a block for every change: why it matters, who set it, every node's own value");
  p->add_flag("--allow-empty", plan.allow_empty, "accept an inventory without nodes");

  CLI::App* a = Declare(app, "apply", "put documents in force, and follow until every node has settled",
                        "railctl apply -f site.yaml                     shows the plan and asks\n"
                        "railctl apply -f site.yaml --yes --comment \"ticket 4711\"\n"
                        "railctl apply --plan change.plan --yes         exactly this plan, or exit 5 (stale)",
                        [this] { return apply; });
  a->add_option("-f,--file", apply.files, kFiles)->type_name("FILE");
  a->add_option("--plan", apply.plan, "a plan saved by `railctl plan --out`")->type_name("FILE");
  a->add_flag("--prune", apply.prune, kPrune);
  a->add_flag("--restore", apply.restore, kRestore);
  AddTry(a);
  a->add_flag("-y,--yes", apply.yes, "do not ask");
  AddWait(a);
  a->add_option("--comment", apply.comment, "kept with the generation")->type_name("TEXT");
  a->add_flag("--allow-empty", apply.allow_empty, "accept an inventory without nodes");

  CLI::App* l =
      Declare(app, "learn", "write a Profile and a Cluster document from nodes that are good as they are",
              "railctl learn 'gpu-[001-004]'                writes learned.yaml, in mode observe\n"
              "railctl learn gpu-001 --name pod-a --output-dir site/\n"
              "railctl learn 'gpu-[001-004]' -o yaml | less\n"
              "railctl plan -f learned.yaml                 then: who would be changed, and how",
              [this] { return learn; });
  AddNodes(l, learn.nodes, "names or ranges, \"gpu-[001-004]\" (quote them)");
  l->add_option("--name", learn.name, "of the profile, and of the file (learned)")->type_name("NAME");
  l->add_option("--output-dir", learn.output_dir, "where NAME.yaml is written; by default here")
      ->type_name("FILE");
  l->add_flag("--majority", learn.majority, "where the nodes differ, write what most of them have");
  l->add_flag("--force", learn.force, "replace the file");
}

void CommandLine::Impl::DeclareQuestionVerbs() {
  AddNodes(Declare(app, "status", "is every node as declared? problems, and one verdict, last",
                   "railctl status\n"
                   "railctl status 'gpu-[001-004]'\n"
                   "railctl status -o json | jq '.nodes[] | select(.verdict != \"Compliant\").name'",
                   [this] { return status; }),
           status.nodes);
  AddNodes(Declare(app, "drift", "only what differs from the declared state, by setting",
                   "railctl drift\nrailctl drift gpu-003 -o json", [this] { return drift; }),
           drift.nodes);
  CLI::App* e = Declare(
      app, "explain", "what a key, a code or a reason means; works offline",
      "railctl explain link.mtu\nrailctl explain sysctl.net.ipv4.conf.all.rp_filter\n"
      "railctl explain RW-1101\nrailctl explain Contended\nrailctl explain            lists everything",
      [this] { return explain; });
  e->add_option("topic", explain.word, "a setting or check key, RW-nnnn, or a reason word")
      ->type_name("KEY|CODE");
  CLI::App* w =
      Declare(app, "why", "who set this value on this node, since when, and what was seen",
              "railctl why gpu-001 link.mtu\nrailctl why gpu-001 link.mtu rail0", [this] { return why; });
  w->add_option("node", why.node, "the node")->type_name("NODE");
  w->add_option("key", why.key, "the setting's key")->type_name("KEY");
  w->add_option("target", why.target, "a port's name; none = every target")->type_name("TARGET");
  AddNodes(Declare(app, "watch", "the present status, then every change of it, until Ctrl-C",
                   "railctl watch\nrailctl watch 'gpu-[001-004]' -o json      one JSON object a line",
                   [this] { return watch; }),
           watch.nodes);
}

void CommandLine::Impl::DeclareGet() {
  CLI::App* g = Declare(
      app, "get", "lists: nodes, settings, findings, changes, generations, rollouts, desired, audit, members",
      "railctl get nodes\nrailctl get changes gpu-001 --since 1h\nrailctl get desired gpu-001 -o yaml",
      nullptr);
  g->require_subcommand(0, 1);
  const auto kind = [this, g](const char* name, const char* what, const char* examples) {
    return Declare(*g, name, what, examples, [this, name] {
      get.kind = name;
      return get;
    });
  };
  CLI::App* nodes =
      kind("nodes", "the inventory, with what each agent last said", "railctl get nodes -o json");
  AddNodes(nodes, get.names);
  CLI::App* settings = kind("settings", "every declared setting of every node: wanted and seen",
                            "railctl get settings\nrailctl get settings gpu-001 --key link.mtu");
  AddNodes(settings, get.names);
  settings->add_option("--key", get.key, "only this key")->type_name("KEY");
  CLI::App* findings = kind("findings", "every finding of every node, checks included, with its evidence",
                            "railctl get findings gpu-001");
  AddNodes(findings, get.names);
  findings->add_option("--key", get.key, "only this key")->type_name("KEY");
  CLI::App* changes = kind("changes", "history: intended, corrective, restored, undone, drift, contended",
                           "railctl get changes\nrailctl get changes gpu-001 --key link.mtu --since 1h");
  AddNodes(changes, get.names);
  changes->add_option("--key", get.key, "only this key")->type_name("KEY");
  changes->add_option("--since", since, "how far back: 10m, 1h, 7d")->type_name("TIME");
  changes->add_option("--limit", get.limit, "at most so many, newest first (100)")->type_name("N");
  CLI::App* generations =
      kind("generations", "what was applied, when and by whom", "railctl get generations --limit 5");
  generations->add_option("--limit", get.limit, "at most so many, newest first (20)")->type_name("N");
  CLI::App* rollouts = kind("rollouts", "how generations spread, and what became of it",
                            "railctl get rollouts --limit 5\nrailctl rollout status         the present one");
  rollouts->add_option("--limit", get.limit, "at most so many, newest first (20)")->type_name("N");
  CLI::App* desired = kind("desired", "the whole state that one node is asked to have",
                           "railctl get desired gpu-001\nrailctl get desired gpu-001 --generation 41");
  desired->add_option("node", get.names, "the node")->type_name("NODE")->expected(1);
  desired->add_option("--generation", get.generation, "an older generation")->type_name("GEN");
  CLI::App* audit = kind("audit", "who asked the controller for what", "railctl get audit --limit 50");
  audit->add_option("--limit", get.limit, "at most so many, newest first (100)")->type_name("N");
  kind("members", "the nodes and operators that have joined, and what their certificates are worth",
       "railctl get members -o json");
  kind("links", "arrives with a later version", "railctl get nodes")->group("");
}

void CommandLine::Impl::DeclareOrderVerbs() {
  CLI::App* r = Declare(app, "rollback", "a new generation with the content of an older one",
                        "railctl rollback                 to the generation before the present\n"
                        "railctl rollback --to 41 --yes",
                        [this] { return rollback; });
  r->add_option("--to", rollback.to, "the generation whose content is wanted (railctl get generations)")
      ->type_name("GEN");
  r->add_flag("--restore", rollback.restore, "put the originals of keys back that are no longer declared");
  AddTry(r);
  r->add_flag("-y,--yes", rollback.yes, "do not ask");
  AddWait(r);

  CLI::App* p = Declare(app, "pause", "stop enforcing, at once: a node, a key, or everything; alone it lists",
                        "railctl pause                                   what is paused, by whom, why\n"
                        "railctl pause gpu-003 --reason \"bench test\"      everything on this node\n"
                        "railctl pause link.mtu                          this key on every node\n"
                        "railctl pause gpu-003 link.mtu                  this key on this node\n"
                        "railctl pause --all --resume                    ends the pause of everything",
                        [this] { return pause; });
  p->add_option("what", pause.what, "node names or ranges, keys, or both")->type_name("NODE|KEY");
  p->add_option("--node", pause.nodes, "a node, where a name could be either")->type_name("NODE");
  p->add_option("--key", pause.keys, "a key, where a name could be either")->type_name("KEY");
  p->add_flag("--all", pause.all, "all keys on all nodes");
  p->add_flag("--resume", pause.resume, "end the pause, also of a node that has gone since");
  p->add_option("--reason", pause.reason, "shown wherever the pause is shown")->type_name("TEXT");

  CLI::App* n = Declare(app, "node", "orders about one node: forget, evict, ban, hold, admit",
                        "railctl node forget gpu-009\n"
                        "railctl node evict gpu-009 --reason \"disk replaced\"",
                        nullptr);
  n->require_subcommand(0, 1);
  CLI::App* f = Declare(*n, "forget", "drop the report, history and pauses of a node that is gone",
                        "railctl node forget gpu-009 --yes", [this] { return forget; });
  f->add_option("node", forget.node, "the node")->type_name("NODE");
  f->add_flag("-y,--yes", forget.yes, "do not ask");
  AddStanding(*n, false);
}

void CommandLine::Impl::DeclareSelfVerbs() {
  CLI::App* v = Declare(app, "version", "this program and the controller: versions, wire, missing features",
                        "railctl version\nrailctl version --client", [this] { return version; });
  v->add_flag("--client", version.client_only, "only this program");
  CLI::App* c = Declare(app, "completion", "the script that completes commands, options and live node names",
                        "source <(railctl completion bash)\n"
                        "railctl completion bash | sudo tee /etc/bash_completion.d/railctl\n"
                        "railctl completion zsh > \"${fpath[1]}/_railctl\"\n"
                        "railctl completion fish > ~/.config/fish/completions/railctl.fish",
                        [this] { return completion; });
  c->add_option("shell", completion.shell, "bash, zsh or fish")->type_name("SHELL");
  CLI::App* h = Declare(app, "help", "help on a command, or on exit-codes",
                        "railctl help plan\nrailctl help exit-codes", [this] {
                          std::string topic;
                          for (const std::string& word : help_words)
                            topic += (topic.empty() ? "" : " ") + word;
                          return HelpOptions{topic};
                        });
  h->add_option("topic", help_words, "a command, or exit-codes")->type_name("COMMAND");
}

CommandLine::CommandLine() : impl_(std::make_unique<Impl>()) {}
CommandLine::~CommandLine() = default;
const CLI::App& CommandLine::tree() const { return impl_->app; }

// What CLI11 could not place: unknown commands, options and words too many.
Status CommandLine::Impl::CheckLeftovers(const CLI::App* leaf) const {
  const std::vector<std::string> rest = app.remaining(true);
  const std::string path = PathOf(leaf);
  const std::string see = "\nsee: railctl " + (path.empty() ? std::string() : path + " ") + "--help";
  const std::string where = path.empty() ? "" : path + ": ";
  for (const std::string& word : rest) {
    if (word == "--") continue;
    if (word.size() > 1 && word[0] == '-') {
      std::vector<std::string> known;
      for (const CLI::Option* option : leaf->get_options())
        for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
      const std::string bare = word.substr(0, word.find('='));
      return Usage(where + "unknown option \"" + bare + "\"" + Suggest(bare, known) + see);
    }
    const auto below = leaf->get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
    if (!below.empty()) {
      std::vector<std::string> known;
      for (const CLI::App* one : below) known.push_back(one->get_name());
      return Usage(where + "unknown command \"" + word + "\"" + Suggest(word, known) + see);
    }
    return Usage(where + "unexpected \"" + word + "\"" + see);
  }
  return Ok();
}

Status CommandLine::Impl::TakeGlobals() {
  if (format == "json") {
    globals.format = Format::kJson;
  } else if (format == "yaml") {
    globals.format = Format::kYaml;
  } else if (!format.empty() && format != "table") {
    return Usage("unknown output format \"" + format + "\"" + Suggest(format, {"table", "json", "yaml"}) +
                 "\nallowed: table, json, yaml");
  }
  for (const auto& [text, value, name] :
       {std::tuple{timeout, &globals.timeout, "--timeout"}, std::tuple{since, &get.since, "--since"},
        std::tuple{ttl, &token.ttl, "--ttl"}}) {
    if (text.empty()) continue;
    auto duration = ParseDuration(text);
    if (!duration.ok()) return duration.status().Within(name);
    *value = *duration;
  }
  if (wait && no_wait) return Usage("--wait and --no-wait exclude one another");
  apply.wait = rollback.wait = !no_wait;
  if (!try_for.empty()) {
    const auto duration = ParseDuration(try_for);
    if (!duration.ok()) return duration.status().Within("--try");
    if (*duration < kShortestTry || *duration > kLongestTry)
      return Usage("--try: a try lasts 30s to 15m, not " + try_for);
    plan.try_for = apply.try_for = rollback.try_for = *duration;
  }
  return Ok();
}

Result<Invocation> CommandLine::Parse(std::vector<std::string> words) {
  if (!words.empty() && words[0] == "__complete") {
    words.erase(words.begin());
    if (!words.empty() && words[0] == "--") words.erase(words.begin());
    return Invocation{{}, CompleteOptions{std::move(words)}};
  }
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  std::string problem;
  bool help = false;
  try {
    impl_->app.parse(words);
  } catch (const CLI::CallForHelp&) {
    help = true;
  } catch (const CLI::Error& error) {
    problem = error.what();
  }
  const CLI::App* leaf = &impl_->app;
  while (!leaf->get_subcommands().empty()) leaf = leaf->get_subcommands().front();
  const std::string path = PathOf(leaf);
  if (help) return Invocation{impl_->globals, HelpOptions{path}};
  if (!problem.empty())
    return Usage((path.empty() ? "" : path + ": ") + problem + "\nsee: railctl " + path +
                 (path.empty() ? "" : " ") + "--help");
  RW_RETURN_IF_ERROR(impl_->CheckLeftovers(leaf));
  RW_RETURN_IF_ERROR(impl_->TakeGlobals());
  if (impl_->show_version) return Invocation{impl_->globals, VersionOptions{.client_only = true}};
  for (const Impl::Leaf& one : impl_->leaves)
    if (one.app == leaf) return Invocation{impl_->globals, one.take()};
  if (path.empty()) return Usage("a command is missing\nsee: railctl --help");
  std::string choices;
  for (const CLI::App* one : leaf->get_subcommands([](const CLI::App* a) { return !a->get_group().empty(); }))
    choices += (choices.empty() ? "" : ", ") + one->get_name();
  return Usage(path + ": one of these is missing: " + choices + "\nsee: railctl " + path + " --help");
}

}  // namespace railwright::cli
