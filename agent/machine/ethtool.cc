// /ethtool/<if>: channels, rings, pause, fec, module over generic netlink; pfc_storm_prevention by ioctl.
#include <linux/ethtool_netlink.h>

#include <cerrno>
#include <span>

#include "agent/machine/backend.h"
#include "agent/machine/ethtool_ioctl.h"
#include "agent/machine/generic_netlink.h"
#include "agent/machine/link_message.h"
#include "agent/machine/module_eeprom.h"
#include "agent/machine/paths.h"
#include "core/decode/ethtool_fec.h"
#include "core/decode/fields.h"

namespace railwright::machine {
namespace {

/// A value of a group: its name in paths, and the attributes that carry it and its maximum (0: has none).
struct Value {
  std::string_view name;
  std::uint16_t attribute;
  std::uint16_t maximum;
};

/// What ethtool sets in one message is one path.
struct Group {
  std::string_view name;
  std::uint8_t get, set;
  std::uint16_t header;
  std::span<const Value> values;
  bool flags;  ///< the values are 0 or 1, carried as a byte
};

constexpr Value kChannels[] = {
    {"rx", ETHTOOL_A_CHANNELS_RX_COUNT, ETHTOOL_A_CHANNELS_RX_MAX},
    {"tx", ETHTOOL_A_CHANNELS_TX_COUNT, ETHTOOL_A_CHANNELS_TX_MAX},
    {"other", ETHTOOL_A_CHANNELS_OTHER_COUNT, ETHTOOL_A_CHANNELS_OTHER_MAX},
    {"combined", ETHTOOL_A_CHANNELS_COMBINED_COUNT, ETHTOOL_A_CHANNELS_COMBINED_MAX}};
constexpr Value kRings[] = {{"rx", ETHTOOL_A_RINGS_RX, ETHTOOL_A_RINGS_RX_MAX},
                            {"tx", ETHTOOL_A_RINGS_TX, ETHTOOL_A_RINGS_TX_MAX}};
constexpr Value kPause[] = {
    {"autoneg", ETHTOOL_A_PAUSE_AUTONEG, 0}, {"rx", ETHTOOL_A_PAUSE_RX, 0}, {"tx", ETHTOOL_A_PAUSE_TX, 0}};

constexpr Group kGroups[] = {
    {"channels", ETHTOOL_MSG_CHANNELS_GET, ETHTOOL_MSG_CHANNELS_SET, ETHTOOL_A_CHANNELS_HEADER, kChannels,
     false},
    {"rings", ETHTOOL_MSG_RINGS_GET, ETHTOOL_MSG_RINGS_SET, ETHTOOL_A_RINGS_HEADER, kRings, false},
    {"pause", ETHTOOL_MSG_PAUSE_GET, ETHTOOL_MSG_PAUSE_SET, ETHTOOL_A_PAUSE_HEADER, kPause, true}};

const Group* FindGroup(std::string_view name) {
  for (const Group& group : kGroups)
    if (group.name == name) return &group;
  return nullptr;
}

constexpr std::string_view kMaximum = "_max";
constexpr std::string_view kPfcStorm = "pfc_storm_prevention";
/// Bits rather than numbers, so it is no Group.
constexpr std::string_view kFec = "fec";
/// Only read.
constexpr std::string_view kModule = "module";

class Ethtool final : public Backend {
 public:
  explicit Ethtool(NetlinkSocket& rtnl) : rtnl_(rtnl) {}

  Result<std::string> Get(std::string_view path) override {
    const auto parts = PathParts(path);
    if (parts.size() == 3 && parts[2] == kPfcStorm) return pfc_storm_.Get(parts[1], path);
    if (parts.size() == 3 && parts[2] == kFec) return GetFec(path, parts[1]);
    if (parts.size() == 3 && parts[2] == kModule) return module_.Get(parts[1], path);
    const Group* group = parts.size() == 3 ? FindGroup(parts[2]) : nullptr;
    if (group == nullptr) return NoSuchPath(path);
    RW_ASSIGN_OR_RETURN(NetlinkMessage message, Request(group->get, group->header, parts[1], path));
    RW_ASSIGN_OR_RETURN(const auto replies, family_.Ask(message, path));
    if (replies.empty()) return Status(Code::kInternal, std::string(path) + ": the kernel answered nothing");
    return Decode(*group, replies[0]).Text();
  }

