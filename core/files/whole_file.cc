#include "core/files/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "core/files/descriptor.h"

namespace railwright {
namespace {

std::string FolderOf(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

Status Fill(int fd, std::string_view bytes, const FileTerms& terms, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return FromErrno(errno, path);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  if (terms.owner && ::fchown(fd, terms.owner->uid, terms.owner->gid) != 0)
    return FromErrno(errno, path + ": giving it to uid " + std::to_string(terms.owner->uid));
  if (::fchmod(fd, terms.mode) != 0) return FromErrno(errno, path);
  if (terms.sync == Sync::kDurable && ::fsync(fd) != 0) return FromErrno(errno, path);
  return Ok();
}

// A name of its own for each writer: `pause` writes beside the running agent, and threads beside each other.
std::string Beside(const std::string& path) { return path + ".new." + std::to_string(::gettid()); }

Status GiveName(const std::string& temporary, const std::string& path, bool replace) {
  if (replace) return ::rename(temporary.c_str(), path.c_str()) == 0 ? Ok() : FromErrno(errno, path);
  // link(2) refuses a name that is taken; rename(2) would not.
  if (::link(temporary.c_str(), path.c_str()) != 0) return FromErrno(errno, path);
  ::unlink(temporary.c_str());
  return Ok();
}

Result<std::string> ReadAll(int fd, const std::string& path, std::size_t limit, Code too_long) {
  std::string bytes;
  char buffer[64 * 1024];
  while (true) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FromErrno(errno, path);
    if (got == 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(got));
    if (bytes.size() > limit)
      return Status(too_long, path + ": more than " + std::to_string(limit) +
                                  " bytes; it was not written by Railwright");
  }
}

}  // namespace

Status SyncFolder(const std::string& folder) {
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return FromErrno(errno, folder);
  // EINVAL: a file system, mostly of a network, that syncs no folders.
  if (::fsync(directory.get()) != 0 && errno != EINVAL) return FromErrno(errno, folder);
  return Ok();
}

Status WriteWholeFile(const std::string& path, std::string_view bytes, const FileTerms& terms) {
  const std::string temporary = Beside(path);
  ::unlink(temporary.c_str());  // of an earlier thread of this number, which ended in the middle
  const Descriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return FromErrno(errno, path);
  Status status = Fill(file.get(), bytes, terms, path);
  if (status.ok()) status = GiveName(temporary, path, terms.replace);
  if (!status.ok()) {
    ::unlink(temporary.c_str());
    return status;
  }
  return terms.sync == Sync::kDurable ? SyncFolder(FolderOf(path)) : Ok();
}

Status MakeFolder(const std::string& path, const FileTerms& terms) {
  const bool made = ::mkdir(path.c_str(), 0700) == 0;
  if (!made && errno != EEXIST) return FromErrno(errno, path);
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder && (errno == ENOTDIR || errno == ELOOP))
    return Status(Code::kFailedPrecondition, path + " is no folder; move it out of the way", errno);
  if (!folder) return FromErrno(errno, path);
  struct stat info {};
  if (::fstat(folder.get(), &info) != 0) return FromErrno(errno, path);
  const bool owned = !terms.owner || (info.st_uid == terms.owner->uid && info.st_gid == terms.owner->gid);
  if (!owned && ::fchown(folder.get(), terms.owner->uid, terms.owner->gid) != 0)
    return FromErrno(errno, path + ": giving it to uid " + std::to_string(terms.owner->uid));
  if ((info.st_mode & 07777) != terms.mode && ::fchmod(folder.get(), terms.mode) != 0)
    return FromErrno(errno, path);
  return made ? SyncFolder(FolderOf(path)) : Ok();
}

namespace {

Result<std::string> Read(const std::string& path, std::size_t limit, bool is_private) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return FromErrno(errno, path);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return FromErrno(errno, path);
  if (!S_ISREG(info.st_mode)) return Status(Code::kDataLoss, path + " is no plain file");
  if (is_private && (info.st_mode & 077) != 0) {
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(info.st_mode & 07777));
    return Status(Code::kFailedPrecondition,
                  path + " has mode " + mode +
                      ", so others than its owner may have read it; allowed: 0600. If "
                      "nobody did: chmod 600 " +
                      path);
  }
  return ReadAll(file.get(), path, limit, Code::kDataLoss);
}

}  // namespace

Result<std::string> ReadWhole(const std::string& path, std::size_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return FromErrno(errno, path);
  return ReadAll(file.get(), path, limit, Code::kResourceExhausted);
}
Result<std::string> ReadWholeFile(const std::string& path, std::size_t limit) {
  return Read(path, limit, false);
}
Result<std::string> ReadPrivateFile(const std::string& path, std::size_t limit) {
  return Read(path, limit, true);
}

}  // namespace railwright
