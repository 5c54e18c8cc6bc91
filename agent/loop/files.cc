#include "agent/loop/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace railwright {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

std::string Folder(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

Status WriteWhole(const std::string& path, std::string_view bytes, Sync sync) {
  // The process's number in the name: `pause` writes beside the running agent.
  const std::string temporary = path + ".new." + std::to_string(::getpid());
  const auto fail = [&](const std::string& what) {
    const int number = errno;
    ::unlink(temporary.c_str());
    return FromErrno(number, what);
  };
  {
    const Descriptor file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.ok()) return FromErrno(errno, temporary);
    while (!bytes.empty()) {
      const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return fail(temporary);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    if (sync == Sync::kDurable && ::fsync(file.get()) != 0) return fail(temporary);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return fail(path);
  if (sync == Sync::kDurable) {
    const std::string folder = Folder(path);
    const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory.ok() || ::fsync(directory.get()) != 0) return FromErrno(errno, folder);
  }
  return Ok();
}

Result<std::string> ReadWhole(const std::string& path, std::size_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.ok()) return FromErrno(errno, path);
  std::string bytes;
  char buffer[64 * 1024];
  while (true) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FromErrno(errno, path);
    if (got == 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(got));
    if (bytes.size() > limit)
      return Status(Code::kResourceExhausted, path + ": more than " + std::to_string(limit) +
                                                  " bytes; it was not written by Railwright");
  }
}

}  // namespace railwright
