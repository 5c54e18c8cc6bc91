#!/usr/bin/env bash
# Ctrl-C in the middle of the quickstart leaves nothing behind: while nodes join, and once agents are running.
set -euo pipefail
here=$(dirname "$0")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$here/host_state.sh" > "$tmp/before"
set -m
for moment in 'Each node joins' 'railctl plan'; do
  RAILWRIGHT_REPORT_DIR=$tmp/report deploy/quickstart.sh --no-build > "$tmp/out" 2> "$tmp/err" &
  pid=$!
  for _ in $(seq 300); do grep -q "$moment" "$tmp/out" 2>/dev/null && break; sleep 0.05; done
  grep -q "$moment" "$tmp/out" || { cat "$tmp/out" "$tmp/err"; echo "the quickstart never came to \"$moment\""; exit 1; }
  kill -INT -- "-$pid"
  rc=0
  wait "$pid" || rc=$?
  [ "$rc" -eq 130 ] || { cat "$tmp/out" "$tmp/err"; echo "ended with $rc, not 130"; exit 1; }
  pgrep -af 'railwright-quickstart' && { echo "processes were left"; exit 1; }
  "$here/host_state.sh" > "$tmp/after"
  diff -u "$tmp/before" "$tmp/after" || { echo "the quickstart interrupted at \"$moment\" changed this host (above)"; exit 1; }
done
echo "interrupted, host unchanged"
