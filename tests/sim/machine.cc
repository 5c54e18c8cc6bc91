#include "tests/sim/machine.h"

#include <cerrno>

#include "tests/sim/node_host.h"
#include "tests/sim/world.h"

namespace railwright::sim {

const std::vector<std::string>& KnobPaths() {
  static const std::vector<std::string> paths = {"/rtnl/link/rail0/mtu",
                                                 "/rtnl/link/rail1/mtu",
                                                 "/ethtool/rail0/pause",
                                                 "/ethtool/rail1/pause",
                                                 "/proc/sys/net/ipv4/conf/all/arp_ignore",
                                                 "/proc/sys/net/ipv4/conf/all/arp_announce"};
  return paths;
}

void SimMachine::LinkComes(const std::string& netdev) {
  kernel.Put("/rtnl/link/" + netdev, "ifindex=4 mtu=1500 min_mtu=68 max_mtu=9978 state=up carrier=1");
  kernel.Put("/rtnl/link/" + netdev + "/mtu", "1500");
  kernel.Put("/ethtool/" + netdev + "/pause", "autoneg=0 rx=1 tx=1");
  kernel.Put("/sys/class/net/" + netdev + "/carrier", "1");
}

void SimMachine::LinkGoes(const std::string& netdev) {
  for (const char* prefix : {"/rtnl/link/", "/ethtool/", "/sys/class/net/"}) kernel.Remove(prefix + netdev);
}

void SimMachine::Boot() {
  for (const char* netdev : {"rail0", "rail1", "eno1"}) {
    LinkGoes(netdev);
    LinkComes(netdev);
  }
  kernel.Put("/proc/sys/net/ipv4/conf/all/arp_ignore", "0");
  kernel.Put("/proc/sys/net/ipv4/conf/all/arp_announce", "0");
}

Status SimMachine::Interrupted(std::string_view path) const {
  if (host_.dead()) return FromErrno(EIO, path);
  World& world = host_.world();
  if (!world.chaos || !host_.random().Chance(host_.trouble() * 0.002)) return Ok();
  world.faults.Hit(Fault::kGetFails);
  return FromErrno(host_.random().Chance(0.5) ? EIO : EAGAIN, path);
}

Result<std::string> SimMachine::Get(std::string_view path) const {
  if (Status status = Interrupted(path); !status.ok()) return status;
  return kernel.Get(path);
}

Result<std::vector<std::string>> SimMachine::List(std::string_view path) const {
  if (Status status = Interrupted(path); !status.ok()) return status;
  return kernel.List(path);
}

Status SimMachine::Set(std::string_view path, std::string_view value) {
  if (host_.dead()) return FromErrno(EIO, path);
  World& world = host_.world();
  const std::string present = kernel.Value(path);
  world.invariants.BeforeSet(host_, std::string(path), std::string(value), present);
  Random& random = host_.random();
  const double trouble = world.chaos ? host_.trouble() : 0;
  const auto hit = [&](Fault fault, double probability) {
    if (!random.Chance(trouble * probability)) return false;
    world.faults.Hit(fault);
    world.Trace(host_.name() + " " + std::string(Name(fault)) + " " + std::string(path));
    return true;
  };
  if (hit(Fault::kAgentDiesAtSet, 0.01)) {
    if (random.Chance(0.5)) (void)kernel.Set(path, value);
    host_.disk().Kill();
    world.invariants.MachineChanged(host_);
    return FromErrno(EIO, path);
  }
  if (hit(Fault::kSetBusy, 0.02)) return FromErrno(EBUSY, path);
  if (hit(Fault::kSetFails, 0.02)) return FromErrno(EIO, path);
  if (hit(Fault::kSetIgnored, 0.02)) return Ok();
  const Status status = kernel.Set(path, value);
  if (status.ok()) world.Trace(host_.name() + " set " + std::string(path) + " = " + std::string(value));
  world.invariants.MachineChanged(host_);
  if (status.ok() && hit(Fault::kSetHalf, 0.02)) return FromErrno(EIO, path);
  return status;
}

}  // namespace railwright::sim
