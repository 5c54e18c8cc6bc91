// /sys and /proc: one file is one value. Directories of configfs are made and removed.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "agent/machine/backend.h"
#include "agent/machine/directory.h"
#include "agent/machine/kept_files.h"
#include "agent/machine/paths.h"

namespace railwright::machine {
namespace {

constexpr std::string_view kConfigfs = "/sys/kernel/config";
constexpr std::string_view kDirectory = "directory";

class KernelFiles final : public Backend {
 public:
  explicit KernelFiles(std::string root) : root_(std::move(root)) {}

  Result<std::string> Get(std::string_view path) override {
    Result<std::string> text = kept_.Read(path, OnDisk(path));
    if (!text.ok() && text.status().error_number() == EISDIR && IsBelow(path, kConfigfs))
      return std::string(kDirectory);
    return text;
  }

  Result<std::vector<std::string>> List(std::string_view path) override {
    return NamesIn(OnDisk(path), path);
  }

  Status Set(std::string_view path, std::string_view value) override {
    const std::string file = OnDisk(path);
    if (IsBelow(path, kConfigfs) && path.size() > kConfigfs.size()) {
      if (value == kDirectory) return MakeDirectory(path, file);
      if (value.empty()) {
        struct stat facts {};
        if (::lstat(file.c_str(), &facts) != 0) return errno == ENOENT ? Ok() : FromErrno(errno, path);
        if (S_ISDIR(facts.st_mode)) return ::rmdir(file.c_str()) == 0 ? Ok() : FromErrno(errno, path);
      }
    }
    Descriptor fd(::open(file.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NONBLOCK));
    if (!fd) return FromErrno(errno, path);
    std::string line(value);
    line += '\n';
    // One write: the kernel parses each write as a whole value.
    ssize_t put = 0;
    do put = ::write(fd.get(), line.data(), line.size());
    while (put < 0 && errno == EINTR);
    if (put < 0) return FromErrno(errno, std::string(path) + ": writing \"" + std::string(value) + "\"");
    if (static_cast<std::size_t>(put) + 1 < line.size())
      return Status(Code::kInvalidArgument, std::string(path) + ": the kernel took " + std::to_string(put) +
                                                " of " + std::to_string(line.size()) + " bytes");
    return Ok();
  }

 private:
  std::string OnDisk(std::string_view path) const { return root_ + std::string(path); }

  static Status MakeDirectory(std::string_view path, const std::string& file) {
    if (::mkdir(file.c_str(), 0755) == 0) return Ok();
    const int error = errno;
    struct stat facts {};
    if (error == EEXIST && ::stat(file.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) return Ok();
    return FromErrno(error, path);
  }

  std::string root_;
  KeptFiles kept_;
};

}  // namespace

std::unique_ptr<Backend> MakeKernelFiles(std::string root) {
  return std::make_unique<KernelFiles>(std::move(root));
}

}  // namespace railwright::machine
