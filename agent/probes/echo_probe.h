// EchoProbe: asks a neighbour on the rail by an ICMP echo.
#pragma once

#include <memory>

#include "railwright/peer_probe.h"

namespace railwright {

/// Echo requests (RFC 792, RFC 4443) out of a socket that is bound to the interface, so that no other route
/// can answer for it. A ping socket where net.ipv4.ping_group_range lets the caller have one, else a raw one
/// (CAP_NET_RAW). An answer counts when it comes from the address that was asked and carries what was sent.
/// ARP and neighbour discovery are the kernel's.
std::unique_ptr<PeerProbe> MakeEchoProbe();

}  // namespace railwright
