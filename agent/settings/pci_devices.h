// Which NVIDIA devices stand on the PCI bus, whether or not a driver knows of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "railwright/machine.h"

namespace railwright {

/// By class code (PCI Code and ID Assignment): GPUs are display (0x0300) or 3D controllers (0x0302),
/// NVSwitches other bridges (0x0680).
struct NvidiaPciDevices {
  std::vector<std::string> gpus, switches;
};

/// Reads the class of every device, and the vendor of those that could be one. A host without PCI has none.
inline Result<NvidiaPciDevices> FindNvidiaPciDevices(const Machine& machine) {
  constexpr std::string_view kDevices = "/sys/bus/pci/devices";
  NvidiaPciDevices found;
  const auto devices = machine.List(kDevices);
  if (!devices.ok() && devices.status().code() == Code::kNotFound) return found;
  if (!devices.ok()) return devices.status();
  for (const std::string& bdf : *devices) {
    const std::string path = std::string(kDevices) + "/" + bdf;
    const auto kind = machine.Get(path + "/class");
    // Gone between the two reads.
    if (!kind.ok() && kind.status().code() == Code::kNotFound) continue;
    if (!kind.ok()) return kind.status();
    const bool gpu = kind->starts_with("0x0300") || kind->starts_with("0x0302");
    if (!gpu && !kind->starts_with("0x0680")) continue;
    RW_ASSIGN_OR_RETURN(const std::string vendor, machine.Get(path + "/vendor"));
    if (vendor == "0x10de") (gpu ? found.gpus : found.switches).push_back(bdf);
  }
  return found;
}

}  // namespace railwright
