#include "controller/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>

#include "railwright/explain.h"
#include "railwright/state.h"

namespace railwright::cli {
namespace {

constexpr const char* kGlobalGroup = "Options of every command";

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

struct CommandLine::Impl {
  CLI::App app{"Declares, applies and watches the state of a RoCE cluster.", "railctl"};
  Globals globals;
  std::string format, timeout, since, ttl, try_for;
  bool show_version = false, wait = false, no_wait = false;

  PlanOptions plan;
  ApplyOptions apply;
  LearnOptions learn;
  StatusOptions status;
  DriftOptions drift;
  GetOptions get;
  ExplainOptions explain;
  WhyOptions why;
  WatchOptions watch;
  RollbackOptions rollback;
  PauseOptions pause;
  ForgetOptions forget;
  TokenOptions token;
  StandingOptions standing;
  LoginOptions login;
  ContextOptions context;
  KeyGenerateOptions key_generate;
  KeyShowOptions key_show;
  SignOptions sign;
  AuditLogOptions audit_log;
  VersionOptions version;
  CompletionOptions completion;
  std::vector<std::string> help_words, login_words;
  std::string login_token, login_ca;

  struct Leaf {
    const CLI::App* app;
    std::function<Verb()> take;
  };
  std::vector<Leaf> leaves;

  Impl() {
    app.set_help_flag();
    app.require_subcommand(0, 1);
    app.allow_extras();
    app.footer(
        "railctl plan -f site.yaml                 what would change, on which nodes\n"
        "railctl apply -f site.yaml                show it, ask, do it, follow it\n"
        "railctl status                            is every node as declared?\n"
        "railctl why gpu-001 link.mtu              who set this value, and what was seen\n"
        "railctl explain RW-1101                   what a code, key or reason means (offline)");
    AddGlobals(app);
    app.add_flag("--version", show_version, "the version of this program")->group(kGlobalGroup);
    DeclareDocumentVerbs();
    DeclareQuestionVerbs();
    DeclareGet();
    DeclareOrderVerbs();
    DeclareTrustVerbs();
    DeclareSigningVerbs();
    DeclareAuditLog();
    DeclareSelfVerbs();
  }

  void AddGlobals(CLI::App& to) {
    to.set_help_flag("-h,--help", "this text");
    to.get_help_ptr()->group(kGlobalGroup);
    to.add_option(
          "--controller", globals.controller,
          std::string(
              "unix:PATH or HOST:PORT; by default $RAILCTL_CONTROLLER, else that of the context, else ") +
              kDefaultController)
        ->type_name("ADDR")
        ->group(kGlobalGroup);
    to.add_option("--context", globals.context,
                  "which cluster, by the name of a login; by default $RAILCTL_CONTEXT, else the one in use")
        ->type_name("NAME")
        ->group(kGlobalGroup);
    to.add_option("-o,--output", format, "table, json or yaml")->type_name("FORMAT")->group(kGlobalGroup);
    to.add_option("--timeout", timeout, "how long to wait for an answer: 10s, 2m, 500ms")
        ->type_name("TIME")
        ->group(kGlobalGroup);
    to.add_flag("--no-color", globals.no_color,
                "no colour, as NO_COLOR does; colour is used on a terminal only")
        ->group(kGlobalGroup);
  }

  CLI::App* Declare(CLI::App& parent, const char* name, const char* what, const char* examples,
                    std::function<Verb()> take) {
    CLI::App* one = parent.add_subcommand(name, what);
    one->footer(examples);
    one->allow_extras();
    AddGlobals(*one);
    if (take) leaves.push_back({one, std::move(take)});
    return one;
  }

  static void AddNodes(CLI::App* to, std::vector<std::string>& nodes,
                       const char* what = "names or ranges, \"gpu-[001-004]\" (quote them); none = all") {
    to->add_option("nodes", nodes, what)->type_name("NODE");
  }
  void AddWait(CLI::App* to) {
    to->add_flag("--wait", wait,
                 "follow until every node has settled (the default); --timeout bounds it, 10m");
    to->add_flag("--no-wait", no_wait, "return when the generation is stored");
  }

  void AddTry(CLI::App* to) {
    to->add_option(
          "--try", try_for,
          "also change what touches the way to the controller; it comes back by itself unless the node "
          "reaches the controller again within 30s to 15m")
        ->type_name("TIME");
  }

