#!/usr/bin/env bash
# Breaks things in the lab's guests behind the agents' backs, and judges by the kernel's own tools whether each was put
# right or reported, whether what was not declared was left alone, and whether RDMA connections lived through it.
#   selftest.sh [--state DIR] [--seed N] [--breaks N] [--controls N] [--traffic N] [--bin DIR] [--only NAME] [--list]
# Starts a lab, and takes it down, where none is up. Exit: 0 only when all of it held; 1; 64 usage.
set -euo pipefail
cd "$(dirname "$0")/../.."

. tests/lab/names.sh
. tests/lab/tools.sh
. tests/lab/guests.sh
. tests/lab/door.sh
. tests/lab/site.sh
. tests/lab/traffic.sh   # RDMA connections that must live on
. tests/lab/busy.sh      # what would hurt them waits
. tests/lab/replay.sh    # a recording says outside what the node said inside

seed=$((RANDOM * 32768 + RANDOM)) breaks=20 controls=10 under_traffic=5 bin=() only="" list=no
set_state "${RAILWRIGHT_LAB_STATE:-/run/railwright-lab}"
while [ $# -gt 0 ]; do
  case "$1" in
    --state) set_state "${2:?--state takes a folder}"; shift ;;
    --seed) seed=${2:?--seed takes a number}; shift ;;
    --breaks) breaks=${2:?--breaks takes a number}; shift ;;
    --controls) controls=${2:?--controls takes a number}; shift ;;
    --traffic) under_traffic=${2:?--traffic takes a number}; shift ;;
    --bin) bin=(--bin "${2:?--bin takes a folder}"); shift ;;
    --only) only=${2:?--only takes the name of a break}; shift ;;
    --list) list=yes ;;
    *) echo "selftest: unknown option \"$1\"" >&2; sed -n '4p' "$0" >&2; exit 64 ;;
  esac
  shift
done
for number in "$seed" "$breaks" "$controls" "$under_traffic"; do
  [[ "$number" =~ ^[0-9]+$ ]] || { echo "selftest: \"$number\" is no number" >&2; exit 64; }
done

# A generator of our own: bash seeds RANDOM anew in every subshell. draw N: drawn is one of 0 … N-1.
random=$((seed % 2147483648))
draw() {
  random=$(((random * 1103515245 + 12345) % 2147483648))
  drawn=$(((random >> 8) % $1))
}

# Whether a row of breaks.tsv can be done here, and was not yet. $2: and has this flag.
declare -A was_done=()
fabric_keys=""                               # when set, only of keys that begin so
can_break() {
  local name key flags
  IFS=$'\t' read -r name key _ flags _ <<< "$1"
  [ -z "$fabric_keys" ] || [[ "${key%%.*}" =~ ^($fabric_keys)$ ]] || return 1
  [ -z "${was_done[$name]:-}" ] || return 1
  [ -z "$only" ] || [ "$name" = "$only" ] || return 1
  [[ "$flags" != *N* ]] || [ "$nic" = rwlab ] || return 1
  [[ "$flags" == *"$2"* ]]
}
any() { [[ "$1" != storage-* ]] || [ "$nic" = rwlab ]; }  # the storage port is the lab NIC's

