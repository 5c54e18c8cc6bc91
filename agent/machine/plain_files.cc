// /file/<abs>: configuration files, replaced whole or not at all.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "agent/machine/backend.h"
#include "agent/machine/directory.h"
#include "agent/machine/paths.h"
#include "core/files/descriptor.h"

namespace railwright::machine {
namespace {

constexpr std::string_view kPrefix = "/file";
/// Configuration is small; whatever is larger than this is no file that a setting manages.
constexpr off_t kLargest = off_t{16} << 20;

Status NotRegular(std::string_view path, const std::string& file, mode_t mode) {
  std::string what = S_ISDIR(mode)    ? "a directory"
                     : S_ISCHR(mode)  ? "a character device"
                     : S_ISBLK(mode)  ? "a block device"
                     : S_ISFIFO(mode) ? "a named pipe"
                                      : "a socket";
  if (S_ISLNK(mode)) {
    char target[PATH_MAX];
    ssize_t length = ::readlink(file.c_str(), target, sizeof target);
    what = "a symbolic link to " + (length < 0 ? "?" : std::string(target, static_cast<std::size_t>(length)));
  }
  return Status(Code::kFailedPrecondition,
                std::string(path) + ": " + what + "; only regular files are read and replaced" +
                    (S_ISLNK(mode) ? ": declare its target, or remove the link" : ""));
}

Status SyncDirectory(const std::string& directory, std::string_view path) {
  Descriptor fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // EINVAL: a filesystem that knows no fsync of a directory keeps its own order.
  if (!fd || (::fsync(fd.get()) != 0 && errno != EINVAL)) return FromErrno(errno, path);
  return Ok();
}

std::string DirectoryOf(const std::string& file) {
  auto slash = file.rfind('/');
  return slash == 0 ? "/" : file.substr(0, slash);
}

/// Makes the missing directories above `file`, 0755, and makes each durable.
Status MakeParents(const std::string& file, std::string_view path) {
  const std::string directory = DirectoryOf(file);
  struct stat facts {};
  if (::stat(directory.c_str(), &facts) == 0) return Ok();
  if (errno != ENOENT) return FromErrno(errno, path);
  RW_RETURN_IF_ERROR(MakeParents(directory, path));
  if (::mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) return FromErrno(errno, path);
  return SyncDirectory(DirectoryOf(directory), path);
}

/// What stands in the file's place: its facts, or nullopt-like `exists` = false.
struct Present {
  bool exists = false;
  struct stat facts {};
};

Result<Present> Look(std::string_view path, const std::string& file) {
  Present present;
  if (::lstat(file.c_str(), &present.facts) != 0) {
    if (errno == ENOENT) return present;
    return FromErrno(errno, path);
  }
  if (!S_ISREG(present.facts.st_mode)) return NotRegular(path, file, present.facts.st_mode);
  present.exists = true;
  return present;
}

Status WriteAll(int fd, std::string_view bytes, std::string_view path) {
  while (!bytes.empty()) {
    ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return FromErrno(errno, path);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return Ok();
}

/// The access rights that are no part of the mode. A filesystem without them has none to lose.
void CopyAttributes(const std::string& from, int to) {
  for (const char* name : {"security.selinux", "system.posix_acl_access"}) {
    std::array<char, 4096> value{};
    ssize_t size = ::lgetxattr(from.c_str(), name, value.data(), value.size());
    if (size > 0) (void)::fsetxattr(to, name, value.data(), static_cast<std::size_t>(size), 0);
  }
}

/// Writes `bytes` under a temporary name; removes it unless Keep is called.
class Draft {
 public:
  explicit Draft(std::string name) : name_(std::move(name)) {}
  ~Draft() {
    if (!done_) ::unlink(name_.c_str());
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  void Keep() { done_ = true; }

 private:
  std::string name_;
  bool done_ = false;
};

class PlainFiles final : public Backend {
 public:
  explicit PlainFiles(std::string root) : root_(std::move(root)) {}

  Result<std::string> Get(std::string_view path) override {
    RW_ASSIGN_OR_RETURN(const std::string file, OnDisk(path));
    Descriptor fd(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat facts {};
    if (!fd) {
      const int error = errno;
      if (::lstat(file.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode))
        return NotRegular(path, file, facts.st_mode);
      return FromErrno(error, path);
    }
    if (::fstat(fd.get(), &facts) != 0) return FromErrno(errno, path);
    if (!S_ISREG(facts.st_mode)) return NotRegular(path, file, facts.st_mode);
    if (facts.st_size > kLargest) return TooLarge(path, facts.st_size);
    std::string text(static_cast<std::size_t>(facts.st_size) + 1, '\0');
    std::size_t have = 0;
    for (;;) {
      if (have == text.size()) text.resize(2 * text.size());
      ssize_t got = ::read(fd.get(), text.data() + have, text.size() - have);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return FromErrno(errno, path);
      if (got == 0) break;
      have += static_cast<std::size_t>(got);
      if (static_cast<off_t>(have) > kLargest) return TooLarge(path, static_cast<off_t>(have));
    }
    text.resize(have);
    return text;
  }

  Result<std::vector<std::string>> List(std::string_view path) override {
    std::string directory = root_ + std::string(path.substr(kPrefix.size()));
    return NamesIn(directory.empty() ? "/" : directory, path);
  }

  Status Set(std::string_view path, std::string_view value) override {
    RW_ASSIGN_OR_RETURN(const std::string file, OnDisk(path));
    RW_ASSIGN_OR_RETURN(const Present present, Look(path, file));
    if (value.empty()) {
      if (!present.exists) return Ok();
      if (::unlink(file.c_str()) != 0) return FromErrno(errno, path);
      return SyncDirectory(DirectoryOf(file), path);
    }
    RW_RETURN_IF_ERROR(MakeParents(file, path));
    return Replace(path, file, present, value);
  }

 private:
  static Status TooLarge(std::string_view path, off_t size) {
    return Status(Code::kResourceExhausted, std::string(path) + ": " + std::to_string(size) +
                                                " bytes; files up to " + std::to_string(kLargest) +
                                                " bytes are managed");
  }

  Result<std::string> OnDisk(std::string_view path) const {
    if (path.size() <= kPrefix.size() + 1) return Status(Code::kInvalidArgument, "/file: no file is named");
    return root_ + std::string(path.substr(kPrefix.size()));
  }

  /// Temporary name, fsync, rename, fsync of the folder: at every moment the old file or the new one is
  /// there, whole, also after a crash. The name is fixed, so that what a crash left is replaced by the next
  /// attempt; it begins with a dot and ends unlike any configuration file, so that no run-parts reads it.
  static Status Replace(std::string_view path, const std::string& file, const Present& present,
                        std::string_view value) {
    const std::string directory = DirectoryOf(file);
    const std::string name =
        directory + (directory == "/" ? "." : "/.") + file.substr(file.rfind('/') + 1) + ".railwright-new";
    ::unlink(name.c_str());
    Descriptor fd(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd) return FromErrno(errno, path);
    Draft draft(name);
    RW_RETURN_IF_ERROR(WriteAll(fd.get(), value, path));
    const mode_t mode = present.exists ? present.facts.st_mode & 07777 : 0644;
    // The owner first: changing it clears the set-user-id bits of the mode.
    if (present.exists && ::fchown(fd.get(), present.facts.st_uid, present.facts.st_gid) != 0)
      return FromErrno(errno, std::string(path) + ": keeping its owner");
    if (present.exists) CopyAttributes(file, fd.get());
    if (::fchmod(fd.get(), mode) != 0) return FromErrno(errno, path);
    if (::fsync(fd.get()) != 0) return FromErrno(errno, path);
    if (::rename(name.c_str(), file.c_str()) != 0) return FromErrno(errno, path);
    draft.Keep();
    return SyncDirectory(directory, path);
  }

  std::string root_;
};

}  // namespace

std::unique_ptr<Backend> MakePlainFiles(std::string root) {
  return std::make_unique<PlainFiles>(std::move(root));
}

}  // namespace railwright::machine
