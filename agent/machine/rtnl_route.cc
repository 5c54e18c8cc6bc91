// /rtnl/route/<table>: unicast routes (and those that refuse), both families.
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "agent/machine/backend.h"
#include "agent/machine/paths.h"
#include "agent/machine/rtnl_decode.h"
#include "agent/machine/set_valued.h"
#include "core/decode/fields.h"

namespace railwright::machine {
namespace {

struct TypeName {
  std::uint8_t type;
  std::string_view name;
};
constexpr TypeName kTypes[] = {{RTN_UNICAST, ""},
                               {RTN_BLACKHOLE, "blackhole"},
                               {RTN_UNREACHABLE, "unreachable"},
                               {RTN_PROHIBIT, "prohibit"},
                               {RTN_THROW, "throw"}};

std::optional<std::string_view> TypeOf(std::uint8_t type) {
  for (const TypeName& one : kTypes)
    if (one.type == type) return one.name;
  return std::nullopt;  // local, broadcast, anycast, multicast: the kernel's own
}

/// Tables that hold the host's own connectivity: read, never rewritten.
bool IsHostTable(std::uint32_t table) {
  return table == 0 || (table >= RT_TABLE_DEFAULT && table <= RT_TABLE_LOCAL);
}

/// Made by the kernel, by a redirect, a router advertisement or a DHCP client: comes and goes without us.
bool IsDynamic(std::uint8_t protocol) {
  return protocol == RTPROT_KERNEL || protocol == RTPROT_REDIRECT || protocol == RTPROT_RA ||
         protocol == RTPROT_DHCP;
}

IpAddress ViaAddress(const NetlinkAttribute& attribute) {
  // struct rtvia: a 16-bit family, then the address.
  return attribute.value.size() > 2 ? IpAddress::FromBytes(attribute.value.subspan(2)) : IpAddress();
}

void Beyond(Route& route, const std::string& what) {
  route.beyond += (route.beyond.empty() ? "" : " ") + what;
}

std::vector<NextHop> DecodeHops(std::span<const std::uint8_t> bytes, const InterfaceNames& names) {
  std::vector<NextHop> hops;
  while (bytes.size() >= sizeof(rtnexthop)) {
    rtnexthop head{};
    std::memcpy(&head, bytes.data(), sizeof head);
    if (head.rtnh_len < sizeof head || head.rtnh_len > bytes.size()) break;
    NextHop hop;
    hop.weight = head.rtnh_hops + 1;
    hop.onlink = (head.rtnh_flags & RTNH_F_ONLINK) != 0;
    hop.dev = names(static_cast<std::uint32_t>(head.rtnh_ifindex));
    ForEachAttribute(bytes.subspan(sizeof head, head.rtnh_len - sizeof head),
                     [&](const NetlinkAttribute& attribute) {
                       if (attribute.type == RTA_GATEWAY) hop.via = IpAddress::FromBytes(attribute.value);
                       if (attribute.type == RTA_VIA) hop.via = ViaAddress(attribute);
                     });
    hops.push_back(std::move(hop));
    bytes = bytes.subspan(std::min<std::size_t>(bytes.size(), RTNH_ALIGN(head.rtnh_len)));
  }
  SortHops(hops);
  return hops;
}

class RtnlRoute final : public Backend {
 public:
  explicit RtnlRoute(NetlinkSocket& socket) : socket_(socket) {}

  Result<std::string> Get(std::string_view path) override {
    if (const std::string netdev = MainOver(path); !netdev.empty()) return ReadSet(WayOver(path, netdev));
    RW_ASSIGN_OR_RETURN(const std::uint32_t table, TableOf(path));
    return ReadSet(KindOf(path, table));
  }

  Result<std::vector<std::string>> List(std::string_view path) override {
    if (PathParts(path).size() != 2) {
      RW_RETURN_IF_ERROR(TableOf(path).status());
      return std::vector<std::string>{};
    }
    std::vector<std::string> tables;
    for (int family : {AF_INET, AF_INET6}) {
      RW_ASSIGN_OR_RETURN(const auto replies, Dump(path, family, 0));
      for (const NetlinkReply& reply : replies)
        if (std::uint32_t table = 0; Decode(reply, table)) tables.push_back(std::to_string(table));
    }
    return Sorted(std::move(tables));
  }

