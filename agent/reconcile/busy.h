// Whether a job would be hurt: queue pairs on the ports, processes on the GPUs.
#pragma once

#include <map>
#include <string>

#include "railwright/machine.h"
#include "railwright/setting.h"
#include "railwright/state.h"

namespace railwright {

/// Who uses this node's ports and GPUs right now. What could not be told counts as in use, with the reason:
/// no evidence of a job is not evidence of none.
struct Busy {
  std::string gpu;                           ///< "pid 4711 on GPU 0000:06:00.0"; "" = no GPU runs a process
  std::map<std::string, std::string> ports;  ///< netdev → "pid 4711 has 8 connected queue pairs on mlx5_0"
};

/// Reads /rdma/dev/<ibdev>/qps of every bound port that has an RDMA device, and /nvml/<bdf>/processes of
/// every GPU. A queue pair counts in the states RTR, RTS and SQD, whoever made it (nvme_rdma's as well as a
/// process's), except the management ones of the kernel (SMI, GSI). Never writes.
Busy LookForJobs(const Machine& machine, const NodeFacts& facts);

/// Why a write that disturbs `blast` on `target` would hurt a job, or "" when it would not. What is no
/// interface and no card (a driver, a unit, a node's setting) reaches every port.
std::string HurtBy(const Busy& busy, const NodeFacts& facts, const Step& step);

}  // namespace railwright
