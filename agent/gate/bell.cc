#include "agent/gate/bell.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

namespace railwright {

Result<Bell> Bell::Make() {
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) return FromErrno(errno, "eventfd");
  return Bell(fd);
}

Bell::~Bell() {
  if (fd_ >= 0) ::close(fd_);
}

Bell::Bell(Bell&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

void Bell::Ring() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(fd_, &one, sizeof one);  // full: it is rung already
}

void Bell::Clear() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(fd_, &count, sizeof count);
}

}  // namespace railwright
