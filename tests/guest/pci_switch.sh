#!/usr/bin/env bash
# Boots one QEMU guest of two NUMA nodes, with interfaces below a PCI Express switch, beside it and on the second node, and
# passes when every check inside passed.
#   pci_switch.sh BIN_DIR KERNEL_DIR
set -euo pipefail
bin=$(readlink -f "$1") kernel=$2
here=$(dirname "$0")
[ -e "$kernel/vmlinuz" ] || { echo "no kernel in $kernel; next: tests/guest/fetch_kernel.sh $kernel" >&2; exit 1; }
command -v qemu-system-x86_64 >/dev/null || { echo "qemu-system-x86_64 is missing; next: deploy/packages.sh guest" >&2; exit 1; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

"$here/build_initramfs.sh" "$kernel" "$tmp/initrd.gz" "$here/pci_switch_init.sh" \
  "$bin/railwright-controller $bin/railwright-agent $bin/railwright-agent-run $bin/railwright-agent-front $bin/railctl" \
  "virtio_pci virtio_net failover net_failover"

# Bus 01: the switch's upstream port, 02: its downstream port, 03: an interface; another below a root port of its own.
# The third's host bridge belongs to NUMA node 1, with CPUs 2 and 3.
# disable-legacy: only a modern virtio function is PCI Express and has a Device Control register.
timeout 300 qemu-system-x86_64 -M q35 -accel tcg -cpu max -smp 4,sockets=2,cores=2 -m 1024 -nographic -no-reboot -nic none \
  -kernel "$kernel/vmlinuz" -initrd "$tmp/initrd.gz" -append "console=ttyS0 quiet panic=-1 mitigations=off no_timer_check" \
  -object memory-backend-ram,id=m0,size=512M -object memory-backend-ram,id=m1,size=512M \
  -numa node,nodeid=0,cpus=0-1,memdev=m0 -numa node,nodeid=1,cpus=2-3,memdev=m1 \
  -device pcie-root-port,id=root,bus=pcie.0,chassis=1,slot=1,addr=4.0 -device x3130-upstream,id=up,bus=root \
  -device xio3130-downstream,id=down,bus=up,chassis=2,slot=2 \
  -netdev hubport,id=n0,hubid=0 -device virtio-net-pci,netdev=n0,bus=down,disable-legacy=on,romfile= \
  -device pcie-root-port,id=apart,bus=pcie.0,chassis=3,slot=3,addr=5.0 \
  -netdev hubport,id=n1,hubid=0 -device virtio-net-pci,netdev=n1,bus=apart,disable-legacy=on,romfile= \
  -device pxb-pcie,id=second,bus=pcie.0,bus_nr=64,numa_node=1 -device pcie-root-port,id=far,bus=second,chassis=4,slot=4 \
  -netdev hubport,id=n2,hubid=0 -device virtio-net-pci,netdev=n2,bus=far,disable-legacy=on,romfile= \
  < /dev/null > "$tmp/console" 2>&1 || true
tr -d '\r' < "$tmp/console" > "$tmp/log"
passed=$(grep -c '^GUEST-PASS' "$tmp/log" || true)
failed=$(grep -c '^GUEST-FAIL' "$tmp/log" || true)
if ! grep -q '^GUEST-END' "$tmp/log"; then
  tail -n 60 "$tmp/log"
  echo "the guest did not reach its end within 300 s"
  exit 1
fi
[ "$failed" -eq 0 ] && [ "$passed" -ge 14 ] || { cat "$tmp/log"; echo "guest: $passed passed, $failed failed"; exit 1; }
grep '^GUEST-PASS' "$tmp/log"
echo "guest: $passed passed, $failed failed, kernel $(cat "$kernel/release")"
