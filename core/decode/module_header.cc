#include "core/decode/module_header.h"

#include <algorithm>
#include <array>

#include "core/decode/values.h"

namespace railwright {
namespace {

// linux/ethtool_netlink.h: ETHTOOL_A_MODULE_EEPROM_DATA.
constexpr std::uint16_t kData = 7;

struct FormFactor {
  std::uint8_t identifier;
  std::string_view name;
  ModuleInterface interface;
};

// SFF-8024 table 4-1, what fits into network cards.
constexpr FormFactor kForms[] = {
    {0x03, "SFP", ModuleInterface::kSff8472},   {0x0c, "QSFP", ModuleInterface::kSff8636},
    {0x0d, "QSFP+", ModuleInterface::kSff8636}, {0x11, "QSFP28", ModuleInterface::kSff8636},
    {0x18, "QSFP-DD", ModuleInterface::kCmis},  {0x19, "OSFP", ModuleInterface::kCmis},
    {0x1b, "DSFP", ModuleInterface::kCmis},     {0x1e, "QSFP", ModuleInterface::kCmis},
    {0x1f, "SFP-DD", ModuleInterface::kCmis},   {0x20, "SFP+", ModuleInterface::kCmis},
    {0x21, "OSFP-XD", ModuleInterface::kCmis}};

const FormFactor* FormOf(std::uint8_t identifier) {
  const auto* const found = std::find_if(std::begin(kForms), std::end(kForms), [&](const FormFactor& form) {
    return form.identifier == identifier;
  });
  return found == std::end(kForms) ? nullptr : found;
}

// SFF-8636 table 6-3, by code; 1 and 2 are SFF-8436, 0 is "not specified".
constexpr std::array<std::string_view, 9> kSff8636Revisions{"",    "4.8", "4.8", "1.3", "1.4",
                                                            "1.5", "2.0", "2.5", "2.8"};

struct State {
  std::uint8_t code;
  std::string_view field, name;
};
// CMIS table 8-7.
constexpr State kStates[] = {{1, "lowpwr", "LowPwr"},
                             {2, "pwrup", "PwrUp"},
                             {3, "ready", "Ready"},
                             {4, "pwrdn", "PwrDn"},
                             {5, "fault", "Fault"}};

std::string Hex(std::uint8_t byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return {'0', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
}

bool Bit(std::uint8_t byte, unsigned bit) { return (byte >> bit & 1) != 0; }

}  // namespace

std::string_view Name(ModuleInterface interface) {
  switch (interface) {
    case ModuleInterface::kSff8472: return "SFF-8472";
    case ModuleInterface::kSff8436: return "SFF-8436";
    case ModuleInterface::kSff8636: return "SFF-8636";
    case ModuleInterface::kCmis: return "CMIS";
    case ModuleInterface::kUnknown: break;
  }
  return "";
}

Result<ModuleHeader> ModuleHeader::Decode(NetlinkBytes bytes) {
  if (bytes.size() < kSize)
    return Status(Code::kDataLoss, "the driver gave " + std::to_string(bytes.size()) + " of the " +
                                       std::to_string(kSize) + " bytes of a module's header");
  // Drivers may fill up what they did not read, so only the header itself counts.
  bytes = bytes.first(kSize);
  const auto all = [&](std::uint8_t value) {
    return std::all_of(bytes.begin(), bytes.end(), [&](std::uint8_t byte) { return byte == value; });
  };
  if (all(0xff)) return Status(Code::kDataLoss, "the module's header is all 0xff: its bus does not answer");
  if (all(0x00))
    return Status(Code::kDataLoss, "the module's header is all 0x00: nothing was read, or it is blank");
  ModuleHeader header;
  header.identifier = bytes[0];
  const FormFactor* form = FormOf(header.identifier);
  if (form == nullptr) return header;
  header.interface = form->interface;
  if (form->interface == ModuleInterface::kSff8472) return header;
  header.revision_code = bytes[1];
  if (form->interface == ModuleInterface::kCmis) {
    header.flat = Bit(bytes[2], 7);
    header.state = static_cast<std::uint8_t>(bytes[3] >> 1 & 7);
  } else {
    if (bytes[1] == 1 || bytes[1] == 2) header.interface = ModuleInterface::kSff8436;
    header.flat = Bit(bytes[2], 2);
    header.data_not_ready = Bit(bytes[2], 0);
  }
  return header;
}

std::string_view ModuleHeader::Form() const {
  const FormFactor* form = FormOf(identifier);
  return form == nullptr ? std::string_view() : form->name;
}

std::string ModuleHeader::Revision() const {
  if (!revision_code) return {};
  if (interface == ModuleInterface::kCmis)
    return std::to_string(*revision_code >> 4) + "." + std::to_string(*revision_code & 15);
  if (*revision_code < kSff8636Revisions.size()) return std::string(kSff8636Revisions[*revision_code]);
  return Hex(*revision_code);
}

Fields ModuleHeader::ToFields() const {
  Fields fields;
  fields.Set("id", Hex(identifier));
  if (!Form().empty()) fields.Set("form", Form());
  if (interface != ModuleInterface::kUnknown) fields.Set("interface", Name(interface));
  if (const std::string revision = Revision(); !revision.empty()) fields.Set("revision", revision);
  if (flat) fields.Set("flat", std::uint64_t{*flat});
  if (data_not_ready) fields.Set("data_not_ready", std::uint64_t{*data_not_ready});
  if (state) {
    std::string word = "code" + std::to_string(*state);
    for (const State& known : kStates)
      if (known.code == *state) word = known.field;
    fields.Set("state", word);
  }
  return fields;
}

Result<ModuleHeader> DecodeModuleEeprom(NetlinkBytes attributes) {
  std::optional<NetlinkBytes> data;
  const bool whole = ForEachNetlinkAttribute(attributes, [&](std::uint16_t type, NetlinkBytes value) {
    if (type == kData) data = value;
  });
  if (!whole) return Status(Code::kDataLoss, "module EEPROM: an attribute is cut short");
  if (!data || data->empty())
    return Status(Code::kDataLoss, "the driver read nothing: no module is plugged in, or it does not answer");
  return ModuleHeader::Decode(*data);
}

Result<std::string> DescribeModule(std::string_view fields) {
  RW_ASSIGN_OR_RETURN(const Fields parsed, Fields::Parse(fields));
  const std::string *id = parsed.Find("id"), *form = parsed.Find("form"),
                    *interface = parsed.Find("interface"), *revision = parsed.Find("revision"),
                    *not_ready = parsed.Find("data_not_ready"), *state = parsed.Find("state");
  if (id == nullptr)
    return Status(Code::kInvalidArgument, Quoted(fields) + " tells no module (no id among its fields)");
  std::string said = form != nullptr ? *form : "identifier " + *id;
  if (interface != nullptr) said += ", " + *interface + (revision != nullptr ? " " + *revision : "");
  if (not_ready != nullptr && *not_ready == "1") said += ", data not ready";
  if (state != nullptr) {
    std::string_view name = *state;
    for (const State& known : kStates)
      if (known.field == *state) name = known.name;
    said.append(", state ").append(name);
  }
  return said;
}

}  // namespace railwright
