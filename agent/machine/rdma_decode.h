// RDMA netlink messages taken apart. Pure, so that a test can play the kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/machine/netlink_message.h"

namespace railwright::machine {

struct RdmaDevice {
  std::uint32_t index = 0;
  std::string name;  ///< "mlx5_0"
};

/// One queue pair as the kernel tracks it (drivers/infiniband/core/nldev.c, fill_res_qp_entry).
struct QueuePair {
  std::uint32_t number = 0;  ///< local QPN
  std::uint32_t port = 0;    ///< from 1; 0: the kernel did not tell (a device-wide QP)
  std::string type;          ///< RC, UC, UD, XRC_INI, XRC_TGT, GSI …; a number when unknown here
  std::string state;         ///< RESET, INIT, RTR, RTS, SQD, SQE, ERR; a number when unknown here
  std::uint32_t pid = 0;     ///< of the process that made it; 0: the kernel itself
  std::string kernel;        ///< the kernel user's name ("nvme_rdma", "ib_core"); "" for a process

  /// "qpn=17 port=1 type=RC state=RTS pid=4711", "qpn=1 port=1 type=GSI state=RTS kernel=ib_core"; what is
  /// not told is left out.
  std::string Text() const;
};

/// RDMA_NLDEV_CMD_GET; nullopt when index or name is missing.
std::optional<RdmaDevice> DecodeRdmaDevice(const NetlinkReply& reply);
/// RDMA_NLDEV_CMD_RES_QP_GET: all entries of one message.
std::vector<QueuePair> DecodeQueuePairs(const NetlinkReply& reply);
/// RDMA_NLDEV_CMD_SYS_GET: "netns=shared" or "netns=exclusive"; "" when the message does not say.
std::string DecodeRdmaSystem(const NetlinkReply& reply);

}  // namespace railwright::machine
