// The head of a transceiver's EEPROM: what kind of module is plugged in, and whether it is up. Its optics
// (power, temperature, thresholds) are not read here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/decode/fields.h"
#include "core/decode/netlink_attributes.h"
#include "railwright/result.h"

namespace railwright {

/// How a module lays out its pages. It follows from the identifier; SFF-8436 and SFF-8636 share theirs, and
/// the revision byte tells them apart.
enum class ModuleInterface : std::uint8_t { kUnknown, kSff8472, kSff8436, kSff8636, kCmis };

/// "SFF-8472", "SFF-8436", "SFF-8636", "CMIS"; "" of kUnknown.
std::string_view Name(ModuleInterface interface);

/// The first four bytes of the lower page (of A0h on an SFP). What the module's standard does not have there
/// is absent.
struct ModuleHeader {
  /// Byte 0, by SFF-8024 table 4-1: 0x03 SFP, 0x0d QSFP+, 0x11 QSFP28, 0x18 QSFP-DD, 0x19 OSFP …
  std::uint8_t identifier = 0;
  ModuleInterface interface = ModuleInterface::kUnknown;
  /// Byte 1: SFF-8636 table 6-3, or CMIS 8.2.1. SFF-8472 has its own far behind (A0h byte 94).
  std::optional<std::uint8_t> revision_code;
  /// Only page 00h exists: SFF-8636 byte 2 bit 2, CMIS byte 2 bit 7.
  std::optional<bool> flat;
  /// SFF-8636 byte 2 bit 0: not powered up yet, nothing else that it tells counts.
  std::optional<bool> data_not_ready;
  /// CMIS byte 3 bits 3 to 1: 1 LowPwr, 2 PwrUp, 3 Ready, 4 PwrDn, 5 Fault; 0, 6 and 7 are reserved.
  std::optional<std::uint8_t> state;

  static constexpr std::size_t kSize = 4;

  /// Bytes behind the first four are not looked at. An identifier that this build does not know is no error.
  /// DataLoss: fewer than four bytes; all 0xff (nothing drives the bus); all 0x00 (the driver filled its
  /// buffer and read nothing, or the module is blank).
  static Result<ModuleHeader> Decode(NetlinkBytes bytes);
  /// "OSFP"; "" when this build does not know the identifier. 0x1e is every QSFP that speaks CMIS (QSFP56,
  /// QSFP112), so it is "QSFP".
  std::string_view Form() const;
  /// The revision as the standard spells it: "5.2" of 0x52 in CMIS. A code of SFF-8636 stands for several: it
  /// is the first of them ("2.8"), or the last for "or earlier" ("1.3"; SFF-8436 "4.8"). A reserved code is
  /// "0x09"; "" when the module tells none.
  std::string Revision() const;
  /// `id=0x19 form=OSFP interface=CMIS revision=5.2 flat=0 data_not_ready=0 state=ready`, without what is
  /// absent. States in lower case (lowpwr pwrup ready pwrdn fault), reserved ones "code6".
  Fields ToFields() const;
};

/// The attributes of an ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY to a read from offset 0, behind its generic
/// netlink header. DataLoss as Decode, when an attribute is cut short, and when there is no data: mlx5
/// answers a read that its firmware refused with success and nothing.
Result<ModuleHeader> DecodeModuleEeprom(NetlinkBytes attributes);

/// For a message, out of what ModuleHeader::ToFields gave: "OSFP, CMIS 5.2, state Fault", "QSFP28, SFF-8636
/// 2.8, data not ready", "identifier 0x7f". InvalidArgument: no fields, or no `id` among them.
Result<std::string> DescribeModule(std::string_view fields);

}  // namespace railwright
