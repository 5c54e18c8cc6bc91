// CommandLine::Impl: the tree of commands and where their words go. Only for command_line*.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "controller/cli/command_line.h"

namespace railwright::cli {

inline constexpr const char* kGlobalGroup = "Options of every command";

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
  RolloutOptions rollout;
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
    DeclareRollout();
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
  void DeclareRollout();
  void DeclareTrustVerbs();
  void AddStanding(CLI::App& parent, bool is_operator);
  void DeclareSigningVerbs();
  void DeclareAuditLog();
  void DeclareSelfVerbs();

  Status CheckLeftovers(const CLI::App* leaf) const;
  Status TakeGlobals();
};

}  // namespace railwright::cli
