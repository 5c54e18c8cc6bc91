// A command line as a value: what the operator asked for, parsed and nothing done yet.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace railwright::cli {

enum class Format : std::uint8_t { kTable, kJson, kYaml };

/// Options that every verb takes.
struct Globals {
  std::string controller;  ///< "" = RAILCTL_CONTROLLER, else kDefaultController
  Format format = Format::kTable;
  std::chrono::milliseconds timeout{0};  ///< 0 = the verb's own
  bool no_color = false;
  /// Speak plaintext to an address that is neither loopback nor a Unix socket (a namespace link in a lab).
  bool without_identity_or_encryption = false;
};
inline constexpr const char* kDefaultController = "unix:/run/railwright/controller.sock";

struct PlanOptions {
  std::vector<std::string> files;  ///< files, directories, "-"
  bool prune = false, restore = false, why = false, allow_empty = false;
  std::string out;  ///< where to save the plan; "" = nowhere
};
struct ApplyOptions {
  std::vector<std::string> files;
  std::string plan;  ///< a saved plan; excludes files, prune, restore, allow_empty
  bool prune = false, restore = false, yes = false, wait = true, allow_empty = false;
  std::string comment;
};
struct LearnOptions {
  std::vector<std::string> nodes;
  std::string name = "learned";  ///< of the profile, and of the file
  std::string output_dir = ".";
  bool majority = false, force = false;
};
struct StatusOptions {
  std::vector<std::string> nodes;
};
struct DriftOptions {
  std::vector<std::string> nodes;
};
struct GetOptions {
  std::string kind;  ///< nodes settings findings changes generations desired audit
  std::vector<std::string> names;
  std::string key;                     ///< changes, findings, settings
  std::chrono::milliseconds since{0};  ///< changes: how far back; 0 = all
  std::uint32_t limit = 0;             ///< 0 = the kind's own
  std::uint64_t generation = 0;        ///< desired; 0 = the present
};
struct ExplainOptions {
  std::string word;
};  ///< "" = list everything
struct WhyOptions {
  std::string node, key, target;
};
struct WatchOptions {
  std::vector<std::string> nodes;
};
struct RollbackOptions {
  std::uint64_t to = 0;  ///< 0 = the one before the present
  bool yes = false, wait = true, restore = false;
};
struct PauseOptions {
  std::vector<std::string> what;   ///< node names and keys, told apart by shape
  std::vector<std::string> nodes;  ///< by --node
  std::vector<std::string> keys;   ///< by --key
  bool all = false, resume = false;
  std::string reason;
};
struct ForgetOptions {
  std::string node;
  bool yes = false;
};
struct AuditLogOptions {
  std::string expect_head;  ///< ID:HASH, noted earlier; "" = none
};
struct VersionOptions {
  bool client_only = false;
};
struct CompletionOptions {
  std::string shell;
};
/// The words typed so far; the last one is under the cursor.
struct CompleteOptions {
  std::vector<std::string> words;
};
struct HelpOptions {
  std::string topic;
};

using Verb =
    std::variant<PlanOptions, ApplyOptions, LearnOptions, StatusOptions, DriftOptions, GetOptions,
                 ExplainOptions, WhyOptions, WatchOptions, RollbackOptions, PauseOptions, ForgetOptions,
                 AuditLogOptions, VersionOptions, CompletionOptions, CompleteOptions, HelpOptions>;

struct Invocation {
  Globals globals;
  Verb verb;
};

}  // namespace railwright::cli
