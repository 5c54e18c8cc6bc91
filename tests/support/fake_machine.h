// FakeMachine: a host in memory. It remembers what was put into it, what was read and what was written.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "railwright/machine.h"

namespace railwright {

/// A map from path to text is a kernel. Like the real one it knows which paths exist: Set on a path that was
/// never put is NotFound, except below `creatable` (files, tables), where it makes it. Set(path, "") removes
/// below `creatable` and stores "" elsewhere.
///
/// Sets (addresses, routes, rules) do as the kernel's: an empty one reads "", a table or priority that never
/// was is empty, and lines come back sorted, each once. Addresses want an interface: one whose /rtnl/link or
/// addresses were put. May be used by several threads.
class FakeMachine : public Machine {
 public:
  FakeMachine() = default;

  // The world behind Railwright's back: none of these is logged.

  /// Makes `path` read `value`.
  FakeMachine& Put(std::string_view path, std::string_view value);
  /// Removes `path` and everything below it.
  void Remove(std::string_view path);
  /// Get and List of `path` answer this error until cleared with Ok().
  void FailReads(std::string_view path, Status error);
  /// Set of `path` answers this error until cleared with Ok().
  void FailWrites(std::string_view path, Status error);
  /// Makes List(path) answer these names, beside those that follow from the paths put.
  void PutList(std::string_view path, const std::vector<std::string>& names);
  /// What is there now; "" when nothing is.
  std::string Value(std::string_view path) const;
  bool Exists(std::string_view path) const;
  /// Everything there is, empty sets left out, for comparing the world before and after.
  std::map<std::string, std::string> World() const;

  /// Called after each Set that took effect, without the lock held: another program that reacts to it.
  std::function<void(const std::string& path, const std::string& value)> on_set;
  /// Prefixes below which Set may create and remove.
  std::vector<std::string> creatable{"/file", "/nft", "/kmod", "/sys/kernel/config"};

  // What was done through the door.

  std::vector<std::string> Reads() const;  ///< paths of Get and List, in order
  std::vector<std::pair<std::string, std::string>> Writes() const;
  void ClearLog();

  Result<std::string> Get(std::string_view path) const override;
  Result<std::vector<std::string>> List(std::string_view path) const override;
  Status Set(std::string_view path, std::string_view value) override;

 private:
  bool MayCreate(std::string_view path) const;
  bool HasInterface(std::string_view name) const;
  Result<std::string> GetSet(std::string_view path) const;
  Status SetSet(std::string_view path, std::string_view value);

  mutable std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> values_;
  std::map<std::string, Status, std::less<>> read_errors_, write_errors_;
  std::map<std::string, std::set<std::string>, std::less<>> lists_;
  mutable std::vector<std::string> reads_;
  std::vector<std::pair<std::string, std::string>> writes_;
};

}  // namespace railwright
