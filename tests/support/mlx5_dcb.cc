#include "tests/support/mlx5_dcb.h"

#include <algorithm>
#include <cerrno>
#include <numeric>

namespace railwright {

namespace {
constexpr std::uint32_t kCell = 144;                // bytes, the unit of port buffers
constexpr std::uint16_t kLongestCable = 1000;       // MLX5E_MAX_CABLE_LENGTH
constexpr std::uint64_t kFastest = 255'000'000ULL;  // kbit/s, what the register can say
}  // namespace

Mlx5Dcb::Mlx5Dcb() {
  mode.bits = DcbxMode::kHost | DcbxMode::kCee | DcbxMode::kIeee;
  pfc.capacity = 8;
  pfc.delay = 7;
  ets.capacity = 8;
  ets.algorithm.fill(kTsaVendor);
  ets.traffic_class = {1, 0, 2, 3, 4, 5, 6, 7};
  buffer.size = {20016, 156096};
  buffer.total = 1027728;
  for (std::size_t dscp = 0; dscp < hardware.size(); ++dscp)
    hardware[dscp] = static_cast<std::uint8_t>(dscp >> 3);
}

int Mlx5Dcb::SetDcbx(std::uint8_t bits) {
  if ((bits & DcbxMode::kLldManaged) != 0) return 1;
  if (bits == 0) {
    mode.bits = static_cast<std::uint8_t>(mode.bits & ~DcbxMode::kHost);
    return 0;
  }
  if ((bits & DcbxMode::kHost) == 0) return 1;
  mode.bits = bits;
  return 0;
}

int Mlx5Dcb::SetPfc(const DcbPfc& wanted) {
  const bool changed = wanted.enabled != pfc.enabled;
  if (changed) {
    pfc.enabled = wanted.enabled;
    ++link_flaps;
  }
  if (wanted.delay != 0 && wanted.delay < kLongestCable) pfc.delay = wanted.delay;
  return changed ? pfc_error : 0;
}

int Mlx5Dcb::SetEts(const DcbEts& wanted) {
  unsigned sum = 0;
  bool shared = false;
  for (std::size_t i = 0; i < kDcbClasses; ++i) {
    if (wanted.traffic_class[i] >= kDcbClasses) return -EINVAL;
    if (wanted.algorithm[i] == kTsaCbShaper) return -EOPNOTSUPP;
    if (wanted.algorithm[i] != kTsaEts) continue;
    shared = true;
    sum += wanted.tx_bandwidth[i];
  }
  if (shared && sum != 100) return -EINVAL;
  ets.traffic_class = wanted.traffic_class;
  ets.algorithm = wanted.algorithm;
  for (std::size_t i = 0; i < kDcbClasses; ++i)
    ets.tx_bandwidth[i] = wanted.algorithm[i] == kTsaEts ? wanted.tx_bandwidth[i] : std::uint8_t{0};
  return 0;
}

int Mlx5Dcb::SetMaxRate(const DcbMaxRate& wanted) {
  for (const auto rate : wanted.rates)
    if (rate > kFastest) return -EINVAL;
  maxrate = wanted;
  return 0;
}

int Mlx5Dcb::SetBuffer(const DcbBuffer& wanted) {
  if (std::accumulate(wanted.size.begin(), wanted.size.end(), std::uint64_t{0}) > buffer.total)
    return -EINVAL;
  for (std::size_t priority = 0; priority < kDcbClasses; ++priority)
    if ((pfc.enabled >> priority & 1) != 0 && wanted.size[wanted.of_priority[priority]] < 10000)
      return -ENOMEM;
  buffer.of_priority = wanted.of_priority;
  for (std::size_t i = 0; i < kDcbClasses; ++i) buffer.size[i] = wanted.size[i] / kCell * kCell;
  return 0;
}

bool Mlx5Dcb::Remove(const DcbApp& app) { return std::erase(apps, app) != 0; }

int Mlx5Dcb::SetApp(const DcbApp& wanted) {
  if (adds_entries) {
    if (std::find(apps.begin(), apps.end(), wanted) != apps.end()) return -EEXIST;
    apps.push_back(wanted);
    return 0;
  }
  if (!IsMapped(wanted)) return -EINVAL;
  if (apps.empty()) trusts_dscp = true;
  std::uint8_t& mapped = hardware[wanted.protocol];
  const DcbApp old{DcbApp::kDscp, wanted.protocol, mapped};
  if (mapped != wanted.priority) {
    if (wanted.protocol == refused_dscp) {
      trusts_dscp = false;  // and the entries that are there stay listed
      return -EIO;
    }
    mapped = wanted.priority;
  }
  Remove(old);
  apps.push_back(wanted);
  return 0;
}

int Mlx5Dcb::DeleteApp(const DcbApp& gone) {
  if (adds_entries) return Remove(gone) ? 0 : -ENOENT;
  if (!IsMapped(gone)) return -EINVAL;
  if (apps.empty() || hardware[gone.protocol] != gone.priority || !Remove(gone)) return -ENOENT;
  hardware[gone.protocol] = 0;
  if (apps.empty()) trusts_dscp = false;
  return 0;
}

}  // namespace railwright
