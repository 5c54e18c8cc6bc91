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

socket=unix:/run/c/controller.sock
export RAILCTL_CONTROLLER=$socket
mkdir -p /run/c /run/a
railwright-controller serve --state-dir /run/c --listen $socket > /run/c/log 2>&1 &
cat > /run/inventory.yaml <<'YAML'
kind: Cluster
name: guest
nodes:
  - {name: guest-1, role: gpu}
ports:
  - {name: rail0, select: {pci: "0000:03:00.0"}, role: fabric, address: "10.220.0.{index}/24"}
YAML
profile() {
  printf 'kind: Profile\nname: %s\nmode: enforce\nsettings:\n  %s: {fabric: %s}\n' "$1" "$2" "$3" > "/run/$1.yaml"
  railctl apply -f "/run/$1.yaml" --yes --timeout 60s >> /run/apply.log 2>&1
  echo "GUEST-INFO apply of $1 ended with $?"
  sleep 1
  railctl status -o yaml > /run/status.yaml 2>&1
}
railwright-agent run --controller $socket --name guest-1 --state-dir /run/a > /run/a/log 2>&1 &
seq 100 | while read -r _; do railctl version > /dev/null 2>&1 && break; sleep 0.2; done
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

echo "GUEST-LOG apply";  cat /run/apply.log
echo "GUEST-LOG agent";  tail -n 30 /run/a/log
echo "GUEST-LOG status"; cat /run/status.yaml
echo GUEST-END
poweroff -f
