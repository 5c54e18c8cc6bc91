#include "agent/machine/ip_address.h"

#include <arpa/inet.h>

#include <algorithm>

#include "core/decode/fields.h"

namespace railwright::machine {

Result<IpAddress> IpAddress::Parse(std::string_view text) {
  const std::string closed(text);
  IpAddress address;
  address.family = text.find(':') != std::string_view::npos ? AF_INET6 : AF_INET;
  if (closed.size() != text.size() || closed.find('\0') != std::string::npos ||
      ::inet_pton(address.family, closed.c_str(), address.bytes.data()) != 1)
    return Status(Code::kInvalidArgument, "\"" + closed + "\" is no IPv4 or IPv6 address");
  return address;
}

IpAddress IpAddress::FromBytes(std::span<const std::uint8_t> bytes) {
  IpAddress address;
  if (bytes.size() != 4 && bytes.size() != 16) return address;
  address.family = bytes.size() == 4 ? AF_INET : AF_INET6;
  std::copy(bytes.begin(), bytes.end(), address.bytes.begin());
  return address;
}

bool IpAddress::IsZero() const {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

std::string IpAddress::Text() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (family == AF_UNSPEC || ::inet_ntop(family, bytes.data(), text, sizeof text) == nullptr) return {};
  return text;
}

Result<IpPrefix> IpPrefix::Parse(std::string_view text, bool bare_is_host) {
  const auto slash = text.find('/');
  RW_ASSIGN_OR_RETURN(const IpAddress address, IpAddress::Parse(text.substr(0, slash)));
  IpPrefix prefix{address, static_cast<int>(8 * address.size())};
  if (slash == std::string_view::npos) {
    if (bare_is_host) return prefix;
    return Status(Code::kInvalidArgument, "\"" + std::string(text) + "\" lacks its prefix length (\"/24\")");
  }
  const Result<std::uint64_t> length = ParseNumber(text.substr(slash + 1));
  if (!length.ok() || *length > static_cast<std::uint64_t>(prefix.longest()))
    return Status(Code::kInvalidArgument, "\"" + std::string(text) +
                                              "\": the prefix length is a number from 0 to " +
                                              std::to_string(prefix.longest()));
  prefix.length = static_cast<int>(*length);
  return prefix;
}

bool IpPrefix::HasHostBits() const {
  for (int bit = length; bit < longest(); ++bit)
    if ((address.bytes[static_cast<std::size_t>(bit / 8)] >> (7 - bit % 8) & 1) != 0) return true;
  return false;
}

}  // namespace railwright::machine
