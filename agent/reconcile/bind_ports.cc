#include "agent/reconcile/bind_ports.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "agent/reconcile/reconciler.h"

namespace railwright {
namespace {

constexpr std::string_view kNet = "/sys/class/net/";
constexpr std::string_view kRdma = "/sys/class/infiniband";
// GIDs that the kernel itself makes for a netdev stand first in the table; unset entries answer EINVAL.
constexpr int kGidsLookedAt = 4;

std::string Join(std::string_view a, std::string_view b, std::string_view c = {}) {
  std::string path(a);
  path.append(b).append(c);
  return path;
}

// "18:00.0" → "0000:18:00.0", in lower case as sysfs spells it.
std::string FullBdf(std::string_view text) {
  std::string bdf(text);
  for (char& c : bdf) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (std::count(bdf.begin(), bdf.end(), ':') == 1) bdf.insert(0, "0000:");
  return bdf;
}

// An uplink calls itself "p0" or says nothing; representors of virtual functions say "pf0vf3".
bool IsUplink(const Machine& machine, const std::string& netdev) {
  const auto name = machine.Get(Join(kNet, netdev, "/phys_port_name"));
  if (!name.ok() || name->empty()) return true;
  return name->size() >= 2 && (*name)[0] == 'p' &&
         std::all_of(name->begin() + 1, name->end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// A virtio interface hangs below the virtio device of its function.
Result<std::vector<std::string>> NetdevsOf(const Machine& machine, const std::string& device) {
  const auto netdevs = machine.List(device + "/net");
  if (netdevs.ok() || netdevs.status().code() != Code::kNotFound) return netdevs;
  const auto entries = machine.List(device);
  if (!entries.ok()) return netdevs;
  for (const std::string& entry : *entries) {
    if (!entry.starts_with("virtio")) continue;
    const auto below = machine.List(Join(device, "/", entry) + "/net");
    if (below.ok()) return below;
  }
  return netdevs;
}

void BindByPci(const Machine& machine, BoundPort& bound) {
  bound.bdf = FullBdf(bound.port.pci);
  const std::string device = Join("/sys/bus/pci/devices/", bound.bdf);
  const auto netdevs = NetdevsOf(machine, device);
  if (netdevs.ok() && !netdevs->empty()) {
    bound.netdev = netdevs->front();
    if (netdevs->size() > 1) {
      const auto uplink = std::find_if(netdevs->begin(), netdevs->end(),
                                       [&](const std::string& name) { return IsUplink(machine, name); });
      if (uplink != netdevs->end()) bound.netdev = *uplink;
    }
    return;
  }
  const std::string subject = "port " + bound.port.name + ": ";
  if (!netdevs.ok() && netdevs.status().code() != Code::kNotFound) {
    bound.unbound = subject + netdevs.status().message();
  } else if (netdevs.ok() || machine.List(device).ok()) {
    bound.unbound = subject + "PCI device " + bound.bdf + " has no network interface; is its driver loaded?";
  } else {
    bound.unbound = subject + "no PCI device " + bound.bdf + " on this node";
  }
}

void BindByName(const Machine& machine, BoundPort& bound) {
  const std::string& name = bound.port.netdev;
  const auto link = machine.Get(Join("/rtnl/link/", name));
  const bool there =
      link.ok() || (link.status().code() != Code::kNotFound && machine.List(Join(kNet, name)).ok());
  if (!there) {
    bound.unbound = "port " + bound.port.name + ": ";
    bound.unbound += link.status().code() == Code::kNotFound ? "no interface " + name + " on this node"
                                                             : link.status().message();
    return;
  }
  bound.netdev = name;
  if (const auto uevent = machine.Get(Join(kNet, name, "/device/uevent")); uevent.ok()) {
    constexpr std::string_view kSlot = "PCI_SLOT_NAME=";
    if (const auto at = uevent->find(kSlot); at != std::string::npos) {
      const auto from = at + kSlot.size();
      bound.bdf = uevent->substr(from, uevent->find('\n', from) - from);
    }
  }
}

bool CarriesNetdev(const Machine& machine, const std::string& ibdev, const std::string& netdev) {
  const std::string device = Join(kRdma, "/", ibdev);
  // Soft-RoCE names the interface it sits on.
  if (const auto parent = machine.Get(device + "/parent"); parent.ok()) return *parent == netdev;
  if (const auto below = machine.List(device + "/device/net"); below.ok())
    return std::find(below->begin(), below->end(), netdev) != below->end();
  const auto ports = machine.List(device + "/ports");
  if (!ports.ok()) return false;
  for (const std::string& port : *ports) {
    for (int index = 0; index < kGidsLookedAt; ++index) {
      const auto owner = machine.Get(device + "/ports/" + port + "/gid_attrs/ndevs/" + std::to_string(index));
      if (owner.ok() && *owner == netdev) return true;
    }
  }
  return false;
}

std::string RdmaDeviceOf(const Machine& machine, const BoundPort& bound,
                         const std::vector<std::string>& ibdevs) {
  if (ibdevs.empty()) return {};
  if (!bound.bdf.empty()) {
    const auto names = machine.List("/sys/bus/pci/devices/" + bound.bdf + "/infiniband");
    if (names.ok() && !names->empty()) return names->front();
  }
  for (const std::string& ibdev : ibdevs)
    if (CarriesNetdev(machine, ibdev, bound.netdev)) return ibdev;
  return {};
}

// "mlx5_core", of /sys/class/net/<if>/device/uevent; "" for what has no device (a bond, a VLAN).
std::string DriverOf(const Machine& machine, const std::string& netdev) {
  const auto uevent = machine.Get(Join(kNet, netdev, "/device/uevent"));
  if (!uevent.ok()) return {};
  constexpr std::string_view kDriver = "DRIVER=";
  const auto at = uevent->find(kDriver);
  if (at == std::string::npos) return {};
  const auto from = at + kDriver.size();
  return uevent->substr(from, uevent->find('\n', from) - from);
}

// "card:0000:18:00.1" → "card:0000:18:00".
std::string_view WithoutFunction(std::string_view card) { return card.substr(0, card.rfind('.')); }

void AddWithLowers(const Machine& machine, const std::string& netdev, std::set<std::string>& found) {
  if (netdev.empty() || !found.insert(netdev).second) return;
  const auto entries = machine.List(Join(kNet, netdev));
  if (!entries.ok()) return;
  constexpr std::string_view kLower = "lower_";
  for (const std::string& entry : *entries)
    if (entry.starts_with(kLower)) AddWithLowers(machine, entry.substr(kLower.size()), found);
}

}  // namespace

NodeFacts BindPorts(const Machine& machine, const DesiredState& state) {
  NodeFacts facts;
  facts.node = state.node;
  facts.subnets = state.subnets;
  const auto ibdevs = machine.List(kRdma).value_or({});
  for (const Port& port : state.ports) {
    BoundPort& bound = facts.ports.emplace_back();
    bound.port = port;
    bound.index = static_cast<int>(facts.ports.size()) - 1;
    if (!port.pci.empty()) {
      BindByPci(machine, bound);
    } else if (!port.netdev.empty()) {
      BindByName(machine, bound);
    } else {
      bound.unbound = "port " + port.name + ": declared with neither a PCI address nor an interface name";
    }
    if (!bound.netdev.empty()) bound.ibdev = RdmaDeviceOf(machine, bound, ibdevs);
  }
  // Two names for one interface would be two wishes for one knob.
  for (std::size_t i = 0; i < facts.ports.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (facts.ports[i].netdev.empty() || facts.ports[i].netdev != facts.ports[j].netdev) continue;
      facts.ports[i].unbound = "port " + facts.ports[i].port.name + ": interface " + facts.ports[i].netdev +
                               " is port " + facts.ports[j].port.name +
                               " already; correct one of the selectors";
      facts.ports[i].netdev.clear();
      break;
    }
  }
  return facts;
}

std::vector<std::string> ManagementPath(const Machine& machine, const NodeFacts& facts,
                                        const std::vector<std::string>& netdevs) {
  std::set<std::string> found;
  for (const std::string& netdev : netdevs) AddWithLowers(machine, netdev, found);
  std::set<std::string> cards;
  for (const BoundPort& bound : facts.ports) {
    const bool management = bound.port.role == PortRole::kManagement;
    if (management) {
      AddWithLowers(machine, bound.netdev, found);
      // A port that is not there now may come back under the name it was declared with.
      if (!bound.port.netdev.empty()) found.insert(bound.port.netdev);
    }
    // A storage port is written by nobody, so what takes its whole card or its driver must not be either.
    const bool spared = management || bound.port.role == PortRole::kStorage || found.contains(bound.netdev);
    if (spared && !bound.bdf.empty()) cards.insert("card:" + bound.bdf);
    if (spared && !bound.netdev.empty())
      if (const std::string driver = DriverOf(machine, bound.netdev); !driver.empty())
        cards.insert("driver:" + driver);
  }
  for (const std::string& netdev : found)
    if (const std::string driver = DriverOf(machine, netdev); !driver.empty())
      cards.insert("driver:" + driver);
  found.merge(cards);
  return {found.begin(), found.end()};
}

bool HitsManagement(const std::vector<std::string>& management, std::string_view blast) {
  return std::any_of(management.begin(), management.end(), [&](const std::string& own) {
    if (own == blast) return true;
    return own.starts_with("card:") && blast.starts_with("card:") &&
           WithoutFunction(own) == WithoutFunction(blast);
  });
}

std::vector<std::string> StorageCards(const NodeFacts& facts) {
  std::vector<std::string> cards;
  for (const BoundPort& bound : facts.ports)
    if (bound.port.role == PortRole::kStorage && !bound.bdf.empty()) cards.push_back("card:" + bound.bdf);
  return cards;
}

std::vector<const BoundPort*> PortsHit(const Machine& machine, const NodeFacts& facts, const BoundPort* own,
                                       const std::vector<std::string>& blast) {
  const bool driver = std::any_of(blast.begin(), blast.end(),
                                  [](const std::string& member) { return member.starts_with("driver:"); });
  std::vector<const BoundPort*> ports;
  for (const BoundPort& bound : facts.ports) {
    if (bound.netdev.empty()) continue;
    std::vector<std::string> names{bound.netdev};
    if (!bound.bdf.empty()) names.push_back("card:" + bound.bdf);
    if (driver) names.push_back("driver:" + DriverOf(machine, bound.netdev));
    const bool hit = std::any_of(blast.begin(), blast.end(),
                                 [&](const std::string& member) { return HitsManagement(names, member); });
    if (hit || (own != nullptr && own->port.name == bound.port.name)) ports.push_back(&bound);
  }
  return ports;
}

bool LinkIsUp(const Machine& machine, const BoundPort& port) {
  if (machine.Get(Join(kNet, port.netdev, "/carrier")).value_or({}) != "1") return false;
  if (port.ibdev.empty()) return true;
  const std::string ports = Join(kRdma, "/" + port.ibdev, "/ports");
  const auto numbers = machine.List(ports);
  return numbers.ok() && std::any_of(numbers->begin(), numbers->end(), [&](const std::string& number) {
           return machine.Get(ports + "/" + number + "/state").value_or({}).find("ACTIVE") !=
                  std::string::npos;
         });
}

std::string CarrierChanges(const Machine& machine, const std::string& netdev) {
  return machine.Get(Join(kNet, netdev, "/carrier_changes")).value_or({});
}

}  // namespace railwright
