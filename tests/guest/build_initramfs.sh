#!/usr/bin/env bash
# Packs programs with their shared libraries, kernel modules with their dependencies, and an init script into an
# initramfs.   build_initramfs.sh KERNEL_DIR OUT INIT_SCRIPT "PROGRAM…" "MODULE…" [FILE=PATH …]
set -euo pipefail
kernel=$1 out=$2 init=$3 programs=$4 modules=$5
shift 5
release=$(cat "$kernel/release")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{bin,sbin,usr/bin,usr/sbin,proc,sys,dev,etc,run,tmp,var/lib/dpkg,root}
ln -s usr/lib "$root/lib"; ln -s usr/lib64 "$root/lib64"
mkdir -p "$root/usr/lib/modules" "$root/usr/lib64"
printf 'Package: guest\nStatus: install ok installed\nVersion: 1.0-1\n' > "$root/var/lib/dpkg/status"

cp "$(command -v busybox)" "$root/bin/busybox"
for applet in sh mount umount cat echo grep sed ls mkdir sleep kill poweroff dmesg ip ifconfig seq date cut tr head tail test '[' pidof awk; do
  ln -sf /bin/busybox "$root/bin/$applet"
done

copy_with_libraries() {
  local file=$1 to=$2 library
  install -D -m 755 "$(readlink -f "$file")" "$root$to"
  ldd "$file" 2>/dev/null | grep -oE '/[^ ]+' | sort -u | while read -r library; do
    # Resolved below /usr, so that /lib and /lib64 links hold.
    local path; path=$(readlink -f "$(dirname "$library")")/$(basename "$library")
    [ -e "$root$path" ] || install -D -m 755 "$(readlink -f "$library")" "$root$path"
  done
}
for program in $programs; do
  case "$program" in
    */build/*) copy_with_libraries "$program" "/usr/bin/$(basename "$program")" ;;
    *) copy_with_libraries "$program" "$program" ;;
  esac
done
for pair in "$@"; do install -D -m 644 "${pair%%=*}" "$root${pair#*=}"; done

# Modules with what they depend on, by a modules.dep made for the whole tree.
tree=$(mktemp -d)
trap 'rm -rf "$root" "$tree"' EXIT
mkdir -p "$tree/lib/modules"
cp -a --reflink=auto "$kernel/modules" "$tree/lib/modules/$release"
depmod -b "$tree" "$release"
target="$root/usr/lib/modules/$release"
mkdir -p "$target"
cp "$kernel"/modules/modules.{builtin,builtin.modinfo,order} "$target/"
for module in $modules; do
  line=$(grep -E "/${module//[-_]/[-_]}\.ko[^:]*:" "$tree/lib/modules/$release/modules.dep" | head -n 1) || true
  [ -n "$line" ] || continue                 # built in, or another name in this kernel
  for file in $(tr -d ':' <<< "$line"); do
    # Plain .ko: busybox's modprobe, which the shell prefers, reads nothing else.
    mkdir -p "$(dirname "$target/$file")"
    case "$file" in
      *.xz) [ -e "$target/${file%.xz}" ] || xz -dc "$tree/lib/modules/$release/$file" > "$target/${file%.xz}" ;;
      *) install -m 644 "$tree/lib/modules/$release/$file" "$target/$file" ;;
    esac
  done
done
depmod -b "$root" "$release"

install -m 755 "$init" "$root/init"
(cd "$root" && find . -print0 | cpio --null --create --format=newc --quiet --owner=0:0 | gzip -1) > "$out"
