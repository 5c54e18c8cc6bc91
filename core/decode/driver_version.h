// What drivers say of their own releases.
#pragma once

#include <string>
#include <string_view>

namespace railwright {

/// The release in /usr/bin/ofed_info, a script with its answer in it: `OFED-internal-25.10-1.7.1:` or
/// `MLNX_OFED_LINUX-5.8-4.1.5.0:` give "25.10-1.7.1" and "5.8-4.1.5.0"; "" when it holds none.
std::string OfedRelease(std::string_view script);

/// The first line of /proc/driver/nvidia/version.
struct NvidiaDriver {
  std::string version;  ///< "580.159.04"; "" when the text holds none
  bool open = false;    ///< the open kernel modules, which DMA-BUF needs
};
NvidiaDriver ParseNvidiaVersion(std::string_view text);

/// A Debian version without epoch and revision: "1:580.159.04-0ubuntu1" → "580.159.04".
std::string UpstreamVersion(std::string_view debian);

/// The first two numbers of a kernel's release ("6.1.0-18-amd64" → 6, 1); zeroes when there are none.
struct KernelRelease {
  unsigned major = 0, minor = 0;
  bool AtLeast(unsigned want_major, unsigned want_minor) const {
    return major != want_major ? major > want_major : minor >= want_minor;
  }
};
KernelRelease ParseKernelRelease(std::string_view text);

}  // namespace railwright
