#!/usr/bin/env bash
# Packs programs with their shared libraries, kernel modules with their dependencies, and an init script into an
# initramfs.   build_initramfs.sh KERNEL_DIR OUT INIT_SCRIPT "PROGRAM…" "MODULE…" [FILE=PATH …]
set -euo pipefail
kernel=$1 out=$2 init=$3 programs=$4 modules=$5
shift 5
. "$(dirname "$0")/pack.sh"
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
pack_skeleton
printf 'Package: guest\nStatus: install ok installed\nVersion: 1.0-1\n' > "$root/var/lib/dpkg/status"

cp "$(command -v busybox)" "$root/bin/busybox"
for applet in sh mount umount cat echo grep sed ls mkdir sleep kill poweroff dmesg ip ifconfig seq date cut tr head tail test '[' pidof awk; do
  ln -sf /bin/busybox "$root/bin/$applet"
done
for program in $programs; do
  case "$program" in
    */build/*) pack_program "$program" "/usr/bin/$(basename "$program")" ;;
    *) pack_program "$program" ;;
  esac
done
for pair in "$@"; do install -D -m 644 "${pair%%=*}" "$root${pair#*=}"; done
# shellcheck disable=SC2086
pack_modules $modules
install -m 755 "$init" "$root/init"
pack_cpio | gzip -1 > "$out"
