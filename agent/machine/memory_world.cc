#include "agent/machine/memory_world.h"

#include <algorithm>
#include <cerrno>

#include "agent/machine/nft_document.h"
#include "agent/machine/paths.h"
#include "agent/machine/rtnl_decode.h"
#include "core/decode/dcb.h"
#include "core/decode/dcb_app.h"
#include "core/decode/fields.h"
#include "core/decode/pfc_storm.h"
#include "core/decode/traffic_class.h"

namespace railwright::machine {
namespace {

/// The one spelling that the kernel's backend would read back.
Result<std::string> CanonicalLine(std::string_view path, const std::string& line) {
  if (IsBelow(path, "/rtnl/route")) {
    RW_ASSIGN_OR_RETURN(const Route route, Route::Parse(line));
    return route.Text();
  }
  if (IsBelow(path, "/rtnl/rule")) {
    RW_ASSIGN_OR_RETURN(const Rule rule, Rule::Parse(line));
    return rule.Text();
  }
  RW_ASSIGN_OR_RETURN(const Address address, Address::Parse(line));
  return address.Text();
}

Result<std::string> CanonicalSet(std::string_view path, std::string_view value) {
  std::string lines;
  for (const std::string& line : SortedLines(value)) {
    const Result<std::string> canonical = CanonicalLine(path, line);
    if (!canonical.ok()) return canonical.status().Within(path);
    lines += *canonical + "\n";
  }
  return JoinLines(SortedLines(lines));
}

/// What MLNX_OFED's traffic class reads after `value` was written over `before`: a negative number clears it,
/// rules for some addresses stay.
Result<std::string> TrafficClassText(std::string_view before, std::string_view value) {
  RW_ASSIGN_OR_RETURN(const TrafficClass old, ReadTrafficClass(before));
  std::vector<std::string> lines;
  if (!value.starts_with("-")) lines.push_back("Global tclass=" + std::string(value));
  lines.insert(lines.end(), old.rules.begin(), old.rules.end());
  return JoinLines(lines);
}

/// What a path below /dcb reads after Set. What only the driver's rules forbid is taken.
Result<std::string> ChangedDcb(std::string_view path, std::string_view before, std::string_view value) {
  const auto parts = PathParts(path);
  if (parts.size() != 3 || (parts[2] != "app" && !IsDcbFields(parts[2]))) return NoSuchPath(path);
  if (parts[2] != "app") {
    const Result<std::string> changed = ChangedDcbText(parts[2], before, value);
    return changed.ok() ? changed : changed.status().Within(path);
  }
  const auto table = ParseAppTable(value);
  if (!table.ok()) return table.status().Within(path);
  return AppTableText(*table);
}

/// Files of control groups take one change and show all that holds: "+rdma" adds a controller, a line of
/// rdma.max sets one device's limits.
std::string CgroupText(std::string_view path, const std::string& before, std::string_view value) {
  if (path.ends_with("/cgroup.subtree_control") && value.starts_with('+'))
    return before + (before.empty() ? "" : " ") + std::string(value.substr(1));
  if (!path.ends_with("/rdma.max")) return std::string(value);
  const std::string_view device = value.substr(0, value.find(' '));
  std::string lines;
  for (const std::string& line : SortedLines(before))
    if (!line.starts_with(std::string(device) + " ")) lines += line + "\n";
  return JoinLines(SortedLines(lines + std::string(value)));
}

}  // namespace

Result<std::string> MemoryWorld::Get(std::string_view path) const {
  const auto found = changed_.find(path);
  if (found == changed_.end()) return recorded_(path);
  if (!found->second) return FromErrno(ENOENT, path);
  return *found->second;
}

void MemoryWorld::Put(std::string_view path, std::optional<std::string> value) {
  changed_.insert_or_assign(std::string(path), std::move(value));
}

Status MemoryWorld::Set(std::string_view path, std::string_view value) {
  const auto optional = [&] { return value.empty() ? std::nullopt : std::optional<std::string>(value); };
  if (IsBelow(path, "/file") && path.size() > 6) {
    Put(path, optional());
    return Ok();
  }
  if (IsBelow(path, "/rtnl/link")) return SetLink(path, value);
  if (IsBelow(path, "/nft/table")) return SetTable(path, value);
  // Everything else must be there to be changed.
  const Result<std::string> before = Get(path);
  if (IsBelow(path, "/sys/kernel/config") && (value == "directory" || value.empty())) {
    if (!before.ok() && before.status().code() != Code::kNotFound) return before.status();
    if (!before.ok() || *before == "directory") {
      Put(path, optional());
      return Ok();
    }
  }
  if (!before.ok()) return before.status();
  if (IsBelow(path, "/sys/class/infiniband") && path.ends_with("/traffic_class")) {
    RW_ASSIGN_OR_RETURN(std::string lines, TrafficClassText(*before, value));
    Put(path, std::move(lines));
  } else if (IsBelow(path, "/sys") || IsBelow(path, "/proc")) {
    Put(path, IsBelow(path, "/sys/fs/cgroup") ? CgroupText(path, *before, value) : std::string(value));
  } else if (IsBelow(path, "/nvml")) {
    return SetGpu(path, value, *before);
  } else if (IsBelow(path, "/dbus/unit")) {
    return SetUnit(path, value, *before);
  } else if (IsBelow(path, "/rtnl/addr") || IsBelow(path, "/rtnl/route") || IsBelow(path, "/rtnl/rule")) {
    RW_ASSIGN_OR_RETURN(std::string lines, CanonicalSet(path, value));
    Put(path, std::move(lines));
  } else if (IsBelow(path, "/dcb")) {
    RW_ASSIGN_OR_RETURN(std::string text, ChangedDcb(path, *before, value));
    Put(path, std::move(text));
  } else if (IsBelow(path, "/ethtool") && path.ends_with("/pfc_storm_prevention")) {
    const auto milliseconds = ParsePfcStorm(value, 1, kPfcStormAuto - 1);
    if (!milliseconds.ok()) return milliseconds.status().Within(path);
    Put(path, PfcStormText(*milliseconds));
  } else if (IsBelow(path, "/ethtool") || IsBelow(path, "/pci") || IsBelow(path, "/reg")) {
    const Result<Fields> wanted = Fields::Parse(value);
    if (!wanted.ok()) return wanted.status().Within(path);
    RW_ASSIGN_OR_RETURN(Fields now, Fields::Parse(*before));
    for (const auto& [name, text] : wanted->all()) {
      if (name.ends_with("_max")) continue;
      if (now.Find(name) == nullptr)
        return Status(Code::kInvalidArgument,
                      std::string(path) + ": no field \"" + name + "\" in " + *before);
      now.Set(name, text);
    }
    if (path.ends_with("/fec")) RW_RETURN_IF_ERROR(Retrain(path, now));
    Put(path, now.Text());
  } else if (IsBelow(path, "/nvconfig")) {
    // Written is what the next boot brings.
    RW_ASSIGN_OR_RETURN(Fields parameter, Fields::Parse(*before));
    parameter.Set("next", value);
    Put(path, parameter.Text());
  } else if (IsBelow(path, "/kmod")) {
    if (*before == "builtin" && value.empty())
      return Status(Code::kFailedPrecondition,
                    std::string(path) + ": built into the kernel, cannot be unloaded");
    if (*before != "builtin") Put(path, value.empty() ? "absent" : "live");
  } else {
    return Status(Code::kUnimplemented, std::string(path) + ": a recorded machine does not change this");
  }
  return Ok();
}

// A link that is up comes back with the code it was told, the far end being the same, or with the negotiated
// one.
Status MemoryWorld::Retrain(std::string_view path, Fields& fec) const {
  if (fec.Find("active") == nullptr) return Ok();
  const std::string* automatic = fec.Find("auto");
  if (automatic == nullptr || *automatic != "1") {
    if (const std::string* modes = fec.Find("modes")) fec.Set("active", std::string(*modes));
    return Ok();
  }
  RW_ASSIGN_OR_RETURN(const std::string text, recorded_(path));
  RW_ASSIGN_OR_RETURN(const Fields recorded, Fields::Parse(text));
  if (const std::string* active = recorded.Find("active")) fec.Set("active", std::string(*active));
  return Ok();
}

Status MemoryWorld::SetLink(std::string_view path, std::string_view value) {
  const auto parts = PathParts(path);
  if (parts.size() != 4 || (parts[3] != "mtu" && parts[3] != "state")) return NoSuchPath(path);
  const std::string link = "/rtnl/link/" + std::string(parts[2]);
  RW_ASSIGN_OR_RETURN(const std::string text, Get(link));
  RW_ASSIGN_OR_RETURN(Fields fields, Fields::Parse(text));
  if (parts[3] == "mtu") {
    const Result<std::uint64_t> mtu = ParseNumber(value);
    if (!mtu.ok()) return mtu.status().Within(path);
    const std::uint64_t least = fields.Number("min_mtu").value_or(0);
    const std::uint64_t most = fields.Number("max_mtu").value_or(0);
    if (*mtu < least || (most != 0 && *mtu > most))
      return FromErrno(EINVAL, std::string(path) + ": setting " + std::string(value),
                       "allowed: " + std::to_string(least) + "…" + std::to_string(most));
  } else if (value != "up" && value != "down") {
    return Status(Code::kInvalidArgument,
                  std::string(path) + ": \"" + std::string(value) + "\" (allowed: up, down)");
  }
  fields.Set(parts[3], value);
  Put(link, fields.Text());
  Put(path, std::string(value));
  return Ok();
}

Status MemoryWorld::SetGpu(std::string_view path, std::string_view value, const std::string& before) {
  if (path.ends_with("/persistence")) {
    Put(path, std::string(value));
    return Ok();
  }
  RW_ASSIGN_OR_RETURN(Fields now, Fields::Parse(before));
  if (path.ends_with("/ecc")) {
    now.Set("pending", value);
  } else if (value == "default") {
    for (const auto& [name, usual] : {std::pair{"sm", "default_sm"}, {"mem", "default_mem"}})
      if (const std::string* clock = now.Find(usual)) now.Set(name, std::string(*clock));
  } else {
    const Result<Fields> wanted = Fields::Parse(value);
    if (!wanted.ok()) return wanted.status().Within(path);
    for (const auto& [name, clock] : wanted->all()) now.Set(name, clock);
  }
  Put(path, now.Text());
  return Ok();
}

Status MemoryWorld::SetUnit(std::string_view path, std::string_view value, const std::string& before) {
  const Result<Fields> wanted = Fields::Parse(value);
  if (!wanted.ok()) return wanted.status().Within(path);
  RW_ASSIGN_OR_RETURN(Fields now, Fields::Parse(before));
  for (const auto& [name, state] : wanted->all()) {
    now.Set(name, state);
    if (name == "active") now.Set("sub", state == "active" ? "running" : "dead");
  }
  Put(path, now.Text());
  return Ok();
}

Status MemoryWorld::SetTable(std::string_view path, std::string_view value) {
  const auto parts = PathParts(path, 4);
  if (parts.size() != 4) return NoSuchPath(path);
  const NftTableName table{std::string(parts[2]), std::string(parts[3])};
  const Result<std::string> listing = Get("/nft/ruleset");
  if (!listing.ok()) return listing.status().Within(path);
  const Result<std::string> changed = ApplyInMemory(*listing, value, table);
  if (!changed.ok()) return changed.status().Within(path);
  Put("/nft/ruleset", *changed);
  const Result<std::string> generation = Get("/nft/generation");
  const Result<std::uint64_t> number = generation.ok() ? ParseNumber(*generation) : std::uint64_t{0};
  Put("/nft/generation", std::to_string(number.value_or(0) + 1));
  RW_ASSIGN_OR_RETURN(const NftTables tables, SplitByTable(*changed));
  const auto found = tables.find(table);
  Put(path, found == tables.end() ? std::nullopt : std::optional<std::string>(found->second));
  return Ok();
}

std::vector<std::string> MemoryWorld::WithChanges(std::string_view path,
                                                  std::vector<std::string> names) const {
  const std::string below = std::string(path) + "/";
  for (auto it = changed_.lower_bound(below); it != changed_.end() && it->first.starts_with(below); ++it) {
    const std::string_view rest = std::string_view(it->first).substr(below.size());
    const std::string name(rest.substr(0, rest.find('/')));
    const bool whole = name.size() == rest.size();
    if (it->second)
      names.push_back(name);
    else if (whole)
      std::erase(names, name);
  }
  return Sorted(std::move(names));
}

}  // namespace railwright::machine
