#!/usr/bin/env bash
# Prints every skipped test with its reason, and fails when there are more than the committed number.
#   tests/skips.sh LASTTEST.LOG ALLOWED
set -euo pipefail
log=$1 allowed=$2
[ -r "$log" ] || { echo "tests/skips.sh: $log is missing: nothing was run" >&2; exit 1; }
# CTest's log holds each test's output between its name and "Test Passed/Skipped"; gtest prints the reason before
# the line "[  SKIPPED ]"; scripts print "SKIP: reason".
skips=$(awk '
  /^[0-9]+\/[0-9]+ Testing: / { sub(/^[0-9]+\/[0-9]+ Testing: /, ""); name = $0; reason = ""; before = "" }
  /^SKIP: / { reason = substr($0, 7) }
  /^\[  SKIPPED \]/ && reason == "" { reason = before }
  /^Test Skipped\./ { print name ": " reason }
  { if ($0 != "") before = $0 }
' "$log")
count=0
[ -n "$skips" ] && count=$(printf '%s\n' "$skips" | wc -l)
[ "$count" -gt 0 ] && printf 'skipped: %s\n' "$skips"
echo "skipped tests: $count (allowed: $allowed)"
[ "$count" -le "$allowed" ] || { echo "tests/skips.sh: more tests were skipped than tests/skips_allowed says" >&2; exit 1; }
