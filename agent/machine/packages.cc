// /pkg/<name>: Debian packages, out of dpkg's database, parsed once per change of the file.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "agent/machine/backend.h"
#include "agent/machine/kept_listing.h"
#include "agent/machine/paths.h"
#include "core/decode/dpkg_status.h"
#include "core/decode/fields.h"
#include "core/files/descriptor.h"

namespace railwright::machine {
namespace {

/// dpkg replaces the file by rename, so the inode alone would nearly do.
struct Mark {
  ino_t inode = 0;
  off_t size = 0;
  timespec modified{};
  std::string Text() const {
    return std::to_string(inode) + " " + std::to_string(size) + " " + std::to_string(modified.tv_sec) + "." +
           std::to_string(modified.tv_nsec);
  }
  bool operator==(const Mark& other) const {
    return inode == other.inode && size == other.size && modified.tv_sec == other.modified.tv_sec &&
           modified.tv_nsec == other.modified.tv_nsec;
  }
};

/// A whole file in one read: a buffer that grows by doubling touches a megabyte's pages twice. Read and not
/// mapped, since an editor may cut the file short in place, and a mapping would end the program then.
Result<std::string> ReadWhole(const std::string& file) {
  const Descriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  if (!fd || ::fstat(fd.get(), &facts) != 0) return FromErrno(errno, file);
  std::string text(static_cast<std::size_t>(facts.st_size), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = ::read(fd.get(), text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FromErrno(errno, file);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return text;
}

class Packages final : public Backend {
 public:
  Packages(std::string root, std::string index_file)
      : file_(std::move(root) + "/var/lib/dpkg/status"), kept_(std::move(index_file)) {}

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
    const std::string what = "pkg " + std::to_string(facts.st_dev) + " " + mark.Text();
    if (auto kept = kept_.Read(what)) {
      text_ = std::move(*kept);
      if (Result<DpkgStatus> decoded = DpkgStatus::DecodeIndex(text_); decoded.ok()) {
        status_ = std::move(*decoded);
        mark_ = mark;
        return Ok();
      }
    }
    Result<std::string> text = ReadWhole(file_);
    if (!text.ok()) return text.status().Within(path);
    text_ = std::move(*text);
    Result<DpkgStatus> decoded = DpkgStatus::Decode(text_);
    if (!decoded.ok()) return decoded.status().Within(path);
    status_ = std::move(*decoded);
    mark_ = mark;
    kept_.Write(what, status_->Index());
    return Ok();
  }

  std::string file_;
  const KeptListing kept_;
  Mark mark_;
  std::string text_;  // where what status_ shows lies
  std::optional<DpkgStatus> status_;
};

}  // namespace

std::unique_ptr<Backend> MakePackages(std::string root, std::string index_file) {
  return std::make_unique<Packages>(std::move(root), std::move(index_file));
}

}  // namespace railwright::machine
