// package.integrity: the packages of this field are whole, and their modules are the ones that are loaded.
#include <array>

#include "core/decode/fields.h"
#include "core/decode/values.h"
#include "railwright/check.h"

namespace railwright {
namespace {

constexpr std::array<std::string_view, 16> kPackages{"doca-ofed",
                                                     "ibverbs-providers",
                                                     "libibverbs1",
                                                     "libnccl2",
                                                     "mft",
                                                     "mlnx-ofed-kernel-dkms",
                                                     "mlnx-ofed-kernel-modules",
                                                     "mlnx-tools",
                                                     "mstflint",
                                                     "nftables",
                                                     "nvidia-fabricmanager",
                                                     "nvidia-kernel-dkms",
                                                     "nvidia-kernel-open-dkms",
                                                     "perftest",
                                                     "rdma-core",
                                                     "ucx"};
constexpr std::array<std::string_view, 9> kModules{"bnxt_re", "ib_core",        "ib_uverbs",
                                                   "irdma",   "mlx5_core",      "mlx5_ib",
                                                   "nvidia",  "nvidia_peermem", "rdma_cm"};

class PackageIntegrity final : public Check {
 public:
  const CheckInfo& info() const override {
    static const CheckInfo info{
        .key = "package.integrity",
        .code = "RW-2105",
        .help = "Packages of drivers and libraries are whole, and the loaded modules are those on disk.",
        .why =
            "An upgrade that stopped half way leaves tools and libraries of different releases; one that "
            "went "
            "through leaves the old module running until the next boot, and what comes then was never "
            "tested.",
        .interface = "/var/lib/dpkg/status; /sys/module/*/srcversion and the modules' files",
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)}};
    return info;
  }

  std::vector<Finding> Run(const Machine& machine, const NodeFacts&) const override {
    Finding finding;
    finding.code = info().code;
    finding.key = info().key;
    finding.verdict = Verdict::kCompliant;
    std::vector<std::string> broken, outdated;
    const Status packages = LookAtPackages(machine, finding, broken);
    const Status modules = LookAtModules(machine, finding, outdated);
    if (!broken.empty()) {
      finding.verdict = Verdict::kDrifted;
      finding.reason = "PackageBroken";
      finding.message = Joined(broken, "; ");
      finding.fix = "`dpkg --configure -a`, then `apt-get -f install`";
    } else if (!outdated.empty()) {
      finding.verdict = Verdict::kDrifted;
      finding.reason = "ModuleOutdated";
      finding.message = Joined(outdated, "; ");
      finding.fix =
          "reboot the node when it is drained; or unload and load the modules when nothing uses them";
    } else if (!packages.ok() && packages.code() != Code::kUnimplemented) {
      Unread(finding, packages);
    } else if (!modules.ok()) {
      Unread(finding, modules);
    } else if (!packages.ok() && finding.evidence.empty()) {
      finding.verdict = Verdict::kNotApplicable;
      finding.reason = "NoDpkg";
      finding.message = packages.message();
    } else {
      finding.message = "every package is whole, and every loaded module is the one on disk";
    }
    finding.observed = broken.empty() && outdated.empty() ? "" : finding.message;
    return {finding};
  }

 private:
  static void Unread(Finding& finding, const Status& status) {
    finding.verdict = Verdict::kUnknown;
    finding.reason = "ReadFailed";
    finding.message = status.message();
    finding.fix = "read it by hand on the node: the path stands in the message";
  }

  // Unimplemented: there is no dpkg here.
  static Status LookAtPackages(const Machine& machine, Finding& finding, std::vector<std::string>& broken) {
    int whole = 0;
    for (const std::string_view name : kPackages) {
      const std::string path = "/pkg/" + std::string(name);
      const auto text = machine.Get(path);
      if (!text.ok() && text.status().code() == Code::kNotFound) continue;
      if (!text.ok()) return text.status();
      const auto fields = Fields::Parse(*text);
      if (!fields.ok()) return fields.status().Within(path);
      const std::string *state = fields->Find("state"), *version = fields->Find("version");
      if (state == nullptr) {
        ++whole;
      } else {
        broken.push_back(std::string(name) + (version != nullptr ? " " + *version : "") + " is " + *state);
        finding.evidence.push_back(path + ": " + *text);
      }
    }
    finding.evidence.push_back("/pkg: " + std::to_string(whole) + " of " + std::to_string(kPackages.size()) +
                               " packages of this field are here and whole");
    return Ok();
  }

  static Status LookAtModules(const Machine& machine, Finding& finding, std::vector<std::string>& outdated) {
    std::vector<std::string> same, fileless;
    bool any_file = false;
    for (const std::string_view name : kModules) {
      const std::string module(name), loaded_path = "/sys/module/" + module + "/srcversion";
      // Neither is what is built in, nor what is not loaded.
      const auto loaded = machine.Get(loaded_path);
      if (!loaded.ok() && loaded.status().code() == Code::kNotFound) continue;
      if (!loaded.ok()) return loaded.status();
      const std::string path = "/kmod/" + module + "/info";
      const auto text = machine.Get(path);
      if (!text.ok() && text.status().code() == Code::kNotFound) {
        fileless.push_back(module);
        continue;
      }
      if (!text.ok()) return text.status();
      any_file = true;
      const auto fields = Fields::Parse(*text);
      if (!fields.ok()) return fields.status().Within(path);
      const std::string *disk = fields->Find("srcversion"), *version = fields->Find("version");
      // A kernel without CONFIG_MODULE_SRCVERSION_ALL has none in its own modules.
      if (disk == nullptr) continue;
      if (*disk == Trimmed(*loaded)) {
        same.push_back(module);
        continue;
      }
      const auto release = machine.Get("/sys/module/" + module + "/version");
      outdated.push_back("the loaded " + module + (release.ok() ? " " + std::string(Trimmed(*release)) : "") +
                         " is not the one on disk" + (version != nullptr ? ", " + *version : ""));
      finding.evidence.push_back(loaded_path + ": " + *loaded);
      finding.evidence.push_back(path + ": " + *text);
    }
    // Loaded out of an initramfs, from a root without modules, there is nothing on disk to compare with.
    if (!fileless.empty() && !any_file)
      return Status(Code::kUnknown,
                    Joined(fileless, ", ") +
                        ": loaded, and no module file of this kernel is on disk, so that nothing "
                        "can be compared; was the running kernel's package removed?");
    for (const std::string& module : fileless)
      outdated.push_back(module + " is loaded, and this kernel has no file of it any more");
    if (!same.empty()) finding.evidence.push_back("/kmod: as on disk: " + Joined(same, ", "));
    return Ok();
  }
};

}  // namespace

std::unique_ptr<const Check> make_package_integrity() { return std::make_unique<PackageIntegrity>(); }

}  // namespace railwright
