#include "controller/store/store_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "controller/store/audit_rows.h"
#include "controller/store/migrations.h"
#include "controller/store/store.h"
#include "core/files/descriptor.h"

namespace railwright {
namespace {

constexpr const char* kLockFile = "railwright.lock";
constexpr int kApplicationId = 0x52574354;  // "RWCT": tells our files from other programs' SQLite files

Status Damaged(const std::string& path, const std::string& what, const std::string& next_step) {
  return Status(Code::kDataLoss, path + ": " + what + "; the file was left as it is. " + next_step);
}

}  // namespace

Result<DirectoryLock> DirectoryLock::Take(const std::string& directory) {
  struct stat info {};
  if (stat(directory.c_str(), &info) != 0) {
    const Status status = FromErrno(errno, "state directory " + directory);
    if (status.code() != Code::kNotFound) return status;
    return Status(Code::kNotFound,
                  status.message() + "; make it: railwright-controller init --state-dir " + directory,
                  ENOENT);
  }
  if (!S_ISDIR(info.st_mode))
    return Status(Code::kInvalidArgument, "state directory " + directory + ": it is not a directory",
                  ENOTDIR);
  const std::string path = directory + "/" + kLockFile;
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
  if (fd < 0) {
    const int error = errno;
    return Status(CodeOf(error),
                  "state directory " + directory + " is not writable by user " + std::to_string(geteuid()) +
                      ": " + path + ": " + std::strerror(error) +
                      "; give it to that user, or mount its file system for writing",
                  error);
  }
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    char holder[32] = {};
    const ssize_t size = pread(fd, holder, sizeof holder - 1, 0);
    close(fd);
    if (error != EWOULDBLOCK) return FromErrno(error, path);
    std::string who(holder, size > 0 ? static_cast<std::size_t>(size) : 0);
    while (!who.empty() && (who.back() == '\n' || who.back() == ' ')) who.pop_back();
    return Status(Code::kFailedPrecondition,
                  "state directory " + directory + " is in use by another controller" +
                      (who.empty() ? "" : " (process " + who + ")") +
                      "; stop it first, or use another directory",
                  error);
  }
  // Only for the message above, so a full disk may leave it out.
  const std::string me = std::to_string(getpid()) + "\n";
  if (ftruncate(fd, 0) == 0 && pwrite(fd, me.data(), me.size(), 0) < 0) errno = 0;
  return DirectoryLock(fd);
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

DirectoryLock::~DirectoryLock() {
  if (fd_ >= 0) close(fd_);
}

std::string RestoreHint(const std::string& directory) {
  return "Restore a backup: railwright-controller restore FILE --state-dir " + directory;
}

StoreTrace LookForStore(const std::string& directory) {
  if (access((directory + "/" + kStoreFile).c_str(), F_OK) == 0) return StoreTrace::kThere;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error))
    if (entry.path().filename().string().starts_with("railwright.")) return StoreTrace::kLost;
  return StoreTrace::kNone;
}

int NewestStoreVersion() { return Migrations().back().version; }

