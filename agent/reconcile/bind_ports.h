// Which interfaces carry the way to the controller (BindPorts itself is declared in reconciler.h).
#pragma once

#include <string>
#include <vector>

#include "railwright/machine.h"
#include "railwright/setting.h"

namespace railwright {

/// What a plan must not disturb, as blast sets name it: the netdevs of management ports, `netdevs`,
/// everything that these stand upon (bond members, the parent of a VLAN; /sys/class/net/<if>/lower_*), and
/// "card:<bdf>" and "driver:<name>" of management and storage ports. Sorted.
std::vector<std::string> ManagementPath(const Machine& machine, const NodeFacts& facts,
                                        const std::vector<std::string>& netdevs);

/// Whether `blast`, one member of a blast set, hits `management`. Two functions of one card are one card.
bool HitsManagement(const std::vector<std::string>& management, std::string_view blast);

/// "card:<bdf>" of the storage ports: their traffic is nobody's here to try anything with.
std::vector<std::string> StorageCards(const NodeFacts& facts);

/// The ports that a change with this blast set disturbs, by netdev, card or driver, beside `own` (may be
/// null).
std::vector<const BoundPort*> PortsHit(const Machine& machine, const NodeFacts& facts, const BoundPort* own,
                                       const std::vector<std::string>& blast);

/// How often the link of `netdev` has gone or come since it was made (/sys/class/net/<if>/carrier_changes, as
/// text);
/// "" when it cannot be told.
std::string CarrierChanges(const Machine& machine, const std::string& netdev);

/// Whether the link of the port is up: the interface has carrier, and its RDMA device, if any, has an active
/// port. What cannot be read is not up.
bool LinkIsUp(const Machine& machine, const BoundPort& port);

}  // namespace railwright
