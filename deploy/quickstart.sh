#!/usr/bin/env bash
# Installs what it needs, builds, and shows the main job on this machine: a controller and 4 agents, each node a
# network namespace with two rails and an /etc of its own. Nothing of this host's /etc, sysctl, nftables or links
# changes. Run as root, with or without sudo; --keep leaves it running.
set -euo pipefail
cd "$(dirname "$0")/.."

keep=no
nodes=4
build=yes
report_dir=${RAILWRIGHT_REPORT_DIR:-$PWD/build/quickstart}
usage() {
  cat <<'TXT'
usage: sudo ./deploy/quickstart.sh [--keep] [--nodes N] [--no-build]
  --keep       leave controller, agents and namespaces running, and print how to use and to end them
  --down       end what an earlier --keep left
  --nodes N    1 to 16 nodes (default 4)
  --no-build   use build/release as it is
TXT
}
down=no
while [ $# -gt 0 ]; do
  case "$1" in
    --keep) keep=yes ;;
    --down) down=yes ;;
    --no-build) build=no ;;
    --nodes) nodes=${2:?--nodes takes a number}; shift ;;
    -h|--help) usage; exit 0 ;;
    *) echo "quickstart: unknown option \"$1\"" >&2; usage >&2; exit 64 ;;
  esac
  shift
done
[[ "$nodes" =~ ^([1-9]|1[0-6])$ ]] || { echo "quickstart: --nodes $nodes: 1 to 16 are possible" >&2; exit 64; }
if [ "$(id -u)" -ne 0 ]; then
  echo "quickstart: needs root for network namespaces; next: sudo ./deploy/quickstart.sh" >&2
  exit 1
fi

. deploy/quickstart/cluster.sh   # cluster_up, cluster_down, on_node …

if [ "$down" = yes ]; then cluster_down; exit 0; fi

deploy/packages.sh run build
if [ "$build" = yes ]; then
  say "Building (release)"
  RAILWRIGHT_CMAKE_ARGS="-DRAILWRIGHT_TESTS=OFF" deploy/build.sh release
fi
export PATH="$PWD/build/release/bin:$PATH"
[ -x build/release/bin/railctl ] || { echo "quickstart: build/release/bin/railctl is missing; run without --no-build" >&2; exit 1; }

cluster_down quietly              # what an interrupted run may have left
done_cleanly=no
finish() {
  local rc=$?
  trap - EXIT INT TERM
  if [ "$keep" = yes ] && [ "$done_cleanly" = yes ]; then
    keep_note
  else
    [ "$rc" -ne 0 ] && show_logs
    cluster_down quietly
  fi
  exit "$rc"
}
trap finish EXIT
trap 'echo; echo "quickstart: interrupted, cleaning up" >&2; exit 130' INT TERM

say "Starting a controller (SQLite, a CA of its own) and $nodes nodes, each a network namespace"
cluster_up "$nodes"

say "The inventory: which nodes there are, and which of their ports are the fabric's"
cat "$site_dir/inventory.yaml"
railctl apply -f "$site_dir/inventory.yaml" --yes --no-wait
wait_until 150 "all agents are connected" all_connected "$nodes"

say "railctl get members: who has a certificate"
railctl get members

say "The profile: what they shall be"
cat "$site_dir/profile.yaml"

say "railctl plan -f profile.yaml"
railctl plan -f "$site_dir/profile.yaml" --out "$work/profile.plan" && rc=0 || rc=$?
[ "$rc" -eq 2 ] || { echo "quickstart: plan was to find differences (exit 2), but ended with $rc" >&2; exit 1; }

say "railctl apply --plan profile.plan --yes"
railctl apply --plan "$work/profile.plan" --yes

say "railctl status"
railctl status
compliant_at_start=$(railctl status -o json | jq .summary.compliant)
[ "$compliant_at_start" -eq "$nodes" ] || { echo "quickstart: only $compliant_at_start of $nodes nodes are compliant" >&2; exit 1; }

. deploy/quickstart/faults.sh     # break_* and wait_fixed
say "Breaking three things behind the agents' backs"
fault mtu            "$(node_name 1)"            "link.mtu"                              break_mtu
fault firewall-rule  "$(node_name $((nodes > 1 ? 2 : 1)))" "firewall.rdma"               break_firewall
fault sysctl         "$(node_name $((nodes > 2 ? 3 : 1)))" "sysctl.net.ipv4.conf.all.arp_ignore" break_sysctl

say "Planting a foreign rule that drops UDP 4791 on $(node_name "$nodes")"
foreign=$(foreign_drop "$(node_name "$nodes")") || { echo "quickstart: the foreign drop was not reported" >&2; exit 1; }
echo "$foreign"

say "Compliance report"
write_report "$report_dir"
echo "  $report_dir/report.json"
echo "  $report_dir/report.txt"

final_compliant=$(jq .summary.compliant "$report_dir/report.json")
done_cleanly=yes
echo
echo "quickstart: $final_compliant of $nodes nodes compliant, $fixed of 3 faults fixed, slowest $slowest ms"
[ "$final_compliant" -eq "$nodes" ] && [ "$fixed" -eq 3 ]
