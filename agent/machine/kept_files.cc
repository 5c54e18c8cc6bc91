#include "agent/machine/kept_files.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agent/machine/paths.h"

namespace railwright::machine {
namespace {

/// Most values are a few bytes. The kernel zeroes a buffer of the size asked for at each read of /proc/sys,
/// so the first try is small.
constexpr std::size_t kSmall = 4096;
constexpr std::size_t kLargest = std::size_t{16} << 20;

/// Whether a path may be kept, as far as its name tells.
bool MayKeep(std::string_view path) {
  if (IsBelow(path, "/proc/sys") || IsBelow(path, "/sys/module")) return true;
  if (IsBelow(path, "/sys/kernel"))
    return !IsBelow(path, "/sys/kernel/config") && !IsBelow(path, "/sys/kernel/debug") &&
           !IsBelow(path, "/sys/kernel/tracing");
  return path.starts_with("/proc/") && path.find('/', 6) == std::string_view::npos;
}

/// Opens without following any link. ELOOP: there is one on the way.
int OpenWithoutLinks(const std::string& file) {
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, file.c_str(), &how, sizeof how));
}

bool OnKernelFilesystem(int fd) {
  struct statfs facts {};
  return ::fstatfs(fd, &facts) == 0 && (facts.f_type == PROC_SUPER_MAGIC || facts.f_type == SYSFS_MAGIC);
}

/// Whether a short read has given all there is: /proc/sys and /sys make their text at once, while other /proc
/// files come record by record and must be read to their end.
bool AnswersAtOnce(std::string_view path) { return IsBelow(path, "/proc/sys") || IsBelow(path, "/sys"); }

/// Reads all of it from the beginning; 0, or an errno.
int ReadWhole(int fd, bool at_once, std::string& text) {
  char small[kSmall];
  ssize_t got = 0;
  do got = ::pread(fd, small, sizeof small, 0);
  while (got < 0 && errno == EINTR);
  if (got < 0) return errno;
  text.assign(small, static_cast<std::size_t>(got));
  if (got == 0 || (at_once && static_cast<std::size_t>(got) < sizeof small)) return 0;
  std::string more;
  for (;;) {
    more.resize(std::max<std::size_t>(kSmall, text.size()));
    got = ::pread(fd, more.data(), more.size(), static_cast<off_t>(text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return 0;
    text.append(more, 0, static_cast<std::size_t>(got));
    if (text.size() > kLargest) return EFBIG;
  }
}

bool IsGone(int error) { return error == ENOENT || error == ENODEV || error == ESTALE || error == ESRCH; }

std::string WithoutNewlines(std::string text) {
  text.resize(text.find_last_not_of('\n') + 1);
  return text;
}

}  // namespace

Result<std::string> KeptFiles::Read(std::string_view path, const std::string& file) {
  ++reads_;
  std::string text;
  auto it = kept_.find(path);
  if (it != kept_.end()) {
    it->second.last_read = reads_;
    int error = ReadWhole(it->second.fd.get(), AnswersAtOnce(path), text);
    if (error == 0) return WithoutNewlines(std::move(text));
    kept_.erase(it);
    if (!IsGone(error)) return FromErrno(error, path);
  }
  auto open_plainly = [&] { return Descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)); };
  bool keep = MayKeep(path);
  Descriptor fd = keep ? Descriptor(OpenWithoutLinks(file)) : open_plainly();
  if (!fd && keep && (errno == ELOOP || errno == ENOSYS)) {
    keep = false;
    fd = open_plainly();
  }
  if (!fd && (errno == EMFILE || errno == ENFILE) && !kept_.empty()) {
    kept_.clear();  // whoever needs descriptors needs them more than we do
    keep = false;
    fd = open_plainly();
  }
  if (!fd) return FromErrno(errno, path);
  if (int error = ReadWhole(fd.get(), AnswersAtOnce(path), text); error != 0) return FromErrno(error, path);
  if (keep && OnKernelFilesystem(fd.get())) Keep(path, std::move(fd));
  return WithoutNewlines(std::move(text));
}

void KeptFiles::Keep(std::string_view path, Descriptor fd) {
  if (kept_.size() >= kMost) {
    auto oldest = std::min_element(kept_.begin(), kept_.end(), [](const auto& a, const auto& b) {
      return a.second.last_read < b.second.last_read;
    });
    // A scan over more files than fit would push out each just before it is read again; so only what has not
    // been read for several scans makes room.
    if (reads_ - oldest->second.last_read < 4 * kMost) return;
    kept_.erase(oldest);
  }
  kept_.emplace(path, Kept{std::move(fd), reads_});
}

}  // namespace railwright::machine
