#!/usr/bin/env bash
# Long runs of the simulated world. Prints failing seeds, then seeds/s, node-years and faults by kind.
#   tests/sim/run.sh [--seeds N] [--from S] [--jobs J] [--preset P]
# Defaults: 1000 seeds from 1, one job, preset dev (bench is faster: its code is optimised).
set -euo pipefail
cd "$(dirname "$0")/../.."
seeds=1000 from=1 jobs=1 preset=dev
while [ $# -gt 0 ]; do
  case "$1" in
    --seeds) seeds=${2:?--seeds takes a number}; shift ;;
    --from) from=${2:?--from takes a number}; shift ;;
    --jobs) jobs=${2:?--jobs takes a number}; shift ;;
    --preset) preset=${2:?--preset takes dev, asan or bench}; shift ;;
    -h|--help) sed -n '2,4p' "$0"; exit 0 ;;
    *) echo "tests/sim/run.sh: unknown option \"$1\"; known: --seeds --from --jobs --preset" >&2; exit 64 ;;
  esac
  shift
done
deploy/build.sh "$preset" rw_sim
rc=0
pids=()
each=$(((seeds + jobs - 1) / jobs))
for ((job = 0; job < jobs; ++job)); do
  first=$((from + job * each))
  last=$((first + each < from + seeds ? first + each : from + seeds))
  [ "$first" -lt "$last" ] || break
  nice "build/$preset/bin/rw_sim" --from "$first" --seeds "$((last - first))" &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || rc=1; done
exit "$rc"
