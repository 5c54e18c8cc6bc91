#!/usr/bin/env bash
# A virtual RoCE cluster on this machine: QEMU guests with Debian's kernel, an agent in each, a controller, a leaf switch.
set -euo pipefail
called_from=$PWD
cd "$(dirname "$0")/.."

usage() {
  cat <<'TXT'
usage: sudo ./deploy/lab.sh COMMAND
  up [--nodes N] [--systemd] [--profile FILE] [--bin DIR] [--cmdline TEXT]
      boot N guests (1 to 8, default 4) and wait until all are compliant. --systemd: the last guest's init is systemd, with
      D-Bus and the agent's packaged unit. --bin: programs that are built already. --cmdline: more for the guests'
      kernel, "rwlab.cc=inbox" for instance
  status                                         the guests, and what the controller says of them
  shell N [--stdin] [COMMAND…]                   a command in guest N, or a shell
  fault list | fault N PORT NAME ARGS… | fault N clear
  selftest [--seed N] [--breaks N] [--controls N] [--traffic N] [--only NAME] [--list]
  lldp [ARGS…]                                   what the leaf's lldpd knows (lldpcli's arguments)
  down                                           end all of it, also what a failed `up` left
Options of every command: --state DIR (default /run/railwright-lab).
TXT
}
from_caller() { (cd "$called_from" && readlink -m "$1"); }
usage_error() { echo "lab: $1" >&2; usage >&2; exit 64; }

. tests/lab/names.sh     # names, state, say, die
. tests/lab/tools.sh     # programs for guests and leaf
. tests/lab/image.sh     # the initramfs
. tests/lab/leaf.sh      # namespace, bridges, taps, lldpd
. tests/lab/guests.sh    # QEMU
. tests/lab/door.sh      # commands in a guest
. tests/lab/site.sh      # controller, documents, waiting
. tests/lab/faults.sh    # faults of the lab's NIC

is_up() { [ -e "$state/up" ] && is_ours "$state/controller/pid"; }

lab_down() {
  state_is_ours || return 0
  guests_down
  stop_pid "$state/controller/pid"
  leaf_down
  rm -rf -- "$state"
}

prepare() {
  local program
  deploy/packages.sh run lab
  deploy/as_caller.sh tests/guest/fetch_kernel.sh build/guest
  if [ -z "$bin" ]; then
    deploy/packages.sh build
    say "building the programs (release)"
    RAILWRIGHT_CMAKE_ARGS="-DRAILWRIGHT_TESTS=OFF" deploy/build.sh release
    bin=$PWD/build/release/bin
  fi
  for program in railwright-agent-run railwright-agent-front; do
    [ -x "$bin/$program" ] || die "$bin holds no $program" "deploy/build.sh release"
  done
  fetch_tools
  build_image
  # Nothing of root's in a user's checkout.
  [ -z "${SUDO_UID:-}" ] || chown -R "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" "$build_dir" "$kernel"
}

