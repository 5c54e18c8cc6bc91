# Sourced by quickstart.sh: the nodes, the leaf, the programs. Everything lives in namespaces named
# rw-node-N and rw-leaf and below one folder in /run, and is found again by those names.
# shellcheck shell=bash

work=/run/railwright-quickstart
site_dir=$work/site
export RAILCTL_CONTROLLER=unix:$work/controller/controller.sock   # root on this host; everybody else needs a login
leaf=rw-leaf
management_net=198.18.76                     # of the range for benchmarks (RFC 2544), and seen in these namespaces only
controller=$management_net.254

say() { printf '\n\033[1m== %s\033[0m\n' "$*" | if [ -t 1 ]; then cat; else sed 's/\x1b\[[0-9;]*m//g'; fi; }
node_name() { printf 'node-%d' "$1"; }
netns_of() { printf 'rw-%s' "$1"; }

# Runs a command where the agent of a node lives: its network namespace, its mounts, and its root (which is not the
# machine's when all of this runs in a chroot; events come only from writes through the same /proc).
on_node() {
  local node=$1 pid
  shift
  pid=$(cat "$work/$node/pid")
  nsenter --target "$pid" --net --mount --root --wd=/ -- "$@"
}

write_site() {
  local count=$1
  mkdir -p "$site_dir"
  cat > "$site_dir/inventory.yaml" <<YAML
kind: Cluster
name: quickstart
nodes:
  - {name: "node-[1-$count]", role: gpu}
ports:
  - {name: rail0, select: {netdev: rail0}, role: fabric, address: "10.210.0.{index}/24"}
  - {name: rail1, select: {netdev: rail1}, role: fabric, address: "10.211.0.{index}/24"}
  - {name: mgmt, select: {netdev: mgmt0}, role: management}
YAML
  cat > "$site_dir/profile.yaml" <<YAML
kind: Profile
name: multi-rail
for: {role: gpu}
mode: enforce
settings:
  link.mtu: {fabric: 4200}            # 4192 is the least that carries RoCE packets of 4096 bytes
  rail.address: {fabric: declared}
  rail.routing: {fabric: per-rail}
  sysctl.net.ipv4.conf.all.arp_ignore: 1
  sysctl.net.ipv4.conf.all.arp_announce: 2
  sysctl.net.ipv4.conf.{netdev}.rp_filter: {fabric: 2}
  firewall.rdma: allow
  limits.memlock: unlimited
  nccl.NCCL_IB_TC: 106
  file./etc/modprobe.d/railwright-rdma.conf: "options rdma_rxe max_ucontext=64"
YAML
}

# The leaf, and behind it the controller: a bridge a rail, one for management.
leaf_up() {
  local bridge
  ip netns add "$leaf"
  for bridge in br0 br1 mgmt; do
    ip -n "$leaf" link add "$bridge" type bridge
    ip -n "$leaf" link set "$bridge" mtu 9000 up
  done
  ip -n "$leaf" addr add "$controller/24" dev mgmt
}

# wire NS NAME BRIDGE PORT MTU: both ends are born in their namespaces, so that the host never sees a link.
wire() {
  ip -n "$leaf" link add "$4" mtu 9000 type veth peer name "$2" netns "$1"
  ip -n "$leaf" link set "$4" master "$3" up
  ip -n "$1" link set "$2" mtu "$5" up
}

node_up() {
  local i=$1 ns rail
  ns=$(netns_of "$(node_name "$i")")
  ip netns add "$ns"
  ip -n "$ns" link set lo up
  # What the package's sysctl.d says: the agent asks its neighbours. It is the namespace's own.
  nsenter --net="/run/netns/$ns" -- sh -c 'echo "0 2147483647" > /proc/sys/net/ipv4/ping_group_range'
  for rail in 0 1; do wire "$ns" "rail$rail" "br$rail" "n${i}r$rail" 1500; done
  wire "$ns" mgmt0 mgmt "n${i}m" 1500
  ip -n "$ns" addr add "$management_net.$i/24" dev mgmt0
  mkdir -p "$work/$(node_name "$i")"
}

