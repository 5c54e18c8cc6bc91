#!/bin/sh
# Runs as init of the guest: a controller and an agent on a real RDMA stack (rxe over an e1000e), with the settings
# that the host's kernel cannot hold. Every line that counts begins with GUEST-PASS or GUEST-FAIL.
export PATH=/usr/bin:/usr/sbin:/bin:/sbin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp

for module in crc32c_generic crc32_generic e1000e rdma_rxe rdma_cm nf_tables configfs; do modprobe "$module"; done
mount -t configfs configfs /sys/kernel/config
ip link set lo up
ip link set eth0 up
rdma link add rxe0 type rxe netdev eth0

pass() { echo "GUEST-PASS $1"; }
fail() { echo "GUEST-FAIL $1: wanted \"$2\", got \"$3\""; }
is() { if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "$2" "$3"; fi; }
has() { case "$3" in *"$2"*) pass "$1" ;; *) fail "$1" "$2" "$3" ;; esac; }

mkdir -p /run/c /run/a
export RAILCTL_CONTROLLER=unix:/run/c/controller.sock
configfs=/sys/kernel/config/rdma_cm/rxe0
railwright-controller init --state-dir /run/c --cluster guest --name 127.0.0.1 > /run/c/log 2>&1
railwright-controller serve --state-dir /run/c --listen 127.0.0.1:7443 --enrol 127.0.0.1:7444 >> /run/c/log 2>&1 &
controller=$!
cat > /run/inventory.yaml <<'YAML'
kind: Cluster
name: guest
nodes:
  - {name: guest-1, role: gpu}
ports:
  - {name: rail0, select: {pci: "0000:00:02.0"}, role: fabric, address: "10.220.0.{index}/24"}
YAML
cat > /run/profile.yaml <<'YAML'
kind: Profile
name: guest
mode: enforce
settings:
  link.mtu: {fabric: 4200}
  link.rings: {fabric: "rx=512 tx=1024"}
  link.pause: {fabric: "autoneg=off rx=off tx=off"}
  module.dummy: loaded
  roce.mode: {fabric: v2}
  roce.tos: {fabric: 106}
  rail.address: {fabric: declared}
  kernel.cmdline: iommu=pt
  package.guest: ">=1.0"
YAML
seq 100 | while read -r _; do railctl version > /dev/null 2>&1 && break; sleep 0.2; done
railctl token create guest-1 2> /run/a/token.log | railwright-agent join --line - --state-dir /run/a > /run/a/log 2>&1
has a_line_makes_it_a_member "joined guest as guest-1" "$(cat /run/a/log)"
railwright-agent run --state-dir /run/a >> /run/a/log 2>&1 &
agent=$!

railctl apply -f /run/inventory.yaml --yes --no-wait > /run/apply.log 2>&1
seq 100 | while read -r _; do railctl get nodes -o yaml 2>/dev/null | grep -q 'connected: true' && break; sleep 0.2; done
railctl apply -f /run/profile.yaml --yes --timeout 60s >> /run/apply.log 2>&1
echo "GUEST-INFO apply ended with $?"
# New rings take e1000e's link down, and it takes up pause frames with the link, which the agent then puts right.
seq 100 | while read -r _; do [ "$(cat /sys/class/net/eth0/carrier)" = 1 ] && break; sleep 0.2; done
sleep 1
railctl status -o yaml > /run/status.yaml 2>&1

has mtu_is_written "mtu 4200" "$(ip link show eth0)"
has address_is_set "10.220.0.1/24" "$(ip addr show eth0)"
rings=$(ethtool -g eth0 | sed -n '/Current/,$p' | tr -s ' \t\n' ' ')
has rings_rx_are_written "RX: 512" "$rings"
has rings_tx_are_written "TX: 1024" "$rings"
pause() { ethtool -a eth0 | sed 1d | tr -s ' \t\n' ' ' | sed 's/ *$//'; }
seq 50 | while read -r _; do [ "$(pause)" = "Autonegotiate: off RX: off TX: off" ] && break; sleep 0.2; done
is pause_is_off "Autonegotiate: off RX: off TX: off" "$(pause)"
has module_is_loaded "dummy" "$(grep '^dummy ' /proc/modules)"
is configfs_mode "RoCE v2" "$(cat $configfs/ports/1/default_roce_mode)"
is configfs_tos "106" "$(cat $configfs/ports/1/default_roce_tos)"

# verdict KEY: of `railctl status -o yaml`, whose findings list code, key … verdict in this order.
verdict() { awk -v key="$1" '/key:/ {seen = ($NF == key || $NF == "\"" key "\"")} seen && /verdict:/ {print $NF; exit}' /run/status.yaml | tr -d '"'; }
for key in link.mtu link.rings link.pause module.dummy roce.mode roce.tos rail.address package.guest; do
  is "verdict_$key" Compliant "$(verdict "$key")"
done
is verdict_kernel.cmdline Pending "$(verdict kernel.cmdline)"
has cmdline_says_reboot NeedsReboot "$(cat /run/status.yaml)"

# Drift of what only this kernel has: rings by event (ethtool monitor), the module by uevent, tos by the scan.
ethtool -G eth0 rx 256
rmmod dummy 2>/dev/null || modprobe -r dummy
seq 50 | while read -r _; do
  case "$(ethtool -g eth0 | tr -s ' \t\n' ' ')" in *"settings: RX: 512"*) break ;; esac
  sleep 0.2
done
has rings_are_put_right "settings: RX: 512" "$(ethtool -g eth0 | tr -s ' \t\n' ' ')"
seq 50 | while read -r _; do grep -q '^dummy ' /proc/modules && break; sleep 0.2; done
has module_is_put_right "dummy" "$(grep '^dummy ' /proc/modules)"

# A directory of rdma_cm that is gone is made again in the scan that misses it; the value is rdma_cm's, and is put right.
echo 0 > $configfs/ports/1/default_roce_tos; rmdir $configfs
kill -HUP $agent
seq 100 | while read -r _; do [ "$(cat $configfs/ports/1/default_roce_tos 2>/dev/null)" = 106 ] && break; sleep 0.2; done
is configfs_directory_is_made_again "106" "$(cat $configfs/ports/1/default_roce_tos 2>/dev/null)"

kill -TERM $agent
seq 50 | while read -r _; do kill -0 $agent 2>/dev/null || break; sleep 0.1; done
if [ -d $configfs ]; then fail configfs_directory_is_removed_at_stop gone there; else pass configfs_directory_is_removed_at_stop; fi
kill -TERM $controller

# On a failure the logs are what one wants to see.
echo "GUEST-LOG apply";  cat /run/apply.log
echo "GUEST-LOG agent";  cat /run/a/token.log; tail -n 30 /run/a/log
echo "GUEST-LOG controller"; tail -n 10 /run/c/log
echo "GUEST-LOG status"; cat /run/status.yaml
echo GUEST-END
poweroff -f
