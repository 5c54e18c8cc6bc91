// Survey: everything that can be read of a machine, whether or not anybody declares it. Reads only.
#pragma once

#include <string>
#include <vector>

#include "railwright/machine.h"
#include "railwright/setting.h"
#include "railwright/state.h"

namespace railwright {

/// One setting on one target, as it is.
struct Observed {
  std::string key;           ///< full, in its one spelling
  std::string target;        ///< port name, "" = the node
  Result<Observation> seen;  ///< an error: it could not be read
  /// What a profile says to have it so: canonical, and fulfilled by what was seen. An error says why nothing
  /// says it; also when there is no value.
  Result<std::string> wish;
};

/// Every setting of `catalog` on the node and on every port of `facts` that is bound; of a family, its
/// well-known params (SettingInfo::recorded). Sorted by (key, target).
std::vector<Observed> ObserveEverything(const Machine& machine, const Catalog& catalog,
                                        const NodeFacts& facts);

/// Every interface that could be a port of any kind, by its own name: all but loopback, members of bonds and
/// bridges, and purely virtual kinds (veth is let through).
std::vector<Port> EveryPort(const Machine& machine);

/// What may be fabric ports, named rail0, rail1 …: interfaces with an RDMA device; when there is none, those
/// of real or virtual Ethernet links that carry no default route. At most 16, the rails of the largest nodes
/// known.
std::vector<Port> LikelyPorts(const Machine& machine);

}  // namespace railwright
