// driver.nvidia: the release of the NVIDIA GPU driver. Read only in this version.
#include <cerrno>

#include "agent/settings/nvidia_driver.h"
#include "agent/settings/pci_devices.h"
#include "core/decode/fields.h"
#include "core/decode/package_wish.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

// Behind it stands what the library says, when it is not what is loaded.
constexpr std::string_view kLibrary = ", library ";

class DriverNvidia final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "driver.nvidia",
        .code = "RW-1155",
        .help = "Release of the NVIDIA GPU driver: the kernel module that is loaded.",
        .why =
            "CUDA, NCCL and fabricmanager need a driver that is new enough, and every node the same. After "
            "an "
            "upgrade without a reboot the libraries are newer than the module, and nothing starts any more.",
        .targets = TargetKind::kNode,
        .syntax = "`installed`, `=580.159.04`, `>=550 <600`, `580.*`",
        .default_value = "what the image brought",
        .interface = "/proc/driver/nvidia/version, NVML nvmlSystemGetDriverVersion",
        .source = "NVIDIA driver README; deb-version(7) for the order",
        .disruption = Disruption::kReboot,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kObserveOnly,
        .order = 12,
        .likely_owners = {"apt", "unattended-upgrades", "dkms"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const PackageWish wish, PackageWish::Parse(value));
    if (wish.hold || wish.absent)
      return Status(Code::kInvalidArgument,
                    Quoted(value) +
                        "; allowed: installed, =580.159.04, >=550 <600, 580.*; hold and "
                        "absent are of package.<name>");
    return wish.Text();
  }

  Result<Observation> Observe(const Machine& machine, const Target&) const override {
    RW_ASSIGN_OR_RETURN(const auto driver, LoadedNvidiaDriver(machine));
    if (!driver) {
      RW_ASSIGN_OR_RETURN(const NvidiaPciDevices devices, FindNvidiaPciDevices(machine));
      if (devices.gpus.empty())
        return Observation::NotApplicable(
            "NoGpu", "no NVIDIA GPU on the PCI bus, and no driver of NVIDIA's is loaded");
      Observation observed = Observation::Absent();
      observed.message = "NVIDIA GPUs at " + Joined(devices.gpus, ", ") + ", and no driver is loaded";
      return observed;
    }
    Observation observed = Observation::Value(driver->version);
    observed.message = driver->open ? "open kernel modules" : "proprietary kernel modules";
    const auto library = machine.Get("/nvml/driver");
    if (!library.ok()) {
      const Status& status = library.status();
      // Of another release than the module, which is what NVML says then.
      if (status.error_number() == ELIBBAD && status.code() == Code::kFailedPrecondition)
        observed.value += std::string(kLibrary) + "of another release";
      else if (status.code() != Code::kNotFound)
        return status;
      observed.message += "; " + status.message();
      return observed;
    }
    const auto fields = Fields::Parse(*library);
    const std::string* version = fields.ok() ? fields->Find("version") : nullptr;
    if (version == nullptr)
      return Status(Code::kInternal, "/nvml/driver: " + Quoted(*library) + " names no version");
    if (*version != driver->version) {
      observed.value += std::string(kLibrary) + *version;
      observed.message += "; the library is of release " + *version + ": reboot when the node is drained";
    }
    return observed;
  }

  bool Satisfied(const Target&, std::string_view desired, const Observation& observed) const override {
    const auto wish = PackageWish::Parse(desired);
    return wish.ok() && observed.kind == Observation::Kind::kValue &&
           observed.value.find(kLibrary) == std::string::npos && wish->FulfilledBy(observed.value, false);
  }

  Status Apply(Machine&, const Target&, std::string_view value) const override {
    return Status(Code::kUnimplemented, "driver.nvidia: this version does not install drivers; bring it to " +
                                            Quoted(value) + " by hand, or with the image");
  }
};

}  // namespace

std::unique_ptr<const Setting> make_driver_nvidia() { return std::make_unique<DriverNvidia>(); }

}  // namespace railwright
