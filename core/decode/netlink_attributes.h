// Attributes of netlink messages as bytes: length, type, value. Knows no socket and no kernel header.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace railwright {

using NetlinkBytes = std::span<const std::uint8_t>;

/// A little number out of `value`; 0 when it is too short for it. Netlink numbers are in the host's order.
inline std::uint32_t NetlinkU32(NetlinkBytes value) {
  std::uint32_t number = 0;
  if (value.size() >= sizeof number) std::memcpy(&number, value.data(), sizeof number);
  return number;
}

/// Up to the first NUL.
inline std::string_view NetlinkText(NetlinkBytes value) {
  const std::string_view text(reinterpret_cast<const char*>(value.data()), value.size());
  return text.substr(0, text.find('\0'));
}

/// Calls `use(type, value)` for each attribute of `bytes`, the flags of the type taken off (NLA_TYPE_MASK of
/// linux/netlink.h). False when one of them is cut short; those before it have been given.
template <class Use>
bool ForEachNetlinkAttribute(NetlinkBytes bytes, Use use) {
  constexpr std::size_t kHead = 4;
  while (bytes.size() >= kHead) {
    std::uint16_t length = 0, type = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    std::memcpy(&type, bytes.data() + sizeof length, sizeof type);
    if (length < kHead || length > bytes.size()) return false;
    use(static_cast<std::uint16_t>(type & 0x3fff), bytes.subspan(kHead, length - kHead));
    const std::size_t step = (std::size_t{length} + 3) & ~std::size_t{3};
    bytes = bytes.subspan(step < bytes.size() ? step : bytes.size());
  }
  return bytes.empty();
}

}  // namespace railwright
