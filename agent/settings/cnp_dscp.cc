// cnp.dscp: the DSCP of the notifications that a receiver sends back.
#include "agent/settings/dcqcn_place.h"
#include "agent/settings/dcqcn_write.h"

namespace railwright {
namespace {

const DcqcnRegister& Register() { return *FindDcqcnRegister("cnp_dscp"); }

class CnpDscp final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "cnp.dscp",
        .code = "RW-1173",
        .help = "DSCP of congestion notification packets.",
        .why =
            "Switches put notifications into their queue by it. One that waits behind the traffic it is to "
            "slow down comes too late, and the queue runs full.",
        .targets = TargetKind::kPort,
        .syntax = "0…63",
        .default_value = "the firmware's; mostly 48, on Broadcom cards not",
        .interface =
            "sysfs net/<if>/ecn/roce_np/cnp_dscp (MLNX_OFED), debugfs cc_params/np_cnp_dscp, configfs "
            "bnxt_re; with none of them NVCONFIG CNP_DSCP_P<n>, in force at the next boot",
        .source = "NVIDIA DCQCN CC parameters; kernel drivers/infiniband/hw/mlx5/cong.c; RFC 2474",
        .disruption = Disruption::kTrafficBlip,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kRuntime,
        .order = 145,
        .group = "congestion",
        .likely_owners = {"openibd", "the site's start scripts"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    return CanonicalDcqcn(Register(), value);
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    return ObserveDcqcn(machine, target, Register());
  }

  std::optional<WritePlace> WritesTo(const Target&, std::string_view desired,
                                     const Observation& seen) const override {
    return DcqcnWritesTo(desired, seen);
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    return WriteDcqcn(machine, target, Register(), value);
  }
};

}  // namespace

std::unique_ptr<const Setting> make_cnp_dscp() { return std::make_unique<CnpDscp>(); }

}  // namespace railwright
