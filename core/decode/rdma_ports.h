// The ports that a RoCE cluster needs open between its nodes; one list for the firewall setting and its
// checks.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace railwright {

enum class PortProtocol : std::uint8_t { kUdp, kTcp };

/// A range of destination ports, both ends included, with who listens there.
struct RdmaPort {
  std::string_view name;     ///< "rocev2": stable, for messages and rule comments
  std::string_view listens;  ///< for a person: what stops working when it is closed
  PortProtocol protocol;
  std::uint16_t first;
  std::uint16_t last;
  std::string_view source;  ///< where the number comes from
};

/// RoCE v2 data and rdma_cm traffic. A card terminates it below the netdev, so the host's firewall decides
/// only for soft RoCE (rxe) and for what reads the rules as documentation. The source port is entropy in
/// 49152–65535 (rxe, mlx5: 0xc000 upwards), never 4791.
inline constexpr RdmaPort kRoceV2{"rocev2",
                                  "RoCE v2 (soft RoCE; documentation for cards)",
                                  PortProtocol::kUdp,
                                  4791,
                                  4791,
                                  "IANA roce; kernel include/rdma/ib_verbs.h ROCE_V2_UDP_DPORT"};
/// librdmacm's examples (ucmatose, rdma_server …) and tools that took their port.
inline constexpr RdmaPort kRdmaCm{
    "rdma_cm", "librdmacm examples and their out-of-band exchange", PortProtocol::kTcp, 7471,
    7471,      "rdma-core librdmacm/examples/rdma_server.c"};
inline constexpr RdmaPort kRping{"rping", "rping", PortProtocol::kTcp,
                                 7174,    7174,    "rdma-core librdmacm/examples/rping.c"};
/// perftest's control connection: 18515 by default, and one more for each test that runs at the same time.
inline constexpr RdmaPort kPerftest{"perftest",
                                    "perftest (ib_write_bw …) and ibv_rc_pingpong control connection",
                                    PortProtocol::kTcp,
                                    18515,
                                    18530,
                                    "perftest src/perftest_parameters.h DEF_PORT; 16 pairs of ports a node"};
/// NCCL's bootstrap and socket transport listen on ephemeral ports.
inline constexpr RdmaPort kNccl{"nccl",
                                "NCCL bootstrap and socket transport",
                                PortProtocol::kTcp,
                                32768,
                                60999,
                                "net.ipv4.ip_local_port_range of a fresh kernel (ip-sysctl.rst)"};

/// All of them, the data path first.
inline constexpr std::array kRdmaPorts{kRoceV2, kRdmaCm, kRping, kPerftest, kNccl};

}  // namespace railwright
