#!/usr/bin/env bash
# Boots one guest with the lab's modules and passes when every check of theirs inside passed.
#   smoke.sh KERNEL_DIR [MODULES_DIR]     MODULES_DIR: of build.sh; built below KERNEL_DIR/../lab when it is not given
set -euo pipefail
kernel=${1:?the folder of tests/guest/fetch_kernel.sh}
modules=${2:-$kernel/../lab}
here=$(cd "$(dirname "$0")" && pwd)
guest=$here/../../guest
[ -e "$kernel/vmlinuz" ] || { echo "no kernel in $kernel; next: tests/guest/fetch_kernel.sh $kernel" >&2; exit 1; }
"$here/fits.sh" "$kernel" || { echo "SKIPPED: $("$here/fits.sh" "$kernel" 2>&1)"; exit 77; }
command -v qemu-system-x86_64 >/dev/null || { echo "qemu-system-x86_64 is missing; next: deploy/packages.sh guest" >&2; exit 1; }
[ $# -ge 2 ] || "$here/build.sh" "$kernel" "$modules"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

files=()
for program in dcb_write send_pfc; do
  gcc -Wall -static -O1 -o "$tmp/$program" "$here/$program.c"
  files+=("$tmp/$program=/usr/bin/$program")
done
for module in rwlab rwlab_tc rwlab_peer nvidia-peermem; do files+=("$modules/$module.ko=/lib/lab/$module.ko"); done
"$guest/build_initramfs.sh" "$kernel" "$tmp/initrd.gz" "$here/smoke_init.sh" \
  "/usr/sbin/dcb /usr/sbin/ethtool /usr/bin/rdma /usr/sbin/ip" \
  "virtio_net crc32c_generic crc32_generic rdma_rxe" "${files[@]}"

timeout 560 qemu-system-x86_64 -M q35 -accel tcg -cpu max -smp 2 -m 768 -nographic -no-reboot \
  -kernel "$kernel/vmlinuz" -initrd "$tmp/initrd.gz" \
  -append "console=ttyS0 quiet panic=-1 mitigations=off no_timer_check oops=panic" \
  -netdev hubport,id=n0,hubid=0 -device virtio-net-pci,netdev=n0,mac=02:00:00:00:09:01 \
  -netdev hubport,id=n1,hubid=0 -device virtio-net-pci,netdev=n1,mac=02:00:00:00:09:02 < /dev/null > "$tmp/console" 2>&1 || true
tr -d '\r' < "$tmp/console" > "$tmp/log"
passed=$(grep -c '^GUEST-PASS' "$tmp/log" || true)
failed=$(grep -c '^GUEST-FAIL' "$tmp/log" || true)
if ! grep -q '^GUEST-END' "$tmp/log"; then
  tail -n 80 "$tmp/log"
  echo "lab NIC: the guest did not reach its end within 560 s"
  exit 1
fi
[ "$failed" -eq 0 ] && [ "$passed" -ge 100 ] || { cat "$tmp/log"; echo "lab NIC: $passed passed, $failed failed"; exit 1; }
grep '^GUEST-PASS' "$tmp/log"
echo "lab NIC: $passed passed, $failed failed, kernel $(cat "$kernel/release")"
