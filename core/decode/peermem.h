// Why nvidia_peermem does not load, and whether DMA-BUF can do its work.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/decode/driver_version.h"

namespace railwright {

/// What could be read without opening a device.
struct PeermemFacts {
  bool file_exists = true;   ///< the running kernel has nvidia_peermem.ko
  bool ofed = false;         ///< OFED's drivers are loaded: mlx5_core has a version of its own
  bool nv_peer_mem = false;  ///< the older module that does the same is loaded
};

/// The cause behind the errno of a failed load, and what to do; "" when it is not known. The errnos are those
/// of finit_module(2) and of the module's own start (NVIDIA open-gpu-kernel-modules, nvidia-peermem.c).
std::string PeermemCause(int error_number, const PeermemFacts& facts);

/// Whether GPU memory can be given to the cards as DMA-BUF, without nvidia_peermem. It needs Linux 5.12, the
/// open GPU kernel modules, and an RDMA driver that takes such memory (reg_user_mr_dmabuf: mlx5 since 5.12,
/// efa since 6.1, irdma and bnxt_re at the latest in 6.12). `drivers`: the RDMA drivers that are loaded.
struct DmabufVerdict {
  bool possible = false;
  std::string sentence;  ///< what speaks for it, or the first thing that is missing
};
DmabufVerdict JudgeDmabuf(const KernelRelease& kernel, const NvidiaDriver& gpu,
                          const std::vector<std::string>& drivers);

}  // namespace railwright
