#include "tests/bench/raw_reads.h"

#include <fcntl.h>
#include <linux/ethtool_netlink.h>
#include <linux/fib_rules.h>
#include <linux/genetlink.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <set>

namespace railwright::bench {
namespace {

int Open(int protocol) {
  const int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  if (fd >= 0) (void)::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return fd;
}

struct Request {
  alignas(8) char bytes[512]{};
  nlmsghdr* header() { return reinterpret_cast<nlmsghdr*>(bytes); }
  template <class T>
  void Begin(int type, int flags, const T& family_header) {
    header()->nlmsg_len = NLMSG_LENGTH(sizeof family_header);
    header()->nlmsg_type = static_cast<unsigned short>(type);
    header()->nlmsg_flags = static_cast<unsigned short>(NLM_F_REQUEST | flags);
    header()->nlmsg_seq = 1;
    std::memcpy(NLMSG_DATA(header()), &family_header, sizeof family_header);
  }
  void Attribute(int type, const void* data, std::size_t size) {
    auto* attribute = reinterpret_cast<nlattr*>(bytes + NLMSG_ALIGN(header()->nlmsg_len));
    attribute->nla_type = static_cast<unsigned short>(type);
    attribute->nla_len = static_cast<unsigned short>(NLA_HDRLEN + size);
    std::memcpy(reinterpret_cast<char*>(attribute) + NLA_HDRLEN, data, size);
    header()->nlmsg_len =
        static_cast<unsigned>(NLMSG_ALIGN(header()->nlmsg_len) + NLA_ALIGN(attribute->nla_len));
  }
};

}  // namespace

RawReads::RawReads(const std::vector<std::string>& machine_paths) : buffer_(65536) {
  rtnl_ = Open(NETLINK_ROUTE);
  netfilter_ = Open(NETLINK_NETFILTER);
  generic_ = Open(NETLINK_GENERIC);
  std::set<std::string> dumps;
  for (const std::string& path : machine_paths) {
    const auto interface_of = [&](std::size_t prefix) {
      return static_cast<int>(if_nametoindex(path.substr(prefix, path.find('/', prefix) - prefix).c_str()));
    };
    if (path.starts_with("/file/")) {
      files_.push_back(path.substr(5));
    } else if (path.starts_with("/proc/") || path.starts_with("/sys/")) {
      files_.push_back(path);
    } else if (path.starts_with("/rtnl/link/")) {
      messages_.push_back({Kind::kLink, interface_of(11)});
    } else if (path.starts_with("/rtnl/addr/")) {
      messages_.push_back({Kind::kAddrDump});
    } else if (path.starts_with("/rtnl/route")) {
      messages_.push_back({Kind::kRouteDump4});
      messages_.push_back({Kind::kRouteDump6});
    } else if (path.starts_with("/rtnl/rule")) {
      messages_.push_back({Kind::kRuleDump4});
      messages_.push_back({Kind::kRuleDump6});
    } else if (path.starts_with("/nft/")) {
      messages_.push_back({Kind::kNftGeneration});
    } else if (path.starts_with("/ethtool/") && path.ends_with("/channels")) {
      messages_.push_back({Kind::kEthtool, interface_of(9), ETHTOOL_MSG_CHANNELS_GET});
    } else if (path.starts_with("/ethtool/") && path.ends_with("/rings")) {
      messages_.push_back({Kind::kEthtool, interface_of(9), ETHTOOL_MSG_RINGS_GET});
    } else if (path.starts_with("/ethtool/") && path.ends_with("/pause")) {
      messages_.push_back({Kind::kEthtool, interface_of(9), ETHTOOL_MSG_PAUSE_GET});
    } else if (path.starts_with("/kmod/")) {
      files_.push_back("/sys/module/" + path.substr(6) + "/initstate");
    } else if (path.starts_with("/pkg/")) {
      files_.push_back("/proc/self/stat");  // a stat of the status file is less than this; one file a package
    } else {
      unknown_.push_back(path);
    }
  }
  Request request;
  genlmsghdr generic{CTRL_CMD_GETFAMILY, 1, 0};
  request.Begin(GENL_ID_CTRL, 0, generic);
  request.Attribute(CTRL_ATTR_FAMILY_NAME, "ethtool", 8);
  if (::send(generic_, request.bytes, request.header()->nlmsg_len, 0) > 0) {
    const auto size = ::recv(generic_, buffer_.data(), buffer_.size(), 0);
    for (std::size_t at = NLMSG_HDRLEN + GENL_HDRLEN;
         at + NLA_HDRLEN <= static_cast<std::size_t>(size > 0 ? size : 0);) {
      const auto* attribute = reinterpret_cast<const nlattr*>(buffer_.data() + at);
      if (attribute->nla_len < NLA_HDRLEN) break;
      if (attribute->nla_type == CTRL_ATTR_FAMILY_ID)
        ethtool_family_ = *reinterpret_cast<const unsigned short*>(buffer_.data() + at + NLA_HDRLEN);
      at += NLA_ALIGN(attribute->nla_len);
    }
  }
}

RawReads::~RawReads() {
  for (const int fd : {rtnl_, netfilter_, generic_})
    if (fd >= 0) ::close(fd);
}

std::uint64_t RawReads::Send(const Message& message) {
  Request request;
  int fd = rtnl_;
  bool dump = true;
  switch (message.kind) {
    case Kind::kLink: {
      ifinfomsg info{};
      info.ifi_index = message.ifindex;
      request.Begin(RTM_GETLINK, 0, info);
      dump = false;
      break;
    }
    case Kind::kAddrDump: request.Begin(RTM_GETADDR, NLM_F_DUMP, ifaddrmsg{}); break;
    case Kind::kRouteDump4:
    case Kind::kRouteDump6: {
      rtmsg route{};
      route.rtm_family = message.kind == Kind::kRouteDump4 ? AF_INET : AF_INET6;
      request.Begin(RTM_GETROUTE, NLM_F_DUMP, route);
      break;
    }
    case Kind::kRuleDump4:
    case Kind::kRuleDump6: {
      fib_rule_hdr rule{};
      rule.family = message.kind == Kind::kRuleDump4 ? AF_INET : AF_INET6;
      request.Begin(RTM_GETRULE, NLM_F_DUMP, rule);
      break;
    }
    case Kind::kNftGeneration: {
      nfgenmsg generation{};
      request.Begin((NFNL_SUBSYS_NFTABLES << 8) | NFT_MSG_GETGEN, 0, generation);
      fd = netfilter_;
      dump = false;
      break;
    }
    case Kind::kEthtool: {
      genlmsghdr generic{static_cast<unsigned char>(message.command), ETHTOOL_GENL_VERSION, 0};
      request.Begin(ethtool_family_, 0, generic);
      struct {
        nlattr attribute;
        unsigned index;
      } header{{8, ETHTOOL_A_HEADER_DEV_INDEX}, static_cast<unsigned>(message.ifindex)};
      request.Attribute(1 | NLA_F_NESTED, &header,
                        sizeof header);  // every ethtool request's header is attribute 1
      fd = generic_;
      dump = false;
      break;
    }
  }
  if (::send(fd, request.bytes, request.header()->nlmsg_len, 0) < 0) return 0;
  std::uint64_t sum = 0;
  for (;;) {
    const auto size = ::recv(fd, buffer_.data(), buffer_.size(), 0);
    if (size <= 0) return sum;
    sum += static_cast<std::uint64_t>(size);
    if (!dump) return sum;
    int left = static_cast<int>(size);
    for (auto* header = reinterpret_cast<nlmsghdr*>(buffer_.data());
         NLMSG_OK(header, static_cast<unsigned>(left)); header = NLMSG_NEXT(header, left)) {
      if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR) return sum;
    }
  }
}

std::uint64_t RawReads::Run() {
  std::uint64_t sum = 0;
  for (const std::string& file : files_) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    const auto size = ::read(fd, buffer_.data(), buffer_.size());
    if (size > 0) sum += static_cast<std::uint64_t>(size);
    ::close(fd);
  }
  for (const Message& message : messages_) sum += Send(message);
  return sum;
}

}  // namespace railwright::bench
