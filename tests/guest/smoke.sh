#!/usr/bin/env bash
# Boots one QEMU guest with Debian's kernel and the programs of BIN_DIR, and passes when every check inside passed.
#   smoke.sh BIN_DIR KERNEL_DIR
set -euo pipefail
bin=$(readlink -f "$1") kernel=$2
here=$(dirname "$0")
[ -e "$kernel/vmlinuz" ] || { echo "no kernel in $kernel; next: tests/guest/fetch_kernel.sh $kernel" >&2; exit 1; }
command -v qemu-system-x86_64 >/dev/null || { echo "qemu-system-x86_64 is missing; next: deploy/packages.sh guest" >&2; exit 1; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

"$here/build_initramfs.sh" "$kernel" "$tmp/initrd.gz" "$here/init.sh" \
  "$bin/railwright-controller $bin/railwright-agent $bin/railwright-agent-run $bin/railwright-agent-front $bin/railctl /usr/sbin/nft /usr/bin/rdma /usr/sbin/ethtool" \
  "crc32c_generic crc32_generic e1000e rdma_rxe rdma_cm rdma_ucm ib_uverbs nf_tables nft_ct configfs dummy"

# Emulation: no /dev/kvm is needed, and a nested one is not always whole. no_timer_check: on a busy host the emulated
# timer comes too late for the check of it at boot.
timeout 300 qemu-system-x86_64 -M q35 -accel tcg -cpu max -smp 2 -m 1024 -nographic -no-reboot \
  -kernel "$kernel/vmlinuz" -initrd "$tmp/initrd.gz" -append "console=ttyS0 quiet panic=-1 mitigations=off no_timer_check" \
  -netdev hubport,id=n0,hubid=0 -device e1000e,netdev=n0 < /dev/null > "$tmp/console" 2>&1 || true
tr -d '\r' < "$tmp/console" > "$tmp/log"
passed=$(grep -c '^GUEST-PASS' "$tmp/log" || true)
failed=$(grep -c '^GUEST-FAIL' "$tmp/log" || true)
if ! grep -q '^GUEST-END' "$tmp/log"; then
  tail -n 60 "$tmp/log"
  echo "the guest did not reach its end within 300 s"
  exit 1
fi
[ "$failed" -eq 0 ] && [ "$passed" -ge 15 ] || { cat "$tmp/log"; echo "guest: $passed passed, $failed failed"; exit 1; }
grep '^GUEST-PASS' "$tmp/log"
echo "guest: $passed passed, $failed failed, kernel $(cat "$kernel/release")"
