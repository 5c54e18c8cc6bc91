# Sourced: faults of the lab's NIC, files below the guest's /sys/kernel/debug/rwlab/PORT (tests/lab/nic).
# shellcheck shell=bash disable=SC2154

fault_usage="fault list | fault N PORT NAME ARGS… | fault N clear"
fault_dir=/sys/kernel/debug/rwlab

fault_list() {
  printf '%-16s %-23s %s\n' NAME ARGS SIMULATES
  grep -v '^#' "$lab_dir/faults.tsv" | while IFS=$'\t' read -r name args simulates; do
    printf '%-16s %-23s %s\n' "$name" "$args" "$simulates"
  done
  echo "usage: deploy/lab.sh fault N PORT NAME ARGS…; \"off\" for ARGS ends one, \`fault N clear\` all of a guest; groups, registers, ranges: tests/lab/nic/README.md"
}

fault_clear() {
  # shellcheck disable=SC2016
  door "$1" 'for file in /sys/kernel/debug/rwlab/*/*; do
    case "${file##*/}" in faults|eeprom|counter) continue ;; esac
    [ "$(cat "$file")" = off ] || echo off > "$file" || status=1
  done
  exit "${status:-0}"'
}

fault_set() {
  local node=$1 port=$2 name=$3
  shift 3
  cut -f 1 "$lab_dir/faults.tsv" | grep -qx -- "$name" || die "there is no fault \"$name\"" "deploy/lab.sh fault list"
  [[ "$port" =~ ^[a-z0-9]+$ ]] || die "\"$port\" is no port's name" "rail0 or rail1"
  door "$node" test -e "$fault_dir/$port/$name" ||
    die "guest $node has no $fault_dir/$port/$name: its rails are plain virtio NICs, or $port is none of them" "tests/lab/nic/build.sh, then deploy/lab.sh down and up"
  door "$node" "printf '%s\n' '$*' > $fault_dir/$port/$name" ||
    die "the NIC of guest $node took no \"$name $*\"" "deploy/lab.sh fault list"
}

lab_fault() {
  set -- "${1#lab-}" "${@:2}"
  case "$1" in
    list) fault_list; return ;;
    [1-8]) guest_is_there "$1" ;;
    *) usage_error "$fault_usage" ;;
  esac
  if [ "${2:-}" = clear ]; then fault_clear "$1"
  elif [ $# -ge 4 ]; then fault_set "$@"
  else usage_error "$fault_usage"; fi
}
