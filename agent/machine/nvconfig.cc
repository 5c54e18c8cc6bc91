// /nvconfig/<bdf>: what a card keeps in its flash, as `mstconfig` tells it. One query is kept for all keys.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>

#include "agent/machine/backend.h"
#include "agent/machine/paths.h"
#include "agent/tools/tools.h"
#include "core/decode/fields.h"
#include "core/decode/mstconfig.h"
#include "core/decode/pci_tree.h"

namespace railwright::machine {
namespace {

/// Debian's mstflint, then NVIDIA's mft; the same program under two names.
constexpr const char* kPrograms[] = {"/usr/bin/mstconfig", "/usr/sbin/mstconfig", "/usr/bin/mlxconfig",
                                     "/usr/sbin/mlxconfig"};
/// A query takes one to two seconds of a healthy card; one whose firmware hangs does not answer at all.
constexpr std::chrono::seconds kDeadline{20};
/// What others change (another tool, a flash without a reset) is seen this late at most.
constexpr std::chrono::minutes kKept{10};
/// A card that could not be asked (it is being reset, its firmware hangs) is asked again after this, doubled
/// with each failure up to kKept.
constexpr std::chrono::minutes kFailureKept{1};

using Clock = std::chrono::steady_clock;

std::string Said(const ToolResult& result) {
  // Errors are "-E- Failed to …", mostly on standard error, some on standard output.
  for (const std::string* text : {&result.err, &result.out}) {
    const auto error = text->find("-E-");
    if (error == std::string::npos) continue;
    return text->substr(error, text->find('\n', error) - error);
  }
  const std::string& text = result.err.empty() ? result.out : result.err;
  return text.substr(0, text.find('\n'));
}

class NvConfig final : public Backend {
 public:
  NvConfig(std::string root, std::vector<std::string> programs)
      : root_(std::move(root)), programs_(std::move(programs)) {
    if (programs_.empty()) programs_.assign(std::begin(kPrograms), std::end(kPrograms));
  }

  Result<std::string> Get(std::string_view path) override {
    const auto parts = PathParts(path);
    if (parts.size() != 3 || !IsBdf(parts[1])) return NoSuchPath(path);
    RW_ASSIGN_OR_RETURN(const NvListing* listing, Listing(path, parts[1]));
    if (const auto line = listing->unclear.find(parts[2]); line != listing->unclear.end())
      return Status(Code::kDataLoss, std::string(path) + ": \"" + line->second + "\" is not understood");
    const auto found = listing->parameters.find(parts[2]);
    if (found == listing->parameters.end())
      return Status(Code::kNotFound, std::string(path) + ": this card's firmware has no such parameter",
                    ENOENT);
    Fields fields;
    const NvParameter& parameter = found->second;
    if (!parameter.default_value.empty()) fields.Set("default", parameter.default_value);
    if (!parameter.current.empty()) fields.Set("current", parameter.current);
    if (!parameter.next.empty()) fields.Set("next", parameter.next);
    return fields.Text();
  }

  Result<std::vector<std::string>> List(std::string_view path) override {
    const auto parts = PathParts(path);
    if (parts.size() != 2 || !IsBdf(parts[1])) return NoSuchPath(path);
    RW_ASSIGN_OR_RETURN(const NvListing* listing, Listing(path, parts[1]));
    std::vector<std::string> names;
    for (const auto& [name, parameter] : listing->parameters) names.push_back(name);
    for (const auto& [name, line] : listing->unclear) names.push_back(name);
    return Sorted(std::move(names));
  }

