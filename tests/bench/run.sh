#!/usr/bin/env bash
# Benchmarks: each prints a ratio against a named baseline of the same run on the same machine.
#   tests/bench/run.sh scan [--json]
#   tests/bench/run.sh push [--agents N] [--rounds N]
#   tests/bench/run.sh sign
set -euo pipefail
cd "$(dirname "$0")/../.."
what=${1:-} json=no
[ "${2:-}" = --json ] && json=yes
case "$what" in
  scan) ;;
  push)  # a real controller and N simulated agents on Unix sockets; needs no root and prints JSON
    deploy/build.sh bench bench_push railwright-controller
    exec build/bench/bin/bench_push "${@:2}" ;;
  sign)  # needs no root and prints JSON
    deploy/build.sh bench bench_sign
    exec build/bench/bin/bench_sign ;;
  *) echo "usage: tests/bench/run.sh scan [--json] | push [--agents N] [--rounds N] | sign" >&2; exit 64 ;;
esac
[ "$(id -u)" -eq 0 ] || { echo "tests/bench/run.sh: needs root for a network namespace; next: sudo $0 $*" >&2; exit 1; }
deploy/packages.sh run build test
deploy/build.sh bench bench_scan railwright-agent
# The bare program loads exactly what the agent loads, in the same order, and does nothing.
needed() { objdump -p "$1" | awk '/NEEDED/ && !/ld-linux/ {print $2}'; }
bare=build/bench/bin/bench_bare
mapfile -t libraries < <(needed build/bench/bin/railwright-agent | sed 's/^/-l:/')
deploy/as_caller.sh gcc -O2 -o "$bare" tests/bench/bare.cc -Wl,--no-as-needed "${libraries[@]}"
diff <(needed build/bench/bin/railwright-agent | sort) <(needed "$bare" | sort) >&2 ||
  { echo "tests/bench/run.sh: the bare program does not load what the agent loads" >&2; exit 1; }
out=$(build/bench/bin/bench_scan build/bench/bin/railwright-agent "$bare" tests/bench/scan.yaml)
if [ "$json" = yes ]; then
  printf '%s\n' "$out"
else
  jq -r '"no-op scan of \(.settings) settings: \(.files) files, \(.messages) netlink messages, \(.programs_spawned) programs spawned
  resident  \(.resident_us | floor) µs CPU = \(.resident_ratio * 100 | round / 100) × the raw reads (\(.raw_reads_us | floor) µs); must ≤ 4, reach 2
  one-shot  \(.oneshot_us | floor) µs CPU = \(.oneshot_ratio * 100 | round / 100) × a bare program of the same libraries (\(.bare_us | floor) µs); must ≤ 2, reach 1"' <<< "$out"
fi
