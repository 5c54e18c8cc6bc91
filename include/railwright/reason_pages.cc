// One page a reason word. Every word that a finding or a refused step may carry has its page here (tested).
#include <array>

#include "railwright/explain.h"

namespace railwright {
namespace {

constexpr std::array kPages{
    ReasonPage{
        "ApplyFailed", "RW-9010", "A write was refused or did not read back.",
        "The kernel refused the value, or took it and shows another. The message holds its own words. The "
        "plan "
        "that held the step was undone. Next: `railctl why NODE KEY`, then correct the value or the cause."},
    ReasonPage{"ApprovalNeeded", "RW-9011", "The change disturbs more than policy allows by itself.",
               "Automatic changes end at TrafficBlip. A step that takes a link down, resets a function or "
               "reboots waits "
               "for confirmed apply, which this version does not have; it is not done."},
    ReasonPage{
        "Contended", "RW-9004", "The value keeps coming back; enforcement of it has stopped.",
        "Somebody else owns this knob and sets it again after every correction. The message names who, or "
        "who is "
        "known to. Stop that owner or take the key out of the profile; enforcement resumes with the next "
        "generation or `railctl pause --resume`."},
    ReasonPage{
        "Differs", "RW-9018", "The value read is not the declared one.",
        "Nothing stands in the way of the correction: the agent makes it in its next pass. In `check`, which "
        "never writes, it is only told."},
    ReasonPage{"ForeignRule", "RW-9012", "A firewall rule that is not ours stands in the way.",
               "Railwright reports rules of others with their table and handle and never removes them. Ask "
               "their owner "
               "to accept the traffic before the drop."},
    ReasonPage{"HeldBack", "RW-9019", "Not tried: an earlier step for the same port has not succeeded.",
               "What one generation asks of one port is done in order, and undone together when a step fails "
               "for good. "
               "The message names the step that is waited for. Next: `railctl why NODE KEY` of that step."},
    ReasonPage{"HiddenRules", "RW-9040", "Firewall rules exist that cannot be seen.",
               "Tables of legacy iptables are loaded. Their rules are evaluated beside nftables, but no "
               "nftables listing shows them. The message names the tables. Next: look at them with "
               "`iptables-legacy-save`, and move them to nftables, or flush them and unload ip_tables."},
    ReasonPage{"InboxDriver", "RW-9152",
               "The kernel's own network driver is loaded, and no OFED is installed.",
               "There is no OFED release to compare. Declare `package.<name>` for OFED, or take driver.ofed "
               "out for this node."},
    ReasonPage{"InvalidValue", "RW-9013", "The declared value cannot be used on this node.",
               "It passed the catalogue's syntax, but not the facts of this node (an address missing, a port "
               "without "
               "gateway). The message names the value and what is allowed."},
    ReasonPage{
        "KernelHasNoModules", "RW-9030", "This kernel cannot load modules.",
        "It was built without CONFIG_MODULES (no /proc/modules), and the module is not built in. Take the "
        "key out for this node, or boot a kernel that has it."},
    ReasonPage{
        "ManagementPath", "RW-9005", "Refused: the change touches the way to the controller.",
        "Until confirmed apply exists, nothing that disturbs a management port or the interface of the "
        "controller connection is written. Change it by hand, on the console. While the agent does not know "
        "which "
        "interface that is, no interface is written: it knows once the controller was reached, or by "
        "--management-netdev."},
    ReasonPage{"ModuleOutdated", "RW-9162", "A loaded kernel module is not the one on disk.",
               "A package was upgraded or removed, and the module from before still runs. The next boot "
               "brings what is on disk. Drain the node and reboot it, so that what runs is what was tested."},
    ReasonPage{"NeedsReboot", "RW-9006", "The value takes effect at the next boot.",
               "It is not so in the running kernel. Reboot the node when it is drained."},
    ReasonPage{"NoApplicationClocks", "RW-9160", "No GPU of the node has application clocks to set.",
               "NVML answers that they are not supported: a driver that has taken them out, or a virtual "
               "machine that does not show them."},
    ReasonPage{"NoChannels", "RW-9031", "The port's driver has no channels to set.",
               "ethtool answers EOPNOTSUPP, as for virtual interfaces. Nothing is wrong with the port."},
    ReasonPage{"NoChecksRun", "RW-9014", "Nothing was measured.",
               "A verdict without evidence is Unknown. The message says what was missing."},
    ReasonPage{
        "NoConfigfs", "RW-9032", "configfs is not mounted.",
        "rdma_cm is loaded but shows its defaults only there: `mount -t configfs none /sys/kernel/config`."},
    ReasonPage{
        "NoCpufreq", "RW-9158", "The kernel does not set the processors' clock.",
        "There are no policies below /sys/devices/system/cpu/cpufreq, as in a virtual machine, or with no "
        "driver for this processor. On bare metal: look for it in the firmware's power settings."},
    ReasonPage{"NoDpkg", "RW-9163", "There is no dpkg database on this host.",
               "Packages are known by /var/lib/dpkg/status. On a distribution with another package system "
               "this check says nothing."},
    ReasonPage{"NoEcc", "RW-9159", "No GPU of the node has ECC to turn on or off.",
               "NVML answers that it is not supported."},
    ReasonPage{"NoFabricPort", "RW-9041", "No port of this node is declared a fabric port.",
               "The check speaks of fabric ports. Declare them with role fabric in the Cluster document."},
    ReasonPage{"NoFec", "RW-9150", "The port's driver has no forward error correction to show.",
               "ethtool answers EOPNOTSUPP, as for virtual functions and virtual interfaces. The physical "
               "port, or the host of the virtual machine, knows it."},
    ReasonPage{"NoGpu", "RW-9154", "The node has no NVIDIA GPU.",
               "None stands on the PCI bus, and the NVIDIA driver shows none. Where there should be one: "
               "`lspci -d 10de:`, then the hardware."},
    ReasonPage{"NoMlxDriver", "RW-9153", "No mlx5 driver is loaded, and no OFED is installed.",
               "The setting speaks of NVIDIA network cards. On a node with one, `module.mlx5_core: loaded` "
               "says why its driver is missing."},
    ReasonPage{"NoNftables", "RW-9042", "This kernel has no nf_tables.",
               "There can be no nftables rules, so none is in the way."},
    ReasonPage{"NoNvswitch", "RW-9155", "The node has no NVSwitch.",
               "Fabric Manager sets up NVSwitches, and the PCI bus shows none; in a virtual machine the host "
               "has it."},
    ReasonPage{"NoPause", "RW-9033", "The port's driver has no pause frames to set.",
               "ethtool answers EOPNOTSUPP, as for virtual functions and virtual interfaces."},
    ReasonPage{"NoRdmaController", "RW-9157", "This kernel has no RDMA controller for control groups.",
               "It was built without CONFIG_CGROUP_RDMA, or version 1 of the control groups holds it. "
               "/sys/fs/cgroup/cgroup.controllers lists what there is."},
    ReasonPage{
        "NoRdmaDevice", "RW-9034", "The port has no RDMA device.",
        "Nothing below /sys/class/infiniband belongs to its interface. On a card that should have one: the "
        "driver's RDMA module is not loaded, or RoCE is turned off in the firmware."},
    ReasonPage{"NoRings", "RW-9035", "The port's driver has no rings to set.",
               "ethtool answers EOPNOTSUPP, as for most virtual interfaces."},
    ReasonPage{
        "NoSuchSysctl", "RW-9036", "This kernel or network namespace has no such parameter.",
        "The file below /proc/sys is not there: the kernel is older or newer, was built without it, or shows "
        "it only in the first network namespace (most of net.core)."},
    ReasonPage{"NoSystemd", "RW-9151", "systemd does not run here.",
               "/run/systemd/system is not there, as in most containers: there are no units."},
    ReasonPage{"NoUnifiedCgroups", "RW-9156", "Control groups of version 2 are not mounted.",
               "/sys/fs/cgroup has no cgroup.controllers. Boot with systemd.unified_cgroup_hierarchy=1."},
    ReasonPage{"NotFabricPort", "RW-9007", "Refused: the port is not declared a fabric port.",
               "Railwright writes only to ports that the Cluster document declares with role fabric."},
    ReasonPage{"NotObserved", "RW-9015", "Not looked at yet.",
               "The agent has not finished its first pass over this generation."},
    ReasonPage{"ObserveMode", "RW-9008", "Reported only: no profile that enforces sets this key.",
               "The profile behind it has mode observe (the default). Set `mode: enforce` and apply."},
    ReasonPage{"ObserveOnly", "RW-9016", "This version reads the setting but does not write it.",
               "The value differs; changing it is left to the operator for now."},
    ReasonPage{"OriginalUnknown", "RW-9020", "There is no earlier value to put back.",
               "The key is to be restored, but its value from before Railwright's first write could not be "
               "read then. "
               "Set it by hand, or leave it as it is."},
    ReasonPage{"PackageBroken", "RW-9161", "A package is not properly installed.",
               "dpkg stopped half way: its files may be of two releases. Next: `dpkg --configure -a`, then "
               "`apt-get -f install`."},
    ReasonPage{"Paused", "RW-9009", "Enforcement is paused by an operator.",
               "`railctl status` shows who paused it; `railctl pause --resume` ends it."},
    ReasonPage{"PortNotFound", "RW-9003", "The declared port is not on this node.",
               "Its selector (PCI address or interface name) matches nothing here. Compare with `railctl get "
               "nodes` and "
               "correct the Cluster document, or find out why the card is gone."},
    ReasonPage{
        "RdmaCmNotLoaded", "RW-9037", "The module rdma_cm is not loaded.",
        "Nothing connects by rdma_cm here, so its defaults do not exist. Declare `module.rdma_cm: loaded`."},
    ReasonPage{"ReadFailed", "RW-9001", "The value could not be read.",
               "The message holds the path and the kernel's own words. A failed read is never a pass."},
    ReasonPage{"UnclearRule", "RW-9043", "A firewall rule decides that cannot be read.",
               "Whether the traffic passes depends on a rule of which the listing does not show everything: "
               "an iptables extension, a program in user space, the routes. The message names it. Next: read "
               "that rule with the tool of its owner (`iptables-save`), and put an accept for the fabric's "
               "traffic before it."},
    ReasonPage{"Undone", "RW-9017", "The step was rolled back because a later step of its plan failed.",
               "The node has its earlier value again. The failed step says why."},
    ReasonPage{"UnknownSetting", "RW-9002", "This agent does not know the setting.",
               "The agent is older than the controller's catalogue. Update the agent, or take the key out."},
};

}  // namespace

std::span<const ReasonPage> ReasonPages() { return kPages; }

}  // namespace railwright
