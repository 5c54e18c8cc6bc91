#!/bin/sh
# First thing in a guest: what a distribution's boot would have done before the agent's unit starts. Who this guest is
# stands on the kernel's command line (lab.node=N). Lines that begin with RWLAB are for the host.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
. /lab/site.sh               # management_net

# Not what is mounted already: systemd does most of it by itself.
mount_on() {
  grep -qs " $3 " /proc/mounts || mount -t "$1" "$2" "$3"
}
mount_all() {
  [ -e /proc/mounts ] || mount -t proc proc /proc
  mount_on sysfs sysfs /sys
  mount_on devtmpfs devtmpfs /dev
  mkdir -p /dev/pts /dev/shm
  [ -e /dev/stdin ] || for name in stdin stdout stderr; do ln -s "/proc/self/fd/$((fd))" "/dev/$name"; fd=$((fd + 1)); done
  [ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
  mount_on devpts devpts /dev/pts
  for dir in /dev/shm /run /tmp; do mount_on tmpfs tmpfs "$dir"; done
  mount_on debugfs debugfs /sys/kernel/debug
  mount_on cgroup2 cgroup2 /sys/fs/cgroup
  echo +rdma > /sys/fs/cgroup/cgroup.subtree_control
}

# By their place in the MAC address: …:00 management, …:01 and …:02 the rails' ports. Two steps, since names overlap.
name_ports() {
  for port in /sys/class/net/eth*; do
    mac=$(cat "$port/address")
    ip link set "${port##*/}" name "port${mac##*:}"
  done
  ip link set port00 name mgmt0
  ip link set port01 name eth1
  ip link set port02 name eth2
}

join_management() {
  ip link set lo up
  ip addr add "$management_net.$node/24" dev mgmt0
  ip link set mgmt0 up
}

# What firmware does where an IOMMU is on: SrcValid, ReqRedir, CmpltRedir and UpstreamFwd on every bridge that has ACS
# (QEMU's root port; its switch ports have none).
acs_on() {
  for device in /sys/bus/pci/devices/*; do
    case "$(cat "$device/class")" in 0x0604*) setpci -s "${device##*/}" ECAP_ACS+6.w=1d 2> /dev/null ;; esac
  done
}

# With the lab's own NIC module the rails are its netdevs over the virtio ports, else those ports by other names.
make_rails() {
  if [ -e "/lib/modules/$(uname -r)/lab/rwlab.ko" ] && modprobe rwlab stack=eth1,eth2 pairs=1 names=rail0,rail1,storage0,storage1; then
    ip link set eth1 mtu 9216 up
    ip link set eth2 mtu 9216 up
    ip link set storage0 up                  # a port of another card, that nobody may touch
    ip link set storage1 up
    nic=rwlab
  else
    ip link set eth1 name rail0
    ip link set eth2 name rail1
    nic=virtio
  fi
  ip link set rail0 mtu 1500 up
  ip link set rail1 mtu 1500 up
}

make_rdma() {
  # The checksum first: rxe asks for it when it is loaded.
  for module in crc32_generic rdma_rxe rdma_ucm ib_uverbs; do modprobe "$module"; done
  if [ "$nic" = rwlab ]; then modprobe rwlab_tc; fi
  modprobe configfs 2> /dev/null
  mount_on configfs configfs /sys/kernel/config
  rdma link add rxe0 type rxe netdev rail0
  rdma link add rxe1 type rxe netdev rail1
}

# The OFED package, where the lab's NIC is: installed as on a node, and its module loaded.
install_ofed() {
  [ -e /lab/ofed-5.8.deb ] || return 0
  mkdir -p /var/lib/dpkg/info /var/lib/dpkg/updates
  dpkg --force-bad-path --install /lab/ofed-5.8.deb > /run/ofed.log 2>&1 && modprobe mlx5_core ||
    { echo "RWLAB failed $node: OFED's package: $(tail -n 1 /run/ofed.log)"; return 1; }
}

fd=0
mount_all
node=$(sed -n 's/.*lab\.node=\([0-9]*\).*/\1/p' /proc/cmdline)
hostname "lab-$node"
echo 2 > /proc/sys/kernel/panic_on_oops
# What the package's sysctl.d says.
echo '0 2147483647' > /proc/sys/net/ipv4/ping_group_range
echo "RWLAB boot $node"
for module in virtio_net crc32c_generic qemu_fw_cfg; do modprobe "$module"; done
name_ports
join_management
acs_on
make_rails
make_rdma
install_ofed
for module in nf_tables nft_ct nf_conntrack; do modprobe "$module"; done
devices=$(ls /sys/class/infiniband | tr '\n' ' ')
if [ "$devices" = "rxe0 rxe1 " ]; then
  echo "RWLAB ready $node nic=$nic rdma=${devices}uptime=$(cut -d ' ' -f 1 /proc/uptime)"
else
  echo "RWLAB failed $node: the RDMA devices are \"$devices\", not rxe0 and rxe1"
fi
