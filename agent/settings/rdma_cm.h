// Where rdma_cm keeps its defaults for a port; shared by roce.mode and roce.tos, which are files of one
// folder.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "agent/settings/rdma_port.h"
#include "railwright/setting.h"

namespace railwright {

inline constexpr const char* kRdmaCm = "/sys/kernel/config/rdma_cm";

/// The path of a port's attribute, or why the port has none.
using RdmaCmPlace = std::variant<std::string, Observation>;

/// `attribute` is "default_roce_mode" or "default_roce_tos". NotFound when rdma_cm is there but has no
/// directory of the port's device: the agent makes it.
inline Result<RdmaCmPlace> FindRdmaCmPlace(const Machine& machine, const Target& target,
                                           const std::string& attribute) {
  const BoundPort& port = *target.port;
  if (port.ibdev.empty()) {
    RW_ASSIGN_OR_RETURN(Observation none,
                        ProveNoRdmaDevice(machine, port, "rdma_cm makes no connections over it"));
    return RdmaCmPlace(std::move(none));
  }
  const std::string device = std::string(kRdmaCm) + "/" + port.ibdev;
  const auto ports = machine.List(device + "/ports");
  if (ports.ok()) {
    // A card shows one RDMA device a port, numbered 1. Of an older two-port device the netdev knows its port.
    std::string number = ports->size() == 1 ? ports->front() : "1";
    if (ports->size() > 1) {
      RW_ASSIGN_OR_RETURN(const std::string from_zero,
                          machine.Get("/sys/class/net/" + port.netdev + "/dev_port"));
      number = from_zero == "1" ? "2" : "1";
    }
    return RdmaCmPlace(device + "/ports/" + number + "/" + attribute);
  }
  if (ports.status().code() != Code::kNotFound) return ports.status();
  const auto group = machine.List(kRdmaCm);
  if (group.ok())
    return Status(Code::kNotFound,
                  device +
                      ": rdma_cm has no directory of this device; the agent makes it with its next "
                      "scan, by hand: mkdir " +
                      device,
                  ports.status().error_number());
  if (group.status().code() != Code::kNotFound) return group.status();
  const auto module = machine.List("/sys/module/rdma_cm");
  if (!module.ok() && module.status().code() != Code::kNotFound) return module.status();
  if (!module.ok())
    return RdmaCmPlace(Observation::NotApplicable(
        "RdmaCmNotLoaded",
        "module rdma_cm is not loaded, so nothing connects by it; declare module.rdma_cm: loaded"));
  return RdmaCmPlace(Observation::NotApplicable(
      "NoConfigfs",
      std::string(kRdmaCm) +
          ": not there, so configfs is not mounted: mount -t configfs none /sys/kernel/config"));
}

}  // namespace railwright
