// ecn.rp: the sender's side of congestion control, by priority.
#include "agent/settings/ecn_switch.h"

namespace railwright {
namespace {

SettingInfo Info() {
  return {.key = "ecn.rp",
          .code = "RW-1171",
          .help = "Priorities on which a sender slows down for notifications (CNP).",
          .why =
              "Where it is off, notifications are counted as ignored (rp_cnp_ignored), the flow keeps its "
              "rate, and PFC spreads the congestion. It is the priority of the data; both sides are needed.",
          .targets = TargetKind::kPort,
          .syntax = "a list of priorities 0…7, `none` or `all`",
          .default_value = "the firmware's; all since ConnectX-5, none in older guides",
          .interface =
              "sysfs net/<if>/ecn/roce_rp/enable/<0-7> (MLNX_OFED); on inbox mlx5 NVCONFIG "
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

std::unique_ptr<const Setting> make_ecn_rp() { return std::make_unique<EcnSwitch>(Info(), "roce_rp"); }

}  // namespace railwright
