// gpu.count: how many GPUs the driver shows.
#include <algorithm>

#include "agent/settings/gpus.h"

namespace railwright {
namespace {

class GpuCount final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "gpu.count",
        .code = "RW-1192",
        .help = "How many NVIDIA GPUs the driver shows.",
        .why =
            "A node that has lost a GPU still boots, takes jobs and fails them, or runs them on seven. What "
            "is "
            "on the PCI bus and not in the driver is told beside it.",
        .targets = TargetKind::kNode,
        .syntax = "0…64",
        .default_value = "what the node was built with",
        .interface = "NVML nvmlDeviceGetCount; /sys/bus/pci/devices",
        .source = "NVML API reference",
        .disruption = Disruption::kPowerCycle,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kObserveOnly,
        .order = 26,
        .likely_owners = {"the hardware", "the hypervisor", "the NVIDIA driver"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const std::uint64_t count, ParseWhole(Trimmed(value), 0, 64));
    return std::to_string(count);
  }

  Result<Observation> Observe(const Machine& machine, const Target&) const override {
    const auto gpus = machine.List("/nvml");
    if (!gpus.ok() && gpus.status().code() != Code::kNotFound) return gpus.status();
    RW_ASSIGN_OR_RETURN(const NvidiaPciDevices devices, FindNvidiaPciDevices(machine));
    const std::vector<std::string> known = gpus.ok() ? *gpus : std::vector<std::string>();
    Observation observed = Observation::Value(std::to_string(known.size()));
    std::vector<std::string> unknown;
    for (const std::string& bdf : devices.gpus)
      if (std::find(known.begin(), known.end(), bdf) == known.end()) unknown.push_back(bdf);
    if (!unknown.empty())
      observed.message = "on the PCI bus and not in the driver: " + Joined(unknown, ", ") +
                         (gpus.ok() ? "; look for NVRM and Xid in the kernel's log" : "");
    if (!gpus.ok()) observed.message += (observed.message.empty() ? "" : "; ") + gpus.status().message();
    return observed;
  }

  Status Apply(Machine&, const Target&, std::string_view value) const override {
    return Status(Code::kUnimplemented,
                  "gpu.count: no software makes " + Quoted(value) +
                      " GPUs; look for Xid in the kernel's log, reset or power-cycle the "
                      "node, then have the GPU looked at");
  }
};

}  // namespace

std::unique_ptr<const Setting> make_gpu_count() { return std::make_unique<GpuCount>(); }

}  // namespace railwright
