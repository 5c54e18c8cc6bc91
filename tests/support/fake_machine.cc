#include "tests/support/fake_machine.h"

#include <algorithm>
#include <cerrno>

namespace railwright {
namespace {

bool Below(std::string_view path, std::string_view prefix) {
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

constexpr std::string_view kAddresses = "/rtnl/addr", kRoutes = "/rtnl/route", kRules = "/rtnl/rule";

/// "/rtnl/addr/rail0" → kAddresses; "" when `path` is no set.
std::string_view SetKindOf(std::string_view path) {
  for (std::string_view kind : {kAddresses, kRoutes, kRules})
    if (Below(path, kind) && path.size() > kind.size() + 1 &&
        path.find('/', kind.size() + 1) == std::string_view::npos)
      return kind;
  return {};
}

std::string_view LastPart(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// The lines as a set reads: blanks at both ends removed, sorted, each once.
std::string Sorted(std::string_view text) {
  std::set<std::string_view> lines;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    line = line.substr(0, line.find_last_not_of(" \t") + 1);
    if (!line.empty()) lines.insert(line);
  }
  std::string sorted;
  for (std::string_view line : lines) sorted += (sorted.empty() ? "" : "\n") + std::string(line);
  return sorted;
}

/// Tables and priorities that are the host's own, read and never set.
bool IsHosts(std::string_view kind, std::string_view number) {
  if (kind == kRules) return number == "0" || number == "32766" || number == "32767";
  return kind == kRoutes && (number == "0" || number == "253" || number == "254" || number == "255");
}

}  // namespace

FakeMachine& FakeMachine::Put(std::string_view path, std::string_view value) {
  std::lock_guard lock(mutex_);
  values_.insert_or_assign(std::string(path), std::string(value));
  return *this;
}

void FakeMachine::Remove(std::string_view path) {
  std::lock_guard lock(mutex_);
  std::erase_if(values_, [&](const auto& entry) { return Below(entry.first, path); });
  std::erase_if(lists_, [&](const auto& entry) { return Below(entry.first, path); });
}

void FakeMachine::FailReads(std::string_view path, Status error) {
  std::lock_guard lock(mutex_);
  read_errors_.insert_or_assign(std::string(path), std::move(error));
}

void FakeMachine::FailWrites(std::string_view path, Status error) {
  std::lock_guard lock(mutex_);
  write_errors_.insert_or_assign(std::string(path), std::move(error));
}

void FakeMachine::PutList(std::string_view path, const std::vector<std::string>& names) {
  std::lock_guard lock(mutex_);
  lists_.insert_or_assign(std::string(path), std::set<std::string>(names.begin(), names.end()));
}

std::string FakeMachine::Value(std::string_view path) const {
  std::lock_guard lock(mutex_);
  const auto found = values_.find(path);
  return found == values_.end() ? std::string() : found->second;
}

bool FakeMachine::Exists(std::string_view path) const {
  std::lock_guard lock(mutex_);
  return values_.contains(path);
}

std::map<std::string, std::string> FakeMachine::World() const {
  std::lock_guard lock(mutex_);
  std::map<std::string, std::string> world;
  for (const auto& [path, value] : values_)
    if (!value.empty() || SetKindOf(path).empty()) world.emplace(path, value);
  return world;
}

std::vector<std::string> FakeMachine::Reads() const {
  std::lock_guard lock(mutex_);
  return reads_;
}

std::vector<std::pair<std::string, std::string>> FakeMachine::Writes() const {
  std::lock_guard lock(mutex_);
  return writes_;
}

void FakeMachine::ClearLog() {
  std::lock_guard lock(mutex_);
  reads_.clear();
  writes_.clear();
}

Result<std::string> FakeMachine::Get(std::string_view path) const {
  std::lock_guard lock(mutex_);
  reads_.emplace_back(path);
  if (const auto error = read_errors_.find(path); error != read_errors_.end() && !error->second.ok())
    return error->second;
  if (const auto found = values_.find(path); found != values_.end()) return found->second;
  return SetKindOf(path).empty() ? FromErrno(ENOENT, path) : GetSet(path);
}

bool FakeMachine::HasInterface(std::string_view name) const {
  const std::string link = "/rtnl/link/" + std::string(name);
  const auto below = values_.lower_bound(link + "/");
  return values_.contains(link) || values_.contains("/rtnl/addr/" + std::string(name)) ||
         (below != values_.end() && Below(below->first, link));
}

Result<std::string> FakeMachine::GetSet(std::string_view path) const {
  if (SetKindOf(path) == kAddresses && !HasInterface(LastPart(path))) return FromErrno(ENODEV, path);
  return std::string();
}

Status FakeMachine::SetSet(std::string_view path, std::string_view value) {
  const std::string_view kind = SetKindOf(path);
  if (IsHosts(kind, LastPart(path)))
    return Status(Code::kFailedPrecondition, std::string(path) + ": the host's own");
  if (kind == kAddresses && !HasInterface(LastPart(path))) return FromErrno(ENODEV, path);
  values_.insert_or_assign(std::string(path), Sorted(value));
  return Ok();
}

Result<std::vector<std::string>> FakeMachine::List(std::string_view path) const {
  std::lock_guard lock(mutex_);
  reads_.emplace_back(path);
  if (const auto error = read_errors_.find(path); error != read_errors_.end() && !error->second.ok())
    return error->second;
  std::set<std::string> names;
  const auto listed = lists_.find(path);
  if (listed != lists_.end()) names = listed->second;
  const bool sets = path == kAddresses || path == kRoutes || path == kRules;
  bool exists = sets || listed != lists_.end();
  for (auto entry = values_.lower_bound(path); entry != values_.end(); ++entry) {
    const std::string_view other = entry->first;
    if (!other.starts_with(path)) break;
    if (!Below(other, path)) continue;
    exists = true;
    if (other.size() == path.size()) continue;
    if ((path == kRoutes || path == kRules) && entry->second.empty()) continue;
    const std::string_view rest = other.substr(path.size() + 1);
    names.emplace(rest.substr(0, rest.find('/')));
  }
  const std::string links = "/rtnl/link/";
  if (path == kAddresses)
    for (auto link = values_.lower_bound(links); link != values_.end() && link->first.starts_with(links);
         ++link)
      names.insert(link->first.substr(links.size(), link->first.find('/', links.size()) - links.size()));
  if (!exists) return FromErrno(ENOENT, path);
  return std::vector<std::string>(names.begin(), names.end());
}

bool FakeMachine::MayCreate(std::string_view path) const {
  return std::any_of(creatable.begin(), creatable.end(),
                     [&](const std::string& prefix) { return Below(path, prefix); });
}

Status FakeMachine::Set(std::string_view path, std::string_view value) {
  {
    std::lock_guard lock(mutex_);
    writes_.emplace_back(path, value);
    if (const auto error = write_errors_.find(path); error != write_errors_.end() && !error->second.ok())
      return error->second;
    const auto found = values_.find(path);
    if (!SetKindOf(path).empty()) {
      RW_RETURN_IF_ERROR(SetSet(path, value));
    } else if (MayCreate(path)) {
      if (value.empty()) {
        if (found != values_.end()) values_.erase(found);
      } else {
        values_.insert_or_assign(std::string(path), std::string(value));
      }
    } else {
      if (found == values_.end()) return FromErrno(ENOENT, path);
      found->second = value;
    }
  }
  if (on_set) on_set(std::string(path), std::string(value));
  return Ok();
}

}  // namespace railwright
