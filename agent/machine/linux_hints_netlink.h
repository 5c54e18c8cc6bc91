// Netlink as hints need it: multicast sockets and bounds-checked walks over what they deliver.
#pragma once

#include <linux/netlink.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/machine/linux_hints.h"
#include "agent/machine/netlink_message.h"
#include "core/files/descriptor.h"

namespace railwright {

using Bytes = std::span<const std::uint8_t>;

/// The T at the start of `bytes`, or nothing when they are too few. No alignment needed.
template <class T>
std::optional<T> ReadAs(Bytes bytes) {
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// Calls `each(type, payload)` for every whole netlink message of a datagram; stops at a broken length.
template <class Each>
void ForEachMessage(Bytes datagram, Each each) {
  while (const auto header = ReadAs<nlmsghdr>(datagram)) {
    if (header->nlmsg_len < sizeof(nlmsghdr) || header->nlmsg_len > datagram.size()) return;
    each(header->nlmsg_type, datagram.subspan(sizeof(nlmsghdr), header->nlmsg_len - sizeof(nlmsghdr)));
    datagram = datagram.subspan(std::min<std::size_t>(NLMSG_ALIGN(header->nlmsg_len), datagram.size()));
  }
}

/// Calls `each(type, value)` for every whole attribute; the flags are cut from the type.
template <class Each>
void ForEachAttribute(Bytes attributes, Each each) {
  while (const auto header = ReadAs<nlattr>(attributes)) {
    if (header->nla_len < sizeof(nlattr) || header->nla_len > attributes.size()) return;
    each(header->nla_type & NLA_TYPE_MASK,
         attributes.subspan(sizeof(nlattr), header->nla_len - sizeof(nlattr)));
    attributes = attributes.subspan(std::min<std::size_t>(NLA_ALIGN(header->nla_len), attributes.size()));
  }
}

/// What follows a fixed header of `size` bytes, aligned as netlink does; empty when there is nothing.
Bytes After(Bytes payload, std::size_t size);

/// The first attribute of that type; empty when there is none.
Bytes FindAttribute(Bytes attributes, int type);

/// Text up to the first NUL.
std::string TextOf(Bytes value);

/// A socket that only listens to multicast groups of one netlink protocol.
class MulticastSocket {
 public:
  /// `what` names the source in errors. Errors keep errno: EPROTONOSUPPORT when the kernel lacks the
  /// protocol, EPERM without CAP_NET_ADMIN where the protocol asks for it.
  static Result<MulticastSocket> Open(int protocol, std::string what, const LinuxHintsOptions& options);
  Status Join(unsigned group);
  /// Lets the kernel throw away every datagram whose first message is not of `type`, so that what is not of
  /// interest can neither wake us nor overrun the buffer.
  Status OnlyType(std::uint16_t type);

  int fd() const { return fd_.get(); }
  /// Calls `each` with datagrams that the kernel sent (others may send to a group too, with privilege) until
  /// none is left or `reads` are done. True when messages were lost.
  bool Read(const std::function<void(Bytes)>& each);

 private:
  MulticastSocket(Descriptor fd, std::string what, int reads)
      : fd_(std::move(fd)), what_(std::move(what)), reads_(reads), buffer_(kBuffer) {}
  // Netlink datagrams of these groups stay below NLMSG_GOODSIZE (8 KiB); links with many VFs need more.
  static constexpr std::size_t kBuffer = 64 * 1024;

  Descriptor fd_;
  std::string what_;
  int reads_;
  std::vector<std::uint8_t> buffer_;
};

/// The names of interfaces by index, kept from RTM_NEWLINK and RTM_DELLINK.
class LinkTable {
 public:
  struct Link {
    std::string name;
    unsigned flags = 0;  ///< IFF_UP, IFF_RUNNING, IFF_LOWER_UP of the last message
  };
  const Link* Find(int index) const;
  void Put(int index, Link link) { links_[index] = std::move(link); }
  void Erase(int index) { links_.erase(index); }
  std::size_t size() const { return links_.size(); }
  /// The name of `index`, or "" when it is not known.
  std::string NameOf(int index) const;

 private:
  std::map<int, Link> links_;
};

/// The links of a whole RTM_GETLINK dump (machine::NetlinkSocket::Ask).
LinkTable LinksOf(const std::vector<machine::NetlinkReply>& dump);
/// The number of ethtool's multicast group "monitor" in the answers to CTRL_CMD_GETFAMILY; 0 when it has
/// none.
unsigned MonitorGroupOf(const std::vector<machine::NetlinkReply>& answer);

// Pure readers of one datagram each: bytes in, hints out. They never fail: what they do not know they skip.
void ReadRtnetlink(Bytes datagram, LinkTable& links, HintSet& out);
void ReadNftables(Bytes datagram, HintSet& out);
void ReadEthtool(Bytes datagram, HintSet& out);
void ReadUevent(Bytes datagram, HintSet& out);

}  // namespace railwright
