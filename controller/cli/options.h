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
  std::string
      controller;       ///< "" = RAILCTL_CONTROLLER, else that of the context in use, else kDefaultController
  std::string context;  ///< "" = RAILCTL_CONTEXT, else the one in use
  Format format = Format::kTable;
  std::chrono::milliseconds timeout{0};  ///< 0 = the verb's own
  bool no_color = false;
};
inline constexpr const char* kDefaultController = "unix:/run/railwright/controller.sock";

struct PlanOptions {
  std::vector<std::string> files;  ///< files, directories, "-"
  bool prune = false, restore = false, why = false, allow_empty = false;
  std::string out;                       ///< where to save the plan; "" = nowhere
  std::chrono::milliseconds try_for{0};  ///< as of apply
};
struct ApplyOptions {
  std::vector<std::string> files;
  std::string plan;  ///< a saved plan; excludes files, prune, restore, allow_empty, try_for
  bool prune = false, restore = false, yes = false, wait = true, allow_empty = false;
  std::chrono::milliseconds try_for{0};  ///< 0: what touches the way to the controller is refused
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
  std::string kind;  ///< nodes settings findings changes generations desired audit members rollouts
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
  std::chrono::milliseconds try_for{0};  ///< as of apply
};
/// What is asked or ordered of the rollout of a generation.
struct RolloutOptions {
  enum class What : std::uint8_t {
    kStatus,
    kApprove,
    kPause,
    kResume,
    kAbort,
    kResetBreaker
  } what = What::kStatus;
  std::uint64_t generation = 0;  ///< that is meant; 0 = the present
  std::string reason;
  bool watch = false;     ///< status
  bool rollback = false;  ///< abort: then go back to the generation before it
  bool yes = false;       ///< approve, abort with rollback, reset-breaker
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
struct TokenOptions {
  enum class What : std::uint8_t { kCreate, kList, kDrop } what = What::kList;
  std::string node;           ///< create: for this node; "" with any
  bool any = false;           ///< create: for any node that has not joined
  std::string operator_name;  ///< create: for an operator
  std::vector<std::string> roles;
  std::string scope = "*", from;
  std::chrono::milliseconds ttl{3'600'000};
  std::uint32_t uses = 1;
  std::string id;  ///< drop
};
/// evict, ban, hold or admit a node or an operator.
struct StandingOptions {
  bool is_operator = false;
  std::string verb, name, reason;
  bool yes = false;
};
struct LoginOptions {
  std::string line;  ///< "-" = from standard input; "" with renew
  std::string context;
  bool renew = false;
};
struct DoctorOptions {};
struct ContextOptions {
  enum class What : std::uint8_t { kList, kUse, kRemove } what = What::kList;
  std::string name;
};
struct KeyGenerateOptions {
  std::string out;
};
struct KeyShowOptions {
  std::string file;
};
struct SignOptions {
  std::string key;               ///< a file
  std::uint64_t generation = 0;  ///< 0 = the present
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

using Verb = std::variant<PlanOptions, ApplyOptions, LearnOptions, StatusOptions, DriftOptions, GetOptions,
                          ExplainOptions, WhyOptions, WatchOptions, RollbackOptions, RolloutOptions,
                          PauseOptions, ForgetOptions, TokenOptions, StandingOptions, LoginOptions,
                          DoctorOptions, ContextOptions, KeyGenerateOptions, KeyShowOptions, SignOptions,
                          AuditLogOptions, VersionOptions, CompletionOptions, CompleteOptions, HelpOptions>;

struct Invocation {
  Globals globals;
  Verb verb;
};

}  // namespace railwright::cli
