// What a port has before a try, and what of it is missing afterwards. Reads only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "railwright/journal.h"
#include "railwright/machine.h"
#include "railwright/result.h"
#include "railwright/setting.h"

namespace railwright {

/// What the port has now; without `peers`.
OpenTry::Evidence EvidenceOf(const Machine& machine, const BoundPort& port);

/// What a port lacks of its evidence.
struct Missing {
  bool link = false;               ///< no carrier, or no active RDMA port
  std::vector<std::string> words;  ///< a part of a sentence each: "the link of rail0 is down"
};
/// `port` null: it is not there any more. A GID goes with its address: one that a step takes away on purpose
/// is not missed. Speed and GIDs are looked at only when the link is up.
Missing MissingOf(const Machine& machine, const OpenTry::Evidence& evidence, const BoundPort* port,
                  const std::vector<OpenTry::Step>& steps);

/// Adds the routes of the evidence that are missing, and removes nothing: the kernel drops them with an
/// interface's last address, also when another comes in its place.
Status PutBackRoutes(Machine& machine, const OpenTry::Evidence& evidence, const BoundPort& port);

/// Adds the addresses and routes of the evidence that are missing from the port, and removes nothing: the
/// kernel drops them with an address, and IPv6 ones with an MTU below 1280, and does not bring them back with
/// the value.
Status PutBackAround(Machine& machine, const OpenTry::Evidence& evidence, const BoundPort& port);

}  // namespace railwright
