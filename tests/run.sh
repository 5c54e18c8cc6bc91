#!/usr/bin/env bash
# Installs what it needs, builds and passes all tests; ends with CTest's summary. Run as root, with or without sudo.
#   tests/run.sh [--slow] [--only REGEX]
#   --slow   adds fuzzing, the selftest of the lab, and long runs of the tests of chance
set -euo pipefail
cd "$(dirname "$0")/.."
slow=no
only=()
while [ $# -gt 0 ]; do
  case "$1" in
    --slow) slow=yes ;;
    --only) only=(-R "${2:?--only takes a regular expression}"); shift ;;
    -h|--help) sed -n '2,4p' "$0"; exit 0 ;;
    *) echo "tests/run.sh: unknown option \"$1\"; known: --slow --only REGEX" >&2; exit 64 ;;
  esac
  shift
done
if [ "$(id -u)" -ne 0 ]; then
  echo "tests/run.sh: needs root for network namespaces; next: sudo ./tests/run.sh" >&2
  exit 1
fi
start=$(date +%s)
say() { printf '\n== %s (%d s)\n' "$*" $(($(date +%s) - start)); }

say "Packages"
tasks=(run build test guest)
[ "$slow" = yes ] && tasks+=(fuzz lab)
deploy/packages.sh "${tasks[@]}"
deploy/as_caller.sh tests/guest/fetch_kernel.sh build/guest

say "Building: dev"
deploy/build.sh dev
# Fast tests first: a broken unit should be seen before the sanitizers are built.
say "Fast tests"
(cd build/dev && deploy=x ctest -L 'unit|repo' -j2 --output-on-failure --progress "${only[@]}" > fast.log 2>&1) ||
  { tail -n 60 build/dev/fast.log; exit 8; }
tail -n 3 build/dev/fast.log

say "Building: asan (unit tests), tsan (stream and loop tests), release (quickstart)"
deploy/build.sh asan unit_tests
deploy/build.sh tsan thread_tests
RAILWRIGHT_CMAKE_ARGS="-DRAILWRIGHT_TESTS=OFF" deploy/build.sh release

configuration=()
if [ "$slow" = yes ]; then
  say "Building: fuzz targets (clang)"
  deploy/build.sh fuzz fuzz_targets
  configuration=(-C Slow)  # tests that only this configuration has: fuzz.targets, lab.selftest
  export RAILWRIGHT_SLOW=1
fi

say "All tests"
rc=0
(cd build/dev && ctest -j2 --output-on-failure "${configuration[@]}" "${only[@]}") 2>&1 | tee build/dev/ctest.log || rc=$?
tests/skips.sh build/dev/Testing/Temporary/LastTest.log "$(cat tests/skips_allowed)" build/dev/ctest.log || rc=$?
say "Done"
# CTest's own summary is the last thing said.
sed -n '/tests passed,/,$p' build/dev/ctest.log
exit "$rc"