  Status Set(std::string_view path, std::string_view value) override {
    if (const std::string netdev = MainOver(path); !netdev.empty()) return AddMissing(path, netdev, value);
    RW_ASSIGN_OR_RETURN(const std::uint32_t table, TableOf(path));
    if (IsHostTable(table))
      return Status(
          Code::kFailedPrecondition,
          std::string(path) + ": tables 0 and 253 to 255 are the host's own; use one of 1…252 or above 255");
    std::map<std::string, NetlinkMessage> wanted;
    std::vector<IpAddress> sources;
    for (const std::string& line : SortedLines(value)) {
      const Result<Route> route = Route::Parse(line);
      if (!route.ok()) return route.status().Within(path);
      Result<NetlinkMessage> message = Addition(*route, table);
      if (!message.ok()) return message.status().Within(std::string(path) + ": " + route->Text());
      if (route->source.family == AF_INET6) sources.push_back(route->source);
      wanted.emplace(route->Text(), std::move(*message));
    }
    Status status = MakeSetSo(socket_, KindOf(path, table), std::move(wanted));
    if (status.code() != Code::kInvalidArgument) return status;
    // The kernel refuses an IPv6 source address, as wrong, while it still looks for another owner of it.
    for (const IpAddress& source : sources)
      if (IsTentative(source))
        return Status(Code::kUnavailable,
                      status.message() + " (" + source.Text() +
                          " is not yet usable: duplicate address detection takes up to two seconds after the "
                          "link has carrier)",
                      EAGAIN);
    return status;
  }

 private:
  static Result<std::uint32_t> TableOf(std::string_view path) {
    const auto parts = PathParts(path);
    if (parts.size() != 3) return NoSuchPath(path);
    const Result<std::uint64_t> table = ParseNumber(parts[2]);
    if (!table.ok() || *table > UINT32_MAX)
      return Status(Code::kInvalidArgument, std::string(path) + ": a table is a number from 0 to 4294967295");
    return static_cast<std::uint32_t>(*table);
  }

  /// The interface of `/rtnl/route/main/<if>`, "" for all other paths.
  static std::string MainOver(std::string_view path) {
    const auto parts = PathParts(path);
    return parts.size() == 4 && parts[2] == "main" && IsInterfaceName(parts[3]) ? std::string(parts[3])
                                                                                : std::string();
  }

  /// The main table's routes over one interface that do not come with its addresses by themselves.
  SetKind WayOver(std::string_view path, const std::string& netdev) {
    return {path,
            [this, path, netdev]() -> Result<std::vector<SetItem>> {
              RW_ASSIGN_OR_RETURN(std::vector<SetItem> items, Read(path, RT_TABLE_MAIN));
              std::erase_if(items, [&](const SetItem& item) {
                std::uint32_t table = 0;
                const auto route = Decode(item.reply, table);
                return !route || item.reply.Header<rtmsg>().rtm_protocol == RTPROT_KERNEL ||
                       route->hops.size() != 1 || route->hops[0].dev != netdev;
              });
              return items;
            },
            RTM_DELROUTE};
  }

  /// What an address or a link took along. Nothing is removed: the table is the host's own.
  Status AddMissing(std::string_view path, const std::string& netdev, std::string_view value) {
    RW_ASSIGN_OR_RETURN(const std::string present, ReadSet(WayOver(path, netdev)));
    const auto there = SortedLines(present);
    for (const std::string& line : SortedLines(value)) {
      if (std::binary_search(there.begin(), there.end(), line)) continue;
      const Result<Route> route = Route::Parse(line);
      if (!route.ok()) return route.status().Within(path);
      if (route->hops.size() != 1 || route->hops[0].dev != netdev)
        return Status(Code::kInvalidArgument, std::string(path) + ": \"" + line + "\" is not over " + netdev);
      Result<NetlinkMessage> message = Addition(*route, RT_TABLE_MAIN);
      if (!message.ok()) return message.status().Within(std::string(path) + ": " + line);
      const Status status = socket_.Do(*message, std::string(path) + ": adding " + line);
      if (!status.ok() && status.error_number() != EEXIST) return status;
    }
    return Ok();
  }

  SetKind KindOf(std::string_view path, std::uint32_t table) {
    return {path, [this, path, table] { return Read(path, table); }, RTM_DELROUTE};
  }

