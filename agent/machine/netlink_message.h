// Netlink messages: built attribute by attribute, and taken apart without trusting a length in them.
#pragma once

#include <linux/netlink.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace railwright::machine {

/// A message under construction. The header of its family comes first, then attributes.
class NetlinkMessage {
 public:
  /// `flags` beside NLM_F_REQUEST.
  NetlinkMessage(std::uint16_t type, std::uint16_t flags);

  /// The family's own header: ifinfomsg, ifaddrmsg, rtmsg, nfgenmsg …
  template <class T>
  NetlinkMessage& Header(const T& header) {
    Append(&header, sizeof header);
    return *this;
  }
  NetlinkMessage& Put(std::uint16_t type, std::span<const std::uint8_t> value);
  NetlinkMessage& PutU8(std::uint16_t type, std::uint8_t value);
  NetlinkMessage& PutU16(std::uint16_t type, std::uint16_t value);
  NetlinkMessage& PutU32(std::uint16_t type, std::uint32_t value);
  /// With the closing NUL that the kernel expects of names.
  NetlinkMessage& PutText(std::uint16_t type, std::string_view value);
  /// Attributes up to the matching End lie inside this one.
  std::size_t Begin(std::uint16_t type);
  NetlinkMessage& End(std::size_t begun);
  /// Bytes that are no attribute: the struct rtnexthop inside RTA_MULTIPATH. Returns where they begin.
  std::size_t Raw(std::span<const std::uint8_t> bytes);
  /// Overwrites a 16-bit length written before by Raw with the distance from it to the end.
  void CloseRaw(std::size_t begun);

  nlmsghdr& header() { return *reinterpret_cast<nlmsghdr*>(bytes_.data()); }
  /// The bytes to send, with the length filled in.
  std::span<const std::uint8_t> Bytes();

 private:
  void Append(const void* data, std::size_t size);

  std::vector<std::uint8_t> bytes_;
};

/// One attribute of a received message. Reading it as a type that it is too short for gives zero.
struct NetlinkAttribute {
  std::uint16_t type = 0;  ///< without the nested and byte-order flags
  std::span<const std::uint8_t> value;

  template <class T>
  T As() const {
    T number{};
    if (value.size() >= sizeof number) std::memcpy(&number, value.data(), sizeof number);
    return number;
  }
  std::uint32_t U32() const { return As<std::uint32_t>(); }
  /// Up to the first NUL.
  std::string_view Text() const;
};

/// Calls `use(NetlinkAttribute)` for each attribute in `bytes`; stops at the first one that is damaged.
template <class Use>
void ForEachAttribute(std::span<const std::uint8_t> bytes, Use use) {
  while (bytes.size() >= sizeof(nlattr)) {
    nlattr head;
    std::memcpy(&head, bytes.data(), sizeof head);
    if (head.nla_len < sizeof head || head.nla_len > bytes.size()) return;
    use(NetlinkAttribute{static_cast<std::uint16_t>(head.nla_type & NLA_TYPE_MASK),
                         bytes.subspan(sizeof head, head.nla_len - sizeof head)});
    bytes = bytes.subspan(std::min<std::size_t>(bytes.size(), NLA_ALIGN(head.nla_len)));
  }
}

/// One received message.
struct NetlinkReply {
  std::uint16_t type = 0;
  std::uint16_t flags = 0;
  std::span<const std::uint8_t> payload;  ///< after the nlmsghdr

  /// The family's header; zeroes when the message is too short for it.
  template <class T>
  T Header() const {
    T header{};
    if (payload.size() >= sizeof header) std::memcpy(&header, payload.data(), sizeof header);
    return header;
  }
  /// What follows a family header of `size` bytes.
  std::span<const std::uint8_t> AfterHeader(std::size_t size) const {
    return payload.subspan(std::min<std::size_t>(payload.size(), NLMSG_ALIGN(size)));
  }
};

}  // namespace railwright::machine
