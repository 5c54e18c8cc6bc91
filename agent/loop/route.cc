#include "agent/loop/route.h"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace railwright {
namespace {

struct Destination {
  unsigned char family = AF_UNSPEC;
  std::array<unsigned char, 16> bytes{};
  std::size_t size = 0;
};

Result<Destination> Parse(const std::string& host) {
  Destination to;
  if (::inet_pton(AF_INET, host.c_str(), to.bytes.data()) == 1) {
    to.family = AF_INET;
    to.size = 4;
  } else if (::inet_pton(AF_INET6, host.c_str(), to.bytes.data()) == 1) {
    to.family = AF_INET6;
    to.size = 16;
  } else {
    return Status(Code::kInvalidArgument, "route to " + host + ": it is no address");
  }
  return to;
}

// One RTM_GETROUTE and its answer.
Result<std::string> AskKernel(const Destination& to, const std::string& host) {
  struct {
    nlmsghdr header;
    rtmsg route;
    rtattr attribute;
    std::array<unsigned char, 16> address;
  } request{};
  request.header.nlmsg_len = static_cast<std::uint32_t>(NLMSG_LENGTH(sizeof(rtmsg)) + RTA_LENGTH(to.size));
  request.header.nlmsg_type = RTM_GETROUTE;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.route.rtm_family = to.family;
  request.route.rtm_dst_len = static_cast<unsigned char>(to.size * 8);
  request.attribute.rta_type = RTA_DST;
  request.attribute.rta_len = static_cast<unsigned short>(RTA_LENGTH(to.size));
  request.address = to.bytes;

  const int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) return FromErrno(errno, "route to " + host);
  const timeval patience{2, 0};  // the kernel answers at once
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  alignas(nlmsghdr) std::array<char, 8192> answer;
  ssize_t got = ::send(fd, &request, request.header.nlmsg_len, 0);
  if (got >= 0) got = ::recv(fd, answer.data(), answer.size(), 0);
  const int error = errno;
  ::close(fd);
  if (got < 0) return FromErrno(error, "route to " + host);

  auto left = static_cast<std::size_t>(got);
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer.data());
  if (!NLMSG_OK(header, left)) return Status(Code::kInternal, "route to " + host + ": a torn answer");
  if (header->nlmsg_type == NLMSG_ERROR) {
    nlmsgerr failure{};
    std::memcpy(&failure, NLMSG_DATA(header), sizeof failure);
    return Status(Code::kNotFound, "route to " + host + ": " + std::strerror(-failure.error), -failure.error);
  }
  const auto* route = static_cast<const rtmsg*>(NLMSG_DATA(header));
  auto space = static_cast<int>(RTM_PAYLOAD(header));
  for (const rtattr* at = RTM_RTA(route); RTA_OK(at, space); at = RTA_NEXT(at, space)) {
    if (at->rta_type != RTA_OIF || RTA_PAYLOAD(at) < sizeof(unsigned)) continue;
    unsigned index = 0;
    std::memcpy(&index, RTA_DATA(at), sizeof index);
    std::array<char, IF_NAMESIZE> name{};
    if (::if_indextoname(index, name.data()) == nullptr) return FromErrno(errno, "route to " + host);
    return std::string(name.data());
  }
  return Status(Code::kNotFound, "route to " + host + ": it names no interface");
}

}  // namespace

Result<std::string> NetdevTowards(const std::string& host) {
  RW_ASSIGN_OR_RETURN(const Destination to, Parse(host));
  RW_ASSIGN_OR_RETURN(std::string netdev, AskKernel(to, host));
  return netdev == "lo" ? std::string() : netdev;
}

}  // namespace railwright
