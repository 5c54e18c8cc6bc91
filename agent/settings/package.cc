// package.<name>: the version of an installed Debian package. Read only in this version.
#include "core/decode/fields.h"
#include "core/decode/package_wish.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

Status CheckName(std::string_view name) {
  if (IsDebianPackageName(name)) return Ok();
  return Status(Code::kInvalidArgument,
                "package name " + Quoted(name) +
                    "; allowed: a-z 0-9 + - . beginning with a letter or digit, and :ARCH");
}

class Package final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "package.<name>",
        .code = "RW-1151",
        .help = "Version and hold of an installed package.",
        .why =
            "Driver, firmware tools, libibverbs and its providers must fit one another; one node with "
            "another "
            "version is slow or fails alone, and an unattended upgrade makes such a node overnight.",
        .targets = TargetKind::kNode,
        .syntax = "`installed`, `absent`, `=1.2-3`, `>=1.2 <2`, `1.2.*`; and `hold`",
        .default_value = "what the image brought",
        .interface = "/var/lib/dpkg/status",
        .source = "deb-version(7), dpkg(1)",
        .disruption = Disruption::kReboot,
        .noticed = {.by_event = true, .source = "inotify", .worst = std::chrono::milliseconds(1000)},
        .effect = Effect::kObserveOnly,
        .order = 10,
        .likely_owners = {"unattended-upgrades", "apt", "ansible"},
        .recorded = {"doca-ofed", "ibverbs-providers", "libibverbs1", "libnccl2", "libnl-3-200",
                     "mlnx-ofed-kernel-dkms", "mstflint", "nftables", "nvidia-fabricmanager",
                     "nvidia-kernel-dkms", "perftest", "rdma-core"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view param, std::string_view value) const override {
    RW_RETURN_IF_ERROR(CheckName(param));
    RW_ASSIGN_OR_RETURN(const PackageWish wish, PackageWish::Parse(value));
    return wish.Text();
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_RETURN_IF_ERROR(CheckName(target.param));
    const std::string path = "/pkg/" + target.param;
    const auto text = machine.Get(path);
    if (!text.ok() && text.status().code() == Code::kNotFound) return Observation::Absent();
    if (!text.ok()) return text.status();
    const auto fields = Fields::Parse(*text);
    if (!fields.ok()) return fields.status().Within(path);
    const std::string* version = fields->Find("version");
    const std::string* hold = fields->Find("hold");
    if (version == nullptr || version->empty())
      return Status(Code::kInternal, path + ": " + Quoted(*text) + " names no version");
    Observation observed = Observation::Value(*version + (hold != nullptr && *hold == "1" ? " hold" : ""));
    if (const std::string* state = fields->Find("state"); state != nullptr && *state != "installed")
      return Status(Code::kFailedPrecondition,
                    target.param + " is " + *state + ", not properly installed; run `dpkg --configure -a`");
    return observed;
  }

  bool Satisfied(const Target&, std::string_view desired, const Observation& observed) const override {
    const auto wish = PackageWish::Parse(desired);
    if (!wish.ok()) return false;
    if (observed.kind == Observation::Kind::kAbsent) return wish->FulfilledBy("", false);
    const auto words = Words(observed.value);
    if (observed.kind != Observation::Kind::kValue || words.empty()) return false;
    return wish->FulfilledBy(words.front(), words.size() > 1 && words[1] == "hold");
  }

  Status Apply(Machine&, const Target& target, std::string_view value) const override {
    return Status(Code::kUnimplemented, "package." + target.param +
                                            ": this version does not install packages; bring it to " +
                                            Quoted(value) + " by hand, or with the image");
  }
};

}  // namespace

std::unique_ptr<const Setting> make_package() { return std::make_unique<Package>(); }

}  // namespace railwright
