// What is plugged into a port: the head of its module's EEPROM, over ethtool netlink.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/machine/netlink_message.h"
#include "railwright/result.h"

namespace railwright::machine {

/// Reads behind /ethtool/<if>/module. Each costs milliseconds on the module's I2C bus, under the kernel's
/// RTNL lock, and beside the firmware that uses the bus, too; so answers are kept.
class ModuleEeprom {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// One question over ethtool netlink, as GenericNetlink::Ask.
  using Ask =
      std::function<Result<std::vector<NetlinkReply>>(NetlinkMessage& message, std::string_view what)>;
  explicit ModuleEeprom(Ask ask, std::function<Time()> now = std::chrono::steady_clock::now)
      : ask_(std::move(ask)), now_(std::move(now)) {}

  /// An answer counts for so long. A failure does so at first, twice as long each time that it is followed by
  /// another, up to the second: mlx5 writes several lines into the kernel log each time.
  static constexpr std::chrono::seconds kFresh{1}, kFailedAtMost{300};

  /// The fields of ModuleHeader::ToFields. NotFound (ENODEV): no such interface, never kept. Unimplemented
  /// (EOPNOTSUPP): its driver shows no module. Internal (EIO), DataLoss: no module, or one that does not
  /// answer. PermissionDenied: needs CAP_NET_ADMIN. Else as the driver says (EINVAL, EBUSY).
  Result<std::string> Get(std::string_view interface, std::string_view path);

 private:
  struct Kept {
    Result<std::string> answer;
    Time until{};
    std::chrono::seconds failed_for{0};  ///< how long the failure counts; 0: it is none
  };
  Result<std::string> Read(std::string_view interface, std::string_view path) const;

  Ask ask_;
  std::function<Time()> now_;
  std::map<std::string, Kept, std::less<>> kept_;  // by interface
};

}  // namespace railwright::machine
