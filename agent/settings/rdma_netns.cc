// rdma.netns: whether RDMA devices are seen in every network namespace. Read only in this version.
#include "core/decode/fields.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

class RdmaNetns final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "rdma.netns",
        .code = "RW-1142",
        .help = "Whether RDMA devices are seen in every network namespace.",
        .why =
            "shared: every container sees every device, whichever network it has. exclusive: a device must "
            "be "
            "given to a namespace, and containers without that see none. The kernel takes a change only "
            "while no "
            "other namespace exists, so it belongs into the boot configuration.",
        .targets = TargetKind::kNode,
        .syntax = "`shared` or `exclusive`",
        .default_value = "shared",
        .interface = "RDMA netlink RDMA_NLDEV_CMD_SYS_GET",
        .source = "rdma(8); kernel drivers/infiniband/core/device.c",
        .disruption = Disruption::kReboot,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kObserveOnly,
        .order = 112,
        .likely_owners = {"modprobe.d (ib_core netns_mode=)", "the container runtime"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    value = Trimmed(value);
    if (value == "shared" || value == "exclusive") return std::string(value);
    return Status(Code::kInvalidArgument, Quoted(value) + "; allowed: shared, exclusive");
  }

  Result<Observation> Observe(const Machine& machine, const Target&) const override {
    const auto devices = machine.List("/sys/class/infiniband");
    if (!devices.ok() && devices.status().code() == Code::kNotFound)
      return Observation::NotApplicable("NoRdmaDevice",
                                        "/sys/class/infiniband is not there: no RDMA in this kernel");
    if (!devices.ok()) return devices.status();
    RW_ASSIGN_OR_RETURN(const std::string text, machine.Get("/rdma/system"));
    const auto fields = Fields::Parse(text);
    if (!fields.ok()) return fields.status().Within("/rdma/system");
    const std::string* mode = fields->Find("netns");
    if (mode == nullptr || (*mode != "shared" && *mode != "exclusive"))
      return Status(Code::kInternal, "/rdma/system: " + Quoted(text) + " tells no mode of namespaces");
    return Observation::Value(*mode);
  }

  Status Apply(Machine&, const Target&, std::string_view value) const override {
    return Status(Code::kUnimplemented,
                  "rdma.netns: not written, since the kernel refuses it on a node with "
                  "containers; put `options ib_core netns_mode=" +
                      std::string(value == "exclusive" ? "0" : "1") + "` into /etc/modprobe.d and reboot");
  }
};

}  // namespace

std::unique_ptr<const Setting> make_rdma_netns() { return std::make_unique<RdmaNetns>(); }

}  // namespace railwright