print_result() {
  local n
  printf '\n%-7s %-10s %-14s %s\n' NODE VERDICT 'RDMA DEVICES' CONSOLE
  status_json | jq -r '.nodes[] | "\(.name) \(.verdict)"' | while read -r name verdict; do
    n=${name#lab-}
    printf '%-7s %-10s %-14s %s\n' "$name" "$verdict" "$(sed -n 's/.* rdma=\(.*\)uptime=.*/\1/p' "$state/guest-$n/console" | tr -d '\r')" "$state/guest-$n/console"
  done
}

next_lines() {
  local with=""
  [ "$state" = "$default_state" ] || with="--state $state "
  cat <<TXT

next: $(cat "$state/bin")/railctl --controller $RAILCTL_CONTROLLER status
      sudo deploy/lab.sh shell ${with}1           # or: shell ${with}1 ip link set rail0 mtu 1500
      sudo deploy/lab.sh fault list
      sudo deploy/lab.sh down $with
TXT
}

lab_up() {
  local booted
  [[ "$nodes" =~ ^[1-8]$ ]] || usage_error "--nodes $nodes: 1 to 8 are possible"
  [ -z "$profile" ] || [ -r "$profile" ] || die "the profile $profile cannot be read" "name a file that can"
  if is_up && [ "$(nodes_up)" -eq "$nodes" ]; then
    say "the lab is up already"
    site_wait 60
    print_result
    next_lines
    return 0
  fi
  prepare
  if state_is_ours; then
    say "taking down what an earlier run left"
    lab_down
  fi
  [ ! -e "/run/netns/$leaf" ] || die "a network namespace $leaf is there that this lab ($state) has not made" "deploy/lab.sh down --state DIR of the lab that made it"
  make_state
  echo "$nodes" > "$state/nodes"
  echo "$bin" > "$state/bin"
  trap '[ $? -eq 0 ] || echo "lab: what was started is left as it is, for a look; to remove it: sudo deploy/lab.sh down" >&2' EXIT
  leaf_up "$nodes"
  controller_up                              # first: each guest is handed its own line to join by
  booted=$SECONDS
  guests_start "$nodes"
  site_apply "$nodes" "$profile"
  site_wait 300
  : > "$state/up"
  print_result
  printf '\nlab: %d of %d nodes compliant %d s after power-on, %d s of CPU in the guests\n' "$nodes" "$nodes" $((SECONDS - booted)) "$(guests_cpu)"
  next_lines
}

lab_status() {
  [ -d "$state" ] || die "no lab is up at $state" "deploy/lab.sh up"
  print_result
  echo
  railctl status
}

guest_is_there() {
  if [[ "$1" =~ ^[1-8]$ ]] && [ "$1" -le "$(nodes_up)" ]; then return 0; fi
  die "guest \"$1\" is not there: $(nodes_up) are up" "deploy/lab.sh status"
}

lab_shell() {
  local n=${1#lab-}
  guest_is_there "$n"
  shift
  if [ "${1:-}" = --stdin ]; then shift; door_stdin "$n" "$@"
  elif [ $# -eq 0 ]; then door_shell "$n"
  else door "$n" "$@"; fi
}

command=${1:-}
[ $# -gt 0 ] && shift
case "$command" in
  -h|--help|help|'') usage; exit 0 ;;
  up|down|status|shell|fault|selftest|lldp) ;;
  *) usage_error "unknown command \"$command\"" ;;
esac
default_state=/run/railwright-lab
set_state "$(from_caller "${RAILWRIGHT_LAB_STATE:-$default_state}")"
if [ "${1:-}" = --state ]; then set_state "$(from_caller "${2:?--state takes a folder}")"; shift 2; fi
if [ "$(id -u)" -ne 0 ] && [ "$command $*" != "fault list" ]; then
  echo "lab: needs root for a network namespace and taps; next: sudo ./deploy/lab.sh $command" >&2
  exit 1
fi

nodes=4 profile="" bin="" systemd=no cmdline=""
case "$command" in
  up|down|status)
    while [ $# -gt 0 ]; do
      case "$1" in
        --nodes) nodes=${2:?--nodes takes a number}; shift ;;
        --systemd) systemd=yes ;;
        --profile) profile=$(from_caller "${2:?--profile takes a file}"); shift ;;
        --cmdline) cmdline=${2:?--cmdline takes text}; shift ;;
        --bin) bin=$(from_caller "${2:?--bin takes a folder}"); shift ;;
        --state) set_state "$(from_caller "${2:?--state takes a folder}")"; shift ;;
        *) usage_error "unknown option \"$1\"" ;;
      esac
      shift
    done
    "lab_$command" ;;
  shell) lab_shell "${@:-}" ;;
  fault) lab_fault "${@:-}" ;;
  lldp) lldp "$@" ;;
  selftest) exec tests/lab/selftest.sh --state "$state" "$@" ;;
esac
