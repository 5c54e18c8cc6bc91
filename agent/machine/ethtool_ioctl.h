// What ethtool answers by SIOCETHTOOL only: tunables have no netlink message.
#pragma once

#include <string>
#include <string_view>

#include "core/files/descriptor.h"
#include "railwright/result.h"

namespace railwright::machine {

/// The PFC stall watchdog of an interface, tunable ETHTOOL_PFC_PREVENTION_TOUT: after how long of being
/// paused a port stops heeding pause frames. `off`, `auto`, or milliseconds. The socket is opened at first
/// use in the network namespace of that moment, and kept.
class PfcStormPrevention {
 public:
  /// `path` begins the message of an error.
  Result<std::string> Get(std::string_view netdev, std::string_view path);
  /// `off`, `auto` or 1…65534 ms; the driver decides which of them it takes (mlx5: 80…8000).
  Status Set(std::string_view netdev, std::string_view value, std::string_view path);

 private:
  Status Call(std::string_view netdev, char* command, std::string_view what);

  Descriptor socket_;
};

}  // namespace railwright::machine
