#include "core/decode/pci_config.h"

#include <array>
#include <cerrno>
#include <string>

namespace railwright {
namespace {

constexpr std::size_t kHeader = 0x40;
constexpr std::size_t kStandard = 0x100;
constexpr std::size_t kWhole = 0x1000;
/// Capabilities lie on multiples of four, so there cannot be more of them; one more step is a loop.
constexpr int kMostStandard = (kStandard - kHeader) / 4;
constexpr int kMostExtended = (kWhole - kStandard) / 4;

std::string Hex(std::size_t number) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (int shift = 12; shift >= 0; shift -= 4)
    if (!text.empty() || number >> shift != 0 || shift <= 4) text += kDigits[number >> shift & 0xf];
  return "0x" + text;
}

std::uint16_t Word(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(static_cast<std::uint8_t>(bytes[at]) |
                                    static_cast<std::uint8_t>(bytes[at + 1]) << 8);
}

std::string_view TypeName(unsigned type) {
  // PCI_EXP_FLAGS bits 7:4; the gaps are reserved.
  switch (type) {
    case 0x0: return "endpoint";
    case 0x1: return "legacy_endpoint";
    case 0x4: return "root_port";
    case 0x5: return "upstream";
    case 0x6: return "downstream";
    case 0x7: return "pcie_to_pci_bridge";
    case 0x8: return "pci_to_pcie_bridge";
    case 0x9: return "root_complex_endpoint";
    case 0xa: return "root_complex_event_collector";
    default: return "reserved";
  }
}

}  // namespace

std::optional<unsigned> PciBytesOfCode(unsigned code) {
  if (code > 5) return std::nullopt;
  return 128U << code;
}

std::optional<unsigned> PciCodeOfBytes(std::uint64_t bytes) {
  for (unsigned code = 0; code <= 5; ++code)
    if (bytes == 128U << code) return code;
  return std::nullopt;
}

Result<PciConfig> PciConfig::Decode(std::string_view bytes) {
  if (bytes.size() < kHeader)
    return Status(Code::kDataLoss, "configuration space of " + std::to_string(bytes.size()) +
                                       " bytes; its header alone has 64");
  if (bytes.size() > kWhole) bytes = bytes.substr(0, kWhole);
  const PciConfig config(bytes);
  // A read that nobody answers returns ones. No vendor has that number.
  if (config.vendor() == 0xffff)
    return Status(Code::kUnavailable, "reads all ones: the device does not answer (gone, or powered down)",
                  ENODEV);
  return config;
}

Status PciConfig::ShortBy(std::size_t at) const {
  return Status(Code::kPermissionDenied,
                "short read: only " + std::to_string(bytes_.size()) + " bytes, and the list goes on at " +
                    Hex(at) + "; needs CAP_SYS_ADMIN in the first user namespace",
                EPERM);
}

Result<std::size_t> PciConfig::FindCapability(std::uint8_t id) const {
  constexpr std::size_t kStatus = 0x06, kHeaderType = 0x0e;
  constexpr unsigned kHasList = 0x10, kCardbus = 0x02;
  const Status absent(Code::kNotFound, "no capability " + Hex(id) + " in its list", ENOENT);
  if ((U16(kStatus) & kHasList) == 0) return absent;
  std::size_t at = U8((U8(kHeaderType) & 0x7f) == kCardbus ? 0x14 : 0x34) & 0xfcU;
  for (int step = 0; at != 0; ++step) {
    if (step == kMostStandard) return Status(Code::kDataLoss, "its list of capabilities loops");
    if (at < kHeader)
      return Status(Code::kDataLoss, "its list of capabilities leads to " + Hex(at) + ", into the header");
    if (!Holds(at, 2)) return ShortBy(at);
    if (U8(at) == 0xff)
      return Status(Code::kDataLoss, "its list of capabilities leads to " + Hex(at) + ", where none is");
    if (U8(at) == id) return at;
    at = U8(at + 1) & 0xfcU;
  }
  return absent;
}

Result<std::size_t> PciConfig::FindExtended(std::uint16_t id) const {
  const Status absent(Code::kNotFound, "no extended capability " + Hex(id), ENOENT);
  const auto express = FindCapability(kPciCapExpress);
  // Conventional PCI has no extended space.
  if (!express.ok() && express.status().code() == Code::kNotFound) return absent;
  if (!express.ok()) return express.status();
  if (bytes_.size() <= kStandard)
    return Status(Code::kUnavailable, "only " + std::to_string(bytes_.size()) +
                                          " bytes of configuration space, and extended capabilities begin "
                                          "at 0x100; needs MMCONFIG (a virtual machine may have none)");
  std::size_t at = kStandard;
  for (int step = 0; at != 0; ++step) {
    if (step == kMostExtended) return Status(Code::kDataLoss, "its list of extended capabilities loops");
    if (at < kStandard)
      return Status(Code::kDataLoss,
                    "its list of extended capabilities leads to " + Hex(at) + ", out of the extended space");
    if (!Holds(at, 4)) return ShortBy(at);
    const std::uint32_t header = U32(at);
    if (header == 0xffffffff)
      return Status(Code::kUnavailable, "its extended configuration space does not answer at " + Hex(at));
    // An empty list is one header of zero.
    if (header == 0) return absent;
    if ((header & 0xffff) == id) return at;
    at = header >> 20 & 0xffcU;
  }
  return absent;
}

Result<PciExpress> PciConfig::Express() const {
  RW_ASSIGN_OR_RETURN(const std::size_t at, FindCapability(kPciCapExpress));
  if (!Holds(at, kPciExpressSize)) return ShortBy(at + 8);
  return DecodePciExpress(bytes_.substr(at, kPciExpressSize), at);
}

Result<PciAcs> PciConfig::Acs() const {
  RW_ASSIGN_OR_RETURN(const std::size_t at, FindExtended(kPciExtCapAcs));
  if (!Holds(at, kPciAcsSize)) return ShortBy(at + 4);
  return DecodePciAcs(bytes_.substr(at, kPciAcsSize), at);
}

Result<PciExpress> DecodePciExpress(std::string_view bytes, std::size_t at) {
  if (bytes.size() < kPciExpressSize || static_cast<std::uint8_t>(bytes[0]) != kPciCapExpress)
    return Status(Code::kDataLoss, "no PCI Express capability at " + Hex(at));
  const unsigned control = Word(bytes, 8);
  PciExpress express;
  express.type = TypeName(Word(bytes, 2) >> 4 & 0xfU);
  express.control_at = at + 8;
  express.control = static_cast<std::uint16_t>(control);
  express.relaxed_ordering = (control & 0x10) != 0;
  express.no_snoop = (control & 0x800) != 0;
  express.payload = PciBytesOfCode(control >> 5 & 7);
  express.read_request = PciBytesOfCode(control >> 12 & 7);
  return express;
}

Result<PciAcs> DecodePciAcs(std::string_view bytes, std::size_t at) {
  if (bytes.size() < kPciAcsSize || Word(bytes, 0) != kPciExtCapAcs)
    return Status(Code::kDataLoss, "no ACS capability at " + Hex(at));
  return PciAcs{at + 6, Word(bytes, 4), Word(bytes, 6)};
}

}  // namespace railwright
