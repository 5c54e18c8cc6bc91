#!/usr/bin/env bash
# Makes two releases of a small OFED package for the guest's kernel: a module mlx5_core with that version, and ofed_info.
#   package.sh KERNEL_DIR HEADERS OUT     → OUT/{ofed-5.8,ofed-5.4}.deb     (HEADERS: as tests/lab/nic/build.sh leaves them)
set -euo pipefail
kernel=${1:?the folder of tests/guest/fetch_kernel.sh} headers=${2:?the folder of linux-headers} out=${3:?folder}
here=$(cd "$(dirname "$0")" && pwd)
release=$(cat "$kernel/release")
mkdir -p "$out"
out=$(cd "$out" && pwd)

# one_package NAME RELEASE: the module's version is the release without its last number, as in MLNX_OFED.
one_package() {
  local build=$out/build-$1 root=$out/root-$1
  rm -rf "$build" "$root"
  mkdir -p "$build" "$root/DEBIAN" "$root/usr/bin" "$root/usr/lib/modules/$release/updates"
  cp "$here"/mlx5_core.c "$here"/Kbuild "$build/"
  make -s -C "$headers" M="$build" RELEASE="${2%.*}" CONFIG_DEBUG_INFO_BTF_MODULES= modules >&2
  strip --strip-debug -o "$root/usr/lib/modules/$release/updates/mlx5_core.ko" "$build/mlx5_core.ko"
  cat > "$root/usr/bin/ofed_info" << SCRIPT
#!/bin/sh
# What NVIDIA's script prints: the release, and with -s nothing else.
echo "MLNX_OFED_LINUX-$2 (OFED-${2%.*}):"
SCRIPT
  chmod 755 "$root/usr/bin/ofed_info"
  cat > "$root/DEBIAN/control" << CONTROL
Package: mlnx-ofed-kernel-modules
Version: $2
Architecture: amd64
Maintainer: Railwright maintainers <lab@railwright.invalid>
Description: lab only: stands for MLNX_OFED's kernel modules, without function
CONTROL
  printf '#!/bin/sh\nexec depmod %s\n' "$release" > "$root/DEBIAN/postinst"
  chmod 755 "$root/DEBIAN/postinst"
  dpkg-deb --root-owner-group -Zgzip --build "$root" "$out/$1.deb" >&2
}

one_package ofed-5.8 5.8-4.1.5.0
one_package ofed-5.4 5.4-3.6.8.1
