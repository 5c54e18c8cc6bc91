#include "agent/offline/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iostream>
#include <string_view>

#include "agent/offline/commands.h"
#include "agent/offline/join.h"
#include "railwright/explain.h"

namespace railwright::offline {
namespace {

constexpr const char* kFooter = R"(Examples:
  railwright-agent check -f site.yaml                       this machine against an inventory and profiles
  railwright-agent check -f roce.yaml --port rail0=fabric:ens3f0np0
  railwright-agent check --snapshot node7/ -f site.yaml --node gpu-007
  railwright-agent join --line - < line.txt                 an identity for this node, by a line of its operator
  railwright-agent doctor                                   why the controller would refuse this node
  railwright-agent record node7/                            this machine, redacted, for a bug report
  railwright-agent status                                   what the running agent sees
  railwright-agent pause link.mtu --reason "cable test"     stop enforcing a key; --resume ends it
Exit codes: 0 done and complete, 1 failed, 2 differences found, 3 incomplete or unknown, 4 not permitted,
  8 controller unreachable, 64 usage, 130 interrupted.)";

// What a person may have meant by a word that CLI11 did not understand.
std::string Suggestion(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  std::vector<std::string_view> known(names.begin(), names.end());
  known.push_back("help");
  for (const std::string& word : words) {
    if (word.starts_with('-')) continue;
    if (std::find(known.begin(), known.end(), word) != known.end()) break;
    const std::string_view near = Nearest(word, known);
    return "unknown command \"" + word + "\"" +
           (near.empty() ? std::string() : "; did you mean \"" + std::string(near) + "\"?");
  }
  return {};
}

std::string OptionSuggestion(const CLI::App& app, const std::string& typed) {
  const CLI::App* deepest = &app;
  for (const CLI::App* command : app.get_subcommands()) deepest = command;
  std::vector<std::string> names;
  for (const CLI::Option* option : deepest->get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string_view near = Nearest(typed, known);
  return near.empty() ? std::string() : "; did you mean \"" + std::string(near) + "\"?";
}

const std::map<std::string, Format> kFormats{
    {"table", Format::kTable}, {"json", Format::kJson}, {"yaml", Format::kYaml}};

void AddFormat(CLI::App* command, Format& format) {
  command->add_option("-o,--output", format, "table, json or yaml")
      ->transform(CLI::CheckedTransformer(kFormats, CLI::ignore_case))
      ->type_name("FORMAT");
}

void AddDocuments(CLI::App* command, std::vector<std::string>& files, std::string& node,
                  std::vector<std::string>& ports) {
  command->add_option("-f,--file", files, "documents: a file, a folder of *.yaml, or - ")->type_name("PATH");
  command->add_option("--node", node, "which node of the inventory this is (default: this host's name)");
  command
      ->add_option(
          "--port", ports,
          "a port, when no Cluster declares them: NAME=ROLE:DEVICE[,ADDRESS…]; the device is an interface "
          "or a PCI address, the role fabric, storage or management")
      ->type_name("PORT");
}

}  // namespace

ExitCode Main(const std::vector<std::string>& words, const Console& console) {
  // `run` goes on in another program, which knows its options.
  if (!words.empty() && words.front() == "run") return BecomeRun(words, console);

  CLI::App app{"Keeps one node of a RoCE cluster as it is declared, and looks at it without a controller.",
               "railwright-agent"};
  app.footer(kFooter);
  app.set_version_flag("--version", "railwright-agent " RAILWRIGHT_VERSION);
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "help of all commands");

  ExitCode code = ExitCode::kDone;
  app.add_subcommand("run", "keep this node as the controller declares it (railwright-agent run --help)");

