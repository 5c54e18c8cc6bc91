// /ethtool/<if>: channels, rings, pause over generic netlink; pfc_storm_prevention by ioctl.
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include <cerrno>
#include <span>

#include "agent/machine/backend.h"
#include "agent/machine/ethtool_ioctl.h"
#include "agent/machine/link_message.h"
#include "agent/machine/paths.h"
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

class Ethtool final : public Backend {
 public:
  explicit Ethtool(NetlinkSocket& rtnl) : rtnl_(rtnl) {}

  Result<std::string> Get(std::string_view path) override {
    const auto parts = PathParts(path);
    if (parts.size() == 3 && parts[2] == kPfcStorm) return pfc_storm_.Get(parts[1], path);
    const Group* group = parts.size() == 3 ? FindGroup(parts[2]) : nullptr;
    if (group == nullptr) return NoSuchPath(path);
    RW_ASSIGN_OR_RETURN(NetlinkMessage message, Request(*group, group->get, parts[1], path));
    RW_ASSIGN_OR_RETURN(const auto replies, Ask(message, path));
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
    return Sorted(std::move(names));
  }

  Status Set(std::string_view path, std::string_view value) override {
    const auto parts = PathParts(path);
    if (parts.size() == 3 && parts[2] == kPfcStorm) return pfc_storm_.Set(parts[1], value, path);
    const Group* group = parts.size() == 3 ? FindGroup(parts[2]) : nullptr;
    if (group == nullptr) return NoSuchPath(path);
    const Result<Fields> fields = Fields::Parse(value);
    if (!fields.ok()) return fields.status().Within(path);
    RW_ASSIGN_OR_RETURN(NetlinkMessage message, Request(*group, group->set, parts[1], path));
    bool any = false;
    for (const auto& [name, text] : fields->all()) {
      if (name.ends_with(kMaximum)) continue;  // a reading, kept when what was read is written back
      RW_RETURN_IF_ERROR(Put(*group, *fields, name, path, message));
      any = true;
    }
    if (!any)
      return Status(Code::kInvalidArgument, std::string(path) + ": no field to set (" + Names(*group) + ")");
    RW_RETURN_IF_ERROR(Open());
    message.header().nlmsg_type = family_;
    return genl_.Do(message, std::string(path) + ": setting " + std::string(value));
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

  Result<NetlinkMessage> Request(const Group& group, std::uint8_t command, std::string_view name,
                                 std::string_view path) {
    if (!IsInterfaceName(name)) return NoSuchInterface(path);
    NetlinkMessage message(0, 0);
    genlmsghdr head{};
    head.cmd = command;
    head.version = ETHTOOL_GENL_VERSION;
    message.Header(head);
    const std::size_t begun = message.Begin(group.header);
    message.PutText(ETHTOOL_A_HEADER_DEV_NAME, name).End(begun);
    return message;
  }

  Result<std::vector<NetlinkReply>> Ask(NetlinkMessage& message, std::string_view path) {
    RW_RETURN_IF_ERROR(Open());
    message.header().nlmsg_type = family_;
    return genl_.Ask(message, path);
  }

  /// Learns the number of the "ethtool" family once; it is built into the kernel and does not change.
  Status Open() {
    if (family_ != 0) return Ok();
    NetlinkMessage message(GENL_ID_CTRL, 0);
    genlmsghdr head{};
    head.cmd = CTRL_CMD_GETFAMILY;
    head.version = 1;
    message.Header(head).PutText(CTRL_ATTR_FAMILY_NAME, ETHTOOL_GENL_NAME);
    const auto replies = genl_.Ask(message, "ethtool netlink");
    if (!replies.ok() && replies.status().code() == Code::kNotFound)
      return Status(Code::kUnimplemented, "this kernel has no ethtool netlink (Linux 5.6)", EOPNOTSUPP);
    if (!replies.ok()) return replies.status();
    for (const NetlinkReply& reply : *replies)
      ForEachAttribute(reply.AfterHeader(sizeof(genlmsghdr)), [&](const NetlinkAttribute& attribute) {
        if (attribute.type == CTRL_ATTR_FAMILY_ID) family_ = attribute.As<std::uint16_t>();
      });
    return family_ != 0 ? Ok() : Status(Code::kInternal, "ethtool netlink: no family number");
  }

  NetlinkSocket& rtnl_;
  NetlinkSocket genl_{NETLINK_GENERIC};
  PfcStormPrevention pfc_storm_;
  std::uint16_t family_ = 0;
};

}  // namespace

std::unique_ptr<Backend> MakeEthtool(NetlinkSocket& rtnl) { return std::make_unique<Ethtool>(rtnl); }

}  // namespace railwright::machine
