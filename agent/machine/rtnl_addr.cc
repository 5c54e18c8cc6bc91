// /rtnl/addr/<if>: the permanent addresses of an interface, both families.
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>

#include <cerrno>

#include "agent/machine/backend.h"
#include "agent/machine/ip_address.h"
#include "agent/machine/paths.h"
#include "agent/machine/rtnl_decode.h"
#include "agent/machine/set_valued.h"
#include "core/decode/fields.h"

namespace railwright::machine {
namespace {

/// IFA_PROTO (Linux 5.18) and its values that mean "the kernel made it": loopback, router advertisement,
/// link-local. linux/if_addr.h of older userland lacks the values.
constexpr std::uint16_t kProtocolAttribute = 11;
constexpr std::uint8_t kLastKernelProtocol = 3;

class RtnlAddr final : public Backend {
 public:
  explicit RtnlAddr(NetlinkSocket& socket) : socket_(socket) {}

  Result<std::string> Get(std::string_view path) override {
    RW_ASSIGN_OR_RETURN(const std::uint32_t index, IndexOf(path));
    return ReadSet(KindOf(path, index));
  }

  Result<std::vector<std::string>> List(std::string_view path) override {
    if (PathParts(path).size() == 2) return LinkNames(socket_);
    RW_RETURN_IF_ERROR(IndexOf(path).status());
    return std::vector<std::string>{};
  }

  Status Set(std::string_view path, std::string_view value) override {
    RW_ASSIGN_OR_RETURN(const std::uint32_t index, IndexOf(path));
    std::map<std::string, NetlinkMessage> wanted;
    for (const std::string& line : SortedLines(value)) {
      const Result<Address> address = Address::Parse(line);
      if (!address.ok()) return address.status().Within(path);
      wanted.emplace(address->Text(), Addition(*address, index));
    }
    return MakeSetSo(socket_, KindOf(path, index), std::move(wanted));
  }

 private:
  Result<std::uint32_t> IndexOf(std::string_view path) {
    const auto parts = PathParts(path);
    if (parts.size() != 3) return NoSuchPath(path);
    const Result<std::uint32_t> index = socket_.InterfaceIndex(parts[2]);
    if (!index.ok()) return NoSuchInterface(path);
    return *index;
  }

  SetKind KindOf(std::string_view path, std::uint32_t index) {
    return {path, [this, path, index] { return Read(path, index); }, RTM_DELADDR};
  }

  Result<std::vector<SetItem>> Read(std::string_view path, std::uint32_t index) {
    NetlinkMessage message(RTM_GETADDR, NLM_F_DUMP);
    ifaddrmsg head{};
    head.ifa_index = index;  // the kernel filters since 4.20; Decode filters in any case
    message.Header(head);
    RW_ASSIGN_OR_RETURN(const auto replies, socket_.Ask(message, path));
    std::vector<SetItem> items;
    for (const NetlinkReply& reply : replies)
      if (const auto address = DecodeAddress(reply, index)) items.push_back({address->Text(), reply});
    return items;
  }

  static NetlinkMessage Addition(const Address& address, std::uint32_t index) {
    ifaddrmsg head{};
    head.ifa_family = static_cast<std::uint8_t>(address.local.address.family);
    head.ifa_prefixlen = static_cast<std::uint8_t>(address.local.length);
    head.ifa_index = index;
    head.ifa_scope = RT_SCOPE_UNIVERSE;
    NetlinkMessage message(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
    message.Header(head);
    message.Put(IFA_LOCAL, address.local.address.span());
    message.Put(IFA_ADDRESS, address.peer ? address.peer.span() : address.local.address.span());
    return message;
  }

  NetlinkSocket& socket_;
};

}  // namespace

std::string Address::Text() const {
  std::string text = peer ? local.address.Text() + " peer " + peer.Text() + "/" + std::to_string(local.length)
                          : local.Text();
  return failed ? text + " dadfailed" : text;
}

std::optional<Address> DecodeAddress(const NetlinkReply& reply, std::uint32_t index) {
  const auto head = reply.Header<ifaddrmsg>();
  if (reply.type != RTM_NEWADDR || head.ifa_index != index) return std::nullopt;
  if (head.ifa_scope > RT_SCOPE_SITE) return std::nullopt;  // link, host, nowhere
  IpAddress address, local;
  std::uint32_t flags = head.ifa_flags;
  std::uint8_t protocol = 0;
  ForEachAttribute(reply.AfterHeader(sizeof head), [&](const NetlinkAttribute& attribute) {
    if (attribute.type == IFA_ADDRESS) address = IpAddress::FromBytes(attribute.value);
    if (attribute.type == IFA_LOCAL) local = IpAddress::FromBytes(attribute.value);
    if (attribute.type == IFA_FLAGS) flags = attribute.U32();
    if (attribute.type == kProtocolAttribute) protocol = attribute.As<std::uint8_t>();
  });
  if ((flags & IFA_F_PERMANENT) == 0) return std::nullopt;
  // The same bit says "secondary" of an IPv4 address, which is an address like others.
  if (head.ifa_family == AF_INET6 && (flags & IFA_F_TEMPORARY) != 0) return std::nullopt;
  if (protocol != 0 && protocol <= kLastKernelProtocol) return std::nullopt;
  Address result;
  result.local = {local ? local : address, head.ifa_prefixlen};
  if (local && local != address) result.peer = address;
  if (!result.local.address || result.local.length > result.local.longest()) return std::nullopt;
  if (result.peer && result.peer.family != result.local.address.family) return std::nullopt;
  result.failed = (flags & IFA_F_DADFAILED) != 0;
  return result;
}

Result<Address> Address::Parse(std::string_view line) {
  Words words(line);
  Address address;
  const std::string_view first = words.Take();
  if (words.TakeIf("peer")) {
    const Result<IpAddress> own = IpAddress::Parse(first);
    if (!own.ok()) return own.status();
    const Result<IpPrefix> peer = IpPrefix::Parse(words.Take(), true);
    if (!peer.ok()) return peer.status();
    address.local = {*own, peer->length};
    address.peer = peer->address;
  } else {
    const Result<IpPrefix> local = IpPrefix::Parse(first, false);
    if (!local.ok()) return local.status();
    address.local = *local;
  }
  // What a set that was read may say of an address is no wish; written back, the address is tried again.
  words.TakeIf("dadfailed");
  if (!words.done())
    return Status(Code::kInvalidArgument,
                  "\"" + std::string(words.Peek()) + "\" in \"" + std::string(line) + "\" is not understood");
  if (address.peer && address.peer.family != address.local.address.family)
    return Status(Code::kInvalidArgument, "\"" + std::string(line) + "\" mixes IPv4 and IPv6");
  const auto& bytes = address.local.address.bytes;
  const bool link_local =
      address.local.address.family == AF_INET6 && bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
  if (link_local || address.local.address.IsZero())
    return Status(Code::kInvalidArgument,
                  address.local.Text() + " is no address to manage (the kernel owns link-local ones)");
  return address;
}

std::unique_ptr<Backend> MakeRtnlAddr(NetlinkSocket& socket) { return std::make_unique<RtnlAddr>(socket); }

}  // namespace railwright::machine