  /// The value for the next boot.
  Status Set(std::string_view path, std::string_view value) override {
    const auto parts = PathParts(path);
    if (parts.size() != 3 || !IsBdf(parts[1])) return NoSuchPath(path);
    if (!IsNvName(parts[2]) || !IsNvValue(value))
      return Status(Code::kInvalidArgument,
                    std::string(path) + " = \"" + std::string(value) +
                        "\" (allowed: a name of A-Z 0-9 _, a value of letters, digits, "
                        "_ . -)");
    RW_ASSIGN_OR_RETURN(const std::string program, Program(path));
    const std::string bdf(parts[1]);
    kept_.erase(bdf);
    const Result<ToolResult> result = RunTool(
        {program, "-d", bdf, "-y", "set", std::string(parts[2]) + "=" + std::string(value)}, {}, kDeadline);
    if (!result.ok()) return result.status().Within(path);
    if (result->exit_code != 0) return FromTool(program, *result).Within(path);
    return Ok();
  }

 private:
  struct Kept {
    Result<NvListing> listing;
    Clock::time_point until;
    std::string presence;
    int failures = 0;  ///< one after another, this one included
  };

  Result<std::string> Program(std::string_view path) const {
    for (const std::string& program : programs_)
      if (::access(program.c_str(), X_OK) == 0) return program;
    return Status(
        Code::kUnimplemented,
        std::string(path) + ": neither mstconfig nor mlxconfig is installed; install the package mstflint");
  }

  static Status FromTool(const std::string& program, const ToolResult& result) {
    return Status(Code::kInternal,
                  program + " ended with " + std::to_string(result.exit_code) + ": " + Said(result));
  }

  /// Changes when the function goes and comes, or its driver is bound anew, as a firmware reset does: sysfs
  /// makes new inodes. "" when there is no such function.
  std::string Presence(std::string_view bdf) const {
    const std::string device = root_ + "/sys/bus/pci/devices/" + std::string(bdf);
    struct stat facts {};
    if (::stat(device.c_str(), &facts) != 0) return {};
    std::string presence = std::to_string(facts.st_ino);
    if (::lstat((device + "/driver").c_str(), &facts) == 0) presence += " " + std::to_string(facts.st_ino);
    return presence;
  }

  Result<const NvListing*> Listing(std::string_view path, std::string_view bdf) {
    const std::string presence = Presence(bdf);
    if (presence.empty()) {
      kept_.erase(std::string(bdf));
      return Status(Code::kNotFound, std::string(path) + ": no such PCI function", ENODEV);
    }
    int failures = 0;
    if (const auto kept = kept_.find(bdf); kept != kept_.end() && kept->second.presence == presence) {
      if (Clock::now() < kept->second.until) return Told(path, kept->second);
      failures = kept->second.failures;
    }
    kept_.erase(std::string(bdf));
    RW_ASSIGN_OR_RETURN(const std::string program, Program(path));
    Result<NvListing> listing = Query(program, bdf);
    failures = listing.ok() ? 0 : std::min(failures + 1, 5);
    const auto keep = failures == 0 ? kKept : std::min(kKept, kFailureKept * (1 << (failures - 1)));
    const auto placed =
        kept_.emplace(std::string(bdf), Kept{std::move(listing), Clock::now() + keep, presence, failures})
            .first;
    return Told(path, placed->second);
  }

  static Result<const NvListing*> Told(std::string_view path, const Kept& kept) {
    if (!kept.listing.ok()) return kept.listing.status().Within(path);
    return &*kept.listing;
  }

  static Result<NvListing> Query(const std::string& program, std::string_view bdf) {
    const Result<ToolResult> result = RunTool({program, "-d", std::string(bdf), "-e", "q"}, {}, kDeadline);
    if (!result.ok()) return result.status();
    if (result->exit_code != 0) return FromTool(program, *result);
    return DecodeMstconfig(result->out);
  }

  std::string root_;
  std::vector<std::string> programs_;
  std::map<std::string, Kept, std::less<>> kept_;
};

}  // namespace

std::unique_ptr<Backend> MakeNvConfig(std::string root, std::vector<std::string> programs) {
  return std::make_unique<NvConfig>(std::move(root), std::move(programs));
}

}  // namespace railwright::machine