  /// All routes of one family, filtered by the kernel where it can (4.20).
  Result<std::vector<NetlinkReply>> Dump(std::string_view path, int family, std::uint32_t table) {
    NetlinkMessage message(RTM_GETROUTE, NLM_F_DUMP);
    rtmsg head{};
    head.rtm_family = static_cast<std::uint8_t>(family);
    message.Header(head);
    if (table != 0) message.PutU32(RTA_TABLE, table);
    auto replies = socket_.Ask(message, path);
    // A table in which there never was a route does not exist; a kernel without IPv6 has no such family.
    if (!replies.ok() && table != 0 && replies.status().error_number() == ENOENT)
      return std::vector<NetlinkReply>{};
    if (!replies.ok() && family == AF_INET6 && replies.status().code() == Code::kUnimplemented)
      return std::vector<NetlinkReply>{};
    return replies;
  }

  Result<std::vector<SetItem>> Read(std::string_view path, std::uint32_t table) {
    std::vector<SetItem> items;
    kept_.clear();
    for (int family : {AF_INET, AF_INET6}) {
      RW_ASSIGN_OR_RETURN(const auto replies, Dump(path, family, table));
      for (const NetlinkReply& reply : replies) {
        std::uint32_t of = 0;
        const auto route = Decode(reply, of);
        if (!route || of != table) continue;
        if (!IsHostTable(table) && IsDynamic(reply.Header<rtmsg>().rtm_protocol)) continue;
        // The second dump reuses the socket's buffer, so the message itself is kept here.
        auto& bytes = kept_.emplace_back(reply.payload.begin(), reply.payload.end());
        items.push_back({route->Text(), {reply.type, reply.flags, bytes}});
      }
    }
    return items;
  }

  bool IsTentative(const IpAddress& address) {
    NetlinkMessage message(RTM_GETADDR, NLM_F_DUMP);
    ifaddrmsg head{};
    head.ifa_family = AF_INET6;
    message.Header(head);
    const auto replies = socket_.Ask(message, "addresses");
    if (!replies.ok()) return false;
    for (const NetlinkReply& reply : *replies) {
      bool same = false;
      std::uint32_t flags = 0;
      ForEachAttribute(reply.AfterHeader(sizeof head), [&](const NetlinkAttribute& attribute) {
        if (attribute.type == IFA_ADDRESS || attribute.type == IFA_LOCAL)
          same = same || IpAddress::FromBytes(attribute.value) == address;
        if (attribute.type == IFA_FLAGS) flags = attribute.U32();
      });
      if (same && (flags & IFA_F_TENTATIVE) != 0) return true;
    }
    return false;
  }

  static void PutVia(NetlinkMessage& message, const Route& route, const NextHop& hop) {
    if (!hop.via) return;
    if (hop.via.family == route.family()) {
      message.Put(RTA_GATEWAY, hop.via.span());
      return;
    }
    std::array<std::uint8_t, 18> via{};
    const auto family = static_cast<std::uint16_t>(hop.via.family);
    std::memcpy(via.data(), &family, sizeof family);
    std::copy(hop.via.bytes.begin(), hop.via.bytes.end(), via.begin() + 2);
    message.Put(RTA_VIA, via);
  }

  Result<NetlinkMessage> Addition(const Route& route, std::uint32_t table) {
    if (!route.beyond.empty()) return Status(Code::kUnimplemented, "\"" + route.beyond + "\" cannot be set");
    rtmsg head{};
    head.rtm_family = static_cast<std::uint8_t>(route.family());
    head.rtm_dst_len = static_cast<std::uint8_t>(route.destination.length);
    head.rtm_tos = route.tos;
    head.rtm_protocol = RTPROT_STATIC;
    head.rtm_scope = static_cast<std::uint8_t>(route.scope);
    for (const TypeName& one : kTypes)
      if (one.name == route.type) head.rtm_type = one.type;
    if (route.hops.size() == 1 && route.hops[0].onlink) head.rtm_flags |= RTNH_F_ONLINK;
    NetlinkMessage message(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL);
    message.Header(head).PutU32(RTA_TABLE, table);
    if (route.destination.length != 0) message.Put(RTA_DST, route.destination.address.span());
    if (route.metric != 0) message.PutU32(RTA_PRIORITY, route.metric);
    if (route.source) message.Put(RTA_PREFSRC, route.source.span());
    if (route.mtu != 0) {
      const std::size_t metrics = message.Begin(RTA_METRICS);
      message.PutU32(RTAX_MTU, route.mtu).End(metrics);
    }
    if (route.hops.size() == 1) {
      RW_ASSIGN_OR_RETURN(const std::uint32_t index, socket_.InterfaceIndex(route.hops[0].dev));
      message.PutU32(RTA_OIF, index);
      PutVia(message, route, route.hops[0]);
    } else if (!route.hops.empty()) {
      const std::size_t all = message.Begin(RTA_MULTIPATH);
      for (const NextHop& hop : route.hops) {
        RW_ASSIGN_OR_RETURN(const std::uint32_t index, socket_.InterfaceIndex(hop.dev));
        rtnexthop one{};
        one.rtnh_hops = static_cast<std::uint8_t>(hop.weight - 1);
        one.rtnh_ifindex = static_cast<int>(index);
        one.rtnh_flags = hop.onlink ? RTNH_F_ONLINK : 0;
        const std::size_t begun = message.Raw({reinterpret_cast<const std::uint8_t*>(&one), sizeof one});
        PutVia(message, route, hop);
        message.CloseRaw(begun);
      }
      message.End(all);
    }
    return message;
  }

