// Backup and restore: a store as one checked file.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <filesystem>

#include "controller/store/rows.h"
#include "controller/store/store_file.h"

namespace railwright {
namespace {

constexpr const char* kSuffixes[] = {"", "-wal", "-shm", "-journal"};

void Remove(const std::string& path) {
  for (const char* suffix : kSuffixes) unlink((path + suffix).c_str());
}

/// The directory that holds `file`.
std::string DirectoryOf(const std::string& file) {
  const std::string parent = std::filesystem::path(file).parent_path().string();
  return parent.empty() ? "." : parent;
}

/// Copies the store `from` into a new file `to`, made only for its owner, checks the copy and makes it
/// durable.
Status CopyChecked(const std::string& from, const std::string& to) {
  const int fd = open(to.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0640);
  if (fd < 0) return FromErrno(errno, to);
  close(fd);
  RW_ASSIGN_OR_RETURN(auto source, Database::Open(from, Database::Access::kReadOnly));
  {
    RW_ASSIGN_OR_RETURN(auto target, Database::Open(to, Database::Access::kReadWrite));
    RW_RETURN_IF_ERROR(source->CopyInto(*target));
    // One file, readable from read-only media: the log mode is a property of the store in use.
    RW_RETURN_IF_ERROR(target->Execute("PRAGMA journal_mode = DELETE"));
  }
  const auto version = CheckStoreFile(to, "The copy is wrong; try again, and check the disk");
  if (!version.ok()) return version.status();
  RW_ASSIGN_OR_RETURN(auto copy, Database::Open(to, Database::Access::kReadOnly));
  RW_RETURN_IF_ERROR(VerifyRows(*copy));
  return Sync(to);
}

std::string Dated(const std::string& path) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &utc);
  return path + "." + text;
}

/// Empties the log of a healthy store into its file, so that no log is left to be mistaken for another
/// store's.
void Settle(const std::string& path) {
  auto old = Database::Open(path, Database::Access::kReadWrite);
  if (old.ok()) (void)(*old)->Execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace

Status BackupStore(const std::string& directory, const std::string& file) {
  const std::string path = directory + "/" + kStoreFile;
  if (access(path.c_str(), F_OK) != 0)
    return FromErrno(errno, path).Within("no store to back up in " + directory);
  if (access(file.c_str(), F_OK) == 0)
    return Status(Code::kAlreadyExists, file + " exists already; give a new name", EEXIST);
  RW_RETURN_IF_ERROR([&]() -> Status {
    const auto version = CheckStoreFile(path, RestoreHint(directory));
    return version.status();
  }());
  const std::string temporary = file + ".partial-" + std::to_string(getpid());
  Status status = CopyChecked(path, temporary);
  // link() and not rename(): it fails when somebody else has made `file` meanwhile.
  if (status.ok() && link(temporary.c_str(), file.c_str()) != 0) status = FromErrno(errno, file);
  Remove(temporary);
  RW_RETURN_IF_ERROR(status.Within("cannot back up " + path));
  return Sync(DirectoryOf(file));
}

Status RestoreStore(const std::string& directory, const std::string& file) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);  // a fresh machine; what fails is told by the lock
  RW_ASSIGN_OR_RETURN(const DirectoryLock lock, DirectoryLock::Take(directory));
  const std::string path = directory + "/" + kStoreFile;
  const auto version = CheckStoreFile(file, "Use another backup");
  if (!version.ok()) return version.status().Within("cannot restore");
  const std::string incoming = path + ".incoming";
  Remove(incoming);
  const Status copied = CopyChecked(file, incoming);
  if (!copied.ok()) {
    Remove(incoming);
    return copied.Within("cannot restore " + file);
  }
  if (access(path.c_str(), F_OK) == 0) {
    Settle(path);
    std::string kept = Dated(path);
    for (int n = 2; link(path.c_str(), kept.c_str()) != 0; ++n) {
      if (errno != EEXIST || n > 100) return FromErrno(errno, "cannot keep the old store as " + kept);
      kept = Dated(path) + "-" + std::to_string(n);
    }
    // A log that could not be settled belongs to the old file and must not lie beside the new one.
    if (rename((path + "-wal").c_str(), (kept + "-wal").c_str()) != 0 && errno != ENOENT)
      return FromErrno(errno, "cannot keep " + path + "-wal");
    unlink((path + "-shm").c_str());
  }
  if (rename(incoming.c_str(), path.c_str()) != 0) return FromErrno(errno, "cannot put the backup in place");
  return Sync(directory);
}

}  // namespace railwright
