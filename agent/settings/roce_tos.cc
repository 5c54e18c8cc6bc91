// roce.tos: the type of service, and so the traffic class, of connections that rdma_cm makes.
#include "agent/settings/rdma_cm.h"
#include "core/decode/roce_cm.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

constexpr const char* kAttribute = "default_roce_tos";

class RoceTos final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "roce.tos",
        .code = "RW-1131",
        .help = "Type of service of connections made by rdma_cm: DSCP times 4, plus the ECN bits.",
        .why =
            "Switches put packets into the lossless class by their DSCP. With 0 the traffic of storage and "
            "MPI "
            "travels lossy beside NCCL's. Holds for connections made afterwards.",
        .targets = TargetKind::kPort,
        .syntax = "0…255, or 0x00…0xff; 106 is DSCP 26 with ECT(0)",
        .default_value = "0",
        .interface = "configfs rdma_cm/<ibdev>/ports/<n>/default_roce_tos",
        .source = "kernel drivers/infiniband/core/cma_configfs.c; RFC 2474, RFC 3168",
        .disruption = Disruption::kNone,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kRuntime,
        .order = 111,
        .likely_owners = {"cma_roce_tos", "openibd"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    return CanonicalTos(value);
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_ASSIGN_OR_RETURN(const RdmaCmPlace place, FindRdmaCmPlace(machine, target, kAttribute));
    if (const auto* none = std::get_if<Observation>(&place)) return *none;
    const std::string& path = std::get<std::string>(place);
    RW_ASSIGN_OR_RETURN(const std::string text, machine.Get(path));
    auto tos = CanonicalTos(text);
    if (!tos.ok())
      return Status(Code::kInternal, path + ": the kernel says " + Quoted(text) + ", which is no number");
    return Observation::Value(*std::move(tos));
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const std::string tos, CanonicalTos(value));
    RW_ASSIGN_OR_RETURN(const RdmaCmPlace place, FindRdmaCmPlace(machine, target, kAttribute));
    if (const auto* none = std::get_if<Observation>(&place))
      return Status(Code::kFailedPrecondition, none->message);
    return machine.Set(std::get<std::string>(place), tos);
  }
};

}  // namespace

std::unique_ptr<const Setting> make_roce_tos() { return std::make_unique<RoceTos>(); }

}  // namespace railwright
