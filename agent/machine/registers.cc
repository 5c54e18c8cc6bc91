// /reg/<bdf>/<REGISTER>: access registers of a ConnectX card's firmware, as `mstreg` tells and sets them.
#include <algorithm>
#include <array>
#include <cerrno>

#include "agent/machine/backend.h"
#include "agent/machine/firmware_tool.h"
#include "agent/machine/kept_answers.h"
#include "agent/machine/paths.h"
#include "core/decode/mstreg.h"
#include "core/decode/pci_tree.h"

namespace railwright::machine {
namespace {

/// Debian's mstflint, then NVIDIA's mft; the same program under two names.
constexpr const char* kPrograms[] = {"/usr/bin/mstreg", "/usr/sbin/mstreg", "/usr/bin/mlxreg",
                                     "/usr/sbin/mlxreg"};
constexpr std::chrono::seconds kFailureKept{30};
/// A wrong register can stop a card, so only those are served that a setting stands for.
constexpr std::array<std::string_view, 1> kServed{"ROCE_ACCL"};

class Registers final : public Backend {
 public:
  Registers(std::string root, AskingThread* thread, std::chrono::seconds kept,
            std::vector<std::string> programs)
      : root_(std::move(root)), programs_(std::move(programs)), kept_(kept, kFailureKept, thread) {
    if (programs_.empty()) programs_.assign(std::begin(kPrograms), std::end(kPrograms));
  }

  Result<std::string> Get(std::string_view path) override {
    RW_ASSIGN_OR_RETURN(const Place place, PlaceOf(path));
    const std::string presence = PresenceOf(root_, place.bdf);
    if (presence.empty()) {
      kept_.Forget(path);
      return Status(Code::kNotFound, std::string(path) + ": no such PCI function", ENODEV);
    }
    RW_ASSIGN_OR_RETURN(const std::string program, Program(path));
    const auto fields = kept_.Of(path, presence, [program, place] { return Query(program, place); });
    if (!fields.ok()) return fields.status().Within(path);
    return (*fields)->Text();
  }

  Result<std::vector<std::string>> List(std::string_view path) override {
    const auto parts = PathParts(path);
    if (parts.size() != 2 || !IsBdf(parts[1])) return NoSuchPath(path);
    if (PresenceOf(root_, parts[1]).empty())
      return Status(Code::kNotFound, std::string(path) + ": no such PCI function", ENODEV);
    return std::vector<std::string>(kServed.begin(), kServed.end());
  }

  /// The named fields; the program reads the register first and leaves the others as they are.
  Status Set(std::string_view path, std::string_view value) override {
    RW_ASSIGN_OR_RETURN(const Place place, PlaceOf(path));
    const auto wanted = Fields::Parse(value);
    if (!wanted.ok()) return wanted.status().Within(path);
    std::string data;
    for (const auto& [name, text] : wanted->all()) {
      const auto number = ParseNumber(text);
      if (!IsRegisterField(name) || !number.ok() || *number > UINT32_MAX)
        return Status(Code::kInvalidArgument, std::string(path) + ": \"" + name + "=" + text +
                                                  "\" (allowed: a field's name, a number of 32 bits)");
      data += (data.empty() ? "" : ",") + name + "=" + std::to_string(*number);
    }
    if (data.empty()) return Status(Code::kInvalidArgument, std::string(path) + ": no field is named");
    RW_ASSIGN_OR_RETURN(const std::string program, Program(path));
    kept_.Expect(path);
    const auto said = OutputOf({program, "-d", place.bdf, "--yes", "--reg_name", place.name, "--set", data});
    return said.ok() ? Ok() : said.status().Within(path);
  }

 private:
  struct Place {
    std::string bdf, name;
  };

  static Result<Place> PlaceOf(std::string_view path) {
    const auto parts = PathParts(path);
    if (parts.size() != 3 || !IsBdf(parts[1]) ||
        std::find(kServed.begin(), kServed.end(), parts[2]) == kServed.end())
      return NoSuchPath(path);
    return Place{std::string(parts[1]), std::string(parts[2])};
  }

  Result<std::string> Program(std::string_view path) const {
    const auto program = InstalledOf(programs_, "mstreg nor mlxreg");
    return program.ok() ? program : program.status().Within(path);
  }

  static Result<Fields> Query(const std::string& program, const Place& place) {
    RW_ASSIGN_OR_RETURN(const std::string text,
                        OutputOf({program, "-d", place.bdf, "--yes", "--reg_name", place.name, "--get"}));
    return DecodeMstreg(text);
  }

  std::string root_;
  std::vector<std::string> programs_;
  KeptAnswers<Fields> kept_;
};

}  // namespace

std::unique_ptr<Backend> MakeRegisters(std::string root, AskingThread* thread, std::chrono::seconds kept,
                                       std::vector<std::string> programs) {
  return std::make_unique<Registers>(std::move(root), thread, kept, std::move(programs));
}

}  // namespace railwright::machine