  JoinOptions join;
  join.input = &std::cin;
  CLI::App* command =
      app.add_subcommand("join", "get an identity from a controller, by a line of its operator");
  command->add_option("controller", join.controller, "the enrolment port, as the line says")
      ->type_name("HOST:PORT");
  command->add_option("--token", join.token, "of the line")->type_name("TOKEN");
  command->add_option("--ca", join.ca, "of the line: whom the token is given to")->type_name("PIN");
  command->add_option("--line", join.line, "-: the whole line on standard input, where nobody else sees it");
  command->add_option("--name", join.name,
                      "of this node (default: as the token says, else this host's name)");
  command->add_option("--state-dir", join.state_dir)->capture_default_str();
  command
      ->add_option("--front-user", join.front_user, "who runs the half of the agent that is on the network")
      ->type_name("USER");
  command->add_flag("--again", join.again, "also when this node has an identity");
  command->callback([&] { code = JoinCluster(join, console); });

  DoctorOptions doctor;
  command = app.add_subcommand("doctor", "why the controller would refuse this node");
  command->add_option("--state-dir", doctor.state_dir)->capture_default_str();
  AddFormat(command, doctor.format);
  command->callback([&] { code = Doctor(doctor, console); });

  CheckOptions check;
  command = app.add_subcommand("check", "compare this machine, or a recorded one, with documents");
  AddDocuments(command, check.files, check.node, check.ports);
  command->get_option("--file")->required();
  command->add_option("--snapshot", check.snapshot, "a folder made by `record`, instead of this machine")
      ->type_name("DIR");
  AddFormat(command, check.format);
  command->callback([&] { code = Check(check, console); });

  RecordOptions record;
  command = app.add_subcommand("record", "write down what settings and checks read here, as a snapshot");
  command->add_option("directory", record.directory, "a new or empty folder")->required()->type_name("DIR");
  command->add_flag("--raw", record.raw, "keep serial numbers, MACs, addresses, host names and secrets");
  AddDocuments(command, record.files, record.node, record.ports);
  command->add_option("--state-dir", record.state_dir, "of the agent whose accepted state is to be read too")
      ->capture_default_str();
  command->callback([&] { code = Record(record, console); });

  Format catalog_format = Format::kTable;
  command = app.add_subcommand("catalog", "every setting and check of this build");
  AddFormat(command, catalog_format);
  command->callback([&] { code = PrintCatalog(catalog_format, console); });

  std::string status_dir = kDefaultStateDir;
  Format status_format = Format::kTable;
  command = app.add_subcommand("status", "what the agent on this node last saw");
  command->add_option("--state-dir", status_dir)->capture_default_str();
  AddFormat(command, status_format);
  command->callback([&] { code = PrintStatus(status_dir, status_format, console); });

  PauseOptions pause;
  command = app.add_subcommand("pause", "stop enforcement on this node at once");
  command->add_option("key", pause.key, "only this key; without one, everything")->type_name("KEY");
  command->add_option("--reason", pause.reason, "shown in every status while it lasts");
  command->add_flag("--resume", pause.resume, "end the pause of KEY; without KEY, all of them");
  command->add_option("--state-dir", pause.state_dir)->capture_default_str();
  command->callback([&] { code = PauseHere(pause, console); });

  app.add_subcommand("help", "this text")->callback([&] { console.out << app.help(); });

  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 wants them
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    console.out << (chosen.empty() ? app.help() : chosen.front()->help());
  } catch (const CLI::CallForAllHelp&) {
    console.out << app.help("", CLI::AppFormatMode::All);
  } catch (const CLI::CallForVersion& version) {
    console.out << version.what() << "\n";
  } catch (const CLI::ParseError& error) {
    std::string said = Suggestion(app, words);
    if (said.empty()) {
      said = error.what();
      if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
        for (const std::string& word : words)
          if (word.starts_with("--") && said.find(word.substr(0, word.find('='))) != std::string::npos)
            said += OptionSuggestion(app, word.substr(0, word.find('=')));
    }
    console.err << "railwright-agent: " << said << "\nnext: railwright-agent help\n";
    return ExitCode::kUsage;
  }
  return code;
}

}  // namespace railwright::offline
