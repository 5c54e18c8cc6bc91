#!/bin/sh
# Runs as init of the guest with a PCI Express switch: a controller and an agent, and what they write into configuration
# space. Every line that counts begins with GUEST-PASS or GUEST-FAIL.
export PATH=/usr/bin:/usr/sbin:/bin:/sbin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
for module in virtio_pci virtio_net; do modprobe "$module"; done
ip link set lo up

pass() { echo "GUEST-PASS $1"; }
fail() { echo "GUEST-FAIL $1: wanted \"$2\", got \"$3\""; }
has() { case "$3" in *"$2"*) pass "$1" ;; *) fail "$1" "$2" "$3" ;; esac; }
is() { if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "$2" "$3"; fi; }

# Two bytes of a function's configuration space, as "ffff".
word() { busybox hexdump -v -s "$2" -n 2 -e '1/2 "%04x"' "/sys/bus/pci/devices/$1/config"; }
put() { printf "$3" | busybox dd of="/sys/bus/pci/devices/$1/config" bs=1 seek="$2" conv=notrunc 2>/dev/null; }
# The offset of the ACS control register, by the extended list from 0x100.
acs_control() {
  at=256
  while [ $at -ne 0 ]; do
    header=$(busybox hexdump -v -s $at -n 4 -e '1/4 "%d"' "/sys/bus/pci/devices/$1/config")
    [ $((header & 65535)) -eq 13 ] && { echo $((at + 6)); return; }
    at=$((header >> 20 & 4092))
  done
}

# The root port above the switch, and one of another way. QEMU's switch ports have no ACS.
root=0000:00:04.0 apart=0000:00:05.0
at=$(acs_control $root)
for bridge in $root $apart; do put $bridge "$at" '\035\000'; done  # SV RR CR UF
echo  # the kernel's last line has no end yet
is acs_is_on 001d "$(word $root "$at")"
is acs_of_the_other_way_is_on 001d "$(word $apart "$at")"

export RAILCTL_CONTROLLER=unix:/run/c/controller.sock
mkdir -p /run/c /run/a
railwright-controller init --state-dir /run/c --cluster guest --name 127.0.0.1 > /run/c/log 2>&1
railwright-controller serve --state-dir /run/c --listen 127.0.0.1:7443 --enrol 127.0.0.1:7444 >> /run/c/log 2>&1 &
# The interface whose host bridge is the second NUMA node's.
far=none
for device in /sys/bus/pci/devices/*; do
  [ "$(cat "$device/numa_node")" = 1 ] && [ "$(cat "$device/class")" = 0x020000 ] && far=${device##*/}
done
is a_card_is_on_the_second_node 2-3 "$(cat "/sys/bus/pci/devices/$far/local_cpulist")"
cat > /run/inventory.yaml <<YAML
kind: Cluster
name: guest
nodes:
  - {name: guest-1, role: gpu}
ports:
  - {name: rail0, select: {pci: "0000:03:00.0"}, role: fabric, address: "10.220.0.{index}/24"}
  - {name: rail1, select: {pci: "$far"}, role: fabric, address: "10.221.0.{index}/24"}
YAML
profile() {
  printf 'kind: Profile\nname: %s\nmode: enforce\nsettings:\n  %s: {fabric: %s}\n' "$1" "$2" "$3" > "/run/$1.yaml"
  railctl apply -f "/run/$1.yaml" --yes --timeout 60s >> /run/apply.log 2>&1
  echo "GUEST-INFO apply of $1 ended with $?"
  sleep 1
  railctl status -o yaml > /run/status.yaml 2>&1
}
seq 100 | while read -r _; do railctl version > /dev/null 2>&1 && break; sleep 0.2; done
railctl token create guest-1 2> /run/a/token.log | railwright-agent join --line - --state-dir /run/a > /run/a/log 2>&1
has a_line_makes_it_a_member "joined guest as guest-1" "$(cat /run/a/log)"
railwright-agent run --state-dir /run/a >> /run/a/log 2>&1 &
agent=$!
railctl apply -f /run/inventory.yaml --yes --no-wait > /run/apply.log 2>&1
seq 100 | while read -r _; do railctl get nodes -o yaml 2>/dev/null | grep -q 'connected: true' && break; sleep 0.2; done
profile acs pcie.acs path-direct

