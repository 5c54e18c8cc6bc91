#include "agent/reconcile/bind_ports.h"

#include "tests/reconcile/node.h"

namespace railwright {
namespace {

Port Pci(const std::string& name, const std::string& bdf) {
  Port port;
  port.name = name;
  port.role = PortRole::kFabric;
  port.pci = bdf;
  return port;
}

BoundPort Bind(const FakeMachine& machine, const Port& port) {
  return BindPorts(machine, BuildState(1).AddPort(port).Done()).ports.at(0);
}

TEST(BindPortsTest, APciAddressLeadsToInterfaceAndRdmaDevice) {
  FakeMachine machine;
  machine.Put("/sys/bus/pci/devices/0000:18:00.0/net/ens1np0/mtu", "1500");
  machine.Put("/sys/bus/pci/devices/0000:18:00.0/infiniband/mlx5_0/node_guid", "x");
  machine.Put("/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE");
  for (const char* spelling : {"0000:18:00.0", "18:00.0", "0000:18:00.0"}) {
    const BoundPort bound = Bind(machine, Pci("rail0", spelling));
    EXPECT_EQ(bound.netdev, "ens1np0");
    EXPECT_EQ(bound.bdf, "0000:18:00.0");
    EXPECT_EQ(bound.ibdev, "mlx5_0");
    EXPECT_EQ(bound.unbound, "");
  }
}

TEST(BindPortsTest, AVirtioInterfaceIsFoundBelowItsFunction) {
  FakeMachine machine;
  machine.Put("/sys/bus/pci/devices/0000:03:00.0/vendor", "0x1af4");
  machine.Put("/sys/bus/pci/devices/0000:03:00.0/virtio2/net/eth1/mtu", "1500");
  const BoundPort bound = Bind(machine, Pci("rail0", "0000:03:00.0"));
  EXPECT_EQ(bound.netdev, "eth1");
  EXPECT_EQ(bound.bdf, "0000:03:00.0");
}

TEST(BindPortsTest, UpperCaseHexIsTheSameDevice) {
  FakeMachine machine;
  machine.Put("/sys/bus/pci/devices/0000:3b:00.0/net/ens2/mtu", "1500");
  EXPECT_EQ(Bind(machine, Pci("rail0", "0000:3B:00.0")).netdev, "ens2");
}

TEST(BindPortsTest, TheUplinkIsTakenNotARepresentor) {
  FakeMachine machine;
  const std::string device = "/sys/bus/pci/devices/0000:18:00.0/net/";
  for (const char* name : {"eth0", "eth1", "ens1np0"}) machine.Put(device + name + "/mtu", "1500");
  machine.Put("/sys/class/net/eth0/phys_port_name", "pf0vf0");
  machine.Put("/sys/class/net/eth1/phys_port_name", "pf0hpf");
  machine.Put("/sys/class/net/ens1np0/phys_port_name", "p0");
  EXPECT_EQ(Bind(machine, Pci("rail0", "0000:18:00.0")).netdev, "ens1np0");
}

TEST(BindPortsTest, SaysWhyAPortIsNotThere) {
  FakeMachine machine;
  machine.Put("/sys/bus/pci/devices/0000:19:00.0/vendor", "0x15b3");
  machine.FailReads("/sys/bus/pci/devices/0000:1a:00.0/net",
                    FromErrno(EIO, "/sys/bus/pci/devices/0000:1a:00.0/net"));
  EXPECT_EQ(Bind(machine, Pci("r", "0000:18:00.0")).unbound,
            "port r: no PCI device 0000:18:00.0 on this node");
  EXPECT_NE(Bind(machine, Pci("r", "0000:19:00.0")).unbound.find("has no network interface"),
            std::string::npos);
  EXPECT_NE(Bind(machine, Pci("r", "0000:1a:00.0")).unbound.find("Input/output error"), std::string::npos);
  Port named;
  named.name = "r";
  named.netdev = "rail9";
  EXPECT_EQ(Bind(machine, named).unbound, "port r: no interface rail9 on this node");
  named.netdev.clear();
  EXPECT_NE(Bind(machine, named).unbound.find("neither"), std::string::npos);
}

TEST(BindPortsTest, ANameLeadsToThePciAddress) {
  FakeMachine machine;
  machine.Put("/rtnl/link/ens1", "mtu=1500");
  machine.Put("/sys/class/net/ens1/device/uevent",
              "DRIVER=mlx5_core\nPCI_SLOT_NAME=0000:18:00.1\nMODALIAS=x");
  Port port;
  port.name = "rail0";
  port.netdev = "ens1";
  EXPECT_EQ(Bind(machine, port).bdf, "0000:18:00.1");
}

TEST(BindPortsTest, WhereNetlinkIsNotServedSysfsIsAsked) {
  FakeMachine machine;
  machine.FailReads("/rtnl/link/ens1", Status(Code::kUnimplemented, "/rtnl/link/ens1: not in this snapshot"));
  machine.Put("/sys/class/net/ens1/mtu", "1500");
  Port port;
  port.name = "rail0";
  port.netdev = "ens1";
  EXPECT_EQ(Bind(machine, port).netdev, "ens1");
}

TEST(BindPortsTest, SoftRoceIsFoundByItsParent) {
  FakeMachine machine;
  machine.Put("/rtnl/link/rail0", "mtu=1500");
  machine.Put("/sys/class/infiniband/rxe0/parent", "rail1").Put("/sys/class/infiniband/rxe1/parent", "rail0");
  Port port;
  port.name = port.netdev = "rail0";
  EXPECT_EQ(Bind(machine, port).ibdev, "rxe1");
}

TEST(BindPortsTest, AnRdmaDeviceIsFoundByTheInterfaceOfItsGids) {
  FakeMachine machine;
  machine.Put("/rtnl/link/rail0", "mtu=1500");
  machine.Put("/sys/class/infiniband/siw0/ports/1/gid_attrs/ndevs/0", "lo");
  machine.Put("/sys/class/infiniband/siw1/ports/1/gid_attrs/ndevs/1", "rail0");
  machine.FailReads("/sys/class/infiniband/siw1/ports/1/gid_attrs/ndevs/0", FromErrno(EINVAL, "ndevs/0"));
  Port port;
  port.name = port.netdev = "rail0";
  EXPECT_EQ(Bind(machine, port).ibdev, "siw1");
  machine.Put("/sys/class/infiniband/bnxt_re0/device/net/rail0/mtu", "1500");
  EXPECT_EQ(Bind(machine, port).ibdev, "bnxt_re0");
}

TEST(BindPortsTest, TwoPortsCannotBeOneInterface) {
  FakeMachine machine;
  machine.Put("/rtnl/link/rail0", "mtu=1500");
  const NodeFacts facts = BindPorts(machine, BuildState(1).Fabric("a", "rail0").Storage("b", "rail0").Done());
  EXPECT_EQ(facts.ports[0].netdev, "rail0");
  EXPECT_EQ(facts.ports[1].netdev, "");
  EXPECT_NE(facts.ports[1].unbound.find("is port a already"), std::string::npos);
}

TEST(BindPortsTest, KeepsTheOrderOfDeclaration) {
  FakeMachine machine;
  machine.Put("/rtnl/link/b", "x").Put("/rtnl/link/a", "x");
  const NodeFacts facts =
      BindPorts(machine, BuildState(1).Fabric("b").Fabric("a").Subnets({"10.0.0.0/8"}).Done());
  EXPECT_EQ(facts.ports[0].port.name, "b");
  EXPECT_EQ(facts.ports[0].index, 0);
  EXPECT_EQ(facts.ports[1].index, 1);
  EXPECT_EQ(facts.node, "gpu-001");
  EXPECT_EQ(facts.subnets, Lines{"10.0.0.0/8"});
}

TEST(ManagementPathTest, HoldsPortsWhatTheyStandUponAndTheirCards) {
  FakeMachine machine;
  machine.Put("/rtnl/link/eno1", "x").Put("/sys/class/net/eno1/device/uevent", "PCI_SLOT_NAME=0000:01:00.0");
  machine.Put("/sys/class/net/vlan7/lower_bond0/x", "").Put("/sys/class/net/bond0/lower_eno2/x", "");
  machine.Put("/sys/class/net/bond0/lower_eno3/x", "")
      .Put("/sys/class/net/eno3/lower_bond0/x", "");  // a circle ends
  const NodeFacts facts =
      BindPorts(machine, BuildState(1).Management("m", "eno1").Management("n", "gone").Done());
  const Lines path = ManagementPath(machine, facts, {"vlan7"});
  EXPECT_EQ(path, (Lines{"bond0", "card:0000:01:00.0", "eno1", "eno2", "eno3", "gone", "vlan7"}));
  EXPECT_TRUE(HitsManagement(path, "eno2"));
  EXPECT_TRUE(HitsManagement(path, "card:0000:01:00.1")) << "another function of the same card";
  EXPECT_FALSE(HitsManagement(path, "card:0000:02:00.0"));
  EXPECT_FALSE(HitsManagement(path, "rail0"));
}

TEST(ManagementPathTest, IsEmptyWhenThereIsNone) {
  FakeMachine machine;
  EXPECT_TRUE(ManagementPath(machine, NodeFacts{}, {}).empty());
}

}  // namespace
}  // namespace railwright
