// ecn.np: the receiver's side of congestion control, by priority.
#include "agent/settings/ecn_switch.h"

namespace railwright {
namespace {

SettingInfo Info() {
  return {.key = "ecn.np",
          .code = "RW-1170",
          .help = "Priorities on which a receiver answers congestion marks with notifications (CNP).",
          .why =
              "Where it is off, the marks of the switches reach nobody: senders go on at full rate until PFC "
              "pauses them. It is the priority of the data, not that of the notifications; both sides are "
              "needed.",
          .targets = TargetKind::kPort,
          .syntax = "a list of priorities 0…7, `none` or `all`",
          .default_value = "the firmware's; all since ConnectX-5, none in older guides",
          .interface =
              "sysfs net/<if>/ecn/roce_np/enable/<0-7> (MLNX_OFED); on inbox mlx5 NVCONFIG "
              "ROCE_CC_PRIO_MASK_P<n>, one for both sides, in force at the next boot",
          .source = "MLNX_OFED drivers/net/ethernet/mellanox/mlx5/core/en_ecn.c; NVIDIA DCQCN CC parameters",
          .disruption = Disruption::kTrafficBlip,
          .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
          .effect = Effect::kRuntime,
          .order = 146,
          .group = "congestion",
          .likely_owners = {"openibd", "the site's start scripts"}};
}

}  // namespace

std::unique_ptr<const Setting> make_ecn_np() { return std::make_unique<EcnSwitch>(Info(), "roce_np"); }

}  // namespace railwright