  Result<std::vector<std::string>> List(std::string_view path) override {
    const auto parts = PathParts(path);
    if (parts.size() == 1) return LinkNames(rtnl_);
    if (parts.size() != 2) return NoSuchPath(path);
    RW_RETURN_IF_ERROR(ReadLink(rtnl_, parts[1], path).status());
    // Those that this driver answers.
    std::vector<std::string> names;
    for (const Group& group : kGroups) {
      const Result<std::string> text = Get(std::string(path) + "/" + std::string(group.name));
      if (text.ok()) names.emplace_back(group.name);
    }
    if (Get(std::string(path) + "/" + std::string(kPfcStorm)).ok()) names.emplace_back(kPfcStorm);
    if (GetFec(std::string(path) + "/fec", parts[1]).ok()) names.emplace_back(kFec);
    if (module_.Get(parts[1], std::string(path) + "/module").ok()) names.emplace_back(kModule);
    return Sorted(std::move(names));
  }

  Status Set(std::string_view path, std::string_view value) override {
    const auto parts = PathParts(path);
    if (parts.size() == 3 && parts[2] == kPfcStorm) return pfc_storm_.Set(parts[1], value, path);
    if (parts.size() == 3 && parts[2] == kModule)
      return Status(Code::kUnimplemented, std::string(path) + ": a module's EEPROM is only read");
    const bool fec = parts.size() == 3 && parts[2] == kFec;
    const Group* group = parts.size() == 3 ? FindGroup(parts[2]) : nullptr;
    if (group == nullptr && !fec) return NoSuchPath(path);
    const Result<Fields> fields = Fields::Parse(value);
    if (!fields.ok()) return fields.status().Within(path);
    if (fec) return SetFec(path, parts[1], *fields);
    RW_ASSIGN_OR_RETURN(NetlinkMessage message, Request(group->set, group->header, parts[1], path));
    bool any = false;
    for (const auto& [name, text] : fields->all()) {
      if (name.ends_with(kMaximum)) continue;  // a reading, kept when what was read is written back
      RW_RETURN_IF_ERROR(Put(*group, *fields, name, path, message));
      any = true;
    }
    if (!any)
      return Status(Code::kInvalidArgument, std::string(path) + ": no field to set (" + Names(*group) + ")");
    return family_.Do(message, std::string(path) + ": setting " + std::string(value));
  }

 private:
  static std::string Names(const Group& group) {
    std::string names;
    for (const Value& value : group.values) names += (names.empty() ? "" : ", ") + std::string(value.name);
    return "known: " + names;
  }

  static Status Put(const Group& group, const Fields& fields, const std::string& name, std::string_view path,
                    NetlinkMessage& message) {
    for (const Value& value : group.values) {
      if (value.name != name) continue;
      const Result<std::uint64_t> number = fields.Number(name);
      if (!number.ok()) return number.status().Within(path);
      const std::uint64_t most = group.flags ? 1 : UINT32_MAX;
      if (*number > most)
        return Status(Code::kInvalidArgument, std::string(path) + ": " + name + "=" +
                                                  std::to_string(*number) + " (allowed: 0…" +
                                                  std::to_string(most) + ")");
      if (group.flags)
        message.PutU8(value.attribute, static_cast<std::uint8_t>(*number));
      else
        message.PutU32(value.attribute, static_cast<std::uint32_t>(*number));
      return Ok();
    }
    return Status(Code::kInvalidArgument,
                  std::string(path) + ": no field \"" + name + "\" (" + Names(group) + ")");
  }

  static Fields Decode(const Group& group, const NetlinkReply& reply) {
    std::array<std::optional<std::uint32_t>, 32> numbers;
    ForEachAttribute(reply.AfterHeader(sizeof(genlmsghdr)), [&](const NetlinkAttribute& attribute) {
      if (attribute.type < numbers.size())
        numbers[attribute.type] = group.flags ? attribute.As<std::uint8_t>() : attribute.U32();
    });
    Fields fields;
    for (const Value& value : group.values) {
      // A kind that the device does not have is told by a maximum of 0.
      if (value.maximum != 0 && numbers[value.maximum].value_or(0) == 0) continue;
      if (!numbers[value.attribute]) continue;
      fields.Set(value.name, std::uint64_t{*numbers[value.attribute]});
      if (value.maximum != 0)
        fields.Set(std::string(value.name) + std::string(kMaximum), std::uint64_t{*numbers[value.maximum]});
    }
    return fields;
  }