# rows FILE FILTER [ARG]: adds the lines that FILTER takes to `lines`, in an order drawn by the seed.
rows() {
  local found=() line i
  while IFS= read -r line; do
    [[ "$line" == '#'* ]] || ! "$2" "$line" "${3:-}" || found+=("$line")
  done < "$1"
  for ((i = ${#found[@]} - 1; i > 0; i--)); do
    draw $((i + 1))
    line=${found[i]} found[i]=${found[drawn]} found[drawn]=$line
  done
  lines+=("${found[@]}")
}

# What the commands of the tables know.
prelude() {
  printf 'n=%d railn=%d rail=rail%d rdma=rxe%d address=10.1%d.0.%d table=%d configfs=/sys/kernel/config/rdma_cm/rxe%d ecn=/sys/class/net/rail%d/ecn; ' \
    "$1" "$2" "$2" "$2" "$2" "$1" $((101 + $2)) "$2" "$2"
  # The root port above the rail's card, which is the bridge with ACS.
  # shellcheck disable=SC2016
  printf 'device=$(readlink -f /sys/class/net/$rail/device); bdf=${device##*/}; bridge=$(echo $device | cut -d / -f 5); '
}

patience=$((scan_interval * 2 + 60))         # seconds; emulation on a busy host is slow
handled=0 fixed=0 reported=0 failed=()
row() { printf '  %-4s %-23s %-6s %-6s %s\n' "$@"; }

# The corrective change of KEY on NODE since a second, as "noticed: from → to", or nothing.
corrected_since() {
  railctl get changes "$1" --key "$2" -o json 2> /dev/null | jq -r --argjson since "$3" '
    [.changes[] | select(.kind == "corrective" and .ok and .at_unix_us >= $since * 1000000)] | first // empty |
    "\(.noticed): " + (if ([.from, .to] | map(length) | max) <= 30 then "\(.from) → \(.to)" else "(long values)" end)' || true
}

# finding NODE KEY: the verdict and message that `status` has for it now, or nothing.
finding() {
  status_json | jq -r --arg node "$1" --arg key "$2" '
    [.nodes[] | select(.name == $node) | .findings[] | select(.key == $key and (.verdict | IN("Drifted", "Pending", "Unknown")))] |
    first // empty | "\(.verdict): \(.message | .[0:60])"'
}
settled() { [ "$(status_json | jq -r --arg node "$1" '.nodes[] | select(.name == $node) | .verdict')" = Compliant ]; }

# until_true SECONDS COMMAND…
until_true() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do [ "$SECONDS" -lt "$end" ] || return 1; sleep 0.3; done
}
said_corrected() { noticed=$(corrected_since "$@"); [ -n "$noticed" ]; }
said_finding() { noticed=$(finding "$@"); [ -n "$noticed" ]; }

# break_fixed: breaks, and waits in the guest until the kernel says that it is right again; then for the agent's record of it.
break_fixed() {
  local answer since took noticed=""
  # shellcheck disable=SC2016
  answer=$(door "$n" "$(prelude "$n" "$railn")
right() { $right; } > /dev/null 2>&1
right || { echo 'it was not right before'; exit 9; }
since=\$(date +%s)
{ $break; } > /dev/null || { echo 'the break could not be made'; exit 9; }
start=\$(cut -d ' ' -f 1 /proc/uptime)
until right; do
  now=\$(cut -d . -f 1 /proc/uptime)
  [ \$now -lt \$((\${start%.*} + $patience)) ] || { echo 'not right again within $patience s'; exit 9; }
  sleep 0.1
done
echo \$since \$(cut -d ' ' -f 1 /proc/uptime) \$start") || { reason=$answer; return 1; }
  read -r since took <<< "$(awk '{printf "%s %.2f", $1, $2 - $3}' <<< "$answer")"
  until_true 20 said_corrected "$(node_name "$n")" "$key" "$since" ||
    { reason="right again after $took s, but the agent reported no corrective change"; return 1; }
  told="$key fixed in $took s, $noticed"
}

# break_reported: breaks, waits for the finding, sees that the agent did not touch it, undoes it, waits for quiet.
break_reported() {
  local noticed="" start=$SECONDS
  door "$n" "$(prelude "$n" "$railn") $break" > /dev/null 2>&1 || { reason="the break could not be made"; return 1; }
  until_true "$patience" said_finding "$(node_name "$n")" "$key" || { reason="not reported within $patience s"; return 1; }
  told="$key reported after $((SECONDS - start)) s, $noticed"
  door "$n" "$(prelude "$n" "$railn") $right" > /dev/null 2>&1 && { reason="reported, but also changed"; return 1; }
  door "$n" "$(prelude "$n" "$railn") $undo" > /dev/null 2>&1 || { reason="its end could not be made"; return 1; }
  until_true "$patience" settled "$(node_name "$n")" || { reason="still reported $patience s after its end"; return 1; }
}

# one_break LINE NODE RAIL
one_break() {
  local name key expected flags break right undo n=$2 railn=$3 told="" reason=""
  IFS=$'\t' read -r name key expected flags break right undo <<< "$1"
  if "break_$expected"; then
    handled=$((handled + 1))
    if [ "$expected" = fixed ]; then fixed=$((fixed + 1)); else reported=$((reported + 1)); fi
    row ok "$name" "$(node_name "$n")" "rail$railn" "$told"
  else
    failed+=("$name on $(node_name "$n")")
    row FAIL "$name" "$(node_name "$n")" "rail$railn" "$key: $reason"
  fi
  [ "$undo" = - ] || door "$n" "$(prelude "$n" "$railn") $undo" > /dev/null 2>&1 || true
}

# breaks_of COUNT FLAG NODE…: so many rows, each on the next of the nodes.
breaks_of() {
  local wanted=$1 flag=$2 nodes=("${@:3}") lines=() line at
  draw ${#nodes[@]}; at=$drawn
  rows tests/lab/breaks.tsv can_break "$flag"
  # All have had their turn: a second one for some.
  while [ ${#lines[@]} -lt "$wanted" ]; do
    was_done=()
    rows tests/lab/breaks.tsv can_break "$flag"
    [ ${#lines[@]} -gt 0 ] || { echo "selftest: no break can be drawn${only:+: there is no \"$only\" that may be done here}" >&2; exit 64; }
  done
  for line in "${lines[@]:0:wanted}"; do
    was_done[${line%%$'\t'*}]=yes
    draw 2
    one_break "$line" "${nodes[at++ % ${#nodes[@]}]}" "$drawn"
  done
}

# The controls are set before the breaks and looked at after them: they outlast every event and several scans.
declare -a control_lines=() control_nodes=()
controls_set() {
  local lines=() line name set still undo
  rows tests/lab/controls.tsv any
  control_lines=("${lines[@]:0:controls}")
  for line in "${control_lines[@]}"; do
    draw "$count"
    control_nodes+=($((drawn + 1)))
    IFS=$'\t' read -r name set still undo <<< "$line"
    door "${control_nodes[-1]}" "$(prelude "${control_nodes[-1]}" 0) $set" || failed+=("control $name could not be set")
  done
}
left_alone=0
controls_judge() {
  local i name set still undo n
  for i in "${!control_lines[@]}"; do
    IFS=$'\t' read -r name set still undo <<< "${control_lines[i]}"
    n=${control_nodes[i]}
    if door "$n" "$(prelude "$n" 0) $still" > /dev/null 2>&1; then
      left_alone=$((left_alone + 1))
      row ok "$name" "$(node_name "$n")" - "left alone"
    else
      failed+=("$name on $(node_name "$n") was not left alone")
      row FAIL "$name" "$(node_name "$n")" - "not left alone"
    fi
    door "$n" "$(prelude "$n" 0) $undo" > /dev/null 2>&1 || true
  done
}

if [ "$list" = yes ]; then grep -hv '^#' tests/lab/breaks.tsv | cut -f 1-4 | column -t -s $'\t'; exit 0; fi
if [ ! -e "$state/up" ]; then
  trap 'deploy/lab.sh down --state "$state"' EXIT
  deploy/lab.sh up --state "$state" "${bin[@]}"
fi
count=$(nodes_up)
[ "$count" -ge 2 ] || die "the selftest needs two guests that talk to each other; $count is up" "deploy/lab.sh down, then deploy/lab.sh up --nodes 2"
nic=$(sed -n 's/^RWLAB ready.* nic=\([a-z]*\).*/\1/p' "$state/guest-1/console")
site_wait 60

echo "lab selftest: seed $seed, $count guests, NIC $nic, scan every $scan_interval s"
if [ -z "$only" ] && [ "$nic" = rwlab ]; then
  # What the documents ask for and no guest has, by name: a guest has one CPU and no GPU.
  absent=$(status_json | jq -r '[.nodes[].findings[] | select(.verdict == "NotApplicable") | "\(.key) \(.reason)"] | unique | join(", ")')
  if [ "$absent" = "irq.affinity OneCpu, pcie.affinity NoGpu" ]; then row ok not-applicable all - "$absent"
  else row FAIL not-applicable all - "$absent"; failed+=("not applicable: $absent"); fi
fi
if [ -z "$only" ]; then
  if replay_judge 1; then row ok recording "$(node_name 1)" - "$replay_told"; else
    failed+=("the recording of $(node_name 1): $reason")
    row FAIL recording "$(node_name 1)" - "$reason"
  fi
  until_true "$patience" all_compliant || failed+=("not all nodes are compliant after the recording")
fi
available=$(grep -vc '^#' tests/lab/controls.tsv)
[ "$controls" -le "$available" ] || controls=$available
controls_set
[ "$under_traffic" -le "$breaks" ] || under_traffic=$breaks
if [ "$under_traffic" -gt 0 ]; then
  echo " $under_traffic breaks under RDMA traffic between lab-1 and lab-2"
  traffic_start 1 2
  breaks_of "$under_traffic" T 1 2
  busy_reason=""
  [ "$nic" != rwlab ] || [ -n "$only" ] || busy_begin 1 2 || true
  traffic_stop 1 2
  if [ "$nic" = rwlab ] && [ -z "$only" ]; then
    [ -n "$busy_reason" ] || busy_end 1 2 || true
    if [ -z "$busy_reason" ]; then row ok busy "lab-1,2" - "a change that flaps links waited for the traffic's end on 4 of 4 ports"
    else row FAIL busy "lab-1,2" - "$busy_reason"; failed+=("busy guard: $busy_reason"); fi
  fi
fi
mapfile -t all_nodes < <(seq "$count")
# Of the rest most concern what only a card has: that is what nobody else looks after.
fabric=$((breaks * 3 / 5)) fabric_keys='qos|ecn|dcqcn|cnp|pcie|nic'
[ "$fabric" -le $((breaks - under_traffic)) ] && [ "$nic" = rwlab ] && [ -z "$only" ] || fabric=0
[ "$fabric" -eq 0 ] || { echo " $fabric breaks of QoS, congestion control and PCI Express"; breaks_of "$fabric" "" "${all_nodes[@]}"; }
rest=$((breaks - under_traffic - fabric)) fabric_keys=""
[ "$rest" -eq 0 ] || { echo " $rest breaks of all kinds"; breaks_of "$rest" "" "${all_nodes[@]}"; }
echo " $controls negative controls"
controls_judge
until_true "$patience" all_compliant || failed+=("not all nodes are compliant at the end")

for what in "${failed[@]}"; do echo "lab: FAILED $what" >&2; done
if [ "$under_traffic" -gt 0 ]; then qps="$qps_lost QPs lost"; else qps="QPs not tried"; fi
echo "lab: $handled of $breaks breaks handled ($fixed fixed, $reported reported), $left_alone of $controls left alone, $qps"
[ ${#failed[@]} -eq 0 ] && [ "$handled" -eq "$breaks" ] && [ "$left_alone" -eq "$controls" ] && [ "${qps_lost:-0}" -eq 0 ]
