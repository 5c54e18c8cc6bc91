// RTM_*LINK: one interface, read by name or index.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/machine/netlink_socket.h"
#include "railwright/result.h"

namespace railwright::machine {

/// What RTM_GETLINK says of an interface; what the kernel does not report is nullopt or "".
struct LinkFacts {
  std::uint32_t index = 0;
  std::string name;
  bool up = false;  ///< administratively
  std::optional<std::uint32_t> mtu, min_mtu, max_mtu;
  std::optional<bool> carrier;
  std::string kind;  ///< "veth", "vlan"; "" for hardware
  std::uint32_t master = 0;
  std::string address;  ///< "02:00:00:00:00:01"
};

/// The interface called `name`. NotFound (ENODEV); `path` begins the message.
Result<LinkFacts> ReadLink(NetlinkSocket& socket, std::string_view name, std::string_view path);
/// The names of all interfaces, sorted.
Result<std::vector<std::string>> LinkNames(NetlinkSocket& socket);
/// "02:00:00:00:00:01".
std::string HardwareAddress(std::span<const std::uint8_t> bytes);

}  // namespace railwright::machine
