// PCI configuration space: capability lists, PCI Express device control, Access Control Services.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "railwright/result.h"

namespace railwright {

/// Capability numbers and offsets are those of the PCI Express Base Specification and of linux/pci_regs.h.
inline constexpr std::uint8_t kPciCapExpress = 0x10;
inline constexpr std::uint16_t kPciExtCapAcs = 0x000d;

/// Bit 15 of Device Control initiates a reset of the function (FLR). It reads 0 and is never written 1.
inline constexpr std::uint16_t kPciDevCtlWritable = 0x7fff;

/// What stands behind the Device Control register of a function, and where it is.
struct PciExpress {
  std::size_t control_at = 0;            ///< offset of Device Control, 2 bytes, little endian
  std::uint16_t control = 0;             ///< as read
  std::string_view type;                 ///< "endpoint", "root_port", "upstream", "downstream" …
  bool relaxed_ordering = false;         ///< bit 4
  bool no_snoop = false;                 ///< bit 11
  std::optional<unsigned> payload;       ///< bytes, 128…4096; none for the two reserved encodings
  std::optional<unsigned> read_request;  ///< bytes, 128…4096; none for the two reserved encodings
};

/// Access Control Services of a function.
struct PciAcs {
  std::size_t control_at = 0;    ///< offset of the control register, 2 bytes, little endian
  std::uint16_t capability = 0;  ///< bits that the function implements
  std::uint16_t control = 0;     ///< bits that are on
};

/// The ACS bits by the short names of the specification, lowest bit first.
struct PciAcsBit {
  std::string_view name;
  std::uint16_t mask;
};
inline constexpr PciAcsBit kPciAcsBits[] = {
    {"sv", 0x01},  // source validation
    {"tb", 0x02},  // translation blocking
    {"rr", 0x04},  // P2P request redirect
    {"cr", 0x08},  // P2P completion redirect
    {"uf", 0x10},  // upstream forwarding
    {"ec", 0x20},  // P2P egress control
    {"dt", 0x40},  // direct translated P2P
};

/// The bytes of one function's configuration space, as many as could be read. Nothing is read past their end.
class PciConfig {
 public:
  /// Unavailable with ENODEV when the device does not answer (all bits set); DataLoss below 64 bytes.
  /// `bytes` must outlive the object.
  static Result<PciConfig> Decode(std::string_view bytes);

  std::uint16_t vendor() const { return U16(0); }
  std::uint16_t device() const { return U16(2); }

  /// Offset of a capability of the standard list (0x40…0xff). NotFound when the whole list was walked and
  /// does not hold it. PermissionDenied when the list leads past the bytes that were given; DataLoss when it
  /// loops or leads into the header.
  Result<std::size_t> FindCapability(std::uint8_t id) const;
  /// The same for the extended list (from 0x100). Unavailable when the function is PCI Express, but its
  /// extended space was not given (256 bytes) or does not answer.
  Result<std::size_t> FindExtended(std::uint16_t id) const;

  Result<PciExpress> Express() const;
  Result<PciAcs> Acs() const;

 private:
  explicit PciConfig(std::string_view bytes) : bytes_(bytes) {}
  bool Holds(std::size_t at, std::size_t size) const { return at + size <= bytes_.size(); }
  std::uint8_t U8(std::size_t at) const { return static_cast<std::uint8_t>(bytes_[at]); }
  std::uint16_t U16(std::size_t at) const { return static_cast<std::uint16_t>(U8(at) | U8(at + 1) << 8); }
  std::uint32_t U32(std::size_t at) const { return U16(at) | static_cast<std::uint32_t>(U16(at + 2)) << 16; }
  Status ShortBy(std::size_t at) const;

  std::string_view bytes_;
};

/// The capability alone, for a reader that knows where it is: `bytes` begin at `at`, 10 of PCI Express and 8
/// of ACS. DataLoss when another capability stands there, or too few bytes.
inline constexpr std::size_t kPciExpressSize = 10, kPciAcsSize = 8;
Result<PciExpress> DecodePciExpress(std::string_view bytes, std::size_t at);
Result<PciAcs> DecodePciAcs(std::string_view bytes, std::size_t at);

/// Bytes of the three bit encoding of read request and payload: 128 << code; none above 4096.
std::optional<unsigned> PciBytesOfCode(unsigned code);
/// The reverse; none for what is no power of two in 128…4096.
std::optional<unsigned> PciCodeOfBytes(std::uint64_t bytes);

}  // namespace railwright
