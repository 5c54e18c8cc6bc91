// Help pages, written from the tree of commands: examples first.
#include <CLI/CLI.hpp>
#include <sstream>

#include "controller/cli/command_line.h"
#include "controller/cli/exit_code.h"
#include "railwright/explain.h"

namespace railwright::cli {
namespace {

void Indented(std::ostream& out, const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out << "  " << line << '\n';
}

std::string Left(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames()) names += (names.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) names += (names.empty() ? "    --" : ", --") + name;
  if (names.empty())
    names = option.get_type_name();  // a positional
  else if (option.get_items_expected_max() > 0)
    names += " " + option.get_type_name();
  if (option.get_items_expected_max() > 1) names += " …";
  return names;
}

std::size_t Width(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text)
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) ++width;
  return width;
}

void OptionLines(std::ostream& out, const std::vector<const CLI::Option*>& options) {
  std::size_t widest = 0;
  for (const CLI::Option* one : options) widest = std::max(widest, Width(Left(*one)));
  widest = std::min<std::size_t>(widest, 28);
  for (const CLI::Option* one : options) {
    const std::string left = Left(*one);
    out << "  " << left;
    if (Width(left) > widest) {
      out << '\n' << std::string(widest + 4, ' ');
    } else {
      out << std::string(widest + 2 - Width(left), ' ');
    }
    out << one->get_description() << '\n';
  }
}

std::string PathOf(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : PathOf(*app.get_parent()) + " " + app.get_name();
}

std::string Page(const CLI::App& app) {
  std::ostringstream out;
  const auto commands = app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
  out << PathOf(app) << ": " << app.get_description() << "\n\nExamples\n";
  Indented(out, app.get_footer());

  std::string usage = PathOf(app);
  std::vector<const CLI::Option*> positional, own, global;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      positional.push_back(option);
      usage += " [" + option->get_type_name() + (option->get_items_expected_max() > 1 ? "…]" : "]");
    } else {
      (option->get_group() == "Options" ? own : global).push_back(option);
    }
  }
  if (!commands.empty()) usage += " COMMAND";
  out << "\nUsage\n  " << usage << " [options]\n";
  if (!commands.empty()) {
    out << "\nCommands\n";
    std::size_t widest = 0;
    for (const CLI::App* one : commands) widest = std::max(widest, one->get_name().size());
    for (const CLI::App* one : commands)
      out << "  " << one->get_name() << std::string(widest + 2 - one->get_name().size(), ' ')
          << one->get_description() << '\n';
  }
  if (!positional.empty()) {
    out << "\nArguments\n";
    OptionLines(out, positional);
  }
  if (!own.empty()) {
    out << "\nOptions\n";
    OptionLines(out, own);
  }
  out << "\nOptions of every command\n";
  OptionLines(out, global);
  if (app.get_parent() == nullptr) out << "\nExit codes: railctl help exit-codes\n";
  return out.str();
}

std::string ExitCodes() {
  std::ostringstream out;
  out << "Exit codes, the same for every command and every output format\n\n";
  for (const ExitMeaning& one : ExitMeanings()) {
    const std::string number = std::to_string(static_cast<int>(one.code));
    out << "  " << std::string(4 - number.size(), ' ') << number << "  " << one.meaning << '\n';
  }
  out << "\nWhen several hold, the first of 4, 8, 5, 6, 1, 2, 3, 7 is returned.\n"
         "A node whose agent is silent, and a verdict of Unknown, are never 0.\n";
  return out.str();
}

}  // namespace

Result<std::string> CommandLine::Help(std::string_view topic) const {
  if (topic == "exit-codes") return ExitCodes();
  const CLI::App* app = &tree();
  std::istringstream words{std::string(topic)};
  for (std::string word; words >> word;) {
    std::vector<std::string_view> known;
    const CLI::App* found = nullptr;
    for (const CLI::App* one : app->get_subcommands([](const CLI::App*) { return true; })) {
      known.push_back(one->get_name());
      if (one->get_name() == word) found = one;
    }
    if (found == nullptr) {
      known.push_back("exit-codes");
      const std::string_view near = Nearest(word, known);
      return Status(Code::kNotFound,
                    "no help on \"" + word + "\"" +
                        (near.empty() ? "" : "; did you mean \"" + std::string(near) + "\"?") +
                        "\nsee: railctl --help");
    }
    app = found;
  }
  return Page(*app);
}

}  // namespace railwright::cli
