#!/usr/bin/env bash
# Builds the lab's kernel modules for the guest's kernel. The headers of that release are fetched with apt-get download
# and unpacked into OUT/headers; nothing is installed.
#   build.sh KERNEL_DIR OUT     → OUT/{rwlab,rwlab_tc,rwlab_peer,nvidia-peermem}.ko
set -euo pipefail
kernel=${1:?the folder of tests/guest/fetch_kernel.sh} out=${2:?folder}
here=$(cd "$(dirname "$0")" && pwd)
[ -e "$kernel/release" ] || { echo "build.sh: no kernel in $kernel; next: tests/guest/fetch_kernel.sh $kernel" >&2; exit 1; }
release=$(cat "$kernel/release")
for tool in make x86_64-linux-gnu-gcc-12; do
  command -v "$tool" > /dev/null || { echo "build.sh: $tool is missing; next: apt-get install make gcc-12" >&2; exit 1; }
done
mkdir -p "$out"
out=$(cd "$out" && pwd)
headers=$out/headers/$release

# 6.12.117+deb12-amd64 needs linux-headers-6.12.117+deb12-amd64, …-common and linux-kbuild-6.12.117+deb12.
fetch_headers() {
  local version=${release%-amd64} tmp file
  tmp=$(mktemp -d "$out/fetch.XXXXXX")
  trap 'rm -rf "$tmp"' RETURN
  (cd "$tmp" && apt-get download "linux-headers-$release" "linux-headers-$version-common" "linux-kbuild-$version" > log 2>&1) ||
    { cat "$tmp/log" >&2; echo "build.sh: no headers of $release; next: apt-get update" >&2; return 1; }
  for file in "$tmp"/*.deb; do dpkg-deb -x "$file" "$tmp/root"; done
  mkdir -p "$out/headers"
  rm -rf "$headers"
  mv "$tmp/root" "$headers"
}
[ -e "$headers/usr/src/linux-headers-$release/Makefile" ] || fetch_headers
# The one absolute path in it names an installed tree.
sed -i "s#^include .*/usr/src/#include $headers/usr/src/#" "$headers/usr/src/linux-headers-$release/Makefile"

# Built in a copy, so that nothing is left beside the sources.
mkdir -p "$out/build"
cp -u "$here"/*.c "$here"/*.h "$here/Kbuild" "$out/build/"
# Without BTF: that needs pahole and nothing here reads it.
make -s -C "$headers/usr/src/linux-headers-$release" M="$out/build" CONFIG_DEBUG_INFO_BTF_MODULES= modules >&2
for module in "$out"/build/*.ko; do strip --strip-debug -o "$out/$(basename "$module")" "$module"; done
