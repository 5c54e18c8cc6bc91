// EchoProbe: asks a neighbour on the rail by an ICMP echo.
#pragma once

#include <memory>

#include "railwright/peer_probe.h"

namespace railwright {

/// Echo requests (RFC 792, RFC 4443) out of a socket that is bound to the interface, so that no other route
/// can answer for it. They are ping sockets, which need no privilege where net.ipv4.ping_group_range has the
/// caller's group; where it has not, that is the Obstacle. An answer counts when it comes from the address
/// that was asked and carries what was sent. ARP and neighbour discovery are the kernel's.
std::unique_ptr<PeerProbe> MakeEchoProbe();

}  // namespace railwright
