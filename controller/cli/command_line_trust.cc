// The commands about who may do what: tokens, standings, logins, signatures, the audit.
#include "controller/cli/command_line_impl.h"

namespace railwright::cli {

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

  Declare(app, "doctor", "why the controller would refuse you: certificate, address, clock, standing",
          "railctl doctor\n"
          "railctl doctor --context pod-a -o json",
          [] { return DoctorOptions{}; });
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

}  // namespace railwright::cli