  std::optional<Route> Decode(const NetlinkReply& reply, std::uint32_t& table) {
    return DecodeRoute(
        reply, [this](std::uint32_t index) { return socket_.InterfaceName(index); }, table);
  }

  NetlinkSocket& socket_;
  std::vector<std::vector<std::uint8_t>> kept_;
};

}  // namespace

std::optional<Route> DecodeRoute(const NetlinkReply& reply, const InterfaceNames& names,
                                 std::uint32_t& table) {
  const auto head = reply.Header<rtmsg>();
  const auto type = TypeOf(head.rtm_type);
  if (reply.type != RTM_NEWROUTE || !type || (head.rtm_flags & RTM_F_CLONED) != 0) return std::nullopt;
  Route route;
  route.type = *type;
  route.tos = head.rtm_tos;
  route.destination.address.family = head.rtm_family;
  route.destination.length = head.rtm_dst_len;
  route.scope = head.rtm_family == AF_INET ? head.rtm_scope : 0;
  table = head.rtm_table;
  NextHop hop;
  hop.onlink = (head.rtm_flags & RTNH_F_ONLINK) != 0;
  bool expires = false;
  ForEachAttribute(reply.AfterHeader(sizeof head), [&](const NetlinkAttribute& attribute) {
    switch (attribute.type) {
      case RTA_TABLE: table = attribute.U32(); break;
      case RTA_DST: route.destination.address = IpAddress::FromBytes(attribute.value); break;
      case RTA_GATEWAY: hop.via = IpAddress::FromBytes(attribute.value); break;
      case RTA_VIA: hop.via = ViaAddress(attribute); break;
      case RTA_OIF: hop.dev = names(attribute.U32()); break;
      case RTA_PREFSRC: route.source = IpAddress::FromBytes(attribute.value); break;
      case RTA_PRIORITY: route.metric = attribute.U32(); break;
      case RTA_MULTIPATH: route.hops = DecodeHops(attribute.value, names); break;
      case RTA_METRICS:
        ForEachAttribute(attribute.value, [&](const NetlinkAttribute& metric) {
          if (metric.type == RTAX_MTU) route.mtu = metric.U32();
        });
        break;
      case RTA_CACHEINFO: expires = attribute.As<rta_cacheinfo>().rta_expires != 0; break;
      case RTA_NH_ID: Beyond(route, "nhid " + std::to_string(attribute.U32())); break;
      case RTA_ENCAP_TYPE: Beyond(route, "encap " + std::to_string(attribute.As<std::uint16_t>())); break;
      case RTA_SRC: Beyond(route, "from " + IpAddress::FromBytes(attribute.value).Text()); break;
      default: break;
    }
  });
  if (expires || route.destination.address.family != head.rtm_family) return std::nullopt;
  if (route.destination.address.size() == 0) return std::nullopt;  // neither IPv4 nor IPv6
  if (route.hops.empty() && route.type.empty()) route.hops.push_back(std::move(hop));
  // A message that contradicts itself is shown, and is unlike any wish.
  bool damaged = route.destination.length > route.destination.longest() ||
                 (route.source && route.source.family != route.family()) ||
                 (route.family() == AF_INET6 && route.metric == 0);
  for (const NextHop& one : route.hops)
    damaged = damaged || (one.via.family == AF_INET && route.family() == AF_INET6);
  if (damaged) Beyond(route, "damaged");
  return route;
}

std::unique_ptr<Backend> MakeRtnlRoute(NetlinkSocket& socket) { return std::make_unique<RtnlRoute>(socket); }

}  // namespace railwright::machine
