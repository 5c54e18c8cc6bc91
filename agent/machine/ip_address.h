// IPv4 and IPv6 addresses and prefixes as netlink carries them and as paths show them.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "railwright/result.h"

namespace railwright::machine {

/// An address of either family. Default: none.
struct IpAddress {
  int family = AF_UNSPEC;
  std::array<std::uint8_t, 16> bytes{};

  /// InvalidArgument names the text. No zone ("%rail0"), no IPv4 in hexadecimal or with fewer than four
  /// parts.
  static Result<IpAddress> Parse(std::string_view text);
  /// None when the size is neither 4 nor 16.
  static IpAddress FromBytes(std::span<const std::uint8_t> bytes);
  explicit operator bool() const { return family != AF_UNSPEC; }
  std::size_t size() const { return family == AF_INET ? 4 : family == AF_INET6 ? 16 : 0; }
  std::span<const std::uint8_t> span() const { return {bytes.data(), size()}; }
  bool IsZero() const;
  /// As inet_ntop writes it; "" for none.
  std::string Text() const;
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

struct IpPrefix {
  IpAddress address;
  int length = 0;

  /// "10.0.0.1/24", or with `bare_is_host` "10.0.0.1" meaning /32. InvalidArgument names what is wrong.
  static Result<IpPrefix> Parse(std::string_view text, bool bare_is_host);
  int longest() const { return static_cast<int>(8 * address.size()); }
  std::string Text() const { return address.Text() + "/" + std::to_string(length); }
  /// The first bit beyond the length that is set makes it a host's address, not a network's.
  bool HasHostBits() const;
  friend bool operator==(const IpPrefix&, const IpPrefix&) = default;
};

}  // namespace railwright::machine
