// Limits of RDMA objects by control group (rdma.max).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright {

/// `mlx5_0 hca_handle=2 hca_object=2000`: what one group may have of one device. A number, or "max".
struct RdmaLimit {
  std::string group;   ///< below the root, without slashes at its ends: "system.slice", "a/b"
  std::string device;  ///< "mlx5_0"
  std::string handles = "max", objects = "max";

  std::string Limits() const { return "hca_handle=" + handles + " hca_object=" + objects; }
  /// `system.slice mlx5_0 hca_handle=2 hca_object=2000`.
  std::string Text() const { return group + " " + device + " " + Limits(); }
};

/// Items divided by "," or ";", each `GROUP DEVICE [hca_handle=N|max] [hca_object=N|max]`; sorted. The root
/// group has no limits. InvalidArgument says which item is wrong and how.
Result<std::vector<RdmaLimit>> ParseRdmaLimits(std::string_view text);
std::string RdmaLimitsText(const std::vector<RdmaLimit>& limits);

/// The lines of a group's rdma.max. DataLoss: a line that the kernel does not write.
Result<std::vector<RdmaLimit>> DecodeRdmaMax(std::string_view group, std::string_view text);

}  // namespace railwright
