#!/usr/bin/env bash
# tests/skips.sh over a log as CTest 3.25 writes it: what is skipped is counted, and nothing else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
test_block() {  # NUMBER NAME OUTPUT ENDING
  printf -- '----------------------------------------------------------\n%s/4 Testing: %s\n%s/4 Test: %s\n' "$1" "$2" "$1" "$2"
  printf 'Command: "x"\nOutput:\n----------------------------------------------------------\n%s\n<end of output>\n' "$3"
  printf 'Test time =   0.01 sec\n----------------------------------------------------------\n%s\n' "$4"
  printf '"%s" end time: Nov 30 12:00 UTC\n"%s" time elapsed: 00:00:00\n' "$2" "$2"
}
gtest='[ RUN      ] LinuxHintsTest.Overlay
../../tests/hints/linux_hints_test.cc:434: Skipped
this kernel mounts no overlay: No such device
[  SKIPPED ] LinuxHintsTest.Overlay (0 ms)
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] LinuxHintsTest.Overlay'
{
  echo 'Start testing: Nov 30 12:00 UTC'
  test_block 1 linux_hints_test.LinuxHintsTest.Overlay "$gtest" \
    $'Test Pass Reason:\nSkip regular expression found in output. Regex=[\\[  SKIPPED \\]]'
  test_block 2 repo.clang_format 'SKIP: clang-format is not installed' \
    $'Test Pass Reason:\nSkip regular expression found in output. Regex=[^SKIP: ]'
  # Says the words and passes: the output of another CTest.
  test_block 3 asan.unit_suite $'1/1 Test #1: x ...***Skipped\nSkip regular expression found in output.\n2/9 Testing: y' 'Test Passed.'
  test_block 4 other 'fine' $'Test Pass Reason:\nRequired regular expression found. Regex=[fine]'
} >"$folder/log"
printf 'The following tests did not run:\n\t 1 - linux_hints_test.LinuxHintsTest.Overlay (Skipped)\n\t 2 - repo.clang_format (Skipped)\n\t 7 - x (Disabled)\n' >"$folder/output"

fail() { echo "$1"; exit 1; }
wanted='skipped: linux_hints_test.LinuxHintsTest.Overlay: this kernel mounts no overlay: No such device
skipped: repo.clang_format: clang-format is not installed
skipped tests: 2 (allowed: 2)'
seen=$(tests/skips.sh "$folder/log" 2 "$folder/output") || fail "two of two allowed skips fail"
[ "$seen" = "$wanted" ] || fail "printed:
$seen
wanted:
$wanted"
tests/skips.sh "$folder/log" 1 >/dev/null 2>&1 && fail "more skips than allowed pass"
head -n 1 "$folder/output" >"$folder/none"
tests/skips.sh "$folder/log" 2 "$folder/none" >/dev/null 2>&1 && fail "a count that is not CTest's own passes"
tests/skips.sh "$folder/absent" 2 >/dev/null 2>&1 && fail "a missing log passes"

# Where the folder of cases is absent, its tests are one skip, each with its reason.
cases='../../tests/cases/x_test.cc:1: Skipped
no cases at "/x"; set RAILWRIGHT_CASES
[  SKIPPED ] X (0 ms)'
for name in one two three; do
  test_block 1 "cases_test.$name" "$cases" $'Test Pass Reason:\nSkip regular expression found in output. Regex=[\\[  SKIPPED \\]]'
done >"$folder/cases"
printf '\t 1 - one (Skipped)\n\t 2 - two (Skipped)\n\t 3 - three (Skipped)\n' >"$folder/cases_output"
seen=$(tests/skips.sh "$folder/cases" 1 "$folder/cases_output") || fail "the tests over absent cases are more than one skip"
[ "$(grep -c '^skipped: cases_test' <<<"$seen")" -eq 3 ] || fail "not each of them is told"
tests/skips.sh "$folder/cases" 0 >/dev/null 2>&1 && fail "absent cases pass where no skip is allowed"
echo "skips are counted"
