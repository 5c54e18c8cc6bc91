# Sourced: a change that would take a link down waits as long as RDMA connections use it, and is then made by itself.
# shellcheck shell=bash disable=SC2154

# Another lossless priority, over what the guide says: LinkFlap on both rails of every node.
busy_profile() {
  cat <<'YAML'
kind: Profile
name: another-lossless-priority
for: {role: gpu}
mode: enforce
precedence: 20
max_disruption: LinkFlap
settings:
  qos.pfc: {fabric: [3, 4]}
YAML
}
# How many ports of the guests given are in what state: pfc_ports on|off GUEST…
pfc_ports() {
  local state=$1 guest count=0
  for guest in "${@:2}"; do
    count=$((count + $(door "$guest" 'for r in rail0 rail1; do dcb pfc show dev $r prio-pfc; done' | grep -c "4:$state" || true)))
  done
  echo "$count"
}
all_ports() { [ "$(pfc_ports "$1" "${@:2}")" -eq $((2 * ($# - 1))) ]; }
busy_findings() { status_json | jq '[.nodes[].findings[] | select(.key == "qos.pfc" and .verdict == "Pending" and .reason == "Busy")] | length'; }
all_busy() { [ "$(busy_findings)" -eq "$1" ]; }

# busy_begin GUEST…: declares it while these talk to each other. All their four ports must say Busy, and none be written.
busy_begin() {
  busy_profile > "$state/busy.yaml"
  railctl apply -f "$state/busy.yaml" --yes --no-wait > /dev/null 2>&1 || { busy_reason="the profile was refused"; return 1; }
  until_true "$patience" all_busy $((2 * $#)) || { busy_reason="$(busy_findings) of $((2 * $#)) ports said Busy"; return 1; }
  all_ports off "$@" || { busy_reason="a port in use was written: $(pfc_ports on "$@") of $((2 * $#))"; return 1; }
}

# busy_end GUEST…: once the traffic has ended it is made, and taken back for what follows.
busy_end() {
  until_true "$patience" all_ports on "$@" || { busy_reason="after the traffic only $(pfc_ports on "$@") of $((2 * $#)) ports were written"; return 1; }
  railctl rollback --yes --no-wait > /dev/null 2>&1 || { busy_reason="it could not be rolled back"; return 1; }
  until_true "$patience" all_ports off "$@" || { busy_reason="the rollback did not reach every port"; return 1; }
  until_true "$patience" all_compliant || { busy_reason="not all are compliant after the rollback"; return 1; }
}
