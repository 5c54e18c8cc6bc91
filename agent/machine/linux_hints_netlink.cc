#include "agent/machine/linux_hints_netlink.h"

#include <linux/filter.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>

namespace railwright {

Bytes After(Bytes payload, std::size_t size) {
  return payload.subspan(std::min<std::size_t>(NLMSG_ALIGN(size), payload.size()));
}

Bytes FindAttribute(Bytes attributes, int type) {
  Bytes found;
  bool seen = false;
  ForEachAttribute(attributes, [&](int one, Bytes value) {
    if (one == type && !seen) {
      found = value;
      seen = true;
    }
  });
  return found;
}

std::string TextOf(Bytes value) {
  const auto end = std::find(value.begin(), value.end(), std::uint8_t{0});
  return std::string(value.begin(), end);
}

const LinkTable::Link* LinkTable::Find(int index) const {
  const auto found = links_.find(index);
  return found == links_.end() ? nullptr : &found->second;
}

std::string LinkTable::NameOf(int index) const {
  const Link* link = Find(index);
  return link == nullptr ? std::string() : link->name;
}

Result<MulticastSocket> MulticastSocket::Open(int protocol, std::string what,
                                              const LinuxHintsOptions& options) {
  Descriptor fd(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
  if (!fd) return FromErrno(errno, what + ": socket");
  // Beyond net.core.rmem_max when we may; the kernel's own maximum otherwise.
  const int size = options.receive_buffer;
  if (setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0)
    (void)setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return FromErrno(errno, what + ": bind");
  return MulticastSocket(std::move(fd), std::move(what), options.reads);
}

Status MulticastSocket::Join(unsigned group) {
  const int number = static_cast<int>(group);
  if (setsockopt(fd_.get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &number, sizeof number) != 0)
    return FromErrno(errno, what_ + ": join multicast group " + std::to_string(group));
  return Ok();
}

Status MulticastSocket::OnlyType(std::uint16_t type) {
  // Classic BPF loads half words in network order; nlmsg_type is in the host's.
  const std::uint32_t seen = std::endian::native == std::endian::little
                                 ? static_cast<std::uint32_t>((type & 0xff) << 8 | type >> 8)
                                 : type;
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, offsetof(nlmsghdr, nlmsg_type)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, seen, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(code)), code};
  if (setsockopt(fd_.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0)
    return FromErrno(errno, what_ + ": attach filter");
  return Ok();
}

bool MulticastSocket::Read(const std::function<void(Bytes)>& each) {
  bool lost = false;
  for (int i = 0; i < reads_; ++i) {
    sockaddr_nl from{};
    iovec part{buffer_.data(), buffer_.size()};
    msghdr message{};
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    const ssize_t size = recvmsg(fd_.get(), &message, MSG_DONTWAIT);
    if (size < 0) {
      if (errno == EINTR) continue;
      if (errno == ENOBUFS) {
        lost = true;  // reported once by the kernel; what is queued is still good
        continue;
      }
      return lost;  // EAGAIN: done. Anything else: nothing more to be had now.
    }
    if ((message.msg_flags & MSG_TRUNC) != 0) {
      lost = true;
      continue;
    }
    if (from.nl_pid != 0) continue;
    each(Bytes(buffer_.data(), static_cast<std::size_t>(size)));
  }
  return lost;
}

}  // namespace railwright
