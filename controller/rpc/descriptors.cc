#include "controller/rpc/descriptors.h"

namespace railwright {

rlimit RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return {RLIM_INFINITY, RLIM_INFINITY};  // not known is no warning
  rlimit raised = limit;
  raised.rlim_cur = raised.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised : limit;
}

std::string DescriptorShortage(std::size_t nodes, const rlimit& limit) {
  const rlim_t needed = static_cast<rlim_t>(nodes) + kDescriptorsBesideNodes;
  if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= needed) return {};
  const bool hard = limit.rlim_max < needed;
  return "this process may have " + std::to_string(limit.rlim_cur) + " files and sockets open (" +
         (hard ? "hard" : "soft") + " limit RLIMIT_NOFILE), but the inventory of " + std::to_string(nodes) +
         " nodes needs about " + std::to_string(needed) +
         ": some agents will not get in. Raise it: LimitNOFILE=" + std::to_string(2 * needed) +
         " in [Service] of the unit (systemctl edit railwright-controller), or ulimit -n before it is "
         "started";
}

}  // namespace railwright
