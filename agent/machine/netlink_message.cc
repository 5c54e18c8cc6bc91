#include "agent/machine/netlink_message.h"

#include <algorithm>

namespace railwright::machine {

NetlinkMessage::NetlinkMessage(std::uint16_t type, std::uint16_t flags) {
  bytes_.reserve(256);
  nlmsghdr head{};
  head.nlmsg_type = type;
  head.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
  Append(&head, sizeof head);
}

void NetlinkMessage::Append(const void* data, std::size_t size) {
  const auto* begin = static_cast<const std::uint8_t*>(data);
  bytes_.insert(bytes_.end(), begin, begin + size);
  bytes_.resize(NLMSG_ALIGN(bytes_.size()));
}

NetlinkMessage& NetlinkMessage::Put(std::uint16_t type, std::span<const std::uint8_t> value) {
  nlattr head{};
  head.nla_type = type;
  head.nla_len = static_cast<std::uint16_t>(sizeof head + value.size());
  Append(&head, sizeof head);
  Append(value.data(), value.size());
  return *this;
}

NetlinkMessage& NetlinkMessage::PutU8(std::uint16_t type, std::uint8_t value) {
  return Put(type, {&value, 1});
}

NetlinkMessage& NetlinkMessage::PutU16(std::uint16_t type, std::uint16_t value) {
  return Put(type, {reinterpret_cast<const std::uint8_t*>(&value), sizeof value});
}

NetlinkMessage& NetlinkMessage::PutU32(std::uint16_t type, std::uint32_t value) {
  return Put(type, {reinterpret_cast<const std::uint8_t*>(&value), sizeof value});
}

NetlinkMessage& NetlinkMessage::PutText(std::uint16_t type, std::string_view value) {
  std::string closed(value);
  return Put(type, {reinterpret_cast<const std::uint8_t*>(closed.c_str()), closed.size() + 1});
}

std::size_t NetlinkMessage::Begin(std::uint16_t type) {
  const std::size_t begun = bytes_.size();
  Put(static_cast<std::uint16_t>(type | NLA_F_NESTED), {});
  return begun;
}

NetlinkMessage& NetlinkMessage::End(std::size_t begun) {
  CloseRaw(begun);  // nla_len is the first field, as is rtnh_len
  return *this;
}

std::size_t NetlinkMessage::Raw(std::span<const std::uint8_t> bytes) {
  const std::size_t begun = bytes_.size();
  Append(bytes.data(), bytes.size());
  return begun;
}

void NetlinkMessage::CloseRaw(std::size_t begun) {
  const auto length = static_cast<std::uint16_t>(bytes_.size() - begun);
  std::memcpy(bytes_.data() + begun, &length, sizeof length);
}

std::span<const std::uint8_t> NetlinkMessage::Bytes() {
  header().nlmsg_len = static_cast<std::uint32_t>(bytes_.size());
  return bytes_;
}

std::string_view NetlinkAttribute::Text() const {
  std::string_view text(reinterpret_cast<const char*>(value.data()), value.size());
  return text.substr(0, text.find('\0'));
}

}  // namespace railwright::machine
