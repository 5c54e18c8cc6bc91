// gpu.clocks: application clocks of every GPU.
#include <cerrno>

#include "agent/settings/gpus.h"
#include "core/decode/fields.h"

namespace railwright {
namespace {

constexpr std::string_view kAllowed = "default, or sm=MHZ mem=MHZ";
constexpr std::uint64_t kMostMhz = 100000;

Result<std::string> CanonicalClocks(std::string_view value) {
  const auto refuse = [&](const std::string& why) {
    return Status(Code::kInvalidArgument, Quoted(value) + why + "; allowed: " + std::string(kAllowed));
  };
  const auto words = Words(value, " \t,");
  if (words.size() == 1 && words[0] == "default") return std::string("default");
  std::string sm, memory;
  for (const std::string_view word : words) {
    const auto equals = word.find('=');
    const auto name = word.substr(0, equals);
    std::string& place = name == "sm" ? sm : memory;
    if (equals == std::string_view::npos || (name != "sm" && name != "mem") || !place.empty())
      return refuse(" holds " + Quoted(word));
    if (!ParseWhole(word.substr(equals + 1), 1, kMostMhz).ok())
      return refuse(" has no clock in " + Quoted(word));
    place = word.substr(equals + 1);
  }
  if (sm.empty() || memory.empty()) return refuse(" names not both clocks");
  return "sm=" + sm + " mem=" + memory;
}

class GpuClocks final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "gpu.clocks",
        .code = "RW-1193",
        .help = "Application clocks of every GPU: the fastest that it runs at under load.",
        .why =
            "A collective waits for the slowest GPU, so one with lower clocks slows all the others. Locked "
            "clocks have no reader in NVML and are not managed: what cannot be read back is not written.",
        .targets = TargetKind::kNode,
        .syntax = "`default`, or `sm=1980 mem=2619` in MHz, a pair that the GPU supports",
        .default_value = "default",
        .interface = "NVML nvmlDeviceSetApplicationsClocks",
        .source = "NVML API reference; nvidia-smi(1) -q -d SUPPORTED_CLOCKS",
        .disruption = Disruption::kNone,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kRuntime,
        .order = 29,
        .likely_owners = {"nvidia-smi", "nvidia-persistenced", "dcgm"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    return CanonicalClocks(value);
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_ASSIGN_OR_RETURN(const Gpus found, FindGpus(machine));
    if (const auto* none = std::get_if<Observation>(&found)) return *none;
    RW_ASSIGN_OR_RETURN(const NamedValues values, Read(machine, std::get<0>(found), target.wish));
    if (values.empty())
      return Observation::NotApplicable(
          "NoApplicationClocks",
          "none of the node's GPUs has application clocks to set: the driver has "
          "taken them out, or the virtual machine does not show them");
    return Observation::Value(MixedText(values));
  }

  Status Apply(Machine& machine, const Target&, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const Gpus found, FindGpus(machine));
    if (const auto* none = std::get_if<Observation>(&found))
      return Status(Code::kFailedPrecondition, none->message);
    RW_ASSIGN_OR_RETURN(const NamedValues now, Read(machine, std::get<0>(found), ""));
    std::vector<std::string> gpus;
    for (const auto& one : now) gpus.push_back(one.first);
    return WriteGpus(gpus, value, now, [&](const std::string& bdf, const std::string& one) -> Status {
      RW_ASSIGN_OR_RETURN(const std::string clocks, CanonicalClocks(one));
      return machine.Set(GpuPath(bdf, "clocks"), clocks);
    });
  }

 private:
  // GPUs without application clocks are left out. A GPU at its defaults is "default", unless the wish names
  // just those clocks.
  static Result<NamedValues> Read(const Machine& machine, const std::vector<std::string>& gpus,
                                  std::string_view wish) {
    NamedValues values;
    for (const std::string& bdf : gpus) {
      const std::string path = GpuPath(bdf, "clocks");
      const auto text = machine.Get(path);
      if (!text.ok() && text.status().error_number() == EOPNOTSUPP) continue;
      if (!text.ok()) return text.status();
      const auto fields = Fields::Parse(*text);
      if (!fields.ok()) return fields.status().Within(path);
      const std::string *sm = fields->Find("sm"), *memory = fields->Find("mem");
      const std::string *usual = fields->Find("default_sm"), *usual_memory = fields->Find("default_mem");
      if (sm == nullptr || memory == nullptr)
        return Status(Code::kInternal, path + ": " + Quoted(*text) + " tells no clocks");
      std::string shown = "sm=" + *sm + " mem=" + *memory;
      const bool at_default =
          usual != nullptr && usual_memory != nullptr && *usual == *sm && *usual_memory == *memory;
      if (at_default && shown != wish) shown = "default";
      values.emplace_back(bdf, std::move(shown));
    }
    return values;
  }
};

}  // namespace

std::unique_ptr<const Setting> make_gpu_clocks() { return std::make_unique<GpuClocks>(); }

}  // namespace railwright