controller_up() {
  local dir=$work/controller
  # Its next step is the next line here.
  railwright-controller init --state-dir "$dir" --cluster quickstart --name "$controller" | sed '/^next:/d'
  nsenter --net="/run/netns/$leaf" -- railwright-controller serve --state-dir "$dir" \
    --listen "$controller:7443" --enrol "$controller:7444" > "$dir/log" 2>&1 &
  echo $! > "$dir/pid"
  wait_until 100 "the controller answers" railctl version
}

# join NODE: a line that counts once goes from the controller to the node. Never into an argument: those are seen by all.
join() {
  railctl token create "$1" 2> "$work/$1/token.log" |
    ip netns exec "$(netns_of "$1")" railwright-agent join --line - --state-dir "$work/$1/state" > "$work/$1/join.log" ||
    { cat "$work/$1/token.log" >&2; echo "quickstart: $1 did not join" >&2; return 1; }
  sed -n 1p "$work/$1/join.log"
}

agent_up() {
  ip netns exec "$(netns_of "$1")" deploy/quickstart/node.sh "$work/$1" > "$work/$1/log" 2>&1 &
  echo $! > "$work/$1/pid"
}

cluster_up() {
  local count=$1 i
  mkdir -p "$work"
  write_site "$count"
  leaf_up
  for i in $(seq "$count"); do node_up "$i"; done
  controller_up
  say "Each node joins: railctl token create NODE | railwright-agent join --line -"
  for i in $(seq "$count"); do join "$(node_name "$i")"; done
  for i in $(seq "$count"); do agent_up "$(node_name "$i")"; done
}

# wait_until TENTHS WHAT COMMAND…: tries COMMAND every 0.1 s.
wait_until() {
  local tries=$1 what=$2
  shift 2
  while ! "$@" > /dev/null 2>&1; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || { echo "quickstart: waited in vain until $what" >&2; return 1; }
    sleep 0.1
  done
}

all_connected() {
  [ "$(railctl get nodes -o json | jq '[.nodes[] | select(.connected)] | length')" -eq "$1" ]
}

stop_pid() {
  local pid
  pid=$(cat "$1" 2>/dev/null) || return 0
  kill -TERM "$pid" 2>/dev/null || return 0
  for _ in $(seq 50); do kill -0 "$pid" 2>/dev/null || return 0; sleep 0.1; done
  kill -KILL "$pid" 2>/dev/null || true
}

cluster_down() {
  local ns pidfile
  [ "${1:-}" = quietly ] || say "Taking the quickstart cluster down"
  for pidfile in "$work"/node-*/pid "$work"/controller/pid; do [ -e "$pidfile" ] && stop_pid "$pidfile"; done
  for ns in $(ip netns list 2>/dev/null | awk '{print $1}' | grep -E '^rw-(leaf|node-[0-9]+)$'); do ip netns del "$ns"; done
  case "$work" in /run/railwright-quickstart) rm -rf -- "$work" ;; esac
}

show_logs() {
  local log
  for log in "$work"/controller/log "$work"/node-*/log; do
    [ -s "$log" ] || continue
    echo "--- the last lines of $log" >&2
    tail -n 8 "$log" >&2
  done
}

keep_note() {
  cat <<TXT

Left running (--keep). To use it:
  export PATH=$PWD/build/release/bin:\$PATH RAILCTL_CONTROLLER=$RAILCTL_CONTROLLER
  railctl status · railctl watch · railctl why node-1 link.mtu
  ip netns exec rw-node-1 ip link set rail0 mtu 1500        # break something
  railctl get members · railctl node evict node-1           # who has joined; out within a second
To end it:
  sudo ./deploy/quickstart.sh --down
TXT
}
