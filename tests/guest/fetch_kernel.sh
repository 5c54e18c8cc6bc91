#!/usr/bin/env bash
# Fetches a Debian kernel for the guest and unpacks it into a folder; nothing is installed. 6.12 where apt knows it
# (it comes with the security suite), else the release's own.
#   fetch_kernel.sh DIR     → DIR/vmlinuz, DIR/modules/
set -euo pipefail
dir=${1:?folder}
[ -e "$dir/vmlinuz" ] && [ -e "$dir/modules/kernel" ] && exit 0
mkdir -p "$dir"
name=""
for meta in linux-image-6.12-amd64 linux-image-amd64; do
  # The meta package depends on the one real image; of one that apt does not know it says so by its exit code.
  name=$(apt-cache depends "$meta" 2>/dev/null | awk '/Depends: linux-image-/ {print $2; exit}') || true
  [ -n "$name" ] && break
done
[ -n "$name" ] || { echo "fetch_kernel.sh: apt knows no linux-image-amd64; next: apt-get update" >&2; exit 1; }
tmp=$(mktemp -d "$dir/fetch.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
(cd "$tmp" && apt-get download "$name" > log 2>&1) || { cat "$tmp/log" >&2; exit 1; }
dpkg-deb -x "$tmp"/*.deb "$tmp/root"
rm -rf "$dir/modules"
mv "$tmp"/root/lib/modules/* "$dir/modules"
mv "$tmp"/root/boot/vmlinuz-* "$dir/vmlinuz"
basename "$(ls -d "$tmp"/root/boot/config-*)" | sed 's/^config-//' > "$dir/release"
