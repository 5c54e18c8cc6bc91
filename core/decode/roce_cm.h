// What rdma_cm gives to the connections of a RoCE device: its spellings in configfs.
#pragma once

#include <string>
#include <string_view>

#include "railwright/result.h"

namespace railwright {

/// "v1" or "v2" of `v1`, `v2`, or the kernel's own `IB/RoCE v1`, `RoCE v2`. InvalidArgument otherwise.
Result<std::string> CanonicalRoceMode(std::string_view text);
/// The kernel's spelling of a canonical mode (drivers/infiniband/core/cache.c gid_type_str).
std::string KernelRoceMode(std::string_view canonical);
/// 0…255, decimal or 0x…, as a decimal number.
Result<std::string> CanonicalTos(std::string_view text);

}  // namespace railwright
