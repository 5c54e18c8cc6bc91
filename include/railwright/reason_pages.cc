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
    ReasonPage{
        "ApprovalNeeded", "RW-9011", "The change disturbs more than policy allows by itself.",
        "Changes end at TrafficBlip unless the profile says `max_disruption: LinkFlap` or more. A step "
        "that takes a link down, resets a function or reboots is not done without that word. What "
        "`--restore` "
        "puts back may disturb as much as the last profile that declared the key allowed."},
    ReasonPage{
        "Busy", "RW-9044", "The change would hurt a job that runs now.",
        "A connected queue pair uses the port, or a process runs on a GPU of the node, and the change is "
        "above TrafficBlip. The message names who. Nothing is to be done: the agent looks again each 10 s "
        "and makes the change when nobody uses the port. Whose use cannot be told counts as busy."},
    ReasonPage{
        "ConflictingValues", "RW-9045", "Two declared values end in one place on this node, and differ.",
        "Two keys, or one key for two ports, are two names of one thing here: ecn.np and ecn.rp with the "
        "inbox driver, whose card holds one mask for both; a sysctl with {netdev} in its name and the same "
        "one by the interface's name; a parameter of the card's flash by two of its ports. Which is meant "
        "cannot be known, so neither is written. The message names both and the place. Next: declare the "
        "same value for both, or take one of them out."},
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
    ReasonPage{"FarFromGpu", "RW-9100", "The fabric card shares no PCI switch and no host bridge with a GPU.",
               "What a GPU sends over it crosses the link between the processors. Compare the slots with a "
               "node that is right: `lspci -tv`. The evidence names the way of each GPU."},
    ReasonPage{"ForeignRule", "RW-9012", "A firewall rule that is not ours stands in the way.",
               "Railwright reports rules of others with their table and handle and never removes them. Ask "
               "their owner "
               "to accept the traffic before the drop."},
    ReasonPage{"GidMissing", "RW-9101", "A declared address has no RoCE v2 GID.",
               "The kernel makes a GID for each address of an interface that is up. Look whether the address "
               "is there (`ip addr`), whether the link is up, and whether the card's RoCE is turned off. The "
               "evidence lists the table."},
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
        "IrqFarFromCard", "RW-9112", "Interrupts of the card are delivered on CPUs of another NUMA node.",
        "The message names them, and the CPUs that are near. irqbalance places interrupts by the card's "
        "node; without it, write one of those CPUs to /proc/irq/N/smp_affinity_list of each. EIO there: "
        "the kernel manages the interrupt, and it moves only when its driver places it anew. A card "
        "that has more vectors than its node has CPUs is left alone while each CPU has one: "
        "`link.channels` makes them fewer."},
    ReasonPage{"IrqPlaceUnclear", "RW-9113", "The kernel does not tell where an interrupt is delivered.",
               "It shows several CPUs, near the card and far from it, and may use any of them: an old kernel "
               "without effective_affinity_list. Next: write CPUs near the card to "
               "/proc/irq/N/smp_affinity_list, or let irqbalance do it."},
    ReasonPage{"IrqsOnOneCpu", "RW-9114", "All completion interrupts of the card are delivered on one CPU.",
               "The card has a queue for each CPU, and one CPU serves them all. Often irqbalance was stopped "
               "after it had gathered them there, or a script wrote one number to all. Start irqbalance, or "
               "write a CPU of its own to /proc/irq/N/smp_affinity_list of each."},
    ReasonPage{
        "KernelHasNoModules", "RW-9030", "This kernel cannot load modules.",
        "It was built without CONFIG_MODULES (no /proc/modules), and the module is not built in. Take the "
        "key out for this node, or boot a kernel that has it."},
    ReasonPage{"LinkDowngraded", "RW-9102",
               "A PCI Express link runs slower or narrower than both its ends can.",
               "A card or riser that is badly seated, a bad slot, or a BIOS limit. Drain the node, reseat "
               "the card, read the link again; look for AER lines in the kernel log."},
    ReasonPage{"LinkNotTold", "RW-9103", "The PCI function does not tell its link.",
               "Virtual functions read zero there by specification. The link is the host's; ask the operator "
               "of the hypervisor."},
    ReasonPage{
        "LinkStayedDown", "RW-9087", "The link did not come back after a write, which was put back.",
        "A change of FEC, PFC or speed takes a link down for a moment. It was still down 30 s later, so "
        "the value before it was written again, with which the link had been up, and it is not tried "
        "again by itself. Next: compare with the other end of the cable (FEC and speed must be the same), "
        "and look at the module; then `railctl pause KEY` and `railctl pause --resume KEY` try it again."},
    ReasonPage{
        "ManagementPath", "RW-9005", "Refused: the change touches the way to the controller.",
        "It would disturb a management port or the interface of the controller connection. `railctl apply "
        "--try "
        "120s` allows it as a try: the agent writes down the way back, writes the value, and puts it back by "
        "itself "
        "unless it reaches the controller anew within that time. Or change it by hand, on the console. While "
        "the "
        "agent does not know which interface that is, no interface is written: it knows once the controller "
        "was "
        "reached, or by --management-netdev. What shares its card with a storage port is never tried."},
    ReasonPage{"ModuleOutdated", "RW-9162", "A loaded kernel module is not the one on disk.",
               "A package was upgraded or removed, and the module from before still runs. The next boot "
               "brings what is on disk. Drain the node and reboot it, so that what runs is what was tested."},
    ReasonPage{"NeedsReboot", "RW-9006", "The value takes effect at the next boot.",
               "It is not so in the running kernel. Reboot the node when it is drained."},
    ReasonPage{"NoApplicationClocks", "RW-9160", "No GPU of the node has application clocks to set.",
               "NVML answers that they are not supported: a driver that has taken them out, or a virtual "
               "machine that does not show them."},
    ReasonPage{
        "NoBridges", "RW-9104", "No PCI bridge is above the card.",
        "It sits on the root bus, so there is no access control to set. In a virtual machine a hypervisor "
        "owns the bridges: ask its operator whether traffic between GPU and card goes the direct way."},
    ReasonPage{
        "NoCableLength", "RW-9061", "The port's driver does not take the length of a cable.",
        "Only mlx5 reads the PFC delay as metres; by the standard it is bit times, and a length would be "
        "wrong there. Take qos.cable_length out for this port; its driver computes the headroom by itself."},
    ReasonPage{"NoChannels", "RW-9031", "The port's driver has no channels to set.",
               "ethtool answers EOPNOTSUPP, as for virtual interfaces. Nothing is wrong with the port."},
    ReasonPage{"NoChecksRun", "RW-9014", "Nothing was measured.",
               "A verdict without evidence is Unknown. The message says what was missing."},
    ReasonPage{
        "NoConfigfs", "RW-9032", "configfs is not mounted.",
        "rdma_cm is loaded but shows its defaults only there: `mount -t configfs none /sys/kernel/config`."},
    ReasonPage{"NoCongestionParams", "RW-9080", "The firmware does not show its congestion control.",
               "The driver makes cc_params in debugfs only when the firmware allows congestion control to be "
               "queried and modified (cc_query_allowed, cc_modify_allowed), and this one does not. It is so "
               "on many virtual functions; set it on the physical function."},
    ReasonPage{
        "NoCounterpart", "RW-9081", "This vendor's card has no such register.",
        "Its congestion control has registers of its own, and none has the meaning and the unit of this one. "
        "A number carried over would mean something else. Take the key out for these nodes."},
    ReasonPage{
        "NoCpufreq", "RW-9158", "The kernel does not set the processors' clock.",
        "There are no policies below /sys/devices/system/cpu/cpufreq, as in a virtual machine, or with no "
        "driver for this processor. On bare metal: look for it in the firmware's power settings."},
    ReasonPage{
        "NoDcb", "RW-9060", "The port has no data center bridging.",
        "dcbnl answers EOPNOTSUPP, as for virtual functions, bonds, VLANs and virtual interfaces: their "
        "physical port has it. On a card that should have it: the kernel was built without CONFIG_DCB or the "
        "driver without its part of it (CONFIG_MLX5_CORE_EN_DCB)."},
    ReasonPage{"NoDcqcn", "RW-9082", "The port's driver shows no registers of DCQCN.",
               "Neither MLNX_OFED's ecn in sysfs, nor cc_params of the inbox driver in debugfs, nor "
               "bnxt_re's configfs, nor the flash of an NVIDIA card. Soft-RoCE and other vendors' cards have "
               "none."},
    ReasonPage{
        "NoDeclaredAddress", "RW-9105", "No address is declared for the port.",
        "The check compares the GID table with the addresses of the Cluster document. Declare them there."},
    ReasonPage{"NoDpkg", "RW-9163", "There is no dpkg database on this host.",
               "Packages are known by /var/lib/dpkg/status. On a distribution with another package system "
               "this check says nothing."},
    ReasonPage{"NoEcc", "RW-9159", "No GPU of the node has ECC to turn on or off.",
               "NVML answers that it is not supported."},
    ReasonPage{"NoEcnSwitch", "RW-9083", "Congestion control cannot be switched by priority here.",
               "Only MLNX_OFED's driver has files for it, and firmware comes with all priorities on. With "
               "other drivers the flash of an NVIDIA card holds it (NVCONFIG ROCE_CC_PRIO_MASK_P1), and this "
               "is not one, is a virtual function, or its firmware has no such parameter."},
    ReasonPage{"NoFabricPort", "RW-9041", "No port of this node is declared a fabric port.",
               "The check speaks of fabric ports. Declare them with role fabric in the Cluster document."},
    ReasonPage{"NoFarCpu", "RW-9115", "No CPU is farther from the card than another.",
               "The machine has one NUMA node, or its firmware does not tell the card's (numa_node -1): then "
               "look for NUMA in the firmware's settings. That the interrupts are not all on one CPU is "
               "checked all the same."},
    ReasonPage{"NoFec", "RW-9150", "The port's driver has no forward error correction to show.",
               "ethtool answers EOPNOTSUPP, as for virtual functions and virtual interfaces. The physical "
               "port, or the host of the virtual machine, knows it."},
    ReasonPage{"NoGpu", "RW-9106", "The node has no GPU.",
               "No display or 3D controller of NVIDIA is on its PCI buses, so no card has to be near one."},
    ReasonPage{"NoGpuNearby", "RW-9107", "No GPU shares a switch or host bridge with the card.",
               "No traffic between card and GPU turns round below the root complex, so the bridges do not "
               "matter for it. Value `path-direct` speaks of every bridge above the card."},
    ReasonPage{"NoMlxDriver", "RW-9153", "No mlx5 driver is loaded, and no OFED is installed.",
               "The setting speaks of NVIDIA network cards. On a node with one, `module.mlx5_core: loaded` "
               "says why its driver is missing."},
    ReasonPage{"NoMsiVectors", "RW-9116", "The card has no message-signalled interrupts.",
               "Its driver uses the one wire that it shares with others, or none at all. No RDMA card works "
               "like that; look for pci=nomsi on the kernel's command line."},
    ReasonPage{"NoNearCpu", "RW-9117", "No CPU of the card's NUMA node is online.",
               "The node has only memory, or its CPUs were taken offline. So no interrupt can be near."},
    ReasonPage{"NoNftables", "RW-9042", "This kernel has no nf_tables.",
               "There can be no nftables rules, so none is in the way."},
    ReasonPage{"NoNvswitch", "RW-9155", "The node has no NVSwitch.",
               "Fabric Manager sets up NVSwitches, and the PCI bus shows none; in a virtual machine the host "
               "has it."},
    ReasonPage{"NoPause", "RW-9033", "The port's driver has no pause frames to set.",
               "ethtool answers EOPNOTSUPP, as for virtual functions and virtual interfaces."},
    ReasonPage{"NoPciDevice", "RW-9108", "The interface sits on no PCI function.",
               "Bridges, veth pairs and virtio interfaces declared by name have none of their own. Declare a "
               "card by its PCI address."},
    ReasonPage{"NoPciExpress", "RW-9109", "The function is not PCI Express.",
               "It has no PCI Express capability, so neither a link nor a Device Control register. Virtual "
               "devices often lack it."},
    ReasonPage{
        "NoPfcStormPrevention", "RW-9062", "The port has no PFC storm prevention.",
        "Its driver has no such tunable, or its firmware lacks the stall detection. A storm must then be "
        "stopped by the switch's PFC watchdog."},
    ReasonPage{"NoRdmaController", "RW-9157", "This kernel has no RDMA controller for control groups.",
               "It was built without CONFIG_CGROUP_RDMA, or version 1 of the control groups holds it. "
               "/sys/fs/cgroup/cgroup.controllers lists what there is."},
    ReasonPage{
        "NoRdmaDevice", "RW-9034", "The port has no RDMA device.",
        "Nothing below /sys/class/infiniband belongs to its interface. On a card that should have one: the "
        "driver's RDMA module is not loaded, or RoCE is turned off in the firmware."},
    ReasonPage{"NoRings", "RW-9035", "The port's driver has no rings to set.",
               "ethtool answers EOPNOTSUPP, as for most virtual interfaces."},
    ReasonPage{"NoSuchParameter", "RW-9110", "The card's firmware has no such parameter.",
               "The query of its flash does not list it. Some parameters are shown only with "
               "ADVANCED_PCI_SETTINGS=1, others need newer firmware or another model."},
    ReasonPage{"NoSuchRegister", "RW-9084", "This driver or firmware does not know the register.",
               "It shows others of its kind, so this one is younger than it. The message holds the path. "
               "Update the driver or the firmware, or take the key out for these nodes."},
    ReasonPage{
        "NoSuchSysctl", "RW-9036", "This kernel or network namespace has no such parameter.",
        "The file below /proc/sys is not there: the kernel is older or newer, was built without it, or shows "
        "it only in the first network namespace (most of net.core)."},
    ReasonPage{"NoSystemd", "RW-9151", "systemd does not run here.",
               "/run/systemd/system is not there, as in most containers: there are no units."},
    ReasonPage{"NoTrafficClass", "RW-9085", "The driver has no override of the traffic class.",
               "Only MLNX_OFED has one (tc below /sys/class/infiniband/DEVICE). Elsewhere applications "
               "choose: `roce.tos` for connections of rdma_cm, NCCL_IB_TC for NCCL."},
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
    ReasonPage{"OneCpu", "RW-9118", "The node has one CPU.", "It takes every interrupt; there is no choice."},
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
        "ProgrammableCC", "RW-9086", "The card runs programmable congestion control.",
        "NVCONFIG USER_PROGRAMMABLE_CC is true, so a program of the user may decide instead of DCQCN, and "
        "its registers are not judged. `cc.mode` shows it. To go back: set it to false and reset the card."},
    ReasonPage{
        "RdmaCmNotLoaded", "RW-9037", "The module rdma_cm is not loaded.",
        "Nothing connects by rdma_cm here, so its defaults do not exist. Declare `module.rdma_cm: loaded`."},
    ReasonPage{"ReadFailed", "RW-9001", "The value could not be read.",
               "The message holds the path and the kernel's own words. A failed read is never a pass."},
    ReasonPage{
        "RebootDidNotHelp", "RW-9021", "The value is stored, a boot has come, and it is still not in force.",
        "It was stored for the next boot, and the node has booted since with the same firmware. Another boot "
        "of that kind would not bring it, so none is asked for. A warm reboot does not reset every card: "
        "power-cycle the node, or `mstfwreset -d BDF -y r`. Else the firmware refuses or clamps the value "
        "(its "
        "release notes say so), or needs another parameter set first: take the key out of the profile. "
        "Another value, another firmware, or `railctl pause KEY` and `railctl pause --resume KEY` make it "
        "NeedsReboot once more."},
    ReasonPage{
        "StateStale", "RW-9070", "Nobody vouches any more for the state that is enforced.",
        "A signed state is valid for a time (30 days, or what the signers chose), and the controller renews "
        "it "
        "long before. This one has passed its end: the controller has not been reached, or its signers have "
        "not signed again. The node goes on enforcing it, since whoever keeps a controller away must not "
        "undo "
        "a cluster; whether it is still what is wanted is not known. Next: `railctl status`; with keys that "
        "are kept off the controller, `railctl sign`."},
    ReasonPage{"TryBegins", "RW-9089", "Not written yet: a try is about to begin.",
               "Before a change that may cut the node off, the neighbours on the rail are asked, so that it "
               "is known "
               "who must answer afterwards; an earlier try ends first; and an agent that has just begun "
               "waits up to a minute for "
               "its controller, who is to confirm it."},
    ReasonPage{"TryFailed", "RW-9090", "The change was not confirmed in time, and was put back.",
               "A change that may take a link down or cut the node off stays only when, after it, the "
               "controller answers "
               "over a new connection, every changed port has its carrier, speed and GIDs, and a neighbour "
               "on the rail "
               "answers that had answered before. The message says what was missing. The value from before "
               "is in force "
               "again, and the change is not tried again by itself. Next: mend what was missing (an MTU that "
               "the switch "
               "does not carry, an address that is not routed), then apply another generation, or `railctl "
               "pause KEY` and "
               "`railctl pause --resume KEY`."},
    ReasonPage{"UnclearRule", "RW-9043", "A firewall rule decides that cannot be read.",
               "Whether the traffic passes depends on a rule of which the listing does not show everything: "
               "an iptables extension, a program in user space, the routes. The message names it. Next: read "
               "that rule with the tool of its owner (`iptables-save`), and put an accept for the fabric's "
               "traffic before it."},
    ReasonPage{"Undone", "RW-9017", "The step was rolled back because a later step of its plan failed.",
               "The node has its earlier value again. The failed step says why."},
    ReasonPage{"UnknownSetting", "RW-9002", "This agent does not know the setting.",
               "The agent is older than the controller's catalogue. Update the agent, or take the key out."},
    ReasonPage{"VirtualFunction", "RW-9111", "The card is a virtual function.",
               "Its own field is reserved and ignores writes; what its physical function has counts for it. "
               "Declare the "
               "key for the port of the physical function, on the host."},
    ReasonPage{
        "WaitsForLink", "RW-9088", "Not tried yet: the port's link is down, by a step before this one.",
        "A step of the same plan takes the link down for some seconds. What follows on that port waits "
        "until it is back; after 30 s the step that took it down is put back."},
};

}  // namespace

std::span<const ReasonPage> ReasonPages() { return kPages; }

}  // namespace railwright
