# Sourced: a machine that was recorded inside a guest says outside what it said inside.
# shellcheck shell=bash disable=SC2154

# What a check finds, one finding a line, without what differs from run to run (there is nothing such).
findings_of() { jq -r '.nodes[0].findings[] | [.verdict, .key, .target, .code, .desired, .observed, .reason, .message] | map(gsub("[\\t\\n]"; " ")) | @tsv' | sort; }
# From the same relative path as inside, since messages name the document's place.
replayed() { (cd "$state" && "$(cat bin)/railwright-agent" check --snapshot "$1" -f site --node "$2" -o json 2> /dev/null) | findings_of; }

# replay_judge GUEST: records in the guest with one directory of configfs missing, so that an error is among what is
# recorded; replays outside; then takes out each recorded path in turn. Sets replay_told.
replay_judge() {
  local n=$1 node dir inside outside path changed turned=0 paths=0
  node=$(node_name "$n") dir=$(mktemp -d)
  tar -C "$state" -cf - site | door_stdin "$n" 'rm -rf /tmp/site /tmp/recorded; cd /tmp && tar -xf -' || { reason="the documents did not reach the guest"; return 1; }
  # The agent is held meanwhile: it makes such a directory again at its next scan.
  inside=$(door "$n" "agent=\$(pidof railwright-agent); kill -STOP \$agent; rmdir /sys/kernel/config/rdma_cm/rxe1
    cd /tmp && railwright-agent check -f site --node $node -o json 2> /dev/null; railwright-agent record --raw /tmp/recorded -f /tmp/site --node $node > /tmp/record.log 2>&1
    mkdir /sys/kernel/config/rdma_cm/rxe1; kill -CONT \$agent" | findings_of)
  door "$n" 'tar -C /tmp -cf - recorded' | tar -C "$dir" -xf - || { reason="the recording did not leave the guest"; return 1; }
  outside=$(replayed "$dir/recorded" "$node")
  [ -n "$inside" ] || { reason="the check in the guest gave nothing"; return 1; }
  [[ "$inside" == *$'Unknown\troce.mode\trail1'* ]] || { reason="no error was among what was recorded"; return 1; }
  if [ "$inside" != "$outside" ]; then
    diff <(echo "$inside") <(echo "$outside") | head -n 8 >&2
    reason="the replay differs (above)"
    return 1
  fi
  while IFS= read -r path; do
    paths=$((paths + 1))
    mv "$path" "$dir/taken"
    changed=$(comm -13 <(echo "$outside") <(replayed "$dir/recorded" "$node"))
    mv "$dir/taken" "$path"
    [ -n "$changed" ] || continue
    turned=$((turned + 1))
    if grep -q '^Compliant' <<< "$changed"; then
      reason="without ${path#"$dir/recorded"} something else is Compliant: $(grep -m 1 '^Compliant' <<< "$changed" | cut -c 1-120)"
      return 1
    fi
  done < <(find "$dir/recorded" -mindepth 2 -type f ! -name README.md)
  rm -rf "$dir"
  [ "$turned" -gt 0 ] || { reason="no path that was taken out made a difference"; return 1; }
  replay_told="$(wc -l <<< "$inside") findings the same outside; of $paths recorded paths $turned turn a finding when they are taken out, none to Compliant"
}
