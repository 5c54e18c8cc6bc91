// module.<name>: whether a kernel module is loaded.
#include <algorithm>

#include "core/decode/peermem.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

std::string Underscored(std::string_view name) {
  std::string one(name);
  std::replace(one.begin(), one.end(), '-', '_');
  return one;
}

Status CheckName(std::string_view name) {
  // The kernel's own limit is MODULE_NAME_LEN, 56 bytes on 64 bit (include/linux/moduleparam.h).
  const bool good = !name.empty() && name.size() < 56 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  if (good) return Ok();
  return Status(Code::kInvalidArgument,
                "module name " + Quoted(name) + "; allowed: 1…55 letters, digits, _ and - (without .ko)");
}

constexpr std::string_view kPeermem = "nvidia_peermem";

bool IsLive(const Machine& machine, std::string_view module) {
  const auto state = machine.Get("/kmod/" + std::string(module));
  return state.ok() && (*state == "live" || *state == "builtin");
}

// Told beside a missing nvidia_peermem; never part of the verdict, so what cannot be read is only said.
std::string DmabufInstead(const Machine& machine) {
  const auto release = machine.Get("/proc/sys/kernel/osrelease");
  if (!release.ok()) return "whether DMA-BUF could do its work cannot be told: " + release.status().message();
  const auto gpu = machine.Get("/proc/driver/nvidia/version");
  if (!gpu.ok() && gpu.status().code() != Code::kNotFound)
    return "whether DMA-BUF could do its work cannot be told: " + gpu.status().message();
  std::vector<std::string> drivers;
  for (const char* driver : {"mlx5_ib", "efa", "irdma", "bnxt_re"})
    if (IsLive(machine, driver)) drivers.emplace_back(driver);
  return JudgeDmabuf(ParseKernelRelease(*release), gpu.ok() ? ParseNvidiaVersion(*gpu) : NvidiaDriver{},
                     drivers)
      .sentence;
}

// The kernel's errno for a failed load, explained.
Status ExplainPeermem(const Machine& machine, const Status& failed) {
  PeermemFacts facts;
  facts.file_exists = machine.Get("/kmod/" + std::string(kPeermem)).ok();
  facts.ofed = machine.Get("/sys/module/mlx5_core/version").ok();
  facts.nv_peer_mem = IsLive(machine, "nv_peer_mem");
  const std::string cause = PeermemCause(failed.error_number(), facts);
  return Status(failed.code(),
                failed.message() + (cause.empty() ? "" : ": " + cause) + ". " + DmabufInstead(machine),
                failed.error_number());
}

class Module final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "module.<name>",
        .code = "RW-1150",
        .help = "Whether a kernel module is loaded.",
        .why =
            "Without nvidia_peermem (or DMA-BUF) a card cannot reach GPU memory and every transfer goes "
            "through "
            "the host; without rdma_cm no connection is made by address.",
        .targets = TargetKind::kNode,
        .syntax = "`loaded` (built in counts) or `absent`; - and _ in the name are the same",
        .default_value = "absent",
        .interface = "libkmod, /proc/modules",
        .source = "modprobe(8), libkmod; /etc/modules-load.d for the next boot (file.<path>)",
        .disruption = Disruption::kFunctionReset,
        .noticed = {.by_event = true, .source = "uevent", .worst = std::chrono::milliseconds(1000)},
        .effect = Effect::kRuntime,
        .order = 20,
        .likely_owners = {"systemd-modules-load", "openibd", "dkms", "nvidia-persistenced"},
        .recorded = {"bnxt_re", "ib_core", "ib_uverbs", "ice", "irdma", "mlx5_core", "mlx5_ib", "nvidia",
                     "nvidia_peermem", "rdma_cm", "rdma_rxe", "rdma_ucm", "siw"}};
    return info;
  }

  std::string CanonicalParam(std::string_view param) const override { return Underscored(param); }

  Result<std::string> Canonical(std::string_view param, std::string_view value) const override {
    RW_RETURN_IF_ERROR(CheckName(param));
    value = Trimmed(value);
    if (value == "loaded" || value == "absent") return std::string(value);
    return Status(Code::kInvalidArgument, Quoted(value) + "; allowed: loaded, absent");
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_RETURN_IF_ERROR(CheckName(target.param));
    const std::string path = "/kmod/" + Underscored(target.param);
    const auto state = machine.Get(path);
    if (!state.ok() && state.status().code() != Code::kNotFound) return state.status();
    if (state.ok() && (*state == "live" || *state == "builtin")) {
      Observation observed = Observation::Value("loaded");
      if (*state == "builtin") observed.message = target.param + " is built into this kernel";
      return observed;
    }
    if (state.ok() && *state != "absent")
      return Status(Code::kUnavailable, path + ": the module is " + *state + "; look again when it is done");
    // A kernel without CONFIG_MODULES has no such file; nothing can ever be loaded into it.
    const auto modules = machine.Get("/proc/modules");
    if (!modules.ok() && modules.status().code() == Code::kNotFound)
      return Observation::NotApplicable("KernelHasNoModules",
                                        "/proc/modules: not there, so this kernel cannot load modules, and " +
                                            target.param + " is not built in");
    if (!modules.ok()) return modules.status();
    Observation observed = Observation::Value("absent");
    if (!state.ok())
      observed.message =
          "no module file " + target.param + ".ko for this kernel; install the package that brings it";
    if (Underscored(target.param) == kPeermem && target.wish != "absent")
      observed.message += (observed.message.empty() ? "" : ". ") + DmabufInstead(machine);
    return observed;
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    RW_RETURN_IF_ERROR(CheckName(target.param));
    const std::string path = "/kmod/" + Underscored(target.param);
    if (value == "loaded") {
      const Status loaded = machine.Set(path, "live");
      return loaded.ok() || Underscored(target.param) != kPeermem ? loaded : ExplainPeermem(machine, loaded);
    }
    if (value == "absent" || value.empty()) {
      const auto state = machine.Get(path);
      // A module that this kernel does not have is as absent as can be.
      if (!state.ok() && state.status().code() == Code::kNotFound) return Ok();
      return machine.Set(path, "");
    }
    return Status(Code::kInvalidArgument, Quoted(value) + "; allowed: loaded, absent");
  }

  // Loading takes nothing away; unloading takes the devices of the driver with it.
  Disruption DisruptionOf(const Target&, std::string_view, std::string_view to) const override {
    return to == "loaded" ? Disruption::kNone : info().disruption;
  }

  std::vector<std::string> BlastSet(const Target& target) const override {
    if (target.wish == "loaded") return {};
    return {"driver:" + Underscored(target.param)};
  }
};

}  // namespace

std::unique_ptr<const Setting> make_module() { return std::make_unique<Module>(); }

}  // namespace railwright
