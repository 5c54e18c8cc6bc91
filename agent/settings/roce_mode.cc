// roce.mode: the RoCE version of connections that rdma_cm makes.
#include <algorithm>

#include "agent/settings/rdma_cm.h"
#include "core/decode/roce_cm.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

constexpr const char* kAttribute = "default_roce_mode";

class RoceMode final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "roce.mode",
        .code = "RW-1130",
        .help = "RoCE version of connections made by rdma_cm.",
        .why =
            "Version 1 is not routed: peers in another subnet are not reached, and switches do not see its "
            "DSCP. "
            "Holds for connections made afterwards; NCCL does not use rdma_cm and chooses its GID itself.",
        .targets = TargetKind::kPort,
        .syntax = "`v2` or `v1`",
        .default_value = "v2 where the device can",
        .interface = "configfs rdma_cm/<ibdev>/ports/<n>/default_roce_mode",
        .source = "kernel drivers/infiniband/core/cma_configfs.c; Documentation/ABI/testing/configfs-rdma_cm",
        .disruption = Disruption::kNone,
        // configfs tells nobody.
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kRuntime,
        .order = 110,
        .likely_owners = {"cma_roce_mode", "openibd"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    return CanonicalRoceMode(value);
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_ASSIGN_OR_RETURN(const RdmaCmPlace place, FindRdmaCmPlace(machine, target, kAttribute));
    if (const auto* none = std::get_if<Observation>(&place)) return *none;
    const std::string& path = std::get<std::string>(place);
    RW_ASSIGN_OR_RETURN(const std::string text, machine.Get(path));
    auto mode = CanonicalRoceMode(text);
    if (!mode.ok())
      return Status(Code::kInternal, path + ": the kernel says " + Quoted(text) + ", which is no mode");
    return Observation::Value(*std::move(mode));
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const std::string mode, CanonicalRoceMode(value));
    RW_ASSIGN_OR_RETURN(const RdmaCmPlace place, FindRdmaCmPlace(machine, target, kAttribute));
    if (const auto* none = std::get_if<Observation>(&place))
      return Status(Code::kFailedPrecondition, none->message);
    return machine.Set(std::get<std::string>(place), KernelRoceMode(mode));
  }

  // rdma_cm shows a device only where a directory has been made for it. What is made here is removed at stop;
  // the values stay, since they live in rdma_cm and not in the directory.
  Result<std::vector<std::string>> Prepare(Machine& machine) const override {
    std::vector<std::string> made;
    const auto devices = machine.List("/sys/class/infiniband");
    const auto present = machine.List(kRdmaCm);
    if (!devices.ok() || !present.ok()) return made;
    for (const auto& device : *devices) {
      const std::string path = std::string(kRdmaCm) + "/" + device;
      if (std::find(present->begin(), present->end(), device) != present->end()) continue;
      // A device that rdma_cm does not know (ENODEV) stays without; its ports then say so when they are read.
      if (machine.Set(path, "directory").ok()) made.push_back(path);
    }
    return made;
  }
};

}  // namespace

std::unique_ptr<const Setting> make_roce_mode() { return std::make_unique<RoceMode>(); }

}  // namespace railwright
