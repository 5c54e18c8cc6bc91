#!/usr/bin/env bash
# Runs the tests of one label of a sanitizer build; fails when there are none.
#   suite.sh BUILD_DIR LABEL SUPPRESSIONS
set -euo pipefail
build=$1 label=$2 suppressions=$3
[ -e "$build/CTestTestfile.cmake" ] || { echo "$build is not built; next: deploy/build.sh $(basename "$build") ${label}_tests"; exit 1; }
export TSAN_OPTIONS="suppressions=$suppressions halt_on_error=1 second_deadlock_stack=1"
export ASAN_OPTIONS="detect_leaks=1 strict_string_checks=1"
export UBSAN_OPTIONS="print_stacktrace=1"
ctest --test-dir "$build" -L "^$label\$" -j2 --output-on-failure --no-tests=error
