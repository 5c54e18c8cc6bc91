#include "agent/machine/kept_listing.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "core/files/descriptor.h"

namespace railwright::machine {
namespace {

/// Larger rulesets are listed anew by each program: reading them costs about what listing does.
constexpr std::size_t kLargest = std::size_t{16} << 20;

/// "railwright 1 <boot id> <what>\n": what the listing below it is of; "" when the kernel does not tell.
std::string Heading(std::string_view what) {
  if (what.empty()) return {};
  std::array<char, 36> boot{};  // a UUID
  const Descriptor id(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  if (!id || ::read(id.get(), boot.data(), boot.size()) != static_cast<ssize_t>(boot.size())) return {};
  return "railwright 1 " + std::string(boot.data(), boot.size()) + " " + std::string(what) + "\n";
}

}  // namespace

std::optional<std::string> KeptListing::Read(std::string_view what) const {
  if (file_.empty()) return std::nullopt;
  const Descriptor fd(::open(file_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat facts {};
  if (!fd || ::fstat(fd.get(), &facts) != 0) return std::nullopt;
  if (!S_ISREG(facts.st_mode) || facts.st_uid != 0 || (facts.st_mode & 077) != 0) return std::nullopt;
  const std::string heading = Heading(what);
  const auto size = static_cast<std::size_t>(facts.st_size);
  if (heading.empty() || size <= heading.size() || size > kLargest) return std::nullopt;
  std::string text(size, '\0');
  if (::read(fd.get(), text.data(), size) != static_cast<ssize_t>(size)) return std::nullopt;
  // The last line end tells that the file is whole.
  if (!text.starts_with(heading) || text.back() != '\n') return std::nullopt;
  text.pop_back();
  text.erase(0, heading.size());
  return text;
}

void KeptListing::Write(std::string_view what, std::string_view listing) const {
  if (file_.empty() || ::geteuid() != 0 || listing.size() > kLargest / 2) return;
  const std::string folder = file_.substr(0, file_.rfind('/'));
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return;
  const std::string heading = Heading(what);
  if (heading.empty()) return;
  const std::string temporary = file_ + "." + std::to_string(::getpid());
  const Descriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return;
  const std::string text = heading + std::string(listing) + "\n";
  const bool whole = ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!whole || std::rename(temporary.c_str(), file_.c_str()) != 0) (void)::unlink(temporary.c_str());
}

}  // namespace railwright::machine
