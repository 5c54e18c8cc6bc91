#include "controller/cli/railctl.h"

#include <exception>
#include <type_traits>

#include "controller/cli/verbs.h"
#include "core/wire/address.h"

namespace railwright::cli {
namespace {

template <class T>
constexpr bool kOffline =
    std::is_same_v<T, ExplainOptions> || std::is_same_v<T, CompletionOptions> ||
    std::is_same_v<T, HelpOptions> || std::is_same_v<T, CompleteOptions> || std::is_same_v<T, LoginOptions> ||
    std::is_same_v<T, DoctorOptions> || std::is_same_v<T, ContextOptions> ||
    std::is_same_v<T, KeyGenerateOptions> || std::is_same_v<T, KeyShowOptions>;

// words → invocation → address → verb. Nothing is dialled before a verb asks.
ExitCode RunWords(const std::vector<std::string>& words, const Environment& environment, Console& console,
                  const std::atomic<bool>& interrupted) {
  CommandLine line;
  auto parsed = line.Parse(words);
  if (!parsed.ok()) {
    console.Error(parsed.status().message());
    return ExitCode::kUsage;
  }
  Globals globals = parsed->globals;
  if (globals.no_color) console.NoColour();
  if (globals.controller.empty()) globals.controller = environment.controller;
  if (globals.context.empty()) globals.context = environment.context;
  const Logins logins(environment.home);

  return std::visit(
      [&](const auto& options) {
        using Options = std::decay_t<decltype(options)>;
        std::shared_ptr<const Login> login;
        if constexpr (!kOffline<Options>) {
          auto chosen = ChooseLogin(globals, logins);
          if (chosen.ok())
            chosen = Refreshed(std::move(*chosen), logins, globals.controller, console, interrupted);
          if (!chosen.ok()) {
            console.Error(chosen.status().message());
            if (chosen.status().code() == Code::kInvalidArgument) return ExitCode::kUsage;
            return chosen.status().code() == Code::kNotFound ? ExitCode::kNotPermitted
                                                             : ExitOf(chosen.status());
          }
          login = std::move(*chosen);
        }
        AdminClient controller(globals.controller, std::move(login), interrupted);
        const CatalogDeclarations catalog;
        Context context{globals, console, controller, catalog, interrupted, environment.author, logins};
        if constexpr (std::is_same_v<Options, HelpOptions>) {
          return RunHelp(context, line, options);
        } else if constexpr (std::is_same_v<Options, CompleteOptions>) {
          return RunComplete(context, line, options);
        } else {
          return Run(context, options);
        }
      },
      parsed->verb);
}

}  // namespace

ExitCode Railctl(const std::vector<std::string>& words, const Environment& environment, Console& console,
                 const std::atomic<bool>& interrupted) {
  try {
    ExitCode code = RunWords(words, environment, console, interrupted);
    if (!console.Flush()) {
      console.Error("standard output could not be written (disk full, or closed); the output is not whole");
      code = Gravest({code, ExitCode::kFailed});
    }
    return code;
  } catch (
      const std::exception& error) {  // libraries below may throw (memory, a locale); nothing of ours does
    console.Error(std::string("failed inside: ") + error.what());
    return ExitCode::kFailed;
  }
}

}  // namespace railwright::cli
