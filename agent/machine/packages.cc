// /pkg/<name>: Debian packages, out of dpkg's database, parsed once per change of the file.
#include <sys/stat.h>

#include <cerrno>
#include <optional>

#include "agent/machine/backend.h"
#include "agent/machine/kept_files.h"
#include "agent/machine/paths.h"
#include "core/decode/dpkg_status.h"
#include "core/decode/fields.h"

namespace railwright::machine {
namespace {

/// dpkg replaces the file by rename, so the inode alone would nearly do.
struct Mark {
  ino_t inode = 0;
  off_t size = 0;
  timespec modified{};
  bool operator==(const Mark& other) const {
    return inode == other.inode && size == other.size && modified.tv_sec == other.modified.tv_sec &&
           modified.tv_nsec == other.modified.tv_nsec;
  }
};

class Packages final : public Backend {
 public:
  explicit Packages(std::string root) : file_(std::move(root) + "/var/lib/dpkg/status") {}

  Result<std::string> Get(std::string_view path) override {
    const auto parts = PathParts(path);
    if (parts.size() != 2) return NoSuchPath(path);
    RW_RETURN_IF_ERROR(Refresh(path));
    const DebianPackage* package = status_->Find(parts[1]);
    if (package == nullptr) return Status(Code::kNotFound, std::string(path) + ": not installed", ENOENT);
    Fields fields;
    fields.Set("version", package->version);
    fields.Set("hold", package->hold ? "1" : "0");
    if (package->state != "installed") fields.Set("state", package->state);
    return fields.Text();
  }

  Result<std::vector<std::string>> List(std::string_view path) override {
    if (PathParts(path).size() != 1) return NoSuchPath(path);
    RW_RETURN_IF_ERROR(Refresh(path));
    return status_->Names();
  }

  Status Set(std::string_view path, std::string_view) override {
    return Status(
        Code::kUnimplemented,
        std::string(path) + ": packages are observed; installing arrives with package transactions");
  }

 private:
  Status Refresh(std::string_view path) {
    struct stat facts {};
    if (::stat(file_.c_str(), &facts) != 0) {
      const int error = errno;
      if (error == ENOENT)
        return Status(Code::kUnimplemented,
                      std::string(path) + ": no dpkg database on this host (" + file_ + ")");
      return FromErrno(error, std::string(path) + ": " + file_);
    }
    const Mark mark{facts.st_ino, facts.st_size, facts.st_mtim};
    if (status_ && mark == mark_) return Ok();
    status_.reset();
    // Not a kernel file, so nothing is kept open.
    KeptFiles reader;
    const Result<std::string> text = reader.Read("/var/lib/dpkg/status", file_);
    if (!text.ok()) return text.status().Within(path);
    Result<DpkgStatus> decoded = DpkgStatus::Decode(*text);
    if (!decoded.ok()) return decoded.status().Within(path);
    status_ = std::move(*decoded);
    mark_ = mark;
    return Ok();
  }

  std::string file_;
  Mark mark_;
  std::optional<DpkgStatus> status_;
};

}  // namespace

std::unique_ptr<Backend> MakePackages(std::string root) {
  return std::make_unique<Packages>(std::move(root));
}

}  // namespace railwright::machine