is root_port_is_direct 0011 "$(word $root "$at")"
is the_other_way_is_left_alone 001d "$(word $apart "$at")"
# "verdict reason" of a key in `railctl status -o yaml`, whose findings list code, key … verdict, reason in this order.
verdict() { awk -v key="$1" '/key:/ {seen = ($NF == key || $NF == "\"" key "\"")} seen && /verdict:/ {v = $NF} seen && /reason:/ {print v, $NF; exit}' /run/status.yaml | tr -d '"'; }
is acs_is_read_back "Compliant " "$(verdict pcie.acs)"
is link_is_as_it_can_be "Compliant " "$(verdict pcie.link)"
is no_gpu_no_affinity "NotApplicable NoGpu" "$(verdict pcie.affinity)"

# A bus reset or another program sets it again; the scan finds it.
put $root "$at" '\035\000'
seq 100 | while read -r _; do [ "$(word $root "$at")" = 0011 ] && break; sleep 1; done
is drift_is_put_right 0011 "$(word $root "$at")"

# This device ignores writes of its read request: the write succeeds, and only reading back tells.
profile mrrs pcie.max_read_request 4096
is an_ignored_write_is_no_success "Drifted ApplyFailed" "$(verdict pcie.max_read_request)"
is acs_is_not_undone_with_it 0011 "$(word $root "$at")"

# Interrupts: the kernel's own files say where they are delivered; the check must say the same of them.
# A vector moves with its next interrupt, so frames are sent to the card until the kernel says that it has moved.
place() {  # FIRST SECOND: the card's vectors on these CPUs in turn
  count=0
  for irq in /sys/bus/pci/devices/$far/msi_irqs/*; do
    count=$((count + 1)) cpu=$1
    [ $((count % 2)) -eq 1 ] || cpu=$2
    echo "$cpu" > "/proc/irq/${irq##*/}/smp_affinity_list"
  done
  seq 20 | while read -r _; do
    moved "$1" "$2" && break
    busybox arping -q -c 1 -w 1 -I "$near_netdev" 10.220.0.99
    busybox arping -q -c 1 -w 1 -I "$far_netdev" 10.221.0.99
  done
  for irq in $queues; do echo "GUEST-INFO the kernel delivers IRQ $irq on CPU $(cat "/proc/irq/$irq/effective_affinity_list")"; done
}
moved() {
  for irq in $queues; do
    case "$(cat "/proc/irq/$irq/effective_affinity_list")" in "$1" | "$2") ;; *) return 1 ;; esac
  done
}
queues=""
for irq in /sys/bus/pci/devices/$far/msi_irqs/*; do
  for handler in /proc/irq/"${irq##*/}"/*input.0 /proc/irq/"${irq##*/}"/*output.0; do
    [ ! -d "$handler" ] || queues="$queues ${irq##*/}"
  done
done
near_netdev=$(ls /sys/bus/pci/devices/0000:03:00.0/virtio*/net)
far_netdev=$(ls /sys/bus/pci/devices/$far/virtio*/net)
ip addr add 10.220.0.1/24 dev "$near_netdev"
ip addr add 10.221.0.1/24 dev "$far_netdev"
ip link set "$near_netdev" up
ip link set "$far_netdev" up
of_rail1() { awk -v key="$1" '/key:/ {seen = ($NF == key)} /target:/ {mine = ($NF == "rail1")} seen && mine && /verdict:/ {v = $NF} seen && mine && /reason:/ {print v, $NF; exit}' /run/status.yaml | tr -d '"'; }
irq_verdict() {  # WANTED: looks until it is so, ten seconds at most
  kill -HUP $agent
  seq 20 | while read -r _; do
    railctl status -o yaml > /run/status.yaml 2>&1
    [ "$(of_rail1 irq.affinity)" = "$1" ] && break
    sleep 0.5
  done
  of_rail1 irq.affinity
}
place 2 3
is interrupts_near_the_card_are_compliant "Compliant " "$(irq_verdict 'Compliant ')"
place 0 1
is interrupts_on_the_other_node_are_drift "Drifted IrqFarFromCard" "$(irq_verdict 'Drifted IrqFarFromCard')"
place 3 2
is interrupts_that_came_back_are_compliant "Compliant " "$(irq_verdict 'Compliant ')"

echo "GUEST-LOG apply";  cat /run/apply.log
echo "GUEST-LOG agent";  cat /run/a/token.log; tail -n 30 /run/a/log
echo "GUEST-LOG controller"; tail -n 10 /run/c/log
echo "GUEST-LOG status"; cat /run/status.yaml
echo GUEST-END
poweroff -f
