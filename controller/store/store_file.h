// store_file: the file of a store, before it is trusted: its lock, its checks, its making and its migrations.
#pragma once

#include <memory>
#include <string>

#include "controller/store/sqlite.h"
#include "railwright/result.h"

namespace railwright {

/// Held by whoever may write the store of a directory; gone with its process, whatever ends it.
class DirectoryLock {
 public:
  /// NotFound, PermissionDenied: the directory, with the next step. FailedPrecondition: another process holds
  /// it, by its id.
  static Result<DirectoryLock> Take(const std::string& directory);
  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&&) = delete;
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int fd) : fd_(fd) {}
  int fd_;
};

/// Newest store version that this build knows.
int NewestStoreVersion();

/// Reads `path` without changing it: that it is one of our stores, of a version we know, and whole by
/// SQLite's own check. The version. DataLoss: damaged, with `next_step` as the last sentence;
/// FailedPrecondition: newer, or another program's.
Result<int> CheckStoreFile(const std::string& path, const std::string& next_step);
/// The next step for the damaged store of `directory`.
std::string RestoreHint(const std::string& directory);

/// Makes an empty store at `path` under a temporary name; it has its name only when it is whole and durable.
Status MakeStoreFile(const std::string& path);

/// Writes the log of the store at `path`, if there is one, over itself and syncs it; before anybody opens the
/// store. A sync that failed leaves pages that never reached the disk and that the kernel shows all the same,
/// as written (fsync(2)): what is appended behind such a gap would be lost with it at a power cut.
Status RewriteLog(const std::string& path);

/// Brings an open store from its version to the newest, each step in one transaction.
Status Migrate(Database& database);

/// fsync of a file or directory.
Status Sync(const std::string& path);

}  // namespace railwright
