// /nvconfig/<bdf>: what a card keeps in its flash, as `mstconfig` tells it. One query is kept for all keys.
#include <cerrno>

#include "agent/machine/backend.h"
#include "agent/machine/firmware_tool.h"
#include "agent/machine/kept_answers.h"
#include "agent/machine/paths.h"
#include "core/decode/fields.h"
#include "core/decode/mstconfig.h"
#include "core/decode/pci_tree.h"

namespace railwright::machine {
namespace {

/// Debian's mstflint, then NVIDIA's mft; the same program under two names.
constexpr const char* kPrograms[] = {"/usr/bin/mstconfig", "/usr/sbin/mstconfig", "/usr/bin/mlxconfig",
                                     "/usr/sbin/mlxconfig"};
/// A card that could not be asked (it is being reset, its firmware hangs) is asked again after this, doubled
/// with each failure up to the time that an answer counts.
constexpr std::chrono::minutes kFailureKept{1};

class NvConfig final : public Backend {
 public:
  NvConfig(std::string root, AskingThread* thread, std::chrono::seconds kept,
           std::vector<std::string> programs)
      : root_(std::move(root)), programs_(std::move(programs)), kept_(kept, kFailureKept, thread) {
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
    kept_.Expect(bdf);
    const auto said =
        OutputOf({program, "-d", bdf, "-y", "set", std::string(parts[2]) + "=" + std::string(value)});
    return said.ok() ? Ok() : said.status().Within(path);
  }

 private:
  Result<std::string> Program(std::string_view path) const {
    const auto program = InstalledOf(programs_, "mstconfig nor mlxconfig");
    return program.ok() ? program : program.status().Within(path);
  }

  Result<const NvListing*> Listing(std::string_view path, std::string_view bdf) {
    const std::string presence = PresenceOf(root_, bdf);
    if (presence.empty()) {
      kept_.Forget(bdf);
      return Status(Code::kNotFound, std::string(path) + ": no such PCI function", ENODEV);
    }
    RW_ASSIGN_OR_RETURN(const std::string program, Program(path));
    const auto listing =
        kept_.Of(bdf, presence, [program, bdf = std::string(bdf)] { return Query(program, bdf); });
    return listing.ok() ? listing : listing.status().Within(path);
  }

  static Result<NvListing> Query(const std::string& program, const std::string& bdf) {
    RW_ASSIGN_OR_RETURN(const std::string text, OutputOf({program, "-d", bdf, "-e", "q"}));
    return DecodeMstconfig(text);
  }

  std::string root_;
  std::vector<std::string> programs_;
  KeptAnswers<NvListing> kept_;
};

}  // namespace

std::unique_ptr<Backend> MakeNvConfig(std::string root, AskingThread* thread, std::chrono::seconds kept,
                                      std::vector<std::string> programs) {
  return std::make_unique<NvConfig>(std::move(root), thread, kept, std::move(programs));
}

}  // namespace railwright::machine
