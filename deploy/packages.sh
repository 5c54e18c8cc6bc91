#!/usr/bin/env bash
# Installs the Debian packages that a task needs, and nothing when all are there (so that it works offline then).
#   deploy/packages.sh run|build|test|guest|lab …
set -euo pipefail

run=(iproute2 nftables kmod procps util-linux jq)
build=(g++ cmake ninja-build pkg-config git ca-certificates ccache libgrpc++-dev protobuf-compiler
       protobuf-compiler-grpc libprotobuf-dev libabsl-dev libssl-dev libsqlite3-dev libspdlog-dev libfyaml-dev
       nlohmann-json3-dev libcli11-dev libnl-3-dev libnl-route-3-dev libnl-genl-3-dev libkmod-dev libsystemd-dev)
test=(libgtest-dev libgmock-dev libbenchmark-dev clang-format strace file dpkg-dev bash-completion iptables dbus-daemon
      openssl)
guest=(qemu-system-x86 busybox-static cpio gzip ethtool)
# What runs on this host; what guests and leaf run is fetched and not installed (tests/lab/tools.sh).
lab=(qemu-system-x86 busybox-static cpio xz-utils kmod iproute2 jq binutils make gcc-12 libc6-dev)
fuzz=(clang-14 libclang-rt-14-dev llvm-14)

wanted=()
for task in "$@"; do
  case "$task" in
    run) wanted+=("${run[@]}") ;;
    build) wanted+=("${build[@]}") ;;
    test) wanted+=("${test[@]}") ;;
    guest) wanted+=("${guest[@]}") ;;
    lab) wanted+=("${lab[@]}") ;;
    fuzz) wanted+=("${fuzz[@]}") ;;
    *) echo "deploy/packages.sh: unknown task \"$task\"; known: run build test guest lab fuzz" >&2; exit 64 ;;
  esac
done

missing=()
for package in "${wanted[@]}"; do
  dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -ne 0 ]; then
  echo "deploy/packages.sh: not root, and these Debian packages are missing: ${missing[*]}" >&2
  echo "  next: sudo $0 $*" >&2
  exit 1
fi
echo "installing ${#missing[@]} Debian packages: ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
install() { apt-get install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1 </dev/null; }
# A fresh image has no package lists; a stale list names versions that are gone.
if ! install; then
  apt-get update >"$log" 2>&1 </dev/null || { tail -n 15 "$log" >&2; echo "apt-get update failed: is a Debian mirror reachable?" >&2; exit 1; }
  install || { tail -n 25 "$log" >&2; echo "apt-get install failed (above)" >&2; exit 1; }
fi
