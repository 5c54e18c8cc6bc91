#include "tests/support/fake_machine.h"

#include <algorithm>
#include <cerrno>

namespace railwright {
namespace {

bool Below(std::string_view path, std::string_view prefix) {
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
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
  return {values_.begin(), values_.end()};
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
  return FromErrno(ENOENT, path);
}

Result<std::vector<std::string>> FakeMachine::List(std::string_view path) const {
  std::lock_guard lock(mutex_);
  reads_.emplace_back(path);
  if (const auto error = read_errors_.find(path); error != read_errors_.end() && !error->second.ok())
    return error->second;
  std::set<std::string> names;
  const auto listed = lists_.find(path);
  if (listed != lists_.end()) names = listed->second;
  bool exists = listed != lists_.end();
  for (auto entry = values_.lower_bound(path); entry != values_.end(); ++entry) {
    const std::string_view other = entry->first;
    if (!other.starts_with(path)) break;
    if (!Below(other, path)) continue;
    exists = true;
    if (other.size() == path.size()) continue;
    const std::string_view rest = other.substr(path.size() + 1);
    names.emplace(rest.substr(0, rest.find('/')));
  }
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
    if (MayCreate(path)) {
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
