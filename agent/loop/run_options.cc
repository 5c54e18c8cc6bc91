#include "agent/loop/run_options.h"

#include <CLI/CLI.hpp>
#include <string_view>

#include "railwright/explain.h"

namespace railwright {
namespace {

// A node's name is one component of a path and one word of a log.
std::string NameProblem(const std::string& name) {
  if (name.empty() || name.size() > 253) return "a node's name has 1 to 253 characters";
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
  if (name.find_first_not_of(kAllowed) != std::string::npos)
    return "a node's name is made of letters, digits, \"-\", \".\" and \"_\"";
  return {};
}

}  // namespace

std::variant<RunOptions, RunText> ParseRunOptions(const std::vector<std::string>& words) {
  RunOptions options;
  double scan_seconds = 60;
  auto firmware_seconds = options.firmware_interval.count();
  CLI::App app{
      "Keeps this node as the controller declares it. Without a controller it goes on with the last state "
      "that it accepted.",
      "railwright-agent run"};
  app.footer("Signals: TERM and INT end it cleanly, HUP looks at everything again.");
  app.set_version_flag("--version", "railwright-agent " RAILWRIGHT_VERSION);
  app.add_option(
         "--name", options.node,
         "this node's name in the inventory; it must be the one that it joined with (default: that one)")
      ->check(NameProblem)
      ->type_name("NODE");
  app.add_option("--state-dir", options.state_dir, "what must not be forgotten; one agent at a time")
      ->capture_default_str()
      ->type_name("DIR");
  app.add_option(
         "--management-netdev", options.management_netdev,
         "the interface that leads to the controller, never to be disturbed (default: by the route there)")
      ->type_name("IF");
  app.add_option("--scan-interval", scan_seconds, "seconds between two looks at everything")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 86'400.0))
      ->type_name("SECONDS");
  app.add_option("--firmware-interval", firmware_seconds,
                 "seconds for which the answer of a card's firmware counts; each query costs one to two")
      ->capture_default_str()
      ->check(CLI::Range(1, 86'400))
      ->type_name("SECONDS");
  app.add_option(
         "--front-user", options.front_user,
         "whose rights the half that talks to the network has (default: railwright-front, else nobody)")
      ->type_name("USER");
  app.add_option(
         "--front-socket", options.front_socket,
         "wait there for that half, which a unit of its own keeps running (default: it is started here)")
      ->type_name("PATH");
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    return RunText{app.help(), ExitCode::kDone};
  } catch (const CLI::CallForVersion& version) {
    return RunText{std::string(version.what()) + "\n", ExitCode::kDone};
  } catch (const CLI::ParseError& error) {
    std::string said = error.what();
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    const std::vector<std::string_view> known(names.begin(), names.end());
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
      for (const std::string& word : words)
        if (word.starts_with("--") &&
            std::find(names.begin(), names.end(), word.substr(0, word.find('='))) == names.end())
          if (const auto near = Nearest(word, known); !near.empty())
            said += "; did you mean \"" + std::string(near) + "\"?";
    return RunText{"railwright-agent run: " + said + "\nnext: railwright-agent run --help\n",
                   ExitCode::kUsage};
  }
  options.scan_interval = std::chrono::milliseconds(static_cast<std::int64_t>(scan_seconds * 1000));
  options.firmware_interval = std::chrono::seconds(firmware_seconds);
  return options;
}

}  // namespace railwright
