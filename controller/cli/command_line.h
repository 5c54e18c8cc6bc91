// CommandLine: the tree of verbs and options; turns words into an Invocation, help and completions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "controller/cli/options.h"
#include "railwright/result.h"

namespace CLI {
class App;
}

namespace railwright::cli {

class CommandLine {
 public:
  CommandLine();
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// `words` without the program's name. InvalidArgument says what is wrong, the nearest known word and where
  /// to read on. Once per object.
  Result<Invocation> Parse(std::vector<std::string> words);

  /// Examples first, then options. `topic` is a verb, "exit-codes" or ""; NotFound names the nearest.
  Result<std::string> Help(std::string_view topic) const;

  const CLI::App& tree() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// "10s", "1m30s", "500ms", "2h", "1d"; a bare number is seconds. InvalidArgument shows the forms.
Result<std::chrono::milliseconds> ParseDuration(std::string_view text);

/// What stands at the cursor may be: words, and whether files fit too.
struct Completions {
  std::vector<std::string> words;
  bool files = false;
  enum class Live : std::uint8_t { kNone, kNodes, kNodesAndKeys, kKeys, kTopics } live = Live::kNone;
};
/// `words`: everything after the program's name, the last one under the cursor. Pure: live names are named,
/// not fetched.
Completions Complete(const CommandLine& line, const std::vector<std::string>& words);

/// The script that hooks railctl into a shell: "bash", "zsh", "fish". NotFound otherwise.
Result<std::string> CompletionScript(std::string_view shell);

}  // namespace railwright::cli
