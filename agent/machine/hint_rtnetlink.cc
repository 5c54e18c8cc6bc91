// Links, addresses, routes, rules, per-interface IP settings and DCB of this network namespace.
#include <linux/dcbnl.h>
#include <linux/fib_rules.h>
#include <linux/netconf.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <array>

#include "agent/machine/linux_hints_netlink.h"
#include "agent/machine/netlink_socket.h"

namespace railwright {
namespace {

// <linux/if.h> has it, but cannot live beside <net/if.h>.
constexpr unsigned kLowerUp = 1U << 16;
constexpr unsigned kStateFlags = IFF_UP | IFF_RUNNING | kLowerUp;

// The name came, went or now means another interface.
void Moved(const std::string& name, HintSet& out) {
  out.LinksMoved();
  out.Add("/rtnl/link");  // the list of names is read too
  out.Add("/sys/class/net");
  out.Add("/sys/bus/pci/devices");  // where a port's interface is looked up by its BDF
  out.Add("/ethtool/" + name);
  out.Add("/rtnl/addr/" + name);
  out.Add("/rtnl/route");
  out.Add("/proc/sys/net/ipv4/conf/" + name);
  out.Add("/proc/sys/net/ipv6/conf/" + name);
}

void ReadLink(std::uint16_t type, Bytes body, LinkTable& links, HintSet& out) {
  const auto info = ReadAs<ifinfomsg>(body);
  if (!info) return;
  const std::string name = TextOf(FindAttribute(After(body, sizeof *info), IFLA_IFNAME));
  const LinkTable::Link* known = links.Find(info->ifi_index);
  // A bridge speaks of its ports with the same message types; that is a change of the port, not its end.
  if (type == RTM_DELLINK && info->ifi_family == AF_UNSPEC) {
    const std::string gone = known != nullptr ? known->name : name;
    links.Erase(info->ifi_index);
    if (!gone.empty()) Moved(gone, out);
    return;
  }
  if (name.empty()) return;
  if (known == nullptr || known->name != name) {
    if (known != nullptr) Moved(known->name, out);
    Moved(name, out);
  }
  out.Add("/rtnl/link/" + name);
  out.Add("/ethtool/" + name);
  out.Add("/sys/class/net/" + name);
  // The kernel drops the IPv4 routes of a link that goes down without a message of its own.
  if (known != nullptr && ((known->flags ^ info->ifi_flags) & kStateFlags) != 0) out.Add("/rtnl/route");
  links.Put(info->ifi_index, {name, info->ifi_flags});
}

void ReadAddress(Bytes body, const LinkTable& links, HintSet& out) {
  const auto address = ReadAs<ifaddrmsg>(body);
  if (!address) return;
  const std::string name = links.NameOf(static_cast<int>(address->ifa_index));
  out.Add(name.empty() ? "/rtnl/addr" : "/rtnl/addr/" + name);
  // So are the IPv4 routes that preferred an address that was removed.
  out.Add("/rtnl/route");
}

void ReadRoute(Bytes body, HintSet& out) {
  const auto route = ReadAs<rtmsg>(body);
  if (!route || (route->rtm_flags & RTM_F_CLONED) != 0) return;
  const Bytes table = FindAttribute(After(body, sizeof *route), RTA_TABLE);
  out.Add("/rtnl/route/" + std::to_string(ReadAs<std::uint32_t>(table).value_or(route->rtm_table)));
}

void ReadRule(Bytes body, HintSet& out) {
  const auto rule = ReadAs<fib_rule_hdr>(body);
  if (!rule) return;
  const Bytes priority = FindAttribute(After(body, sizeof *rule), FRA_PRIORITY);
  out.Add("/rtnl/rule/" + std::to_string(ReadAs<std::uint32_t>(priority).value_or(0)));
}

// The few /proc/sys values that the kernel announces itself, whoever wrote them and through whichever procfs.
constexpr std::array<const char*, NETCONFA_MAX + 1> NetconfFiles() {
  std::array<const char*, NETCONFA_MAX + 1> files{};
  files[NETCONFA_FORWARDING] = "forwarding";
  files[NETCONFA_RP_FILTER] = "rp_filter";
  files[NETCONFA_MC_FORWARDING] = "mc_forwarding";
  files[NETCONFA_IGNORE_ROUTES_WITH_LINKDOWN] = "ignore_routes_with_linkdown";
  files[NETCONFA_BC_FORWARDING] = "bc_forwarding";
  return files;
}

void ReadNetconf(Bytes body, const LinkTable& links, HintSet& out) {
  static constexpr auto kFiles = NetconfFiles();
  const auto config = ReadAs<netconfmsg>(body);
  if (!config || (config->ncm_family != AF_INET && config->ncm_family != AF_INET6)) return;
  const Bytes attributes = After(body, sizeof *config);
  const auto index = ReadAs<std::int32_t>(FindAttribute(attributes, NETCONFA_IFINDEX));
  if (!index) return;
  const std::string name = *index == NETCONFA_IFINDEX_ALL       ? "all"
                           : *index == NETCONFA_IFINDEX_DEFAULT ? "default"
                                                                : links.NameOf(*index);
  if (name.empty()) return;
  const std::string folder =
      std::string("/proc/sys/net/") + (config->ncm_family == AF_INET ? "ipv4" : "ipv6") + "/conf/" + name;
  int values = 0;
  std::string file;
  ForEachAttribute(attributes, [&](int type, Bytes) {
    if (type == NETCONFA_IFINDEX) return;
    ++values;
    if (type >= 0 && type <= NETCONFA_MAX && kFiles[static_cast<std::size_t>(type)] != nullptr)
      file = kFiles[static_cast<std::size_t>(type)];
  });
  if (values == 1 && !file.empty()) {
    out.Add(folder + "/" + file);
  } else {
    // All values at once: the folder was made (a rename makes it anew after its RTM_NEWLINK).
    out.LinksMoved();
    out.Add(folder);
  }
}

void ReadDcb(Bytes body, HintSet& out) {
  const std::string name = TextOf(FindAttribute(After(body, sizeof(dcbmsg)), DCB_ATTR_IFNAME));
  out.Add(name.empty() ? "/dcb" : "/dcb/" + name);
}

class RtnetlinkHints final : public HintSource {
 public:
  explicit RtnetlinkHints(MulticastSocket events) : events_(std::move(events)) {}

