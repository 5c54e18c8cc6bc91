#include "core/decode/ethtool_fec.h"

#include <algorithm>
#include <optional>
#include <set>

#include "core/decode/values.h"

namespace railwright {
namespace {

// linux/ethtool_netlink.h: ETHTOOL_A_FEC_*, ETHTOOL_A_BITSET_*, ETHTOOL_A_BITSET_BIT_*.
constexpr std::uint16_t kModes = 2, kAuto = 3, kActive = 4;
constexpr std::uint16_t kBitsetNoMask = 1, kBitsetBits = 3, kBitsetValue = 4;
constexpr std::uint16_t kBitsBit = 1;
constexpr std::uint16_t kBitIndex = 1, kBitValue = 3;

std::string NameOf(std::uint32_t bit) {
  for (const FecMode& mode : FecModes())
    if (mode.bit == bit) return std::string(mode.name);
  return "bit" + std::to_string(bit);
}

// A bitset is a list of bits, or the bytes of a map in words of 32 bits in the host's order. In a list
// without a mask the bits that are there are set; in one with a mask those that carry VALUE.
bool TakeBitset(NetlinkBytes nest, std::set<std::uint32_t>& bits) {
  bool whole = true, no_mask = false;
  whole &= ForEachNetlinkAttribute(
      nest, [&](std::uint16_t type, NetlinkBytes) { no_mask = no_mask || type == kBitsetNoMask; });
  whole &= ForEachNetlinkAttribute(nest, [&](std::uint16_t type, NetlinkBytes value) {
    if (type == kBitsetValue) {
      for (std::size_t at = 0; at + 4 <= value.size(); at += 4) {
        const std::uint32_t word = NetlinkU32(value.subspan(at));
        for (std::uint32_t bit = 0; bit < 32; ++bit)
          if ((word >> bit & 1) != 0) bits.insert(static_cast<std::uint32_t>(at) * 8 + bit);
      }
    }
    if (type != kBitsetBits) return;
    whole &= ForEachNetlinkAttribute(value, [&](std::uint16_t kind, NetlinkBytes bit) {
      if (kind != kBitsBit) return;
      std::optional<std::uint32_t> index;
      bool set = no_mask;
      whole &= ForEachNetlinkAttribute(bit, [&](std::uint16_t what, NetlinkBytes number) {
        if (what == kBitIndex) index = NetlinkU32(number);
        if (what == kBitValue) set = true;
      });
      if (index && set) bits.insert(*index);
    });
  });
  return whole;
}

}  // namespace

const std::vector<FecMode>& FecModes() {
  // ETHTOOL_LINK_MODE_FEC_{NONE,RS,BASER,LLRS}_BIT.
  static const std::vector<FecMode> modes{{"off", 49}, {"rs", 50}, {"baser", 51}, {"llrs", 74}};
  return modes;
}

Result<Fields> DecodeFec(NetlinkBytes attributes) {
  std::set<std::uint32_t> modes;
  std::optional<bool> automatic;
  std::optional<std::uint32_t> active;
  bool whole = true;
  const bool all = ForEachNetlinkAttribute(attributes, [&](std::uint16_t type, NetlinkBytes value) {
    if (type == kModes) whole = TakeBitset(value, modes) && whole;
    if (type == kAuto && !value.empty()) automatic = value[0] != 0;
    if (type == kActive && value.size() >= 4) active = NetlinkU32(value);
  });
  if (!all || !whole) return Status(Code::kDataLoss, "ethtool FEC: an attribute is cut short");
  std::string names;
  for (const std::uint32_t bit : modes) names += (names.empty() ? "" : ",") + NameOf(bit);
  Fields fields;
  fields.Set("modes", names.empty() ? "none" : names);
  if (automatic) fields.Set("auto", *automatic ? "1" : "0");
  if (active) fields.Set("active", NameOf(*active));
  return fields;
}

Result<std::vector<std::uint32_t>> ParseFecModes(std::string_view text) {
  std::vector<std::uint32_t> bits;
  for (const std::string_view word : Words(text, ",")) {
    const auto mode = std::find_if(FecModes().begin(), FecModes().end(),
                                   [&](const FecMode& one) { return one.name == word; });
    if (mode == FecModes().end())
      return Status(Code::kInvalidArgument,
                    Quoted(word) + " is no FEC mode; allowed: off, rs, baser, llrs, divided by commas");
    bits.push_back(mode->bit);
  }
  if (bits.empty()) return Status(Code::kInvalidArgument, "no FEC mode; allowed: off, rs, baser, llrs");
  std::sort(bits.begin(), bits.end());
  bits.erase(std::unique(bits.begin(), bits.end()), bits.end());
  return bits;
}

}  // namespace railwright
