# Sourced first: what the lab's parts are called, where its state lies, and how it speaks.
# shellcheck shell=bash disable=SC2034

lab_dir=$PWD/tests/lab
build_dir=$PWD/build/lab                     # what may be kept between runs: tools, images
kernel=$PWD/build/guest
leaf=rwlab-leaf                              # the one network namespace; all links of the lab are born in it
management_net=198.18.77                     # of the range for benchmarks (RFC 2544), and seen in that namespace only
controller=$management_net.254                # 7443: certificates; 7444: joining, while a line counts
scan_interval=${RAILWRIGHT_LAB_SCAN_INTERVAL:-10}

set_state() {
  state=$(readlink -m "$1")
  export RAILCTL_CONTROLLER=unix:$state/controller/controller.sock
}

lab_start=$(date +%s)
say() { printf '%4d s  %s\n' $(($(date +%s) - lab_start)) "$*" >&2; }

# The same again is said again only after 15 s, so that a wait can report at every look.
said="" said_at=0
say_when_new() {
  if [ "$*" = "$said" ] && [ $((SECONDS - said_at)) -lt 15 ]; then return 0; fi
  said=$* said_at=$SECONDS
  say "$*"
}

# die WHAT [NEXT]: the exact reason and the next step.
die() {
  echo "lab: $1" >&2
  [ -n "${2:-}" ] && echo "  next: $2" >&2
  exit 1
}

# state_is_ours: whether the lab made this folder, and may remove it with all that is in it.
state_is_ours() { [ -e "$state/made_by_the_lab" ]; }
make_state() {
  if [ -d "$state" ] && [ -n "$(ls -A "$state")" ]; then die "$state is there, and not a lab's" "--state with a folder that is empty or not there"; fi
  mkdir -p "$state"
  chmod 700 "$state"
  : > "$state/made_by_the_lab"
}

node_name() { printf 'lab-%d' "$1"; }
# In the background nsenter itself is called, by setsid: $! of a function is a shell and not the program, and a Ctrl-C is
# not meant for what shall stay.
in_leaf() { nsenter --net="/run/netns/$leaf" -- "$@"; }
nodes_up() { cat "$state/nodes" 2> /dev/null || echo 0; }

# is_ours PIDFILE: whether the process of this file runs in the lab's namespace (pids are used again, and titles change).
is_ours() {
  local pid
  pid=$(cat "$1" 2> /dev/null) && [ -n "$pid" ] && [ "/proc/$pid/ns/net" -ef "/run/netns/$leaf" ]
}

stop_pid() {
  local pid
  is_ours "$1" || return 0
  pid=$(cat "$1")
  kill -TERM "$pid" 2> /dev/null || return 0
  for _ in $(seq 50); do is_ours "$1" || return 0; sleep 0.1; done
  kill -KILL "$pid" 2> /dev/null || true
}
