// driver.ofed: the release of NVIDIA's network drivers (MLNX_OFED, DOCA-OFED). Read only in this version.
#include "core/decode/driver_version.h"
#include "core/decode/package_wish.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

constexpr std::string_view kModule = "/sys/module/mlx5_core";
constexpr std::string_view kScript = "/usr/bin/ofed_info";
// Behind it stands what is installed, when that is not what is loaded.
constexpr std::string_view kInstalled = ", installed ";

// The module's version is the release without its last number: 5.8-4.1.5 of 5.8-4.1.5.0.
bool IsOfRelease(std::string_view module, std::string_view release) {
  return release.starts_with(module) && (release.size() == module.size() || release[module.size()] == '.');
}

class DriverOfed final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "driver.ofed",
        .code = "RW-1154",
        .help = "Release of the OFED network drivers: the one that is loaded.",
        .why =
            "After an upgrade the old module runs until openibd is restarted or the node boots, while every "
            "tool shows the new release. Nodes of different releases differ in defaults and in what they "
            "can.",
        .targets = TargetKind::kNode,
        .syntax = "`installed`, `=25.10-1.7.1`, `>=24.10 <25`, `25.10.*`",
        .default_value = "none: the kernel's own driver",
        .interface = "/sys/module/mlx5_core/version, /usr/bin/ofed_info",
        .source = "NVIDIA DOCA-OFED; deb-version(7) for the order",
        .disruption = Disruption::kFunctionReset,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kObserveOnly,
        .order = 11,
        .likely_owners = {"apt", "unattended-upgrades", "dkms"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const PackageWish wish, PackageWish::Parse(value));
    if (wish.hold || wish.absent)
      return Status(Code::kInvalidArgument,
                    Quoted(value) +
                        "; allowed: installed, =25.10-1.7.1, >=24.10 <25, 25.10.*; hold and absent are "
                        "of package.<name>");
    return wish.Text();
  }

  Result<Observation> Observe(const Machine& machine, const Target&) const override {
    const auto script = machine.Get("/file" + std::string(kScript));
    if (!script.ok() && script.status().code() != Code::kNotFound) return script.status();
    const std::string release = script.ok() ? OfedRelease(*script) : std::string();
    const auto version = machine.Get(std::string(kModule) + "/version");
    if (!version.ok() && version.status().code() != Code::kNotFound) return version.status();
    if (!version.ok()) return WithoutVersion(machine, script.ok(), release);
    const std::string module(Trimmed(*version));
    if (module.empty())
      return Status(Code::kInternal, std::string(kModule) + "/version: empty, which is no release");
    Observation observed = Observation::Value(module);
    if (release.empty()) {
      observed.message = std::string(kScript) + (script.ok() ? " names no release" : " is not there") +
                         ", so only the loaded module tells";
    } else if (IsOfRelease(module, release)) {
      observed.value = release;
      observed.message = "loaded module " + module;
    } else {
      observed.value += std::string(kInstalled) + release;
      observed.message = "release " + release + " is installed and " + module +
                         " is still loaded: restart openibd or reboot when the node is drained";
    }
    return observed;
  }

  bool Satisfied(const Target&, std::string_view desired, const Observation& observed) const override {
    const auto wish = PackageWish::Parse(desired);
    if (!wish.ok() || observed.kind != Observation::Kind::kValue) return false;
    const std::string_view seen = observed.value;
    if (seen.find(kInstalled) != std::string_view::npos || seen.empty() || seen[0] < '0' || seen[0] > '9')
      return false;
    // "=25.10-1.7.1" is what the module says of release 25.10-1.7.1.0.
    const auto last = seen.rfind('.');
    return wish->FulfilledBy(seen, false) || (last != std::string_view::npos && seen.find('-') < last &&
                                              wish->FulfilledBy(seen.substr(0, last), false));
  }

  Status Apply(Machine&, const Target&, std::string_view value) const override {
    return Status(Code::kUnimplemented, "driver.ofed: this version does not install drivers; bring it to " +
                                            Quoted(value) + " by hand, or with the image");
  }

 private:
  // The kernel's own mlx5_core has no version (since 5.10), and neither has one that is not loaded.
  static Result<Observation> WithoutVersion(const Machine& machine, bool script, const std::string& release) {
    const auto module = machine.List(kModule);
    if (!module.ok() && module.status().code() != Code::kNotFound) return module.status();
    const std::string what = module.ok() ? "the kernel's own mlx5_core is loaded" : "no mlx5_core is loaded";
    if (!script)
      return module.ok() ? Observation::NotApplicable("InboxDriver", what + ", and no OFED is installed")
                         : Observation::NotApplicable("NoMlxDriver", what + ", and no OFED is installed");
    Observation observed =
        Observation::Value((module.ok() ? "inbox" : "not loaded") + std::string(kInstalled) +
                           (release.empty() ? "unknown" : release));
    observed.message =
        what + ", though " + std::string(kScript) + " is there" +
        (module.ok() ? ": its modules were not built for this kernel, or not loaded since" : "");
    return observed;
  }
};

}  // namespace

std::unique_ptr<const Setting> make_driver_ofed() { return std::make_unique<DriverOfed>(); }

}  // namespace railwright