  void DeclareDocumentVerbs();
  void DeclareQuestionVerbs();
  void DeclareGet();
  void DeclareOrderVerbs();
  void DeclareTrustVerbs();
  void AddStanding(CLI::App& parent, bool is_operator);
  void DeclareSigningVerbs();
  void DeclareAuditLog();
  void DeclareSelfVerbs();

  Status CheckLeftovers(const CLI::App* leaf) const;
  Status TakeGlobals();
};

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
      app, "get", "lists: nodes, settings, findings, changes, generations, desired, audit, members",
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
  CLI::App* desired = kind("desired", "the whole state that one node is asked to have",
                           "railctl get desired gpu-001\nrailctl get desired gpu-001 --generation 41");
  desired->add_option("node", get.names, "the node")->type_name("NODE")->expected(1);
  desired->add_option("--generation", get.generation, "an older generation")->type_name("GEN");
  CLI::App* audit = kind("audit", "who asked the controller for what", "railctl get audit --limit 50");
  audit->add_option("--limit", get.limit, "at most so many, newest first (100)")->type_name("N");
  kind("members", "the nodes and operators that have joined, and what their certificates are worth",
       "railctl get members -o json");
  for (const char* later : {"links", "rollouts"})
    kind(later, "arrives with a later version", "railctl get nodes")->group("");
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

void CommandLine::Impl::AddStanding(CLI::App& parent, bool is_operator) {
  const std::string who = is_operator ? "operator" : "node";
  const std::string name = is_operator ? "alice" : "gpu-009";
  for (const auto& [verb, what] :
       {std::pair(
            "evict",
            "its certificate counts no more, its connection is cut; it may join again with a new token"),
        std::pair("ban", "the same, and its name and key may not join again until it is evicted instead"),
        std::pair("hold", "it may not connect until it is admitted"), std::pair("admit", "ends a hold")}) {
    CLI::App* one =
        Declare(parent, verb, what, ("railctl " + who + " " + verb + " " + name + " --reason \"…\"").c_str(),
                [this, verb = std::string(verb), is_operator] {
                  standing.verb = verb;
                  standing.is_operator = is_operator;
                  return standing;
                });
    one->add_option(who, standing.name, "whom")->type_name(is_operator ? "OPERATOR" : "NODE");
    one->add_option("--reason", standing.reason, "kept, and told to whom it concerns")->type_name("TEXT");
    one->add_flag("-y,--yes", standing.yes, "do not ask");
  }
}

void CommandLine::Impl::DeclareTrustVerbs() {
  CLI::App* t =
      Declare(app, "token", "one-time tokens, by which nodes and operators join: create, list, drop",
              "railctl token create gpu-001                       prints the line to paste on gpu-001\n"
              "railctl token create --any --uses 32 --ttl 2h      for nodes that rack themselves\n"
              "railctl token create --operator alice --role operator",
              nullptr);
  t->require_subcommand(0, 1);
  CLI::App* c = Declare(*t, "create", "print a line with which a node joins, or an operator logs in",
                        "railctl token create gpu-001\n"
                        "railctl token create --any --uses 32 --from 10.0.0.0/24 --ttl 2h\n"
                        "railctl token create --operator alice --role operator --scope 'gpu-[001-064]'",
                        [this] {
                          token.what = TokenOptions::What::kCreate;
                          return token;
                        });
  c->add_option("node", token.node, "the node that may use it")->type_name("NODE");
  c->add_flag("--any", token.any, "any node that has not joined yet");
  c->add_option("--operator", token.operator_name, "an operator instead of a node")->type_name("NAME");
  c->add_option("--role", token.roles, "viewer, operator, approver or admin; may be repeated")
      ->type_name("ROLE");
  c->add_option("--scope", token.scope, "the nodes that the operator may order about; * = all")
      ->type_name("NODES");
  c->add_option("--from", token.from, "the network that it must be used from")->type_name("CIDR");
  c->add_option("--ttl", ttl, "how long it counts, 1m to 24h (1h)")->type_name("TIME");
  c->add_option("--uses", token.uses, "how many nodes may use it (1)")->type_name("N");
  Declare(*t, "list", "the tokens that still count; their secrets are not kept", "railctl token list",
          [this] {
            token.what = TokenOptions::What::kList;
            return token;
          });
  CLI::App* d = Declare(*t, "drop", "a token counts no more", "railctl token drop 3f7q2…", [this] {
    token.what = TokenOptions::What::kDrop;
    return token;
  });
  d->add_option("id", token.id, "as token list shows it")->type_name("ID");

  CLI::App* o = Declare(app, "operator", "orders about one operator: evict, ban, hold, admit",
                        "railctl operator evict alice --reason \"laptop stolen\"", nullptr);
  o->require_subcommand(0, 1);
  AddStanding(*o, true);

  CLI::App* l =
      Declare(app, "login", "become an operator of a cluster, by the line that an administrator made",
              "railctl login ctl.example:7444 --token … --ca …   the whole line, quoted or not\n"
              "railctl login - < line                            not seen by others on this host\n"
              "railctl login --renew                             a new certificate before or after the end",
              [this] {
                std::string line;
                for (const std::string& word : login_words) line += (line.empty() ? "" : " ") + word;
                if (!login_token.empty()) line += " --token " + login_token;
                if (!login_ca.empty()) line += " --ca " + login_ca;
                login.line = line;
                login.context = globals.context;
                return login;
              });
  l->add_option("line", login_words, "HOST:PORT, the whole line in quotes, or - for standard input")
      ->type_name("LINE");
  l->add_option("--token", login_token, "of the line")->type_name("TOKEN");
  l->add_option("--ca", login_ca, "of the line")->type_name("PIN");
  l->add_flag("--renew", login.renew, "a new certificate for the login there is");

  CLI::App* x = Declare(app, "context", "the clusters that this user has logged in to: list, use, remove",
                        "railctl context list\nrailctl context use pod-a", nullptr);
  x->require_subcommand(0, 1);
  Declare(*x, "list", "every login, and which is in use", "railctl context list", [this] {
    context.what = ContextOptions::What::kList;
    return context;
  });
  for (const auto& [verb, what, order] :
       {std::tuple("use", "take this one where none is named", ContextOptions::What::kUse),
        std::tuple("remove", "forget this login and its key", ContextOptions::What::kRemove)}) {
    CLI::App* one = Declare(*x, verb, what, "railctl context use pod-a", [this, order = order] {
      context.what = order;
      return context;
    });
    one->add_option("name", context.name, "as context list shows it")->type_name("NAME");
  }
}

void CommandLine::Impl::DeclareSigningVerbs() {
  CLI::App* s =
      Declare(app, "sign", "sign what a generation says to each node, with a key kept off the controller",
              "railctl sign --key ~/signer.key          shows what it is, checks it, asks\n"
              "railctl sign --key ~/signer.key --generation 42 --yes",
              [this] { return sign; });
  s->add_option("--key", sign.key, "a private key (railctl key generate)")->type_name("FILE");
  s->add_option("--generation", sign.generation, "only this one, or nothing is signed")->type_name("GEN");
  s->add_flag("-y,--yes", sign.yes, "do not ask");

  CLI::App* k =
      Declare(app, "key", "keys that sign states", "railctl key generate --out signer.key", nullptr);
  k->require_subcommand(0, 1);
  CLI::App* g =
      Declare(*k, "generate", "make a key in a new file (mode 0600) and print its public half; offline",
              "railctl key generate --out signer.key > signer.pub", [this] { return key_generate; });
  g->add_option("--out", key_generate.out, "the file; one that is there is never replaced")
      ->type_name("FILE");
  CLI::App* w = Declare(*k, "show", "the pin and the public half of a key; offline",
                        "railctl key show signer.key", [this] { return key_show; });
  w->add_option("file", key_show.file, "a private or a public key")->type_name("FILE");
}

void CommandLine::Impl::DeclareAuditLog() {
  CLI::App* a = Declare(app, "audit-log", "whether the audit is as it was written",
                        "railctl audit-log verify\nrailctl get audit              what is in it", nullptr);
  a->require_subcommand(0, 1);
  CLI::App* v = Declare(*a, "verify", "recompute the chain of the audit here, and print its head",
                        "railctl audit-log verify                       note the head on another machine\n"
                        "railctl audit-log verify --expect-head 4711:9f2c…     as it was noted",
                        [this] { return audit_log; });
  v->add_option("--expect-head", audit_log.expect_head,
                "a head noted earlier: the audit must still go through it")
      ->type_name("ID:HASH");
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
