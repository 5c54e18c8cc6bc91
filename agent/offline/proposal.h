// What a machine's ports could be, for a person to decide.
#pragma once

#include <string>
#include <vector>

#include "railwright/machine.h"
#include "railwright/result.h"
#include "railwright/state.h"

namespace railwright::offline {

/// Every interface that could be a port of any kind, by its own name: all but loopback, members of bonds and
/// bridges, and purely virtual kinds (veth is let through). Only reads.
std::vector<Port> EveryPort(const Machine& machine);
/// Interfaces that may be fabric ports: those with an RDMA device; when there is none, those of real or
/// virtual Ethernet links that carry no default route and belong to no bridge or bond. Only reads.
std::vector<Port> LikelyPorts(const Machine& machine);
/// A few lines with the --port words for them, or "".
std::string ProposePorts(const Machine& machine);

std::string HostName();
Result<std::vector<Port>> ParsePorts(const std::vector<std::string>& texts);

}  // namespace railwright::offline
