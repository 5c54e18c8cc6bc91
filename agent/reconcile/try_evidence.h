// What a port has before a try, and what of it is missing afterwards. Reads only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "railwright/journal.h"
#include "railwright/machine.h"
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

}  // namespace railwright
