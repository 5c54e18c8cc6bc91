// gpu.ecc: error correction of GPU memory. Written now, in effect after a reset.
#include <algorithm>
#include <cerrno>

#include "agent/settings/gpus.h"
#include "core/decode/fields.h"

namespace railwright {
namespace {

constexpr std::string_view kChanges = ">";

// "on", or "on>off": on now, off after the next reset.
std::string Shown(const std::string& current, const std::string& pending) {
  return current == pending ? current : current + std::string(kChanges) + pending;
}

std::string_view PendingOf(std::string_view shown) {
  const auto at = shown.find(kChanges);
  return at == std::string_view::npos ? shown : shown.substr(at + kChanges.size());
}

bool IsMode(std::string_view text) { return text == "on" || text == "off"; }

Status Refuse(std::string_view value) {
  return Status(Code::kInvalidArgument, Quoted(value) + "; allowed: on, off");
}

class GpuEcc final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "gpu.ecc",
        .code = "RW-1191",
        .help = "Error correction (ECC) of every GPU's memory.",
        .why =
            "Without it a flipped bit is a wrong result that nobody notices. It is written at once and takes "
            "effect when the GPU is reset or the node boots; until then the verdict is Pending.",
        .targets = TargetKind::kNode,
        .syntax = "`on` or `off`",
        .default_value = "on for data centre GPUs",
        .interface = "NVML nvmlDeviceSetEccMode",
        .source = "NVML API reference; nvidia-smi(1)",
        .disruption = Disruption::kNone,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kRuntime,
        .order = 28,
        .likely_owners = {"nvidia-smi"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    value = Trimmed(value);
    if (IsMode(value)) return std::string(value);
    return Refuse(value);
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_ASSIGN_OR_RETURN(const Gpus found, FindGpus(machine));
    if (const auto* none = std::get_if<Observation>(&found)) return *none;
    RW_ASSIGN_OR_RETURN(const NamedValues values, Read(machine, std::get<0>(found)));
    if (values.empty())
      return Observation::NotApplicable("NoEcc", "none of the node's GPUs has ECC to turn on or off");
    Observation observed = Observation::Value(MixedText(values));
    bool as_wished = true, all_now = true;
    for (const auto& [bdf, shown] : values) {
      as_wished = as_wished && PendingOf(shown) == target.wish;
      all_now = all_now && shown == target.wish;
    }
    observed.pending_reboot = as_wished && !all_now;
    if (observed.pending_reboot)
      observed.message =
          "written, and in effect when the GPUs are reset (`nvidia-smi --gpu-reset` when nothing runs "
          "on them) or the node boots";
    return observed;
  }

  // What waits for the reset is as the wish wants it; pending_reboot tells that it is not so yet.
  bool Satisfied(const Target&, std::string_view desired, const Observation& observed) const override {
    if (observed.kind != Observation::Kind::kValue) return false;
    return observed.value == desired || observed.pending_reboot;
  }

  Status Apply(Machine& machine, const Target&, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const Gpus found, FindGpus(machine));
    if (const auto* none = std::get_if<Observation>(&found))
      return Status(Code::kFailedPrecondition, none->message);
    RW_ASSIGN_OR_RETURN(const NamedValues now, Read(machine, std::get<0>(found)));
    std::vector<std::string> gpus;
    NamedValues pending;
    for (const auto& [bdf, shown] : now) {
      gpus.push_back(bdf);
      pending.emplace_back(bdf, PendingOf(shown));
    }
    RW_ASSIGN_OR_RETURN(const NamedValues wanted, ParseMixed(value, gpus));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::string mode(PendingOf(wanted[i].second));
      if (!IsMode(mode)) return Refuse(wanted[i].second);
      if (mode != pending[i].second) RW_RETURN_IF_ERROR(machine.Set(GpuPath(gpus[i], "ecc"), mode));
    }
    return Ok();
  }

 private:
  // GPUs without ECC are left out.
  static Result<NamedValues> Read(const Machine& machine, const std::vector<std::string>& gpus) {
    NamedValues values;
    for (const std::string& bdf : gpus) {
      const std::string path = GpuPath(bdf, "ecc");
      const auto text = machine.Get(path);
      if (!text.ok() && text.status().error_number() == EOPNOTSUPP) continue;
      if (!text.ok()) return text.status();
      const auto fields = Fields::Parse(*text);
      if (!fields.ok()) return fields.status().Within(path);
      const std::string *current = fields->Find("current"), *pending = fields->Find("pending");
      if (current == nullptr || pending == nullptr || !IsMode(*current) || !IsMode(*pending))
        return Status(Code::kInternal, path + ": " + Quoted(*text) + " tells no modes");
      values.emplace_back(bdf, Shown(*current, *pending));
    }
    return values;
  }
};

}  // namespace

std::unique_ptr<const Setting> make_gpu_ecc() { return std::make_unique<GpuEcc>(); }

}  // namespace railwright
