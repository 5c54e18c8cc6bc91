# Sourced: the leaf switch. One bridge a rail, one for management, a tap for each guest's port, and an lldpd that
# announces the leaf on every tap of a rail. All of it is in one network namespace, so this host's own links stay as they are.
# shellcheck shell=bash disable=SC2154

add_bridge() {
  ip -n "$leaf" link add "$1" type bridge stp_state 0 forward_delay 0 mcast_snooping 0
  ip -n "$leaf" link set "$1" mtu "$2" up
}

add_tap() {                                  # NAME BRIDGE MTU
  in_leaf ip tuntap add dev "$1" mode tap
  ip -n "$leaf" link set "$1" mtu "$3" master "$2" up
}

leaf_up() {
  local count=$1 i
  ip netns add "$leaf" || die "the network namespace $leaf cannot be made" "deploy/lab.sh down"
  echo "$leaf" > "$state/namespace"
  in_leaf sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6; echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6' 2> /dev/null || true
  ip -n "$leaf" link set lo up
  add_bridge rail0 9216
  add_bridge rail1 9216
  add_bridge mgmt 1500
  ip -n "$leaf" addr add "$management_net.254/24" dev mgmt
  for i in $(seq "$count"); do
    add_tap "n${i}r0" rail0 9216
    add_tap "n${i}r1" rail1 9216
    add_tap "n${i}m" mgmt 1500
  done
  lldpd_up
}

# lldpd wants a user of its own and a place in /run: both are given in a mount namespace, and not on this host.
lldpd_up() {
  local dir=$state/leaf
  mkdir -p "$dir/run"
  { grep -v '^_lldpd:' /etc/passwd; echo '_lldpd:x:64077:64077::/run/lldpd:/usr/sbin/nologin'; } > "$dir/passwd"
  { grep -v '^_lldpd:' /etc/group; echo '_lldpd:x:64077:'; } > "$dir/group"
  printf 'configure lldp tx-interval 5\nconfigure lldp portidsubtype ifname\n' > "$dir/lldpd.conf"
  # The names of files that the private /run hides are opened before it does.
  setsid nsenter --net="/run/netns/$leaf" -- unshare --mount --uts --propagation private -- sh -c '
    mount --bind "$1/passwd" /etc/passwd && mount --bind "$1/group" /etc/group && hostname "$2" &&
    cp "$1/lldpd.conf" "$1/run/lldpd.conf" && mount --rbind "$1/run" /run && mkdir -p /run/lldpd &&
    LD_LIBRARY_PATH=$4 exec "$3" -d -L "$5" -O /run/lldpd.conf -u /run/lldpd.socket -I "n*r*" -S "lab leaf ($1/leaf)"' \
    lldpd "$dir" "$leaf" "$(tool lldpd)" "$tool_libraries" "$(tool lldpcli)" > "$dir/lldpd.log" 2>&1 < /dev/null &
  echo $! > "$dir/pid"
}

lldp() { LD_LIBRARY_PATH=$tool_libraries "$(tool lldpcli)" -u "$state/leaf/run/lldpd.socket" "$@"; }

# With the namespace go its bridges and taps. What still runs in it was started by the lab, or by hand in the lab.
leaf_down() {
  local pid
  stop_pid "$state/leaf/pid"
  [ -e "$state/namespace" ] && [ -e "/run/netns/$leaf" ] || return 0
  for pid in $(ip netns pids "$leaf"); do kill -KILL "$pid" 2> /dev/null || true; done
  ip netns del "$leaf"
}
