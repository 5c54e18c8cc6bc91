#include "core/decode/devlink_info.h"

#include <map>

namespace railwright {
namespace {

// enum devlink_attr of linux/devlink.h.
constexpr std::uint16_t kBusName = 1, kDevName = 2;
constexpr std::uint16_t kDriverName = 98, kSerialNumber = 99;
constexpr std::uint16_t kVersionFixed = 100, kVersionRunning = 101, kVersionStored = 102;
constexpr std::uint16_t kVersionName = 103, kVersionValue = 104;
constexpr std::uint16_t kBoardSerialNumber = 146;

// One word of a list of fields.
std::string Word(std::string_view text, bool name) {
  std::string word(text);
  for (char& c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7f || (name && c == '=')) c = '_';
  }
  return word;
}

using Versions = std::map<std::string, std::string>;

bool TakeVersion(NetlinkBytes nest, Versions& versions) {
  std::string name, value;
  const bool whole = ForEachNetlinkAttribute(nest, [&](std::uint16_t type, NetlinkBytes bytes) {
    if (type == kVersionName) name = Word(NetlinkText(bytes), true);
    if (type == kVersionValue) value = Word(NetlinkText(bytes), false);
  });
  if (name.empty()) return whole;
  std::string& known = versions[name];
  if (known.empty())
    known = value;
  else if (known != value)
    known += "," + value;
  return whole;
}

}  // namespace

Result<Fields> DecodeDevlinkInfo(NetlinkBytes attributes) {
  std::string driver, serial, board;
  Versions fixed, running, stored;
  bool whole = true;
  const bool all = ForEachNetlinkAttribute(attributes, [&](std::uint16_t type, NetlinkBytes value) {
    switch (type) {
      case kDriverName: driver = Word(NetlinkText(value), false); break;
      case kSerialNumber: serial = Word(NetlinkText(value), false); break;
      case kBoardSerialNumber: board = Word(NetlinkText(value), false); break;
      case kVersionFixed: whole = TakeVersion(value, fixed) && whole; break;
      case kVersionRunning: whole = TakeVersion(value, running) && whole; break;
      case kVersionStored: whole = TakeVersion(value, stored) && whole; break;
      default: break;
    }
  });
  if (!all || !whole) return Status(Code::kDataLoss, "devlink info: an attribute is cut short");
  Fields fields;
  if (!driver.empty()) fields.Set("driver", driver);
  if (!serial.empty()) fields.Set("serial", serial);
  if (!board.empty()) fields.Set("board.serial", board);
  for (const auto& [kind, versions] :
       {std::pair{"fixed.", &fixed}, {"running.", &running}, {"stored.", &stored}})
    for (const auto& [name, value] : *versions) fields.Set(kind + name, value);
  return fields;
}

std::string DecodeDevlinkHandle(NetlinkBytes attributes) {
  std::string bus, device;
  ForEachNetlinkAttribute(attributes, [&](std::uint16_t type, NetlinkBytes value) {
    if (type == kBusName) bus = NetlinkText(value);
    if (type == kDevName) device = NetlinkText(value);
  });
  return bus.empty() || device.empty() ? std::string() : bus + "/" + device;
}

}  // namespace railwright
