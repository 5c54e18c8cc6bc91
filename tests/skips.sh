#!/usr/bin/env bash
# Prints every skipped test with its reason, and fails when there are more than the committed number.
#   tests/skips.sh LASTTEST.LOG ALLOWED [CTEST.OUTPUT]
#   CTEST.OUTPUT: what ctest printed; its own list of skipped tests must be as long as the one found in the log
set -euo pipefail
log=$1 allowed=$2 output=${3:-}
[ -r "$log" ] || { echo "tests/skips.sh: $log is missing: nothing was run" >&2; exit 1; }
# CTest's log holds each test's output between "Output:" and "<end of output>", and after it, of a test that was
# skipped, "Skip regular expression found in output." (a test skipped by SKIP_RETURN_CODE looks as if it had passed:
# use SKIP_REGULAR_EXPRESSION). gtest prints the reason before the line "[  SKIPPED ]"; scripts print "SKIP: reason".
skips=$(awk '
  !inside && /^[0-9]+\/[0-9]+ Testing: / { sub(/^[0-9]+\/[0-9]+ Testing: /, ""); name = $0; reason = ""; before = "" }
  !inside && /^Skip regular expression found in output\./ { print name ": " (reason == "" ? "no reason given" : reason) }
  !inside && /^Output:$/ { inside = 1 }
  /^<end of output>$/ { inside = 0 }
  inside && /^SKIP: / { reason = substr($0, 7) }
  inside && /^\[  SKIPPED \]/ && reason == "" { reason = before }
  inside && $0 != "" { before = $0 }
' "$log")
count=0
[ -n "$skips" ] && count=$(printf '%s\n' "$skips" | wc -l)
[ "$count" -gt 0 ] && printf '%s\n' "$skips" | sed 's/^/skipped: /'
tests=$count
# Tests over the folder of cases are one skip where that folder is absent, however many there are.
without_cases=$(printf '%s\n' "$skips" | grep -c ': no cases at ' || true)
[ "$without_cases" -lt 2 ] || count=$((count - without_cases + 1))
echo "skipped tests: $count (allowed: $allowed)"
if [ -n "$output" ]; then
  said=$(grep -cE '^[[:space:]]+[0-9]+ - .* \(Skipped\)$' "$output" || true)
  [ "$said" -eq "$tests" ] || { echo "tests/skips.sh: CTest itself speaks of $said skipped tests" >&2; exit 1; }
fi
[ "$count" -le "$allowed" ] || { echo "tests/skips.sh: more tests were skipped than tests/skips_allowed says" >&2; exit 1; }
