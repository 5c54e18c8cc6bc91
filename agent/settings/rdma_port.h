// What proves that a port has nothing to set; shared by the settings that belong to an RDMA device.
#pragma once

#include <string>

#include "railwright/setting.h"

namespace railwright {

/// For a port that was bound without an RDMA device: NotApplicable(NoRdmaDevice), unless nobody could look
/// for one. `so` ends the sentence "rail0 has no RDMA device, so …".
inline Result<Observation> ProveNoRdmaDevice(const Machine& machine, const BoundPort& port,
                                             const std::string& so) {
  const auto devices = machine.List("/sys/class/infiniband");
  if (!devices.ok() && devices.status().code() != Code::kNotFound) return devices.status();
  return Observation::NotApplicable("NoRdmaDevice", port.netdev + " has no RDMA device, so " + so);
}

/// For a port that was bound without a PCI address: NotApplicable(`reason`) when its interface belongs to no
/// device at all (Soft-RoCE), else an error.
inline Result<Observation> ProveNoCard(const Machine& machine, const BoundPort& port,
                                       const std::string& reason) {
  const std::string uevent = "/sys/class/net/" + port.netdev + "/device/uevent";
  const auto text = machine.Get(uevent);
  if (text.ok())
    return Status(Code::kFailedPrecondition,
                  uevent + " names no PCI address, so the card of " + port.netdev + " is not known");
  if (text.status().code() != Code::kNotFound) return text.status();
  return Observation::NotApplicable(reason, port.netdev + " belongs to no card: " + uevent + " is not there");
}

}  // namespace railwright
