// driver.fabricmanager: the package that sets up NVSwitch, which must be of the driver's very release.
#include "agent/settings/nvidia_driver.h"
#include "agent/settings/pci_devices.h"
#include "core/decode/fields.h"
#include "core/decode/package_wish.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

constexpr std::string_view kDriver = ", driver ";
constexpr std::string_view kLikeDriver = "driver";

class DriverFabricmanager final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "driver.fabricmanager",
        .code = "RW-1156",
        .help = "Release of nvidia-fabricmanager; it must be that of the loaded driver.",
        .why =
            "It refuses to set up NVSwitch for a driver of any other release, and then CUDA fails with error "
            "802 on every GPU of the node.",
        .targets = TargetKind::kNode,
        .syntax = "`driver` (the loaded driver's release), or `installed`, `=580.159.04`, `580.*`",
        .default_value = "what the image brought",
        .interface = "/var/lib/dpkg/status, /proc/driver/nvidia/version",
        .source = "NVIDIA Fabric Manager user guide",
        .disruption = Disruption::kFunctionReset,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kObserveOnly,
        .order = 13,
        .likely_owners = {"apt", "unattended-upgrades"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    if (Trimmed(value) == kLikeDriver) return std::string(kLikeDriver);
    RW_ASSIGN_OR_RETURN(const PackageWish wish, PackageWish::Parse(value));
    if (wish.hold || wish.absent)
      return Status(Code::kInvalidArgument, Quoted(value) +
                                                "; allowed: driver, installed, =580.159.04, 580.*; "
                                                "hold and absent are of package.<name>");
    return wish.Text();
  }

  Result<Observation> Observe(const Machine& machine, const Target&) const override {
    RW_ASSIGN_OR_RETURN(const NvidiaPciDevices devices, FindNvidiaPciDevices(machine));
    if (devices.switches.empty())
      return Observation::NotApplicable("NoNvswitch", "no NVSwitch on the PCI bus, so nothing to set up");
    RW_ASSIGN_OR_RETURN(const auto driver, LoadedNvidiaDriver(machine));
    // Packages of older releases carry the branch in their name.
    std::vector<std::string> names{"nvidia-fabricmanager"};
    if (driver) names.push_back(names[0] + "-" + driver->version.substr(0, driver->version.find('.')));
    for (const std::string& name : names) {
      const std::string path = "/pkg/" + name;
      const auto text = machine.Get(path);
      if (!text.ok() && text.status().code() == Code::kNotFound) continue;
      if (!text.ok()) return text.status();
      const auto fields = Fields::Parse(*text);
      if (!fields.ok()) return fields.status().Within(path);
      const std::string *version = fields->Find("version"), *state = fields->Find("state");
      if (version == nullptr || version->empty())
        return Status(Code::kInternal, path + ": " + Quoted(*text) + " names no version");
      if (state != nullptr && *state != "installed")
        return Status(Code::kFailedPrecondition,
                      name + " is " + *state + ", not properly installed; run `dpkg --configure -a`");
      Observation observed = Observation::Value(UpstreamVersion(*version));
      observed.message = "package " + name + " " + *version;
      if (driver && driver->version == observed.value) return observed;
      observed.value += std::string(kDriver) + (driver ? driver->version : "none");
      observed.message += driver ? ": install the one of the driver's release" : ": no driver is loaded";
      return observed;
    }
    Observation observed = Observation::Absent();
    observed.message =
        "NVSwitch at " + devices.switches.front() + ", and none of " + Joined(names, ", ") + " is installed";
    return observed;
  }

  bool Satisfied(const Target&, std::string_view desired, const Observation& observed) const override {
    if (observed.kind != Observation::Kind::kValue || observed.value.find(kDriver) != std::string::npos)
      return false;
    if (desired == kLikeDriver) return true;
    const auto wish = PackageWish::Parse(desired);
    return wish.ok() && wish->FulfilledBy(observed.value, false);
  }

  Status Apply(Machine&, const Target&, std::string_view value) const override {
    return Status(Code::kUnimplemented,
                  "driver.fabricmanager: this version does not install packages; bring it to " +
                      Quoted(value) + " by hand, or with the image");
  }
};

}  // namespace

std::unique_ptr<const Setting> make_driver_fabricmanager() { return std::make_unique<DriverFabricmanager>(); }

}  // namespace railwright
