// /rtnl/link: interfaces, their MTU and administrative state.
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include <cerrno>

#include "agent/machine/backend.h"
#include "agent/machine/link_message.h"
#include "agent/machine/paths.h"
#include "agent/machine/rtnl_decode.h"
#include "core/decode/fields.h"

namespace railwright::machine {
namespace {

class RtnlLink final : public Backend {
 public:
  explicit RtnlLink(NetlinkSocket& socket) : socket_(socket) {}

  Result<std::string> Get(std::string_view path) override {
    const auto parts = PathParts(path);
    if (parts.size() < 3 || parts.size() > 4) return NoSuchPath(path);
    const std::string_view what = parts.size() == 4 ? parts[3] : std::string_view();
    if (!what.empty() && what != "mtu" && what != "state") return NoSuchPath(path);
    RW_ASSIGN_OR_RETURN(const LinkFacts link, ReadLink(socket_, parts[2], path));
    if (what == "mtu") {
      if (!link.mtu)
        return Status(Code::kUnimplemented, std::string(path) + ": this interface reports no MTU");
      return std::to_string(*link.mtu);
    }
    if (what == "state") return std::string(link.up ? "up" : "down");
    return All(link).Text();
  }

  Result<std::vector<std::string>> List(std::string_view path) override {
    const auto parts = PathParts(path);
    if (parts.size() == 2) return LinkNames(socket_);
    if (parts.size() != 3) return NoSuchPath(path);
    RW_RETURN_IF_ERROR(ReadLink(socket_, parts[2], path).status());
    return std::vector<std::string>{"mtu", "state"};
  }

  Status Set(std::string_view path, std::string_view value) override {
    const auto parts = PathParts(path);
    if (parts.size() != 4 || (parts[3] != "mtu" && parts[3] != "state")) return NoSuchPath(path);
    ifinfomsg head{};
    std::optional<std::uint32_t> mtu;
    if (parts[3] == "mtu") {
      const Result<std::uint64_t> number = ParseNumber(value);
      if (!number.ok()) return number.status().Within(path);
      if (*number > UINT32_MAX)
        return Status(Code::kInvalidArgument,
                      std::string(path) + ": " + std::string(value) + " is too large");
      mtu = static_cast<std::uint32_t>(*number);
    } else {
      if (value != "up" && value != "down")
        return Status(Code::kInvalidArgument,
                      std::string(path) + ": \"" + std::string(value) + "\" (allowed: up, down)");
      head.ifi_change = IFF_UP;
      head.ifi_flags = value == "up" ? IFF_UP : 0;
    }
    RW_ASSIGN_OR_RETURN(const LinkFacts link, ReadLink(socket_, parts[2], path));
    head.ifi_index = static_cast<int>(link.index);
    NetlinkMessage message(RTM_NEWLINK, 0);
    message.Header(head);
    if (mtu) message.PutU32(IFLA_MTU, *mtu);
    Status status = socket_.Do(message, std::string(path) + ": setting " + std::string(value));
    if (mtu && status.code() == Code::kInvalidArgument && link.min_mtu && link.max_mtu && *link.max_mtu != 0)
      return Status(status.code(),
                    status.message() + " (allowed: " + std::to_string(*link.min_mtu) + "…" +
                        std::to_string(*link.max_mtu) + ")",
                    status.error_number());
    return status;
  }

 private:
  Fields All(const LinkFacts& link) {
    Fields fields;
    fields.Set("ifindex", std::uint64_t{link.index});
    if (link.mtu) fields.Set("mtu", std::uint64_t{*link.mtu});
    if (link.min_mtu) fields.Set("min_mtu", std::uint64_t{*link.min_mtu});
    if (link.max_mtu) fields.Set("max_mtu", std::uint64_t{*link.max_mtu});
    fields.Set("state", link.up ? "up" : "down");
    if (link.carrier) fields.Set("carrier", *link.carrier ? "1" : "0");
    if (!link.kind.empty()) fields.Set("kind", link.kind);
    if (link.master != 0)
      if (std::string name = socket_.InterfaceName(link.master); !name.empty()) fields.Set("master", name);
    if (!link.address.empty()) fields.Set("address", link.address);
    return fields;
  }

  NetlinkSocket& socket_;
};

}  // namespace

LinkFacts DecodeLink(const NetlinkReply& reply) {
  const auto head = reply.Header<ifinfomsg>();
  LinkFacts link;
  link.index = static_cast<std::uint32_t>(head.ifi_index);
  link.up = (head.ifi_flags & IFF_UP) != 0;
  ForEachAttribute(reply.AfterHeader(sizeof head), [&](const NetlinkAttribute& attribute) {
    switch (attribute.type) {
      case IFLA_IFNAME: link.name = attribute.Text(); break;
      case IFLA_MTU: link.mtu = attribute.U32(); break;
      case IFLA_MIN_MTU: link.min_mtu = attribute.U32(); break;
      case IFLA_MAX_MTU: link.max_mtu = attribute.U32(); break;
      case IFLA_CARRIER: link.carrier = attribute.As<std::uint8_t>() != 0; break;
      case IFLA_MASTER: link.master = attribute.U32(); break;
      case IFLA_ADDRESS: link.address = HardwareAddress(attribute.value); break;
      case IFLA_LINKINFO:
        ForEachAttribute(attribute.value, [&](const NetlinkAttribute& info) {
          if (info.type == IFLA_INFO_KIND) link.kind = info.Text();
        });
        break;
      default: break;
    }
  });
  return link;
}

Result<LinkFacts> ReadLink(NetlinkSocket& socket, std::string_view name, std::string_view path) {
  if (!IsInterfaceName(name)) return NoSuchInterface(path);
  NetlinkMessage message(RTM_GETLINK, 0);
  message.Header(ifinfomsg{}).PutText(IFLA_IFNAME, name);
  // Without the statistics the answer is a third as long.
  message.PutU32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
  RW_ASSIGN_OR_RETURN(const auto replies, socket.Ask(message, path));
  if (replies.empty() || replies[0].type != RTM_NEWLINK)
    return Status(Code::kInternal, std::string(path) + ": the kernel answered something else");
  return DecodeLink(replies[0]);
}

Result<std::vector<std::string>> LinkNames(NetlinkSocket& socket) {
  NetlinkMessage message(RTM_GETLINK, NLM_F_DUMP);
  message.Header(ifinfomsg{}).PutU32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
  RW_ASSIGN_OR_RETURN(const auto replies, socket.Ask(message, "/rtnl/link"));
  std::vector<std::string> names;
  for (const NetlinkReply& reply : replies)
    if (reply.type == RTM_NEWLINK) names.push_back(DecodeLink(reply).name);
  return Sorted(std::move(names));
}

std::string HardwareAddress(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::uint8_t byte : bytes) {
    if (!text.empty()) text += ':';
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::unique_ptr<Backend> MakeRtnlLink(NetlinkSocket& socket) { return std::make_unique<RtnlLink>(socket); }

}  // namespace railwright::machine
