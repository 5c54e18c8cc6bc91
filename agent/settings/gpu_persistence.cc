// gpu.persistence: whether the driver keeps GPUs initialised while nobody uses them.
#include <cerrno>

#include "agent/settings/gpus.h"

namespace railwright {
namespace {

Status Refuse(std::string_view value) {
  return Status(Code::kInvalidArgument, Quoted(value) + "; allowed: on, off");
}

class GpuPersistence final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "gpu.persistence",
        .code = "RW-1190",
        .help = "Persistence mode of every GPU.",
        .why =
            "Without it the driver lets go of a GPU when its last user ends: the next job waits seconds for "
            "it, "
            "application clocks are forgotten, and errors are counted from nothing again.",
        .targets = TargetKind::kNode,
        .syntax = "`on` or `off`",
        .default_value = "off, unless nvidia-persistenced runs",
        .interface = "NVML nvmlDeviceSetPersistenceMode",
        .source = "NVML API reference; nvidia-persistenced(1)",
        .disruption = Disruption::kNone,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kRuntime,
        .order = 27,
        .likely_owners = {"nvidia-persistenced", "nvidia-smi"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    value = Trimmed(value);
    if (value == "on" || value == "off") return std::string(value);
    return Refuse(value);
  }

  Result<Observation> Observe(const Machine& machine, const Target&) const override {
    RW_ASSIGN_OR_RETURN(const Gpus found, FindGpus(machine));
    if (const auto* none = std::get_if<Observation>(&found)) return *none;
    RW_ASSIGN_OR_RETURN(const NamedValues values, Read(machine, std::get<0>(found)));
    return Observation::Value(MixedText(values));
  }

  Status Apply(Machine& machine, const Target&, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const Gpus found, FindGpus(machine));
    if (const auto* none = std::get_if<Observation>(&found))
      return Status(Code::kFailedPrecondition, none->message);
    const auto& gpus = std::get<0>(found);
    RW_ASSIGN_OR_RETURN(const NamedValues now, Read(machine, gpus));
    return WriteGpus(gpus, value, now, [&](const std::string& bdf, const std::string& one) {
      return one == "on" || one == "off" ? machine.Set(GpuPath(bdf, "persistence"), one) : Refuse(one);
    });
  }

 private:
  static Result<NamedValues> Read(const Machine& machine, const std::vector<std::string>& gpus) {
    NamedValues values;
    for (const std::string& bdf : gpus) {
      const std::string path = GpuPath(bdf, "persistence");
      RW_ASSIGN_OR_RETURN(std::string value, machine.Get(path));
      if (value != "on" && value != "off")
        return Status(Code::kInternal, path + ": " + Quoted(value) + " is neither on nor off");
      values.emplace_back(bdf, std::move(value));
    }
    return values;
  }
};

}  // namespace

std::unique_ptr<const Setting> make_gpu_persistence() { return std::make_unique<GpuPersistence>(); }

}  // namespace railwright
