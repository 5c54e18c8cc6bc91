// Completion from the tree of commands; the type name of an option or argument says what fits.
#include <CLI/CLI.hpp>

#include "controller/cli/command_line.h"

namespace railwright::cli {
namespace {

using Live = Completions::Live;

void Fit(const CLI::App& root, const std::string& type, Completions& into) {
  if (type == "FORMAT") into.words = {"table", "json", "yaml"};
  if (type == "SHELL") into.words = {"bash", "zsh", "fish"};
  if (type == "FILE") into.files = true;
  if (type == "NODE") into.live = Live::kNodes;
  if (type == "KEY") into.live = Live::kKeys;
  if (type == "NODE|KEY") into.live = Live::kNodesAndKeys;
  if (type == "KEY|CODE") into.live = Live::kTopics;
  if (type == "COMMAND") {
    for (const CLI::App* one :
         root.get_subcommands([](const CLI::App* a) { return !a->get_group().empty(); }))
      into.words.push_back(one->get_name());
    into.words.push_back("exit-codes");
  }
}

const CLI::Option* FindOption(const CLI::App& app, const std::string& name) {
  for (const CLI::Option* option : app.get_options())
    if (!option->get_positional() && option->check_name(name)) return option;
  return nullptr;
}

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

constexpr const char* kBash =
    R"(# bash completion for railctl; source it, or put it into /etc/bash_completion.d/
_railctl() {
  local -a words lines
  local line="${COMP_LINE:0:COMP_POINT}" piece="${COMP_WORDS[COMP_CWORD]}" current before one
  read -ra words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=("")
  current="${words[${#words[@]}-1]}"
  case "$piece" in =|:) piece="" ;; esac
  before="${current%"$piece"}"  # what bash takes as typed before this piece: it breaks words at = and :
  mapfile -t lines < <("${words[0]}" __complete -- "${words[@]:1}" 2>/dev/null)
  COMPREPLY=()
  for one in "${lines[@]}"; do
    if [[ "$one" == ":files" ]]; then
      compopt -o default 2>/dev/null
    elif [[ -n "$one" ]]; then
      COMPREPLY+=("${one#"$before"}")
    fi
  done
}
complete -F _railctl railctl
)";

constexpr const char* kZsh = R"(#compdef railctl
# zsh completion for railctl; put it as _railctl into a folder of $fpath
_railctl() {
  local -a lines
  lines=("${(@f)$("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ "${lines[1]}" == ":files" ]]; then
    lines=("${(@)lines[2,-1]}")
    _files
  fi
  lines=("${(@)lines:#}")
  (( ${#lines} )) && compadd -a lines
}
if [[ "${funcstack[1]}" == "_railctl" ]]; then
  _railctl "$@"
else
  compdef _railctl railctl
fi
)";

constexpr const char* kFish =
    R"(# fish completion for railctl; put it into ~/.config/fish/completions/railctl.fish
function __railctl_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    $words[1] __complete -- $words[2..-1] "$current" 2>/dev/null
end
function __railctl_wants_files
    __railctl_complete | string match -q ':files'
end
complete -c railctl -f -a '(__railctl_complete | string match -v ":files")'
complete -c railctl -n __railctl_wants_files -F
)";

}  // namespace

Completions Complete(const CommandLine& line, const std::vector<std::string>& words) {
  Completions found;
  const CLI::App& root = line.tree();
  const CLI::App* app = &root;
  const CLI::Option* pending = nullptr;  // an option that waits for its value
  std::size_t given = 0;                 // arguments of `app` so far
  const std::string current = words.empty() ? "" : words.back();
  const auto visible = [](const CLI::App* one) { return !one->get_group().empty(); };

  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() > 1 && word[0] == '-') {
      const CLI::Option* option = FindOption(*app, word.substr(0, word.find('=')));
      pending =
          option != nullptr && TakesValue(*option) && word.find('=') == std::string::npos ? option : nullptr;
      continue;
    }
    if (pending != nullptr) {
      if (pending->get_items_expected_max() <= 1) pending = nullptr;
      continue;
    }
    const CLI::App* below = nullptr;
    for (const CLI::App* one : app->get_subcommands([](const CLI::App*) { return true; }))
      if (one->get_name() == word) below = one;
    if (below != nullptr) {
      app = below;
      given = 0;
    } else {
      ++given;
    }
  }

  if (const auto equals = current.find('='); current.starts_with("--") && equals != std::string::npos) {
    if (const CLI::Option* option = FindOption(*app, current.substr(0, equals)); option != nullptr)
      Fit(root, option->get_type_name(), found);
    for (std::string& word : found.words) word.insert(0, current.substr(0, equals + 1));
    found.live = Live::kNone;
    return found;
  }
  if (!current.empty() && current[0] == '-') {
    for (const CLI::Option* option : app->get_options())
      for (const std::string& name : option->get_lnames()) found.words.push_back("--" + name);
    return found;
  }
  if (pending != nullptr) {
    Fit(root, pending->get_type_name(), found);
    return found;
  }
  if (given == 0)
    for (const CLI::App* one : app->get_subcommands(visible)) found.words.push_back(one->get_name());
  std::vector<const CLI::Option*> arguments;
  for (const CLI::Option* option : app->get_options())
    if (option->get_positional()) arguments.push_back(option);
  if (given < arguments.size()) {
    Fit(root, arguments[given]->get_type_name(), found);
  } else if (!arguments.empty() && arguments.back()->get_items_expected_max() > 1) {
    Fit(root, arguments.back()->get_type_name(), found);
  }
  return found;
}

Result<std::string> CompletionScript(std::string_view shell) {
  if (shell == "bash") return std::string(kBash);
  if (shell == "zsh") return std::string(kZsh);
  if (shell == "fish") return std::string(kFish);
  return Status(Code::kNotFound, (shell.empty() ? std::string("the shell is missing")
                                                : "no completion for \"" + std::string(shell) + "\"") +
                                     "; allowed: bash, zsh, fish");
}

}  // namespace railwright::cli
