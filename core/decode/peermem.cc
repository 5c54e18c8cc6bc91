#include "core/decode/peermem.h"

#include <cerrno>

namespace railwright {
namespace {

struct DmabufDriver {
  std::string_view name;
  unsigned major, minor;
};
constexpr DmabufDriver kDrivers[] = {{"mlx5_ib", 5, 12}, {"efa", 6, 1}, {"irdma", 6, 12}, {"bnxt_re", 6, 12}};

}  // namespace

std::string PeermemCause(int error_number, const PeermemFacts& facts) {
  if (facts.nv_peer_mem)
    return "nv_peer_mem is loaded and does the same work; unload it, blacklist it in /etc/modprobe.d, and "
           "disable "
           "/etc/init.d/nv_peer_mem";
  if (!facts.file_exists)
    return "this kernel has no nvidia_peermem; it comes with the NVIDIA driver, built by DKMS for each "
           "kernel: see "
           "`dkms status`";
  switch (error_number) {
    case EINVAL:
      return facts.ofed
                 ? "it was built without the peer memory symbols of this OFED, or for those of another one "
                   "(\"compiled without IB peer memory symbols\", \"disagrees about version of symbol\" in "
                   "the kernel's log); rebuild the NVIDIA modules now that OFED is installed: `dkms install "
                   "--force nvidia/VERSION`"
                 : "it was built without peer memory symbols, which only OFED's ib_core has; use DMA-BUF, or "
                   "install OFED and then rebuild the NVIDIA modules";
    case ENOENT:
      return facts.ofed
                 ? "a symbol is unknown to the ib_core that is loaded, though OFED's drivers are: OFED was "
                   "installed or changed after the module was built; restart openibd or reboot, then rebuild "
                   "the NVIDIA modules"
                 : "a symbol is unknown: the kernel's own ib_core has no ib_register_peer_memory_client; use "
                   "DMA-BUF, or install OFED and then rebuild the NVIDIA modules";
    case ENOKEY:
    case EKEYREJECTED:
      return "Secure Boot takes only modules that are signed; enrol the key that DKMS signs with: `mokutil "
             "--import "
             "/var/lib/dkms/mok.pub`, then reboot";
    case ENODEV: return "no NVIDIA GPU driver is loaded, or it found no GPU";
    default: return {};
  }
}

DmabufVerdict JudgeDmabuf(const KernelRelease& kernel, const NvidiaDriver& gpu,
                          const std::vector<std::string>& drivers) {
  const std::string release = std::to_string(kernel.major) + "." + std::to_string(kernel.minor);
  if (!kernel.AtLeast(5, 12)) return {false, "DMA-BUF needs Linux 5.12, this is " + release};
  if (gpu.version.empty()) return {false, "DMA-BUF needs the NVIDIA driver, which is not loaded"};
  if (!gpu.open)
    return {false,
            "DMA-BUF needs the open GPU kernel modules; driver " + gpu.version + " has the proprietary ones"};
  for (const DmabufDriver& known : kDrivers)
    for (const std::string& driver : drivers)
      if (driver == known.name && kernel.AtLeast(known.major, known.minor))
        return {true, "DMA-BUF does its work here: Linux " + release + ", open GPU kernel modules " +
                          gpu.version + ", " + driver + "; NCCL prefers it (NCCL_DMABUF_ENABLE)"};
  return {false, "DMA-BUF needs an RDMA driver that takes it; of those loaded none does in Linux " + release};
}

}  // namespace railwright
