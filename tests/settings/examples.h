// What the contract suite wishes of every setting, and which ports each snapshot has.
#pragma once

#include <string>
#include <vector>

#include "railwright/state.h"
#include "tests/settings/subject.h"

namespace railwright {

/// A key of a setting, with values that a profile may give it.
struct Example {
  std::string key;
  std::vector<std::string> wishes;
  /// Paths that end in it can only add to the evidence: when they cannot be read, what else was read still
  /// stands.
  std::string aside{};
};

/// Whether another algorithm runs: what cannot be read of it says nothing of DCQCN's registers.
inline constexpr const char* kProgram = "/USER_PROGRAMMABLE_CC";

/// At least one for every setting of the catalogue; the suite fails for a setting that has none.
inline std::vector<Example> Examples() {
  return {
      {"cc.mode", {"dcqcn", "programmable"}},
      {"cnp.dscp", {"48", "26", "0"}},
      {"cnp.priority", {"6", "0"}},
      {"dcqcn.clamp_tgt_rate", {"1", "0"}, kProgram},
      {"dcqcn.initial_alpha_value", {"200", "1023"}, kProgram},
      {"dcqcn.min_time_between_cnps", {"0", "50"}, kProgram},
      {"dcqcn.rpg_ai_rate", {"10", "100000"}, kProgram},
      {"ecn.np", {"3", "none", "all", "0,3,5"}},
      {"ecn.rp", {"3", "all"}},
      {"cpu.governor", {"performance", "powersave"}},
      {"driver.fabricmanager", {"driver", "=550.163.01", "580.*"}},
      {"driver.nvidia", {"installed", "=550.163.01", ">=570"}},
      {"driver.ofed", {"installed", "25.10.*", "=25.10-1.7.1"}},
      {"file./etc/modprobe.d/railwright.conf", {"options mlx5_core prof_sel=2", ""}},
      {"file./etc/sysctl.d/90-railwright.conf", {"vm.swappiness = 10\n"}},
      {"firewall.rdma", {"allow", "udp:4791,tcp:18515-18530", "allow,tcp:29500"}},
      {"gpu.clocks", {"default", "sm=1710 mem=2619"}},
      {"gpu.count", {"8", "0"}},
      {"gpu.ecc", {"on", "off"}},
      {"gpu.persistence", {"on", "off"}},
      {"kernel.cmdline", {"iommu=pt", "!quiet", "intel_iommu=on"}},
      {"limits.memlock", {"unlimited", "65536"}},
      {"link.channels", {"1", "2", "max", "combined=2"}},
      {"link.fec", {"rs", "baser far_end=baser", "auto far_end=auto"}},
      {"link.mtu", {"4200", "1500", "max"}},
      {"link.pause", {"off", "on", "rx=off"}},
      {"link.rings", {"256", "rx=256 tx=256", "max"}},
      {"module.nvidia_peermem", {"loaded", "absent"}},
      {"module.rdma_cm", {"loaded"}},
      {"nic.firmware", {"28.39.1002", ">=28.39.1002 <29", "28.39.*"}},
      {"nic.nvconfig.CNP_DSCP_P1", {"48", "26"}},
      {"nic.nvconfig.LLDP_NB_DCBX_P1", {"false", "True(1)"}},
      {"nic.nvconfig.PCI_WR_ORDERING", {"per_mkey"}},
      {"pcie.acs", {"p2p-direct", "path-direct"}},
      {"pcie.max_read_request", {"4096", "512"}},
      {"pcie.relaxed_ordering", {"on", "off"}},
      {"nccl.NCCL_DEBUG", {"WARN", "INFO"}},
      {"nccl.NCCL_IB_TC", {"106"}},
      {"package.libnccl2", {"installed", "absent", ">=2.20 <3", "2.21.*"}},
      {"package.rdma-core", {"44.0-2", "installed hold"}},
      {"qos.buffer", {"prio_buffer=0,0,0,1,0,0,0,0", "size=20016,262144,0,0,0,0,0,0"}},
      {"qos.cable_length", {"5", "100"}},
      {"qos.dcbx", {"host", "firmware"}},
      {"qos.dscp_map", {"default", "26:4,48:7", "24-31:5"}},
      {"qos.ets", {"3:50,6:strict,rest:50", "rest:100"}},
      {"qos.pfc", {"3", "0,3", "none"}},
      {"qos.pfc_storm_prevention", {"auto", "off", "200"}},
      {"qos.trust", {"dscp", "pcp"}},
      {"rail.address", {"declared", "10.77.0.1/24,fd77::1/64"}},
      {"rail.routing", {"per-rail", "per-rail table=101 priority=1001"}},
      {"roce.accel.adaptive_routing_forced_en", {"1", "0"}},
      {"roce.accel.ack_dscp", {"0", "48"}},
      {"roce.mode", {"v2", "v1"}},
      {"roce.tos", {"106", "0x6a", "0"}},
      {"roce.traffic_class", {"106", "0x68", "unset"}},
      {"rdma.cgroup",
       {"system.slice mlx5_0 hca_handle=2 hca_object=2000", "system.slice mlx5_0 hca_object=max"}},
      {"rdma.netns", {"shared", "exclusive"}},
      {"roce.mode", {"v2", "v1"}},
      {"roce.tos", {"106", "0x6a", "0"}},
      {"service.irqbalance", {"stopped disabled", "running enabled"}},
      {"service.lldpad", {"stopped", "stopped masked"}},
      {"service.openibd", {"running", "enabled"}},
      {"sysctl.kernel.numa_balancing", {"0"}},
      {"sysctl.net.ipv4.conf.all.arp_ignore", {"1"}},
      {"sysctl.net.ipv4.conf.{netdev}.arp_announce", {"2"}},
      {"sysctl.net.ipv4.conf.{netdev}.arp_filter", {"1"}},
      {"sysctl.net.ipv4.conf.{netdev}.arp_ignore", {"1"}},
      {"sysctl.net.ipv4.conf.{netdev}.rp_filter", {"0", "1", "2"}},
      {"sysctl.net.ipv4.tcp_rmem", {"4096 131072 67108864"}},
      {"sysctl.net.ipv6.conf.{netdev}.keep_addr_on_down", {"1"}},
  };
}

/// The ports that a Cluster document would declare for the machine of a snapshot. For a snapshot that is not
/// named here: every interface but the loopback.
inline std::vector<Port> PortsOfSnapshot(const std::string& snapshot, const Machine& machine) {
  std::vector<Port> ports;
  if (snapshot == "written-8x-cx7") {
    int rail = 0;
    for (const char* bus : {"18", "3b", "4c", "5d", "9b", "bb", "cb", "db"}) {
      Port port;
      port.name = "rail" + std::to_string(rail);
      port.role = PortRole::kFabric;
      port.pci = std::string("0000:") + bus + ":00.0";
      const std::string net = std::to_string(10 + rail);
      port.addresses = {"10." + net + ".0.1/24", "fd00:" + net + "::1/64"};
      port.gateways = {"10." + net + ".0.254"};
      ports.push_back(port);
      ++rail;
    }
    return ports;
  }
  const auto links = machine.List("/rtnl/link");
  if (!links.ok()) return ports;
  for (const auto& link : *links) {
    if (link == "lo" || (snapshot == "h200-vm" && link.starts_with("ifb"))) continue;
    const std::string net = std::to_string(10 + ports.size());
    Port port = FabricPort(link, {"10." + net + ".0.1/24"});
    port.name = "rail" + std::to_string(ports.size());
    ports.push_back(port);
  }
  return ports;
}

}  // namespace railwright
