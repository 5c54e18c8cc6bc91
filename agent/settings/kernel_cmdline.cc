// kernel.cmdline: parameters that the running kernel must have been booted with, or without.
#include "core/decode/kernel_cmdline.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

constexpr std::string_view kGrub = "/etc/default/grub";

// Whether the boot loader's file already says what the running kernel lacks.
bool SetForNextBoot(const Machine& machine, const CmdlineWish& wish) {
  const auto grub = machine.Get("/file" + std::string(kGrub));
  if (!grub.ok()) return false;
  const std::string line = ShellAssignment(*grub, "GRUB_CMDLINE_LINUX") + " " +
                           ShellAssignment(*grub, "GRUB_CMDLINE_LINUX_DEFAULT");
  return wish.Missing(ParseKernelCmdline(line)).empty();
}

class KernelCmdline final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "kernel.cmdline",
        .code = "RW-1152",
        .help = "Parameters of the running kernel's command line.",
        .why =
            "Without iommu=pt every DMA of a card is translated, which costs bandwidth and, with ACS, "
            "forbids the "
            "direct way between GPU and card.",
        .targets = TargetKind::kNode,
        .syntax = "parameters divided by blanks, `iommu=pt`, each present, or absent with `!` before it",
        .default_value = "the boot loader's",
        .interface = "/proc/cmdline",
        .source = "kernel Documentation/admin-guide/kernel-parameters.txt; lib/cmdline.c",
        .disruption = Disruption::kReboot,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kNeedsReboot,
        .order = 25,
        .likely_owners = {"grub", "tuned", "kdump"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const CmdlineWish wish, CmdlineWish::Parse(value));
    return wish.Text();
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_ASSIGN_OR_RETURN(const std::string text, machine.Get("/proc/cmdline"));
    Observation observed = Observation::Value(std::string(Trimmed(text)));
    const auto wish = CmdlineWish::Parse(target.wish);
    if (target.wish.empty()) {
      // A recording wants to know what the next boot will bring, whatever will be asked of it.
      [[maybe_unused]] const auto grub = machine.Get("/file" + std::string(kGrub));
    }
    if (!wish.ok()) return observed;
    const auto missing = wish->Missing(ParseKernelCmdline(text));
    if (missing.empty()) return observed;
    observed.message = Joined(missing, ", ");
    observed.pending_reboot = SetForNextBoot(machine, *wish);
    observed.message += observed.pending_reboot ? "; " + std::string(kGrub) + " has it for the next boot"
                                                : "; set it in " + std::string(kGrub) +
                                                      " (GRUB_CMDLINE_LINUX), run update-grub, reboot";
    return observed;
  }

  // Most of a command line belongs to one host (root=UUID=…); what profiles of this field ask for is how
  // the IOMMU translates.
  Result<std::string> AsWish(const Target&, const Observation& observed) const override {
    std::string wish;
    for (const KernelParameter& parameter : ParseKernelCmdline(observed.value))
      if (parameter.name == "iommu" || parameter.name == "intel_iommu" || parameter.name == "amd_iommu")
        wish += (wish.empty() ? "" : " ") + parameter.Text();
    if (!wish.empty()) return wish;
    return Status(Code::kFailedPrecondition,
                  "the command line says nothing about the IOMMU, and the rest of it belongs to one host");
  }

  bool Satisfied(const Target&, std::string_view desired, const Observation& observed) const override {
    const auto wish = CmdlineWish::Parse(desired);
    return wish.ok() && observed.kind == Observation::Kind::kValue &&
           wish->Missing(ParseKernelCmdline(observed.value)).empty();
  }

  Status Apply(Machine&, const Target&, std::string_view value) const override {
    return Status(Code::kUnimplemented, "kernel.cmdline: this version does not write boot loaders; set " +
                                            std::string(value) + " in GRUB_CMDLINE_LINUX of " +
                                            std::string(kGrub) + ", run update-grub and reboot");
  }
};

}  // namespace

std::unique_ptr<const Setting> make_kernel_cmdline() { return std::make_unique<KernelCmdline>(); }

}  // namespace railwright
