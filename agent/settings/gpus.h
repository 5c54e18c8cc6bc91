// The GPUs of a node, and one value read from each of them.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "agent/settings/pci_devices.h"
#include "core/decode/mixed_value.h"
#include "core/decode/values.h"
#include "railwright/machine.h"
#include "railwright/setting.h"

namespace railwright {

/// The GPUs that the driver knows by their place on the bus, or why the setting does not apply.
using Gpus = std::variant<std::vector<std::string>, Observation>;

/// NotApplicable(NoGpu) when neither the driver nor the PCI bus has one. GPUs that the driver does not know
/// are an error: nothing can be told of them.
inline Result<Gpus> FindGpus(const Machine& machine) {
  auto gpus = machine.List("/nvml");
  if (gpus.ok() && !gpus->empty()) return Gpus(*std::move(gpus));
  if (!gpus.ok() && gpus.status().code() != Code::kNotFound) return gpus.status();
  RW_ASSIGN_OR_RETURN(const NvidiaPciDevices devices, FindNvidiaPciDevices(machine));
  if (devices.gpus.empty()) return Gpus(Observation::NotApplicable("NoGpu", "no NVIDIA GPU on the PCI bus"));
  return Status(Code::kFailedPrecondition, "NVIDIA GPUs at " + Joined(devices.gpus, ", ") +
                                               ", and the driver does not show them: " +
                                               (gpus.ok() ? "it lists none" : gpus.status().message()) +
                                               "; install or load the NVIDIA driver");
}

/// "/nvml/<bdf>/<what>".
inline std::string GpuPath(const std::string& bdf, std::string_view what) {
  return "/nvml/" + bdf + "/" + std::string(what);
}

/// Writes to each GPU what `value` says of it (a plain value, or what MixedText said), and nothing where
/// `current` already says so.
template <class Write>
Status WriteGpus(const std::vector<std::string>& gpus, std::string_view value, const NamedValues& current,
                 Write write) {
  RW_ASSIGN_OR_RETURN(const NamedValues wanted, ParseMixed(value, gpus));
  for (const auto& one : wanted) {
    bool already = false;
    for (const auto& now : current) already = already || now == one;
    if (!already) RW_RETURN_IF_ERROR(write(one.first, one.second));
  }
  return Ok();
}

}  // namespace railwright
