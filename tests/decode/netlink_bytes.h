// Netlink attributes put together by tests, byte by byte.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace railwright {

using Bytes = std::vector<std::uint8_t>;

inline Bytes Attribute(std::uint16_t type, const Bytes& value) {
  const auto length = static_cast<std::uint16_t>(4 + value.size());
  Bytes bytes(4);
  std::memcpy(bytes.data(), &length, 2);
  std::memcpy(bytes.data() + 2, &type, 2);
  bytes.insert(bytes.end(), value.begin(), value.end());
  while (bytes.size() % 4 != 0) bytes.push_back(0);
  return bytes;
}
inline Bytes Text(std::uint16_t type, std::string_view text) {
  Bytes value(text.begin(), text.end());
  value.push_back(0);
  return Attribute(type, value);
}
inline Bytes U32(std::uint16_t type, std::uint32_t number) {
  Bytes value(4);
  std::memcpy(value.data(), &number, 4);
  return Attribute(type, value);
}
inline Bytes U8(std::uint16_t type, std::uint8_t number) { return Attribute(type, {number}); }
inline Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
/// Marked as nested, as the kernel marks what holds attributes.
inline Bytes Nest(std::uint16_t type, const Bytes& value) {
  return Attribute(static_cast<std::uint16_t>(type | 0x8000), value);
}

}  // namespace railwright
