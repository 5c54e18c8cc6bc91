# Sourced by quickstart.sh: the nodes, the leaf, the programs. Everything lives in namespaces named
# rw-node-N and rw-leaf and below one folder in /run, and is found again by those names.
# shellcheck shell=bash

work=/run/railwright-quickstart
site_dir=$work/site
export RAILCTL_CONTROLLER=unix:$work/controller/controller.sock
leaf=rw-leaf

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

cluster_up() {
  local count=$1 i node ns
  mkdir -p "$work/controller"
  write_site "$count"
  railwright-controller serve --state-dir "$work/controller" --listen "unix:$work/controller/controller.sock" \
    > "$work/controller/log" 2>&1 &
  echo $! > "$work/controller/pid"

  # The half of an agent that talks to the network is nobody, and this folder is gone with the quickstart.
  wait_until 100 "the controller listens" test -S "$work/controller/controller.sock"
  chmod 0666 "$work/controller/controller.sock"

  ip netns add "$leaf"
  for rail in 0 1; do
    ip -n "$leaf" link add "br$rail" type bridge
    ip -n "$leaf" link set "br$rail" mtu 9000 up
  done
  for i in $(seq 1 "$count"); do
    node=$(node_name "$i")
    ns=$(netns_of "$node")
    ip netns add "$ns"
    ip -n "$ns" link set lo up
    for rail in 0 1; do
      # Both ends are born in their namespaces, so that the host never sees a link.
      ip -n "$leaf" link add "n${i}r$rail" mtu 9000 type veth peer name "rail$rail" netns "$ns"
      ip -n "$leaf" link set "n${i}r$rail" master "br$rail" up
      ip -n "$ns" link set "rail$rail" mtu 1500 up
    done
    mkdir -p "$work/$node"
    ip netns exec "$ns" deploy/quickstart/node.sh "$work/$node" "$node" \
      "unix:$work/controller/controller.sock" > "$work/$node/log" 2>&1 &
    echo $! > "$work/$node/pid"
  done
  wait_until 100 "the controller answers" railctl version
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
To end it:
  sudo ./deploy/quickstart.sh --down
TXT
}