  Result<std::string> GetFec(std::string_view path, std::string_view name) {
    RW_ASSIGN_OR_RETURN(NetlinkMessage message,
                        Request(ETHTOOL_MSG_FEC_GET, ETHTOOL_A_FEC_HEADER, name, path));
    RW_ASSIGN_OR_RETURN(const auto replies, family_.Ask(message, path));
    if (replies.empty()) return Status(Code::kInternal, std::string(path) + ": the kernel answered nothing");
    const Result<Fields> fields = DecodeFec(replies[0].AfterHeader(sizeof(genlmsghdr)));
    if (!fields.ok()) return fields.status().Within(path);
    return fields->Text();
  }

  /// `modes` replaces the whole set. `active` is a reading, kept when what was read is written back.
  Status SetFec(std::string_view path, std::string_view name, const Fields& fields) {
    RW_ASSIGN_OR_RETURN(NetlinkMessage message,
                        Request(ETHTOOL_MSG_FEC_SET, ETHTOOL_A_FEC_HEADER, name, path));
    bool any = false;
    for (const auto& [field, text] : fields.all()) {
      if (field == "active") continue;
      if (field == "modes") {
        // A driver that shows no mode ("none") takes none, but `auto` beside it.
        const auto bits = text == "none" ? Result(std::vector<std::uint32_t>{}) : ParseFecModes(text);
        if (!bits.ok()) return bits.status().Within(path);
        const std::size_t set = message.Begin(ETHTOOL_A_FEC_MODES);
        message.Put(ETHTOOL_A_BITSET_NOMASK, {});
        const std::size_t list = message.Begin(ETHTOOL_A_BITSET_BITS);
        for (const std::uint32_t bit : *bits) {
          const std::size_t one = message.Begin(ETHTOOL_A_BITSET_BITS_BIT);
          message.PutU32(ETHTOOL_A_BITSET_BIT_INDEX, bit).End(one);
        }
        message.End(list).End(set);
      } else if (field == "auto") {
        const Result<std::uint64_t> bit = fields.Number(field);
        if (!bit.ok() || *bit > 1)
          return Status(Code::kInvalidArgument, std::string(path) + ": auto=" + text + " (allowed: 0 or 1)");
        message.PutU8(ETHTOOL_A_FEC_AUTO, static_cast<std::uint8_t>(*bit));
      } else {
        return Status(Code::kInvalidArgument,
                      std::string(path) + ": no field \"" + field + "\" (known: modes, auto)");
      }
      any = true;
    }
    if (!any)
      return Status(Code::kInvalidArgument, std::string(path) + ": no field to set (known: modes, auto)");
    return family_.Do(message, std::string(path) + ": setting " + fields.Text());
  }

  static Result<NetlinkMessage> Request(std::uint8_t command, std::uint16_t header, std::string_view name,
                                        std::string_view path) {
    if (!IsInterfaceName(name)) return NoSuchInterface(path);
    NetlinkMessage message = GenericNetlink::Message(command, ETHTOOL_GENL_VERSION);
    const std::size_t begun = message.Begin(header);
    message.PutText(ETHTOOL_A_HEADER_DEV_NAME, name).End(begun);
    return message;
  }

  NetlinkSocket& rtnl_;
  PfcStormPrevention pfc_storm_;
  GenericNetlink family_{ETHTOOL_GENL_NAME, "this kernel has no ethtool netlink (Linux 5.6)"};
  ModuleEeprom module_{
      [this](NetlinkMessage& message, std::string_view what) { return family_.Ask(message, what); }};
};

}  // namespace

std::unique_ptr<Backend> MakeEthtool(NetlinkSocket& rtnl) { return std::make_unique<Ethtool>(rtnl); }

}  // namespace railwright::machine