Result<int> CheckStoreFile(const std::string& path, const std::string& next_step) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return FromErrno(errno, path);
  if (!S_ISREG(info.st_mode)) return Damaged(path, "it is not a regular file", next_step);
  if (info.st_size == 0) return Damaged(path, "the file is empty (0 bytes)", next_step);
  char head[16] = {};
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return FromErrno(errno, path);
  const ssize_t size = pread(fd, head, sizeof head, 0);
  const int error = errno;
  close(fd);
  if (size < 0) return FromErrno(error, path);
  if (size != sizeof head || std::memcmp(head, "SQLite format 3", sizeof head) != 0)
    return Damaged(path, "it is not an SQLite database (its first 16 bytes are not \"SQLite format 3\")",
                   next_step);
  auto within = [&](const Status& status) {
    if (status.code() != Code::kDataLoss && status.code() != Code::kInternal) return status;
    return Status(Code::kDataLoss,
                  "damaged: " + status.message() + "; the file was left as it is. " + next_step,
                  status.error_number());
  };
  // A first start that died while it switched to the write-ahead log left a journal, and the half that it has
  // written is undone with the first read: but only by who may write, and the next read is not to.
  if (access((path + "-journal").c_str(), F_OK) == 0) {
    const auto undoing = Database::Open(path, Database::Access::kReadWrite);
    if (!undoing.ok()) return within(undoing.status());
    const auto read = (*undoing)->Value("SELECT count(*) FROM sqlite_master");
    if (!read.ok()) return within(read.status());
  }
  auto opened = Database::Open(path, Database::Access::kReadOnly);
  if (!opened.ok()) return within(opened.status());
  Database& database = **opened;
  const auto application = database.Value("PRAGMA application_id");
  if (!application.ok()) return within(application.status());
  if (*application != std::to_string(kApplicationId))
    return Status(Code::kFailedPrecondition,
                  path + ": an SQLite database, but not one of railwright-controller (application id " +
                      *application + "); the file was left as it is. Use another --state-dir");
  const auto text = database.Value("PRAGMA user_version");
  if (!text.ok()) return within(text.status());
  const int version = std::atoi(text->c_str());
  if (version > NewestStoreVersion())
    return Status(
        Code::kFailedPrecondition,
        path + ": written by a newer railwright-controller (store version " + *text +
            ", this program knows up to " + std::to_string(NewestStoreVersion()) +
            "); the file was left as it is. Run the newer program, or restore a backup of this one");
  if (version < 1) return Damaged(path, "store version " + *text + " does not exist", next_step);
  const Status check = database.QuickCheck();
  if (!check.ok()) return within(check);
  return version;
}

Status RewriteLog(const std::string& path) {
  const std::string log = path + "-wal";
  const Descriptor file(open(log.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return errno == ENOENT ? Ok() : FromErrno(errno, log);
  std::array<char, 64 * 1024> chunk;
  for (off_t at = 0;;) {
    const ssize_t got = pread(file.get(), chunk.data(), chunk.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FromErrno(errno, log);
    if (got == 0) break;
    ssize_t put = 0;
    while (put < got) {
      const ssize_t one =
          pwrite(file.get(), chunk.data() + put, static_cast<std::size_t>(got - put), at + put);
      if (one < 0 && errno != EINTR) return FromErrno(errno, log);
      if (one > 0) put += one;
    }
    at += got;
  }
  return fsync(file.get()) == 0 ? Ok() : FromErrno(errno, log + ": fsync");
}

Status Sync(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return FromErrno(errno, path);
  const int result = fsync(fd);
  const int error = errno;
  close(fd);
  return result == 0 ? Ok() : FromErrno(error, path + ": fsync");
}

Status MakeStoreFile(const std::string& path) {
  const std::string temporary = path + ".new";
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) unlink((temporary + suffix).c_str());
  const mode_t old = umask(0027);  // documents may name customers; SQLite would make the file 0644
  auto made = [&]() -> Status {
    RW_ASSIGN_OR_RETURN(auto database, Database::Open(temporary, Database::Access::kCreate));
    RW_RETURN_IF_ERROR(
        database->Execute(("PRAGMA application_id = " + std::to_string(kApplicationId)).c_str()));
    return Migrate(*database);
  }();
  umask(old);
  if (made.ok()) made = Sync(temporary);
  if (made.ok() && rename(temporary.c_str(), path.c_str()) != 0) made = FromErrno(errno, path);
  if (!made.ok()) {
    unlink(temporary.c_str());
    return made.Within("cannot make the store");
  }
  return Sync(std::filesystem::path(path).parent_path().string());
}

Status Migrate(Database& database) {
  RW_ASSIGN_OR_RETURN(const std::string text, database.Value("PRAGMA user_version"));
  const int version = std::atoi(text.c_str());
  for (const Migration& migration : Migrations()) {
    if (migration.version <= version) continue;
    RW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(database));
    RW_RETURN_IF_ERROR(database.Execute(migration.sql).Within(migration.name));
    // SQL knows no SHA-256.
    if (migration.version == kChainedVersion)
      RW_RETURN_IF_ERROR(ChainOldAudit(database).Within(migration.name));
    RW_RETURN_IF_ERROR(
        database.Execute(("PRAGMA user_version = " + std::to_string(migration.version)).c_str()));
    RW_RETURN_IF_ERROR(transaction.Commit());
  }
  return Ok();
}

}  // namespace railwright
