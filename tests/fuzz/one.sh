#!/usr/bin/env bash
# Runs one built fuzz target; prints its line, and on a finding what was found and how to see it again. For run.sh.
#   tests/fuzz/one.sh TARGET SECONDS
set -euo pipefail
cd "$(dirname "$0")/../.."
target=$1 seconds=$2 build=build/fuzz
program=$build/bin/fuzz_$target corpus=$build/corpus/$target found=$build/found/$target log=$build/$target.log
mkdir -p "$corpus" "$found"
arguments=("$corpus" "tests/fuzz/corpus/$target")
# Real artefacts of others, where they are at hand: seeds, never committed.
cases=../shared/cases
case "$target" in
  nft_ruleset|firewall_judge|iptables_save|ufw_status) [ -d "$cases/G_firewall" ] && arguments+=("$cases/G_firewall") ;;
esac
dictionary=tests/fuzz/dictionaries/$target.dict
[ -e "$dictionary" ] && arguments+=("-dict=$dictionary")
length=4096
case "$target" in nft_*|firewall_judge|rdma_firewall|yaml_documents|fleet_resolve) length=16384 ;; esac
# Parsers that read files write their inputs; memory is the place for them.
memory=/tmp
[ -d /dev/shm ] && [ -w /dev/shm ] && memory=/dev/shm
TMPDIR=$(mktemp -d -p "$memory" railwright-fuzz-XXXXXX)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
ASAN_SYMBOLIZER_PATH=$(command -v llvm-symbolizer-14)
export ASAN_SYMBOLIZER_PATH
end=$(($(date +%s) + seconds)) rc=0 input=
while left=$((end - $(date +%s))) && [ "$left" -gt 0 ]; do
  rc=0
  "$program" "${arguments[@]}" -max_total_time="$left" -max_len="$length" -timeout=5 -rss_limit_mb=2048 \
    -artifact_prefix="$found/" -print_final_stats=1 >"$log" 2>&1 || rc=$?
  [ "$rc" -ne 0 ] || break
  input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
  # Slow, or only slow on a machine that had other things to do? Tried again, what counts is its own time.
  case "$input" in
    */timeout-*) (ulimit -t 6; exec "$program" -timeout=120 "$input") >"$log.alone" 2>&1 || break ;;
    *) break ;;
  esac
  rm "$input"
  rc=0
done
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
speed=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
coverage=$({ grep -oE 'cov: [0-9]+ ft: [0-9]+' "$log" || true; } | tail -n 1 | tr -d ':')
report=$(printf '%-16s %9s runs %6s/s  %-20s' "$target" "${runs:-?}" "${speed:-?}" "${coverage:-no coverage}")
[ "$rc" -eq 0 ] && { echo "$report ok"; exit 0; }
what=$(grep -m1 -E 'BROKEN:|runtime error:|ERROR: |terminate called' "$log" || tail -n 3 "$log")
report="$report FOUND
  $what
$(grep -m1 '^  seen: ' "$log" || true)
  log: $log"
[ -z "$input" ] || report="$report
  see it again: $program $input
  keep it mended: cp $input tests/fuzz/corpus/$target/NAME"
printf '%s\n' "$report" | sed '/^$/d'  # one write: others print beside
exit 1
