#include <algorithm>
#include <cerrno>
#include <optional>

#include "agent/machine/linux_machine.h"
#include "agent/machine/memory_world.h"
#include "agent/machine/nft_document.h"
#include "agent/machine/paths.h"
#include "agent/machine/snapshot_tree.h"
#include "core/decode/fields.h"

namespace railwright {
namespace machine {
namespace {

/// Whether a name that List does not give is proof that the path is not there. It is none for sets (an empty
/// table is no table's absence), for modules (List gives the loaded ones) and for what a driver may lack.
bool ListIsWhole(std::string_view path) {
  for (std::string_view prefix :
       {"/sys", "/proc", "/file", "/rtnl/link", "/rtnl/addr", "/pkg", "/nft/table", "/nvconfig"})
    if (IsBelow(path, prefix)) return true;
  return false;
}

class SnapshotMachine final : public Machine {
 public:
  explicit SnapshotMachine(SnapshotTree tree)
      : tree_(std::move(tree)), world_([this](std::string_view path) { return Recorded(path); }) {}

  Result<std::string> Get(std::string_view path) const override {
    RW_RETURN_IF_ERROR(Sane(path));
    return world_.Get(path);
  }

  Result<std::vector<std::string>> List(std::string_view path) const override {
    RW_RETURN_IF_ERROR(Sane(path));
    auto names = tree_.List(path);
    if (!names && IsBelow(path, "/nft/table")) names = TableNames(path);
    if (!names) {
      // A directory that only Sets have made, or none.
      std::vector<std::string> made = world_.WithChanges(path, {});
      if (!made.empty()) return made;
      if (const Status gone = ProvenGone(path); !gone.ok()) return gone;
      return NotRecorded(path);
    }
    if (!names->ok()) {
      // A directory that was not there, until a Set made something in it.
      std::vector<std::string> made = world_.WithChanges(path, {});
      if (names->status().code() != Code::kNotFound || made.empty()) return names->status();
      return made;
    }
    return world_.WithChanges(path, std::move(**names));
  }

  Status Set(std::string_view path, std::string_view value) override {
    RW_RETURN_IF_ERROR(Sane(path));
    return world_.Set(path, value);
  }

 private:
  static Status Sane(std::string_view path) {
    const std::string_view problem = PathProblem(path);
    if (problem.empty()) return Ok();
    return Status(Code::kInvalidArgument, "\"" + std::string(path) + "\": " + std::string(problem));
  }

  static Status NotRecorded(std::string_view path) {
    return Status(Code::kUnknown, std::string(path) +
                                      ": not recorded in this snapshot; record the machine again, with the "
                                      "documents that name it (-f)");
  }

  Result<std::string> Recorded(std::string_view path) const {
    if (auto value = tree_.Value(path)) return std::move(*value);
    if (auto derived = Derived(path)) return std::move(*derived);
    if (const Status gone = ProvenGone(path); !gone.ok()) return gone;
    return NotRecorded(path);
  }

  /// What another recorded answer holds too.
  std::optional<Result<std::string>> Derived(std::string_view path) const {
    const auto parts = PathParts(path, 4);
    if (parts.size() != 4) return std::nullopt;
    if (IsBelow(path, "/rtnl/link")) {
      const auto link = tree_.Value("/rtnl/link/" + std::string(parts[2]));
      if (!link || !link->ok()) return std::nullopt;
      const Result<Fields> fields = Fields::Parse(**link);
      const std::string* field = fields.ok() ? fields->Find(parts[3]) : nullptr;
      if (field == nullptr || (parts[3] != "mtu" && parts[3] != "state")) return std::nullopt;
      return Result<std::string>(*field);
    }
    if (IsBelow(path, "/nft/table")) {
      const auto listing = tree_.Value("/nft/ruleset");
      if (!listing || !listing->ok()) return std::nullopt;
      const Result<NftTables> tables = SplitByTable(**listing);
      if (!tables.ok()) return Result<std::string>(tables.status().Within(path));
      const auto found = tables->find({std::string(parts[2]), std::string(parts[3])});
      if (found == tables->end()) return Result<std::string>(FromErrno(ENOENT, path));
      return Result<std::string>(found->second);
    }
    return std::nullopt;
  }

  /// NotFound when something recorded proves that `path` was not there: an ancestor's error, or a list
  /// without it.
  Status ProvenGone(std::string_view path) const {
    if (!ListIsWhole(path)) return Ok();
    for (std::string_view child = path; child.size() > 1;) {
      const auto slash = child.rfind('/');
      if (slash == 0) break;
      const std::string_view parent = child.substr(0, slash);
      const auto names = tree_.List(parent);
      if (names && !names->ok() && names->status().code() == Code::kNotFound) return FromErrno(ENOENT, path);
      if (names && names->ok()) {
        const std::string name(child.substr(slash + 1));
        const bool there = std::find((*names)->begin(), (*names)->end(), name) != (*names)->end();
        return there ? Ok() : FromErrno(ENOENT, path);
      }
      const auto value = tree_.Value(parent);
      if (value && !value->ok() && value->status().code() == Code::kNotFound) return FromErrno(ENOENT, path);
      child = parent;
    }
    return Ok();
  }

  std::optional<Result<std::vector<std::string>>> TableNames(std::string_view path) const {
    const Result<std::string> listing = world_.Get("/nft/ruleset");
    if (!listing.ok()) return std::nullopt;
    const Result<NftTables> tables = SplitByTable(*listing);
    if (!tables.ok()) return Result<std::vector<std::string>>(tables.status());
    const auto parts = PathParts(path);
    std::vector<std::string> names;
    for (const auto& [table, text] : *tables) {
      if (parts.size() == 2) names.push_back(table.first);
      if (parts.size() == 3 && parts[2] == table.first) names.push_back(table.second);
    }
    return Result<std::vector<std::string>>(Sorted(std::move(names)));
  }

  SnapshotTree tree_;
  MemoryWorld world_;
};

}  // namespace
}  // namespace machine

Result<std::unique_ptr<Machine>> OpenSnapshotMachine(const std::string& directory) {
  RW_ASSIGN_OR_RETURN(machine::SnapshotTree tree, machine::SnapshotTree::Open(directory));
  return std::unique_ptr<Machine>(std::make_unique<machine::SnapshotMachine>(std::move(tree)));
}

}  // namespace railwright
