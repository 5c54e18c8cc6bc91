#!/usr/bin/env bash
# Runs the quickstart and holds its last line, its report and the host's state against what was promised.
set -euo pipefail
here=$(dirname "$0")
# The report is written as the user who called sudo.
tmp=$(deploy/as_caller.sh mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$here/host_state.sh" > "$tmp/before"
rc=0
RAILWRIGHT_REPORT_DIR=$tmp/report deploy/quickstart.sh --no-build > "$tmp/out" 2> "$tmp/err" || rc=$?
cat "$tmp/out"
if [ "$rc" -ne 0 ]; then cat "$tmp/err"; echo "quickstart ended with $rc"; exit 1; fi
tail -n 1 "$tmp/out" | grep -qE '^quickstart: 4 of 4 nodes compliant, 3 of 3 faults fixed, slowest [0-9]+ ms$' ||
  { echo "the last line is not the promised one"; exit 1; }
[ "$(grep -c '^joined quickstart as node-[1-4] ' "$tmp/out")" -eq 4 ] || { echo "not every node joined with a line of its own"; exit 1; }
[ "$(grep -cE '^node +node-[1-4] +active ' "$tmp/out")" -eq 4 ] || { echo "not every node is a member in good standing"; exit 1; }
[ "$(jq -r .complete "$tmp/report/report.json")" = true ] || { echo "report.json is not complete"; exit 1; }
[ "$(jq '[.nodes[].verdict | select(. == "Compliant")] | length' "$tmp/report/report.json")" -eq 4 ] || { echo "report.json does not show 4 compliant nodes"; exit 1; }
grep -q 'corrective' "$tmp/report/report.txt" || { echo "report.txt shows no corrective change"; exit 1; }
"$here/host_state.sh" > "$tmp/after"
diff -u "$tmp/before" "$tmp/after" || { echo "the quickstart changed this host (above)"; exit 1; }
[ ! -e /run/railwright-quickstart ] || { echo "/run/railwright-quickstart was left behind"; exit 1; }
echo "host unchanged"
