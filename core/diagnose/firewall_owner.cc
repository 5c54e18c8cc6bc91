#include "core/diagnose/firewall_owner.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace railwright {
namespace {

struct Sign {
  std::string_view owner;
  std::string_view table;  ///< whole name, or ""
  std::string_view chain;  ///< start of the name, or ""
};

// Names that the programs have used for years; the first that fits.
constexpr std::array<Sign, 18> kSigns{{{"firewalld", "firewalld", ""},
                                       {"ufw", "", "ufw-"},
                                       {"ufw", "", "ufw6-"},
                                       {"docker", "", "DOCKER"},
                                       {"docker", "docker-bridges", ""},
                                       {"podman (netavark)", "netavark", ""},
                                       {"podman (netavark)", "", "NETAVARK"},
                                       {"kube-proxy", "kube-proxy", ""},
                                       {"kubelet or kube-proxy", "", "KUBE-"},
                                       {"calico", "", "cali-"},
                                       {"calico", "calico", ""},
                                       {"cilium", "", "CILIUM_"},
                                       {"flannel", "", "FLANNEL-"},
                                       {"libvirt", "", "LIBVIRT_"},
                                       {"libvirt", "libvirt_network", ""},
                                       {"fail2ban", "", "f2b-"},
                                       {"fail2ban", "f2b-table", ""},
                                       {"crowdsec", "crowdsec", ""}}};

bool IsIptables(const Obstacle& obstacle) {
  constexpr std::array<std::string_view, 5> kTables{"filter", "nat", "mangle", "raw", "security"};
  constexpr std::array<std::string_view, 4> kHooks{"INPUT", "OUTPUT", "PREROUTING", "POSTROUTING"};
  const std::string_view base =
      std::string_view(obstacle.base_chain).substr(0, obstacle.base_chain.find(' '));
  return (obstacle.family == "ip" || obstacle.family == "ip6") &&
         std::find(kTables.begin(), kTables.end(), obstacle.table) != kTables.end() &&
         std::find(kHooks.begin(), kHooks.end(), base) != kHooks.end();
}

}  // namespace

std::string FirewallOwner(const Obstacle& obstacle) {
  for (const Sign& sign : kSigns) {
    if (!sign.table.empty() && obstacle.table != sign.table) continue;
    if (!sign.chain.empty() && !std::string_view(obstacle.chain).starts_with(sign.chain)) continue;
    return std::string(sign.owner);
  }
  if (IsIptables(obstacle)) return "iptables (iptables-nft)";
  // What Debian's and Red Hat's nftables.conf start from.
  if (obstacle.table == "filter" && obstacle.family == "inet")
    return "nftables.service (/etc/nftables.conf), if nobody else";
  return {};
}

std::string FirewallFix(const Obstacle& obstacle, const PacketClass& packets, const std::string& interface,
                        const std::string& peers) {
  const bool receive = packets.direction == PacketClass::Direction::kReceive;
  const std::string protocol = packets.protocol == PortProtocol::kUdp ? "udp" : "tcp";
  const std::string owner = FirewallOwner(obstacle);
  if (owner == "firewalld")
    return "firewall-cmd --permanent --zone=trusted --add-interface=" + interface +
           " && firewall-cmd --reload";
  if (owner == "ufw")
    return std::string("ufw ") + (receive ? "allow in on " : "allow out on ") + interface +
           (receive ? " from " : " to ") + peers;
  std::string ports = PortsText(obstacle.ports);
  if (owner.starts_with("iptables")) {
    std::replace(ports.begin(), ports.end(), '-', ':');
    const bool one = ports.find_first_of(",:") == std::string::npos;
    return std::string(obstacle.family == "ip6" ? "ip6tables" : "iptables") +
           (obstacle.table == "filter" ? "" : " -t " + obstacle.table) + " -I " +
           obstacle.base_chain.substr(0, obstacle.base_chain.find(' ')) + (receive ? " -i " : " -o ") +
           interface + (receive ? " -s " : " -d ") + peers + " -p " + protocol +
           (one ? " --dport " : " -m multiport --dports ") + ports + " -j ACCEPT";
  }
  if (!owner.empty() && !owner.starts_with("nftables.service"))
    return "ask the owner, " + owner + ", to accept " + protocol + " " + ports +
           (receive ? " from " : " to ") + peers + " on " + interface;
  if (ports.find(',') != std::string::npos) ports = "{ " + ports + " }";
  // `insert … handle N` puts the accept right before the rule; without one it goes to the end, before the
  // policy.
  const bool policy = obstacle.handle == 0;
  std::string command = std::string("nft ") + (policy ? "add" : "insert") + " rule " + obstacle.family + " " +
                        obstacle.table + " " + obstacle.chain;
  if (!policy) command += " handle " + std::to_string(obstacle.handle);
  command += std::string(receive ? " iifname " : " oifname ") + "\"" + interface + "\" " +
             (packets.ipv6 ? "ip6 " : "ip ") + (receive ? "saddr " : "daddr ") + peers + " " + protocol +
             " dport " + ports + " accept";
  if (!owner.empty()) command += "; and the same in /etc/nftables.conf, to last";
  return command;
}

}  // namespace railwright
