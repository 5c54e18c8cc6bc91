// What rtnetlink says of addresses, routes, rules and links, as values. Pure; bytes of any kind in.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "agent/machine/ip_address.h"
#include "agent/machine/link_message.h"
#include "agent/machine/netlink_message.h"
#include "agent/machine/route.h"
#include "agent/machine/rule.h"
#include "railwright/result.h"

namespace railwright::machine {

/// The name of an interface by its index; "" when there is none.
using InterfaceNames = std::function<std::string(std::uint32_t)>;

/// An address as one line of /rtnl/addr/<if>.
struct Address {
  IpPrefix local;
  IpAddress peer;       ///< none unless point to point
  bool failed = false;  ///< IPv6 duplicate address detection found another owner: the kernel does not use it

  std::string Text() const;
  /// InvalidArgument names what is not understood, and refuses link-local and unspecified addresses.
  static Result<Address> Parse(std::string_view line);
};

/// RTM_NEWADDR. nullopt for what is not ours to manage: of another interface, link-local, host scope, learned
/// or made by the kernel.
std::optional<Address> DecodeAddress(const NetlinkReply& reply, std::uint32_t index);

/// RTM_NEWROUTE, with its table. nullopt for what is not ours to manage: cloned, local, multicast, with a
/// lifetime …
std::optional<Route> DecodeRoute(const NetlinkReply& reply, const InterfaceNames& names,
                                 std::uint32_t& table);

struct DecodedRule {
  Rule rule;
  std::uint32_t priority = 0;
  std::uint8_t protocol = 0;  ///< RTPROT_*: who made it
};
/// RTM_NEWRULE. nullopt for another message or family.
std::optional<DecodedRule> DecodeRule(const NetlinkReply& reply);

/// RTM_NEWLINK; what the message does not hold stays empty.
LinkFacts DecodeLink(const NetlinkReply& reply);

}  // namespace railwright::machine
