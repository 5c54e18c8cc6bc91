#include <algorithm>
#include <numeric>
#include <vector>

#include "agent/machine/redact.h"

namespace railwright::machine {
namespace {

std::uint64_t Mixed(std::uint64_t x) {
  // splitmix64's finaliser, twice: every input bit reaches every output bit.
  for (int i = 0; i < 2; ++i) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
  }
  return x;
}

bool Bit(const std::uint8_t* bytes, int at) { return (bytes[at / 8] >> (7 - at % 8) & 1) != 0; }

/// How many leading bits of an IPv4 address name a range that keeps its meaning; -1: the address stays whole.
int FixedBits(const std::array<std::uint8_t, 4>& a) {
  if (a[0] == 0 || a[0] == 127 || a[0] >= 224) return -1;
  if (a[0] == 10) return 8;
  if (a[0] == 172 && (a[1] & 0xf0) == 16) return 12;
  if ((a[0] == 192 && a[1] == 168) || (a[0] == 169 && a[1] == 254)) return 16;
  if (a[0] == 100 && (a[1] & 0xc0) == 64) return 10;
  return 0;
}

/// 255.255.240.0 and the like.
bool IsMask(const std::array<std::uint8_t, 4>& a) {
  const std::uint32_t bits =
      std::uint32_t{a[0]} << 24 | std::uint32_t{a[1]} << 16 | std::uint32_t{a[2]} << 8 | a[3];
  return a[0] == 255 && (~bits & (~bits + 1)) == 0;
}

}  // namespace

void AddressMap::FlipBits(std::uint8_t* bytes, int from, int to, std::uint64_t kind) const {
  // Each bit is flipped or not depending on the original bits before it, and on nothing else.
  std::uint64_t before = Mixed(seed_ ^ kind);
  for (int at = 0; at < to; ++at) {
    const bool bit = Bit(bytes, at);
    if (at >= from && (Mixed(before) & 1) != 0)
      bytes[at / 8] = static_cast<std::uint8_t>(bytes[at / 8] ^ (0x80 >> at % 8));
    before = Mixed(before * 2 + (bit ? 1 : 0) + 1);
  }
}

std::array<std::uint8_t, 4> AddressMap::MapV4(std::array<std::uint8_t, 4> bytes) const {
  const int fixed = FixedBits(bytes);
  if (fixed < 0 || IsMask(bytes)) return bytes;
  const std::uint8_t first = bytes[0];
  FlipBits(bytes.data(), std::max(fixed, 8), 24, 4);
  if (fixed != 0) return bytes;
  // A permutation of the first bytes that are public throughout. Those that are so only in part stay.
  std::vector<std::uint8_t> from;
  for (int octet = 1; octet < 224; ++octet)
    if (octet != 10 && octet != 100 && octet != 127 && octet != 169 && octet != 172 && octet != 192)
      from.push_back(static_cast<std::uint8_t>(octet));
  std::vector<std::uint8_t> to = from;
  std::sort(to.begin(), to.end(), [&](std::uint8_t a, std::uint8_t b) {
    return std::pair(Mixed(seed_ ^ a), a) < std::pair(Mixed(seed_ ^ b), b);
  });
  const auto place = std::find(from.begin(), from.end(), first);
  if (place != from.end()) bytes[0] = to[static_cast<std::size_t>(place - from.begin())];
  return bytes;
}

void AddressMap::MapInterfaceId(std::array<std::uint8_t, 16>& bytes) {
  const bool small =
      std::all_of(bytes.begin() + 8, bytes.begin() + 12, [](std::uint8_t b) { return b == 0; });
  if (small) return;
  if (bytes[11] == 0xff && bytes[12] == 0xfe) {
    const std::array<std::uint8_t, 6> mac = MapMac(
        {static_cast<std::uint8_t>(bytes[8] ^ 2), bytes[9], bytes[10], bytes[13], bytes[14], bytes[15]});
    bytes = {bytes[0], bytes[1], bytes[2],
             bytes[3], bytes[4], bytes[5],
             bytes[6], bytes[7], static_cast<std::uint8_t>(mac[0] ^ 2),
             mac[1],   mac[2],   0xff,
             0xfe,     mac[3],   mac[4],
             mac[5]};
    return;
  }
  FlipBits(bytes.data() + 8, 0, 64, 64);
}

IpAddress AddressMap::Map(const IpAddress& address, int length) {
  IpAddress mapped = address;
  auto& bytes = mapped.bytes;
  constexpr std::array<std::uint8_t, 12> kMappedV4 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (address.family == AF_INET) {
    const auto v4 = MapV4({bytes[0], bytes[1], bytes[2], bytes[3]});
    std::copy(v4.begin(), v4.end(), bytes.begin());
  } else if (std::equal(kMappedV4.begin(), kMappedV4.end(), bytes.begin())) {
    // ::ffff:10.10.0.1, as the GID table of a RoCE port shows an IPv4 address.
    const auto v4 = MapV4({bytes[12], bytes[13], bytes[14], bytes[15]});
    std::copy(v4.begin(), v4.end(), bytes.begin() + 12);
  } else {
    const bool loopback = std::all_of(bytes.begin(), bytes.end() - 1, [](std::uint8_t b) { return b == 0; });
    if (loopback || bytes[0] == 0xff) return mapped;
    const bool link_local = bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
    const int fixed = link_local ? 64 : (bytes[0] & 0xfe) == 0xfc ? 8 : 3;
    FlipBits(bytes.data(), fixed, 64, 6);
    MapInterfaceId(bytes);
  }
  if (length >= 0 && !IpPrefix{address, length}.HasHostBits())
    for (int at = length; at < static_cast<int>(8 * address.size()); ++at)
      bytes[static_cast<std::size_t>(at / 8)] &= static_cast<std::uint8_t>(~(0x80 >> at % 8));
  return mapped;
}

std::array<std::uint8_t, 6> AddressMap::MapMac(const std::array<std::uint8_t, 6>& mac) {
  const bool none = std::all_of(mac.begin(), mac.end(), [](std::uint8_t b) { return b == 0; });
  if (none || (mac[0] & 1) != 0) return mac;
  const auto known = macs_.find(mac);
  if (known != macs_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(macs_.size() + 1);
  return macs_[mac] = {2,
                       0,
                       0,
                       static_cast<std::uint8_t>(number >> 16),
                       static_cast<std::uint8_t>(number >> 8),
                       static_cast<std::uint8_t>(number)};
}

}  // namespace railwright::machine
