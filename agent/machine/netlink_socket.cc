#include "agent/machine/netlink_socket.h"

#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace railwright::machine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{5};
/// The kernel fills dumps in pieces of at most 32 KiB (netlink_dump, since 4.x); larger single messages make
/// the buffer grow.
constexpr std::size_t kDatagram = 32768;
/// For dumps of full routing tables; without privilege the kernel gives what its limit allows.
constexpr int kReceiveBuffer = 1 << 20;

}  // namespace

bool IsInterfaceName(std::string_view name) {
  if (name.empty() || name.size() >= IFNAMSIZ || name == "." || name == "..") return false;
  return name.find_first_of("/ \t\n\v\f\r:") == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

Status NoSuchInterface(std::string_view path) { return FromErrno(ENODEV, path); }

Status NetlinkSocket::Channel::Open() {
  if (fd_) return Ok();
  Descriptor fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, family_));
  if (!fd) return FromErrno(errno, "netlink socket");
  // Sentences with errors, short acknowledgements, filters honoured in dumps: each may be missing in an old
  // kernel, and then costs detail or time, not correctness; callers filter again.
  const int on = 1;
  (void)::setsockopt(fd.get(), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
  (void)::setsockopt(fd.get(), SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
  (void)::setsockopt(fd.get(), SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof on);
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof kReceiveBuffer);
  sockaddr_nl self{};
  self.nl_family = AF_NETLINK;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&self), sizeof self) != 0)
    return FromErrno(errno, "netlink bind");
  datagram_.resize(kDatagram);
  fd_ = std::move(fd);
  return Ok();
}

Status NetlinkSocket::Channel::Send(std::span<const std::uint8_t> message, std::string_view what) {
  RW_RETURN_IF_ERROR(Open());
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  ssize_t sent = 0;
  do
    sent = ::sendto(fd_.get(), message.data(), message.size(), 0, reinterpret_cast<const sockaddr*>(&kernel),
                    sizeof kernel);
  while (sent < 0 && errno == EINTR);
  return sent < 0 ? FromErrno(errno, what) : Ok();
}

Result<std::span<const std::uint8_t>> NetlinkSocket::Channel::Receive(std::string_view what) {
  const Clock::time_point until = Clock::now() + kPatience;
  for (;;) {
    sockaddr_nl from{};
    iovec part{datagram_.data(), datagram_.size()};
    msghdr head{};
    head.msg_name = &from;
    head.msg_namelen = sizeof from;
    head.msg_iov = &part;
    head.msg_iovlen = 1;
    // With MSG_TRUNC the size of the whole datagram is returned, also when it did not fit.
    ssize_t size = ::recvmsg(fd_.get(), &head, MSG_DONTWAIT | MSG_TRUNC);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
      if (left <= 0)
        return Status(Code::kDeadlineExceeded, std::string(what) + ": no answer from the kernel within " +
                                                   std::to_string(kPatience.count()) + " s");
      pollfd wait{fd_.get(), POLLIN, 0};
      (void)::poll(&wait, 1, static_cast<int>(left));
      continue;
    }
    if (size < 0) return FromErrno(errno, what);
    if (from.nl_pid != 0) continue;  // any process may send to us; only the kernel is believed
    if (static_cast<std::size_t>(size) > datagram_.size()) {
      datagram_.resize(static_cast<std::size_t>(size));
      return FromErrno(ENOBUFS, what);  // lost, and asked for again with room for it
    }
    return std::span<const std::uint8_t>(datagram_.data(), static_cast<std::size_t>(size));
  }
}

std::string NetlinkSocket::InterfaceName(std::uint32_t index) {
  if (!channel_.Open().ok()) return {};
  ifreq request{};
  request.ifr_ifindex = static_cast<int>(index);
  if (::ioctl(channel_.fd(), SIOCGIFNAME, &request) != 0) return {};
  return request.ifr_name;
}

Result<std::uint32_t> NetlinkSocket::InterfaceIndex(std::string_view name) {
  RW_RETURN_IF_ERROR(channel_.Open());
  if (!IsInterfaceName(name)) return NoSuchInterface(name);
  ifreq request{};
  std::memcpy(request.ifr_name, name.data(), name.size());
  if (::ioctl(channel_.fd(), SIOCGIFINDEX, &request) != 0) return FromErrno(errno, name);
  return static_cast<std::uint32_t>(request.ifr_ifindex);
}

}  // namespace railwright::machine
