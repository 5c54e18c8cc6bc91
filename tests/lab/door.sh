# Sourced: commands in a guest. A TCP port of the guest's management address, reachable only from the lab's namespace;
# the protocol stands in guest/door.sh.
# shellcheck shell=bash disable=SC2154

# door NODE COMMAND…: its stdout, stderr and exit status are this function's. One argument is a line of shell; several
# are a command and its arguments, exactly. door_stdin NODE COMMAND… also hands over stdin.
door() { door_send "$1" /dev/null "${@:2}"; }
door_stdin() {
  local file status=0
  file=$(mktemp)
  cat > "$file"
  door_send "$1" "$file" "${@:2}" || status=$?
  rm -f "$file"
  return "$status"
}

door_send() {
  local node=$1 stdin=$2 line="" word
  shift 2
  if [ $# -eq 1 ]; then line=$1
  else for word in "$@"; do line+="'${word//\'/\'\\\'\'}' "; done; fi
  in_leaf bash "$lab_dir/knock.sh" "$management_net.$node" 23 "$stdin" "$line"
}

# An interactive shell, on the guest's second serial port.
door_shell() {
  local tty
  tty=$(cat "$state/guest-$1/tty")
  [ -c "$tty" ] || die "guest $1 has no second serial port at \"$tty\"" "deploy/lab.sh shell $1 COMMAND"
  echo "lab: shell of guest $1; Ctrl-X ends it" >&2
  busybox microcom -s 115200 "$tty"
}
