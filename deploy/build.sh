#!/usr/bin/env bash
# Configures and builds one preset as the calling user.
#   deploy/build.sh PRESET [TARGET …]      presets: dev asan tsan fuzz release
# Without targets everything is built. RAILWRIGHT_CMAKE_ARGS adds arguments to the configuration.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:?preset: dev, asan, tsan, fuzz or release}
shift
as=deploy/as_caller.sh
# Copies of this checkout elsewhere share compiler cache entries.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
start=$(date +%s)
log=$($as mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086
if ! $as env CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1 cmake --preset "$preset" ${RAILWRIGHT_CMAKE_ARGS:-} >"$log" 2>&1; then
  cat "$log" >&2; exit 1
fi
targets=()
[ $# -gt 0 ] && targets=(--target "$@")
if [ -t 2 ]; then
  $as env CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1 cmake --build --preset "$preset" "${targets[@]}" >&2
elif ! $as env CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1 cmake --build --preset "$preset" "${targets[@]}" >"$log" 2>&1; then
  grep -vE '^\[[0-9]+/[0-9]+\] (Building|Linking|Generating|Re-checking)' "$log" | tail -n 60 >&2
  exit 1
fi
echo "built preset $preset in $(( $(date +%s) - start )) s" >&2