  int fd() const override { return events_.fd(); }

  void Drain(HintSet& out) override {
    if (events_.Read([&](Bytes datagram) { ReadRtnetlink(datagram, links_, out); })) {
      out.Overrun();
      out.LinksMoved();
      names_known_ = false;
    }
    // What could not be read whole is asked for again with the next message; until then the old names serve.
    if (!names_known_) (void)LearnLinks();
  }

  Status LearnLinks() {
    machine::NetlinkMessage message(RTM_GETLINK, NLM_F_DUMP);
    message.Header(ifinfomsg{}).PutU32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
    RW_ASSIGN_OR_RETURN(const auto dump, requests_.Ask(message, "rtnetlink"));
    links_ = LinksOf(dump);
    names_known_ = true;
    return Ok();
  }

 private:
  MulticastSocket events_;
  machine::NetlinkSocket requests_{
      NETLINK_ROUTE};  // opened by the first LearnLinks, in the maker's namespace
  LinkTable links_;
  bool names_known_ = false;
};

}  // namespace

LinkTable LinksOf(const std::vector<machine::NetlinkReply>& dump) {
  LinkTable links;
  for (const machine::NetlinkReply& reply : dump) {
    const auto info = ReadAs<ifinfomsg>(reply.payload);
    if (!info || reply.type != RTM_NEWLINK) continue;
    const std::string name = TextOf(FindAttribute(After(reply.payload, sizeof *info), IFLA_IFNAME));
    if (!name.empty()) links.Put(info->ifi_index, {name, info->ifi_flags});
  }
  return links;
}

void ReadRtnetlink(Bytes datagram, LinkTable& links, HintSet& out) {
  ForEachMessage(datagram, [&](std::uint16_t type, Bytes body) {
    switch (type) {
      case RTM_NEWLINK:
      case RTM_DELLINK: return ReadLink(type, body, links, out);
      case RTM_NEWADDR:
      case RTM_DELADDR: return ReadAddress(body, links, out);
      case RTM_NEWROUTE:
      case RTM_DELROUTE: return ReadRoute(body, out);
      case RTM_NEWRULE:
      case RTM_DELRULE: return ReadRule(body, out);
      case RTM_NEWNEXTHOP:
      case RTM_DELNEXTHOP: return out.Add("/rtnl/route");
      case RTM_NEWNETCONF:
      case RTM_DELNETCONF: return ReadNetconf(body, links, out);
      case RTM_GETDCB:
      case RTM_SETDCB: return ReadDcb(body, out);
      default: return;
    }
  });
}

Result<std::unique_ptr<HintSource>> MakeRtnetlinkHints(const LinuxHintsOptions& options) {
  RW_ASSIGN_OR_RETURN(auto events, MulticastSocket::Open(NETLINK_ROUTE, "rtnetlink", options));
  for (const unsigned group : {RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE,
                               RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE})
    RW_RETURN_IF_ERROR(events.Join(group));
  // Younger or optional groups: without them the periodic scan finds what they would tell.
  for (const unsigned group : {RTNLGRP_IPV4_NETCONF, RTNLGRP_IPV6_NETCONF, RTNLGRP_NEXTHOP, RTNLGRP_DCB})
    (void)events.Join(group);
  auto source = std::make_unique<RtnetlinkHints>(std::move(events));
  RW_RETURN_IF_ERROR(source->LearnLinks());
  return std::unique_ptr<HintSource>(std::move(source));
}

}  // namespace railwright
