#include "agent/loop/state_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <utility>

#include "core/files/whole_file.h"

namespace railwright {
namespace {

std::optional<int> WrittenPid(const std::string& path) {
  const auto text = ReadWhole(path, 64);
  if (!text.ok()) return std::nullopt;
  int pid = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), pid);
  return error == std::errc() && pid > 0 ? std::optional(pid) : std::nullopt;
}

Status Advice(Status status, const std::string& directory) {
  const std::string what = "state directory " + directory;
  switch (status.code()) {
    case Code::kPermissionDenied:
      return Status(
          status.code(),
          what + " is not writable: " + status.message() + "; run as root or name another --state-dir",
          status.error_number());
    case Code::kResourceExhausted:
      return Status(status.code(), what + " has no room: " + status.message() + "; free some and start again",
                    status.error_number());
    default: return status.Within(what);
  }
}

}  // namespace

Result<StateDir> StateDir::Open(const std::string& directory) {
  if (directory.empty()) return Status(Code::kInvalidArgument, "--state-dir is empty");
  // The front walks through to its own folder and can list nothing; every file is for its owner alone.
  if (::mkdir(directory.c_str(), 0711) != 0 && errno != EEXIST)
    return Advice(FromErrno(errno, directory), directory);
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0) return Advice(FromErrno(errno, directory), directory);
  if (!S_ISDIR(info.st_mode))
    return Status(Code::kFailedPrecondition, directory + " is no directory; name another --state-dir");

  const std::string path = directory + "/lock";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return Advice(FromErrno(errno, path), directory);
  StateDir held(directory, fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return Advice(FromErrno(errno, path), directory);
    const auto pid = WrittenPid(path);
    return Status(Code::kFailedPrecondition,
                  "state directory " + directory + " is in use by another railwright-agent" +
                      (pid ? " (process " + std::to_string(*pid) + ")" : std::string()) +
                      "; stop it, or give this one a directory of its own");
  }
  // That it takes a write is better known now than when the first original is to be saved.
  const std::string text = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd, 0) != 0 ||
      ::pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) || ::fsync(fd) != 0)
    return Advice(FromErrno(errno, path), directory);
  return held;
}

Result<StateDir> StateDir::Look(const std::string& directory) {
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0)
    return FromErrno(errno, "state directory " + directory).Within("no agent keeps its state there");
  if (!S_ISDIR(info.st_mode)) return Status(Code::kFailedPrecondition, directory + " is no directory");
  return StateDir(directory, -1);
}

Status StateDir::Room() const {
  struct statvfs info {};
  if (::statvfs(directory_.c_str(), &info) != 0) return FromErrno(errno, "state directory " + directory_);
  const std::string what = "state directory " + directory_;
  if ((info.f_flag & ST_RDONLY) != 0)
    return Status(Code::kFailedPrecondition, what + " is on a read-only file system");
  const std::uint64_t free = static_cast<std::uint64_t>(info.f_bfree) * info.f_frsize;
  if (free < kRoom)
    return Status(Code::kResourceExhausted, what + " has no room: " + std::to_string(free >> 10) +
                                                " KiB are free, " + std::to_string(kRoom >> 10) +
                                                " are needed");
  if (info.f_files != 0 && info.f_ffree == 0)
    return Status(Code::kResourceExhausted, what + " has no room: its file system takes no more files");
  return Ok();
}

StateDir::~StateDir() {
  if (fd_ >= 0) ::close(fd_);  // the lock goes with it; the file stays, or two agents could lock two of them
}

StateDir::StateDir(StateDir&& other) noexcept
    : directory_(std::move(other.directory_)), fd_(std::exchange(other.fd_, -1)) {}

std::optional<int> StateDir::Holder() const {
  if (fd_ >= 0) return ::getpid();
  const int fd = ::open(lock().c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  const bool held = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return held ? WrittenPid(lock()) : std::nullopt;
}

}  // namespace railwright
