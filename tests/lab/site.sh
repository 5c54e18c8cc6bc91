# Sourced: the controller, the documents, and the wait until every node is as declared.
# shellcheck shell=bash disable=SC2154

railctl() { "$(cat "$state/bin")/railctl" "$@"; }

controller_up() {
  local dir=$state/controller
  mkdir -p "$dir"
  "$bin/railwright-controller" init --state-dir "$dir" --cluster rwlab --name "$controller" > "$dir/init.log" 2>&1 ||
    { cat "$dir/init.log" >&2; die "the controller's store was not made (above)" "deploy/lab.sh down"; }
  setsid nsenter --net="/run/netns/$leaf" -- "$bin/railwright-controller" serve --state-dir "$dir" --listen "$controller:7443" --enrol "$controller:7444" \
    > "$dir/log" 2>&1 < /dev/null &
  echo $! > "$dir/pid"
  for _ in $(seq 300); do
    railctl version > /dev/null 2>&1 && return 0
    kill -0 "$(cat "$dir/pid")" 2> /dev/null || break
    sleep 0.2
  done
  tail -n 8 "$dir/log" >&2
  die "the controller does not answer; the last of its log is above" "see $dir/log"
}

# join_line NODE FILE: the line by which this node joins, once, for whoever may read the file.
join_line() {
  (umask 077; railctl token create "$(node_name "$1")" > "$2" 2> "$2.log") && return 0
  cat "$2.log" >&2
  die "no line for guest $1 to join by (above)" "see $state/controller/log"
}

# Before any agent is there: each gets its state in the moment it connects.
site_apply() {
  mkdir -p "$state/site"
  sed "s/lab-\[1-[0-9]*\]/lab-[1-$1]/" "$lab_dir/site/cluster.yaml" > "$state/site/cluster.yaml"
  cp "${2:-$lab_dir/site/profile.yaml}" "$state/site/profile.yaml"
  # What needs the lab's NIC: the guide's list, and the lab's own over it.
  if [ -z "${2:-}" ] && [ -e "$lab_nic/rwlab.ko" ]; then
    cp templates/guide-ofed-5.8.yaml "$lab_dir/site/fabric.yaml" "$state/site/"
  fi
  railctl apply -f "$state/site" --yes --no-wait > "$state/site/apply.log" 2>&1 ||
    { cat "$state/site/apply.log" >&2; die "the documents were refused (above)" "mend $state/site/*.yaml's originals, then deploy/lab.sh up"; }
}

status_json() { railctl status -o json 2> /dev/null || true; }   # exit 2 says that something differs

all_compliant() { [ "$(status_json | jq '.summary.compliant // 0')" -eq "$(nodes_up)" ]; }

# site_wait SECONDS: until all are compliant.
site_wait() {
  local count status connected compliant left=$1 ready since
  count=$(nodes_up)
  since=$SECONDS
  while :; do
    status=$(status_json)
    ready=$(guests_ready)
    connected=$(railctl get nodes -o json 2> /dev/null | jq '[.nodes[] | select(.connected)] | length') || connected=0
    compliant=$(jq '.summary.compliant // 0' <<< "$status") || compliant=0
    say_when_new "guests booted $ready of $count · agents connected ${connected:-0} of $count · compliant ${compliant:-0} of $count"
    [ "${compliant:-0}" -eq "$count" ] && return 0
    guests_alive
    [ $((SECONDS - since)) -lt "$left" ] || break
    sleep 1
  done
  railctl status >&2 || true
  die "after $left s only ${compliant:-0} of $count nodes are compliant (above); consoles: $state/guest-*/console" \
    "deploy/lab.sh shell N tail -n 20 /run/agent.log, or deploy/lab.sh down"
}
