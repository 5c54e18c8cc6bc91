#include "controller/cli/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace railwright::cli {
namespace {

Status WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return FromErrno(errno, "write");
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return fsync(fd) == 0 ? Ok() : FromErrno(errno, "fsync");
}

Status GiveName(const std::string& temporary, const std::string& path, bool overwrite) {
  if (overwrite) return std::rename(temporary.c_str(), path.c_str()) == 0 ? Ok() : FromErrno(errno, "rename");
  // link(2) refuses a name that is taken; rename(2) would not.
  if (link(temporary.c_str(), path.c_str()) != 0) return FromErrno(errno, "link");
  unlink(temporary.c_str());
  return Ok();
}

// So that the name outlives a power cut, too. A folder that cannot be synced (some network file systems) is
// no reason to call the file unwritten.
void SyncFolderOf(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const int fd = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)fsync(fd);
  close(fd);
}

}  // namespace

Status WriteWholeFile(const std::string& path, std::string_view text, WholeFileOptions options) {
  std::string temporary = path + ".XXXXXX";
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);  // mode 0600
  if (fd < 0) return FromErrno(errno, path);
  Status status = WriteAll(fd, text);
  const mode_t mask = umask(0);
  umask(mask);
  if (status.ok() && fchmod(fd, options.mode & ~mask) != 0) status = FromErrno(errno, "fchmod");
  close(fd);
  if (status.ok()) status = GiveName(temporary, path, options.overwrite);
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status.Within(path);
  }
  SyncFolderOf(path);
  return Ok();
}

}  // namespace railwright::cli
