#!/usr/bin/env bash
# Builds the fuzz targets and runs each for some seconds; fails when any finds something, and says how to see it again.
#   tests/fuzz/run.sh [SECONDS] [TARGET …]      default: 60 seconds each, all targets
# What was found lies in build/fuzz/found/TARGET; the corpus grows in build/fuzz/corpus/TARGET. Neither is committed.
# RAILWRIGHT_FUZZ_JOBS: how many run at a time (default: one a processor).
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=60
case "${1:-}" in -h|--help) sed -n '2,5p' "$0"; exit 0 ;; [1-9]*) seconds=$1; shift ;; esac
all=()
for file in tests/fuzz/targets/*.cc; do all+=("$(basename "$file" .cc)"); done
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=("${all[@]}")
for target in "${targets[@]}"; do
  [ -e "tests/fuzz/targets/$target.cc" ] || { echo "tests/fuzz/run.sh: no target \"$target\"; known: ${all[*]}" >&2; exit 64; }
done
deploy/packages.sh fuzz
deploy/build.sh fuzz "${targets[@]/#/fuzz_}"

jobs=${RAILWRIGHT_FUZZ_JOBS:-$(nproc)}
rc=0
printf '%s\n' "${targets[@]}" | deploy/as_caller.sh xargs -P "$jobs" -I{} tests/fuzz/one.sh {} "$seconds" || rc=1
[ "$rc" -eq 0 ] && echo "${#targets[@]} targets, $seconds s each: nothing found" || echo "tests/fuzz/run.sh: something was found (above)" >&2
exit "$rc"
