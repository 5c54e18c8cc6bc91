# Sourced: fills the root of an initramfs. Callers set `root` (the folder that becomes /) and `kernel` (of fetch_kernel.sh).
# shellcheck shell=bash disable=SC2154

# The folders of a merged /usr. Links must stand before a library is put below them.
pack_skeleton() {
  chmod 755 "$root"                            # becomes that of /
  mkdir -p "$root"/{bin,sbin,usr/bin,usr/sbin,usr/lib/modules,usr/lib64,proc,sys,dev,etc,run,tmp,var/lib/dpkg,root}
  ln -sfn usr/lib "$root/lib"; ln -sfn usr/lib64 "$root/lib64"
}

# pack_program FILE [TO]: the program at the path TO (its own by default), with the shared libraries that it names.
pack_program() {
  local file=$1 to=${2:-$1} library path
  install -D -m 755 "$(readlink -f "$file")" "$root$to"
  # Not every file has libraries; ldd says so by its exit code.
  { ldd "$file" 2>/dev/null || true; } | { grep -oE '/[^ ]+' || true; } | sort -u | while read -r library; do
    # Resolved below /usr, so that /lib and /lib64 links hold.
    path=$(readlink -f "$(dirname "$library")")/$(basename "$library")
    path=${path#"${pack_sysroot:-}"}
    [ -e "$root$path" ] || install -D -m 755 "$(readlink -f "$library")" "$root$path"
  done
}

# What depends on what, for all modules of the kernel: made once, and kept with them.
module_dependencies() {
  local release tree
  [ -s "$kernel/modules/modules.dep" ] && return 0
  release=$(cat "$kernel/release")
  tree=$(mktemp -d)
  mkdir -p "$tree/lib/modules"
  ln -s "$(readlink -f "$kernel/modules")" "$tree/lib/modules/$release"
  depmod -b "$tree" "$release"
  rm -rf "$tree"
}

# pack_modules NAME…: kernel modules with what they depend on.
pack_modules() {
  local release target module line file
  release=$(cat "$kernel/release")
  module_dependencies
  target="$root/usr/lib/modules/$release"
  mkdir -p "$target"
  cp "$kernel"/modules/modules.{builtin,builtin.modinfo,order} "$target/"
  for module in "$@"; do
    line=$(grep -E "(^|/)${module//[-_]/[-_]}\.ko[^:]*:" "$kernel/modules/modules.dep" | head -n 1) || true
    [ -n "$line" ] || continue                 # built in, or another name in this kernel
    for file in $(tr -d ':' <<< "$line"); do
      # Plain .ko: busybox's modprobe, which the shell prefers, reads nothing else.
      mkdir -p "$(dirname "$target/$file")"
      case "$file" in
        *.xz) [ -e "$target/${file%.xz}" ] || xz -dc "$kernel/modules/$file" > "$target/${file%.xz}" ;;
        *) install -m 644 "$kernel/modules/$file" "$target/$file" ;;
      esac
    done
  done
  depmod -b "$root" "$release"
}

# pack_cpio: the root as an archive on stdout.
pack_cpio() { (cd "$root" && find . -print0 | LC_ALL=C sort -z | cpio --null --create --format=newc --quiet --owner=0:0); }
