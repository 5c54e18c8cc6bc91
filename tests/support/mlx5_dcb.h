// Mlx5Dcb: data center bridging of one port as the mlx5 driver does it, its traps included, in memory.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/decode/dcb.h"
#include "core/decode/dcb_app.h"

namespace railwright {

/// What a factory ConnectX answers, and what becomes of it. The functions take what the operations of
/// drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c take, and return what they return: 0 or a negative
/// errno, which dcbnl puts into the payload.
class Mlx5Dcb {
 public:
  Mlx5Dcb();

  /// Of another driver, which has no setapp of its own: the kernel then adds, and keeps what was there.
  bool adds_entries = false;
  /// Answered by SetPfc after the mask has changed: the headroom could not be computed.
  int pfc_error = 0;
  /// The firmware refuses to map this DSCP; -1: none.
  int refused_dscp = -1;

  // What the port has.
  DcbxMode mode;
  DcbPfc pfc;
  DcbEts ets;
  DcbMaxRate maxrate;
  DcbBuffer buffer;
  std::vector<DcbApp> apps;
  std::array<std::uint8_t, 64> hardware{};  ///< the priority that each DSCP really gets
  bool trusts_dscp = false;
  int link_flaps = 0;

  int SetDcbx(std::uint8_t bits);  ///< 1 when refused
  int SetPfc(const DcbPfc& wanted);
  int SetEts(const DcbEts& wanted);
  int SetMaxRate(const DcbMaxRate& wanted);
  int SetBuffer(const DcbBuffer& wanted);
  int SetApp(const DcbApp& wanted);
  int DeleteApp(const DcbApp& gone);

 private:
  static bool IsMapped(const DcbApp& app) { return app.selector == DcbApp::kDscp && app.protocol < 64; }
  bool Remove(const DcbApp& app);
};

}  // namespace railwright
