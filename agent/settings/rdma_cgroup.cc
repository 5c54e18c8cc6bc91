// rdma.cgroup: how many RDMA objects control groups may have.
#include <algorithm>

#include "core/decode/rdma_cgroup.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

constexpr std::string_view kRoot = "/sys/fs/cgroup";

std::string PathOf(const std::string& group, std::string_view file) {
  return std::string(kRoot) + (group.empty() ? "" : "/" + group) + "/" + std::string(file);
}

bool HasWord(std::string_view text, std::string_view word) {
  const auto words = Words(text);
  return std::find(words.begin(), words.end(), word) != words.end();
}

class RdmaCgroup final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "rdma.cgroup",
        .code = "RW-1141",
        .help = "How many RDMA contexts and objects control groups may have.",
        .why =
            "One job that makes queue pairs without end takes those of all others: ibv_create_qp then fails "
            "with "
            "EAGAIN. A limit of its group keeps the damage there. There is none for queue pairs alone.",
        .targets = TargetKind::kNode,
        .syntax =
            "`GROUP DEVICE hca_handle=N|max hca_object=N|max`, several divided by commas: `system.slice "
            "mlx5_0 hca_handle=2 hca_object=2000`",
        .default_value = "max",
        .interface = "/sys/fs/cgroup/GROUP/rdma.max",
        .source = "kernel Documentation/admin-guide/cgroup-v2.rst (RDMA); kernel/cgroup/rdma.c",
        .disruption = Disruption::kNone,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kRuntime,
        .order = 161,
        .likely_owners = {"the container runtime", "slurmd"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const auto limits, ParseRdmaLimits(value));
    return RdmaLimitsText(limits);
  }

  // The groups and devices that the wish names, with what they may have now.
  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    const auto devices = machine.List("/sys/class/infiniband");
    if (!devices.ok() && devices.status().code() == Code::kNotFound)
      return Observation::NotApplicable("NoRdmaDevice",
                                        "/sys/class/infiniband is not there: no RDMA in this kernel");
    if (!devices.ok()) return devices.status();
    const auto controllers = machine.Get(PathOf("", "cgroup.controllers"));
    if (!controllers.ok() && controllers.status().code() == Code::kNotFound)
      return Observation::NotApplicable("NoUnifiedCgroups",
                                        std::string(kRoot) + " is no cgroup v2 hierarchy");
    if (!controllers.ok()) return controllers.status();
    if (!HasWord(*controllers, "rdma"))
      return Observation::NotApplicable("NoRdmaController",
                                        "this kernel has no RDMA controller for cgroups, or "
                                        "version 1 holds it; it has: " +
                                            *controllers);
    const auto wish = ParseRdmaLimits(target.wish);
    if (!wish.ok()) return Observation::Absent();
    Observation observed = Observation::Value("");
    std::vector<RdmaLimit> seen;
    for (const RdmaLimit& one : *wish) {
      if (std::find(devices->begin(), devices->end(), one.device) == devices->end())
        return Status(Code::kNotFound,
                      "no RDMA device " + one.device + " here; there are: " + Joined(*devices, ", "));
      RW_ASSIGN_OR_RETURN(RdmaLimit now, Read(machine, one, observed.message));
      seen.push_back(std::move(now));
    }
    observed.value = RdmaLimitsText(seen);
    return observed;
  }

  Status Apply(Machine& machine, const Target&, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const auto limits, ParseRdmaLimits(value));
    for (const RdmaLimit& limit : limits) {
      std::string unused;
      RW_ASSIGN_OR_RETURN(const RdmaLimit now, Read(machine, limit, unused));
      if (now.Limits() == limit.Limits()) continue;
      RW_RETURN_IF_ERROR(Enable(machine, limit.group));
      RW_RETURN_IF_ERROR(machine.Set(PathOf(limit.group, "rdma.max"), limit.device + " " + limit.Limits()));
    }
    return Ok();
  }

 private:
  // A group in which the controller is not enabled has no limits.
  static Result<RdmaLimit> Read(const Machine& machine, const RdmaLimit& wanted, std::string& message) {
    RdmaLimit none;
    none.group = wanted.group;
    none.device = wanted.device;
    const std::string path = PathOf(wanted.group, "rdma.max");
    const auto text = machine.Get(path);
    if (text.ok()) {
      const auto limits = DecodeRdmaMax(wanted.group, *text);
      if (!limits.ok()) return limits.status().Within(path);
      for (const RdmaLimit& one : *limits)
        if (one.device == wanted.device) return one;
      return Status(Code::kNotFound, path + ": no limits of " + wanted.device + " in " + Quoted(*text));
    }
    if (text.status().code() != Code::kNotFound) return text.status();
    const auto enabled = machine.Get(PathOf(wanted.group, "cgroup.controllers"));
    if (!enabled.ok() && enabled.status().code() == Code::kNotFound)
      return Status(Code::kNotFound, "no control group " + wanted.group + " below " + std::string(kRoot) +
                                         "; it is there once something runs in it");
    if (!enabled.ok()) return enabled.status();
    message += (message.empty() ? "" : "; ") + ("the RDMA controller is not enabled for " + wanted.group);
    return none;
  }

  // A group has a controller when each group above it passes it on. The kernel refuses that (EBUSY) to a
  // group, other than the root, with processes of its own.
  static Status Enable(Machine& machine, const std::string& group) {
    for (std::size_t slash = 0; slash != std::string::npos; slash = group.find('/', slash + 1)) {
      const std::string path = PathOf(group.substr(0, slash), "cgroup.subtree_control");
      RW_ASSIGN_OR_RETURN(const std::string passed, machine.Get(path));
      if (!HasWord(passed, "rdma")) RW_RETURN_IF_ERROR(machine.Set(path, "+rdma"));
    }
    return Ok();
  }
};

}  // namespace

std::unique_ptr<const Setting> make_rdma_cgroup() { return std::make_unique<RdmaCgroup>(); }

}  // namespace railwright
