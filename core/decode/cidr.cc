#include "core/decode/cidr.h"

#include <arpa/inet.h>  // inet_pton and inet_ntop: text to bytes and back, no socket

#include <algorithm>

#include "core/decode/values.h"

namespace railwright {
namespace {

Status Refuse(std::string_view text, std::string_view why) {
  return Status(Code::kInvalidArgument, Quoted(text) + " " + std::string(why));
}

bool BitSet(const Cidr& address, int bit) {
  return (address.bytes[static_cast<std::size_t>(bit / 8)] >> (7 - bit % 8) & 1) != 0;
}

// Whether all bits from `length` on are `value`.
bool HostBitsAre(const Cidr& address, bool value) {
  for (int bit = address.length; bit < address.longest(); ++bit)
    if (BitSet(address, bit) != value) return false;
  return true;
}

}  // namespace

Result<Cidr> Cidr::ParseAddress(std::string_view text) {
  const std::string plain(text);
  Cidr cidr;
  // inet_pton reads up to a NUL, and what stands behind one would be believed unread.
  if (plain.find('\0') != std::string::npos) return Refuse(text, "is no address");
  if (plain.find(':') != std::string::npos) {
    cidr.v6 = true;
    if (inet_pton(AF_INET6, plain.c_str(), cidr.bytes.data()) != 1) return Refuse(text, "is no IPv6 address");
  } else if (inet_pton(AF_INET, plain.c_str(), cidr.bytes.data()) != 1) {
    return Refuse(text, "is no IPv4 address");
  }
  cidr.length = cidr.longest();
  return cidr;
}

Result<Cidr> Cidr::Parse(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return Refuse(text, "has no prefix length, as 10.10.0.1/24");
  RW_ASSIGN_OR_RETURN(Cidr cidr, ParseAddress(text.substr(0, slash)));
  const auto length = ParseWhole(text.substr(slash + 1), 0, static_cast<std::uint64_t>(cidr.longest()));
  if (!length.ok()) return Refuse(text, "has no prefix length of 0…" + std::to_string(cidr.longest()));
  cidr.length = static_cast<int>(*length);
  return cidr;
}

std::string Cidr::Address() const {
  char text[INET6_ADDRSTRLEN];
  return inet_ntop(v6 ? AF_INET6 : AF_INET, bytes.data(), text, sizeof text);
}

std::string Cidr::Text() const { return Address() + "/" + std::to_string(length); }

Cidr Cidr::Network() const {
  Cidr network = *this;
  for (int bit = length; bit < longest(); ++bit)
    network.bytes[static_cast<std::size_t>(bit / 8)] &= static_cast<std::uint8_t>(~(1U << (7 - bit % 8)));
  return network;
}

bool Cidr::Contains(const Cidr& other) const {
  if (v6 != other.v6 || other.length < length) return false;
  for (int bit = 0; bit < length; ++bit)
    if (BitSet(*this, bit) != BitSet(other, bit)) return false;
  return true;
}

Status Cidr::CheckHost() const {
  const std::string text = Text();
  const bool zero = std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
  if (zero) return Refuse(text, "is the unspecified address");
  if (v6) {
    const bool loopback = std::all_of(bytes.begin(), bytes.end() - 1, [](auto byte) { return byte == 0; });
    if (loopback && bytes[15] == 1) return Refuse(text, "is a loopback address");
    if (bytes[0] == 0xff) return Refuse(text, "is a multicast address");
    if (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80)
      return Refuse(text, "is link-local; the kernel makes those itself");
  } else {
    if (bytes[0] == 127) return Refuse(text, "is a loopback address");
    if (bytes[0] >= 224) return Refuse(text, "is a multicast or reserved address");
    if (bytes[0] == 169 && bytes[1] == 254) return Refuse(text, "is link-local");
  }
  if (length + 1 >= longest()) return Ok();
  if (HostBitsAre(*this, false)) return Refuse(text, "is the network's own address; give a host's");
  if (!v6 && HostBitsAre(*this, true))
    return Refuse(text, "is the network's broadcast address; give a host's");
  return Ok();
}

Result<std::vector<Cidr>> ParseCidrs(std::string_view text) {
  std::vector<Cidr> all;
  for (const std::string_view word : Words(text, " \t\r\n,")) {
    RW_ASSIGN_OR_RETURN(const Cidr cidr, Cidr::Parse(word));
    all.push_back(cidr);
  }
  std::sort(all.begin(), all.end(), [](const Cidr& a, const Cidr& b) { return a.Text() < b.Text(); });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<Cidr> OutermostNetworks(const std::vector<Cidr>& networks) {
  std::vector<Cidr> sorted;
  for (const Cidr& one : networks) sorted.push_back(one.Network());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<Cidr> outer;
  for (const Cidr& one : sorted) {
    const bool inside = std::any_of(sorted.begin(), sorted.end(),
                                    [&](const Cidr& other) { return other != one && other.Contains(one); });
    if (!inside) outer.push_back(one);
  }
  return outer;
}

}  // namespace railwright
