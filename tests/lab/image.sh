# Sourced: the one initramfs of all guests. Layers that the kernel unpacks one after the other: what seldom changes
# (tools, kernel modules, scripts), and Railwright's programs.
# shellcheck shell=bash disable=SC2154
. tests/guest/pack.sh
. tests/lab/systemd.sh

image_programs=(nft rdma ip dcb tc bridge ethtool setpci lspci ib_send_lat ib_write_bw ibv_devinfo kmod dpkg dpkg-deb dpkg-split tar)
image_modules=(virtio_net crc32_generic crc32c_generic rdma_rxe rdma_ucm rdma_cm ib_uverbs nf_tables nft_ct nft_limit
               nft_log nft_reject_inet nf_conntrack configfs dummy sch_netem qemu_fw_cfg)
lab_nic=$build_dir/nic                       # rwlab.ko and its fellows, where tests/lab/nic is there to be built
lab_ofed=$build_dir/ofed                     # two releases of a small OFED package, with the lab's NIC

# Built anew only for another kernel or of newer sources.
build_lab_nic() {
  local built=$lab_nic/built_for
  local release
  release=$(cat "$kernel/release")
  [ -x "$lab_dir/nic/build.sh" ] || return 0
  "$lab_dir/nic/fits.sh" "$kernel" || { say "the rails are plain virtio NICs (above)"; return 0; }
  cmp -s "$kernel/release" "$built" && [ -z "$(find "$lab_dir/nic" "$lab_dir/ofed" -newer "$built")" ] && return 0
  say "building the lab's NIC module"
  deploy/packages.sh build
  "$lab_dir/nic/build.sh" "$kernel" "$lab_nic" > "$build_dir/nic.log" 2>&1 ||
    { tail -n 20 "$build_dir/nic.log" >&2; die "tests/lab/nic/build.sh failed (above)" "see $build_dir/nic.log"; }
  "$lab_dir/ofed/package.sh" "$kernel" "$lab_nic/headers/$release/usr/src/linux-headers-$release" "$lab_ofed" > "$build_dir/ofed.log" 2>&1 ||
    { tail -n 20 "$build_dir/ofed.log" >&2; die "tests/lab/ofed/package.sh failed (above)" "see $build_dir/ofed.log"; }
  cp "$kernel/release" "$built"
}

# cached LAYER STAMP: whether the layer was made of just these inputs.
cached() { [ -s "$build_dir/$1.cpio" ] && [ "$(cat "$build_dir/$1.stamp" 2> /dev/null)" = "$2" ]; }
stamp_of() { { stat -Lc '%n %s %Y' "$@"; declare -p image_programs image_modules; declare -f pack_skeleton pack_base pack_modules pack_systemd; } 2> /dev/null | sha256sum; }

pack_base() {
  local program path release module
  release=$(cat "$kernel/release")
  pack_skeleton
  cp "$(command -v busybox)" "$root/bin/busybox"
  for program in $(busybox --list); do ln -s busybox "$root/bin/$program" 2> /dev/null || true; done
  ln -s ../bin/busybox "$root/sbin/modprobe"  # where the kernel looks for it
  # Not busybox's shell, which takes its own `ip` and `modprobe` before any other.
  rm "$root/bin/sh"
  pack_program /bin/dash /bin/sh
  ln -s bin/busybox "$root/init"             # which then is busybox's init, and reads /etc/inittab
  pack_sysroot=$tools
  for program in "${image_programs[@]}"; do
    path=$(tool "$program")
    LD_LIBRARY_PATH=$tool_libraries pack_program "$path" "${path#"$tools"}"
  done
  local provider
  for provider in "$tool_libraries" /usr/lib/x86_64-linux-gnu; do
    provider=$provider/libibverbs/librxe-rdmav34.so
    [ -e "$provider" ] && { LD_LIBRARY_PATH=$tool_libraries pack_program "$provider" /usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so; break; }
  done
  mkdir -p "$root/etc/libibverbs.d" "$root/lab"
  echo "driver rxe" > "$root/etc/libibverbs.d/rxe.driver"
  printf 'root:x:0:0:root:/root:/bin/sh\n' > "$root/etc/passwd"
  printf 'root:x:0:\n' > "$root/etc/group"
  printf 'Package: rdma-core\nStatus: install ok installed\nVersion: 44.0-2\nArchitecture: amd64\nMaintainer: Debian\nDescription: RDMA core\n' > "$root/var/lib/dpkg/status"
  install -m 755 "$lab_dir"/guest/*.sh "$root/lab/"
  install -m 644 "$lab_dir/guest/inittab" "$root/etc/inittab"
  printf 'management_net=%s\nscan_interval=%s\nfirmware_interval=5\n' "$management_net" "$scan_interval" > "$root/lab/site.sh"
  # The real depmod, by the name that dpkg's scripts know it by: libkmod reads its index, and busybox's writes none.
  path=$(tool kmod)
  ln -sf "${path#"$tools"}" "$root/usr/sbin/depmod"
  for program in mstconfig mstreg mstfwreset; do ln -s ../../lab/card.sh "$root/usr/bin/$program"; done
  for program in "$lab_ofed"/*.deb; do
    [ -e "$program" ] && install -D -m 644 "$program" "$root/lab/$(basename "$program")"
  done
  for module in "$lab_nic"/*.ko; do
    [ -e "$module" ] && install -D -m 644 "$module" "$root/usr/lib/modules/$release/lab/$(basename "$module")"
  done
  pack_modules "${image_modules[@]}"
}

pack_agent() {
  local program
  pack_skeleton
  for program in railwright-agent railwright-agent-run railwright-agent-front; do
    pack_program "$bin/$program" "/usr/bin/$program"
    strip "$root/usr/bin/$program"
  done
}

# layer NAME PACKER INPUT…
layer() {
  local name=$1 packer=$2 stamp
  shift 2
  stamp=$(stamp_of "$@")
  cached "$name" "$stamp" && return 0
  root=$(mktemp -d)
  "$packer"
  pack_cpio > "$build_dir/$name.cpio"
  rm -rf "$root"
  echo "$stamp" > "$build_dir/$name.stamp"
}

# build_image: leaves it at $image, and at $systemd_image where one guest boots systemd. Not compressed: emulation unpacks slowly, and the host's memory is cheap.
build_image() {
  mkdir -p "$build_dir"
  build_lab_nic
  say "packing one initramfs for all guests"
  layer base pack_base "$lab_dir"/guest/* "$lab_dir/image.sh" "$lab_dir/names.sh" "$kernel/vmlinuz" "$tools/.packages" "$lab_nic"/*.ko "$lab_ofed"/*.deb
  layer agent pack_agent "$bin/railwright-agent" "$bin/railwright-agent-run" "$bin/railwright-agent-front"
  image=$build_dir/image.cpio
  cat "$build_dir/base.cpio" "$build_dir/agent.cpio" > "$image"
  [ "$systemd" = yes ] || return 0
  layer systemd pack_systemd "$lab_dir"/guest/systemd/* deploy/systemd/railwright-agent.service deploy/systemd/railwright-front.service "$lab_dir/systemd.sh" "$tools/.packages"
  systemd_image=$build_dir/image-systemd.cpio
  cat "$image" "$build_dir/systemd.cpio" > "$systemd_image"
}
