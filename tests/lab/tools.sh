# Sourced: programs for the guests and the leaf. They are fetched and unpacked into a folder and never installed: an
# installed lldpd starts by itself and would announce this host on its real network.
# shellcheck shell=bash disable=SC2154

tools=$build_dir/tools
tool_packages=(iproute2 nftables ethtool pciutils perftest rdma-core ibverbs-providers ibverbs-utils lldpd kmod systemd dbus)

# What of these and their dependencies this host has not installed is fetched; the rest is taken from the host.
fetch_tools() {
  local tmp missing
  [ "$(cat "$tools/.packages" 2> /dev/null)" = "${tool_packages[*]}" ] && return 0
  say "fetching programs for the guests (perftest, RDMA libraries, lldpd …)"
  rm -rf "$tools"
  mkdir -p "$tools"
  tmp=$(mktemp -d)
  if ! apt-get install -s --no-install-recommends "${tool_packages[@]}" > "$tmp/plan" 2> "$tmp/log"; then
    cat "$tmp/log" >&2; rm -rf "$tmp"
    die "apt does not know all of: ${tool_packages[*]}" "apt-get update"
  fi
  missing=$(awk '/^Inst/ {print $2}' "$tmp/plan")
  # shellcheck disable=SC2086
  if [ -n "$missing" ] && ! (cd "$tmp" && apt-get download $missing > log 2>&1); then
    cat "$tmp/log" >&2; rm -rf "$tmp"
    die "apt-get download failed (above)" "is a Debian mirror reachable?"
  fi
  for package in "$tmp"/*.deb; do
    [ -e "$package" ] || continue
    dpkg-deb -x "$package" "$tools" || die "$package cannot be unpacked into $tools" "is the disk full? df -h $tools"
  done
  rm -rf "$tmp"
  echo "${tool_packages[*]}" > "$tools/.packages"
}

tool_libraries=$tools/usr/lib/x86_64-linux-gnu

# tool NAME: its path, fetched or the host's.
tool() {
  local dir
  for dir in usr/sbin usr/bin sbin bin; do
    [ -x "$tools/$dir/$1" ] && { echo "$tools/$dir/$1"; return 0; }
  done
  PATH=$PATH:/usr/sbin:/sbin command -v "$1" || die "$1 is neither fetched nor installed" "rm -r $tools, then deploy/lab.sh up"
}
